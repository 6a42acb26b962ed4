"""The encryption middleware: its keys, its wire format, and what the app then answers and sends."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest

from support.played_service import Asked, played_service
from tidegate import ConfigError, NonRetriableError, Place
from tidegate._json import parse
from tidegate._middleware.encryption_key import EncryptionKey
from tidegate._middleware.envelope import is_encrypted, version_of
from tidegate.encryption import Encryption

from ..cases import Case
from ..match import Names
from ..settings import Flavour, client_of, encryption_of, set_environment
from ..stages import Stages
from ..wire import SDK, Answer, app_of, ask_app, check_answer, check_requests, replies_of
from .sends import send_events_of
from .served import CLIENT, call_request

_HUGE = "A" * 1_000_000

FIELDS = (
    *("encryption", "key_id", "json", "nonce", "encrypted", "places", "at", "value", "encoded", "decoded", "flaw"),
    *("program", "call", "replies", "functions", "request", "events", "requests", "ids", "answer"),
)


def check_encryption(case: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    if "program" in case or "functions" in case:
        _check_app(case, flavour, stages, monkeypatch)
    elif "events" in case:
        _check_send(case, flavour, monkeypatch)
    elif "flaw" in case:
        with pytest.raises((NonRetriableError, ConfigError)) as raised:
            value = Names(huge=_HUGE).fill(case.get("value"))
            encryption_of(case["encryption"]).decode_in_place(value, case.get("at", "step"), _places_of(case))
        assert isinstance(raised.value, NonRetriableError if "value" in case else ConfigError)
        assert len(str(raised.value)) <= 1_000
        Names().check(str(raised.value), case["flaw"], "the.flaw")
    elif "key_id" in case:
        assert EncryptionKey("The key", case["encryption"]["key"]).id == case["key_id"]
    elif "json" in case:
        key = EncryptionKey("The key", case["encryption"]["key"])
        places = _places_of(case)
        assert key.seal(case["json"], next(iter(places), None), b64decode(case["nonce"])) == case["encrypted"]
        opened = encryption_of(case["encryption"]).decode_in_place(case["encrypted"], "step", places)
        assert opened == parse(case["json"])
    else:
        _check_value(encryption_of(case["encryption"]), case)


def _check_value(encryption: Encryption, case: Case) -> None:
    places = _places_of(case)
    if "decoded" in case:
        Names().check(encryption.decode_in_place(case["value"], case["at"], places), case["decoded"])
    else:
        encoded = encryption.encode_in_place(case["value"], case["at"], *places or [()])
        Names().check(_opened(encoded, case), case["encoded"])


def _places_of(case: Case) -> list[Place]:
    return [tuple(place) for place in case.get("places", [])]


def _check_app(raw: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"client": {**CLIENT, "encryption": raw["encryption"]}, "environment": {}, **raw}
    if "program" in case:
        case["functions"] = [{"id": "fn", "triggers": [{"event": "order/paid"}], "program": case["program"]}]
        case["request"] = call_request(case["call"])
    with app_of(case, flavour, stages, monkeypatch) as (origin, service, names):
        answer = ask_app(origin, case["request"])
        check_answer(_opened_answer(answer, raw), case["answer"], names)
        check_requests(_opened_requests(service.requests, raw), case.get("requests", []), names)


def _check_send(raw: Case, flavour: Flavour, monkeypatch: pytest.MonkeyPatch) -> None:
    with played_service(*replies_of(raw["replies"])) as service:
        names = Names(service=service.url, sdk=SDK)
        client = names.fill({**CLIENT, "encryption": raw["encryption"]})
        set_environment({}, monkeypatch)
        assert send_events_of(client_of(client), raw["events"], flavour) == raw["ids"]
        check_requests(_opened_requests(service.requests, raw), raw["requests"], names)


def _opened(value: Any, case: Case) -> Any:
    """Encrypted values, at any depth, as cases expect them: their nonces differ."""
    if isinstance(value, list):
        return [_opened(item, case) for item in value]
    if not isinstance(value, dict):
        return value
    if is_encrypted(value):
        return _opened_value(value, case)
    return {key: _opened(item, case) for key, item in value.items()}


def _opened_value(value: dict[str, str], case: Case) -> dict[str, Any]:
    texts = [case["encryption"]["key"], *case["encryption"].get("fallback_keys", [])]
    keys = {key.id: key for key in (EncryptionKey("The key", text) for text in texts)}
    for place in _places_of(case) if version_of(value) == 2 else [None]:
        json = keys[value["key"]].open(value, place)
        if json is not None:
            at = {} if place is None else {"place": list(place)}
            return {"{{encrypted}}": parse(json), "key": value["key"], **at}
    raise AssertionError(f"None of the places fits the value {value['data']}")


def _opened_answer(answer: Answer, case: Case) -> Answer:
    status, headers, body = answer
    return status, headers, json.dumps(_opened(json.loads(body), case)).encode()


def _opened_requests(requests: list[Asked], case: Case) -> list[Asked]:
    return [
        Asked(asked.method, asked.path, asked.headers, json.dumps(_opened(asked.json, case)).encode())
        for asked in requests
    ]
