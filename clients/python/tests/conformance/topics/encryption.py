"""The encryption middleware: its keys, its wire format, and what the app then answers and sends."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest

from support.played_service import Asked, played_service
from tidegate import ConfigError, NonRetriableError
from tidegate._json import parse
from tidegate._middleware.encryption_key import SCHEME, EncryptionKey
from tidegate.encryption import Encryption

from ..cases import Case
from ..match import Names
from ..settings import Flavour, client_of, encryption_of, set_environment
from ..stages import Stages
from ..wire import SDK, Answer, app_of, ask_app, check_answer, check_requests, replies_of
from .sends import send_events_of
from .served import CLIENT, call_request

FIELDS = (
    *("encryption", "key_id", "json", "nonce", "encrypted", "at", "value", "encoded", "decoded", "flaw"),
    *("program", "call", "replies", "functions", "request", "events", "requests", "ids", "answer"),
)


def check_encryption(case: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    if "program" in case or "functions" in case:
        _check_app(case, flavour, stages, monkeypatch)
    elif "events" in case:
        _check_send(case, flavour, monkeypatch)
    elif "flaw" in case:
        with pytest.raises((NonRetriableError, ConfigError)) as raised:
            encryption_of(case["encryption"]).decode(case.get("value"), case.get("at", "step"))
        assert isinstance(raised.value, NonRetriableError if "value" in case else ConfigError)
        Names().check(str(raised.value), case["flaw"], "the.flaw")
    elif "key_id" in case:
        assert EncryptionKey("The key", case["encryption"]["key"]).id == case["key_id"]
    elif "json" in case:
        key = EncryptionKey("The key", case["encryption"]["key"])
        assert key.seal(case["json"], b64decode(case["nonce"])) == case["encrypted"]
        assert encryption_of(case["encryption"]).decode(case["encrypted"], "step") == parse(case["json"])
    else:
        _check_value(encryption_of(case["encryption"]), case)


def _check_value(encryption: Encryption, case: Case) -> None:
    if "decoded" in case:
        Names().check(encryption.decode(case["value"], case["at"]), case["decoded"])
    else:
        Names().check(_opened(encryption.encode(case["value"], case["at"]), encryption), case["encoded"])


def _check_app(raw: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"client": {**CLIENT, "encryption": raw["encryption"]}, "environment": {}, **raw}
    if "program" in case:
        case["functions"] = [{"id": "fn", "triggers": [{"event": "order/paid"}], "program": case["program"]}]
        case["request"] = call_request(case["call"])
    encryption = encryption_of(case["encryption"])
    with app_of(case, flavour, stages, monkeypatch) as (origin, service, names):
        answer = ask_app(origin, case["request"])
        check_answer(_opened_answer(answer, encryption), case["answer"], names)
        check_requests(_opened_requests(service.requests, encryption), case.get("requests", []), names)


def _check_send(raw: Case, flavour: Flavour, monkeypatch: pytest.MonkeyPatch) -> None:
    with played_service(*replies_of(raw["replies"])) as service:
        names = Names(service=service.url, sdk=SDK)
        client = names.fill({**CLIENT, "encryption": raw["encryption"]})
        set_environment({}, monkeypatch)
        assert send_events_of(client_of(client), raw["events"], flavour) == raw["ids"]
        check_requests(_opened_requests(service.requests, encryption_of(raw["encryption"])), raw["requests"], names)


def _opened(value: Any, encryption: Encryption) -> Any:
    """Encrypted values, at any depth, as cases expect them: their nonces differ."""
    if isinstance(value, list):
        return [_opened(item, encryption) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$encrypted", "key", "data"} and value["$encrypted"] == SCHEME:
        return {"{{encrypted}}": encryption.decode(value, "step"), "key": value["key"]}
    return {key: _opened(item, encryption) for key, item in value.items()}


def _opened_answer(answer: Answer, encryption: Encryption) -> Answer:
    status, headers, body = answer
    return status, headers, json.dumps(_opened(json.loads(body), encryption)).encode()


def _opened_requests(requests: list[Asked], encryption: Encryption) -> list[Asked]:
    return [
        Asked(asked.method, asked.path, asked.headers, json.dumps(_opened(asked.json, encryption)).encode())
        for asked in requests
    ]
