"""Traffic of a case: requests to the app, requests to the fake service, answers."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

import pytest

import tidegate.asgi
import tidegate.wsgi
from support.hosts import ask
from support.played_service import Asked, PlayedService, Reply, played_service
from tidegate import __version__
from tidegate._canonical import canonical

from .cases import only
from .match import Names
from .settings import Flavour, client_of, function_of, set_environment
from .stages import Stages

PATH = "/api/service"
SDK = f"py:v{__version__}"
NO_REPLY: list[Any] = [{"status": 200, "body": {}}]
_ALWAYS_ANSWERED = {
    "content-type": "application/json",
    "x-service-sdk": "{{sdk}}",
    "x-service-framework": "{{framework}}",
    "x-service-req-version": "2",
}
_ALWAYS_REQUESTED = {"content-type": "application/json", "x-service-sdk": "{{sdk}}"}
_NOT_UNLESS_NAMED = ("x-service-env", "authorization", "x-service-event-id-seed", "x-service-no-retry", "retry-after")

Answer = tuple[int, dict[str, str], bytes]


def replies_of(given: Sequence[Any]) -> list[Reply]:
    return [_reply(reply) for reply in given]


def _reply(given: Any) -> Reply:
    if given == "hang up":
        return Reply(hang_up=True)
    only(given, ("status", "headers", "body"))
    return Reply(given["status"], given["body"], given.get("headers", {}))


@contextmanager
def app_of(
    case: dict[str, Any], flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, PlayedService, Names]]:
    """Hosts a case's functions, and plays the service: async ones on ASGI, plain ones on WSGI."""
    with played_service(*replies_of(case.get("replies", NO_REPLY))) as service:
        filled = Names(service=service.url).fill({key: case[key] for key in ("client", "environment", "functions")})
        set_environment(filled["environment"], monkeypatch)
        own = case.get("serve", {})
        only(own, ("path", "serve_origin"))
        with client_of(filled["client"]) as client:
            functions = [function_of(client, fn, flavour) for fn in filled["functions"]]
            framework = "asgi" if flavour == "async" else "wsgi"
            module: Any = tidegate.asgi if flavour == "async" else tidegate.wsgi
            origin = stages.show(flavour, module.serve(client, functions, **own))
            host = origin.removeprefix("http://")
            yield (
                origin,
                service,
                Names(service=service.url, app=origin + PATH, host=host, sdk=SDK, framework=framework),
            )


def ask_app(origin: str, given: dict[str, Any]) -> Answer:
    only(given, ("method", "path", "headers", "body", "sign"))
    body = given.get("body", "")
    raw = (body if isinstance(body, str) else canonical(body)).encode()
    signature = _signatures(given["path"], raw, given["sign"]) if "sign" in given else {}
    return ask(origin, given["method"], given["path"], {**given.get("headers", {}), **signature}, raw)


def _signatures(path: str, body: bytes, given: dict[str, Any]) -> dict[str, str]:
    only(given, ("key", "age_seconds", "for"))
    at = int(time.time()) - given["age_seconds"]
    secret = given["key"].split("-", 2)[2].encode()

    def mac(raw: bytes) -> str:
        return hmac.new(secret, raw + str(at).encode(), hashlib.sha256).hexdigest()

    signature = {"x-service-signature": f"t={at}&s={mac(body)}"}
    signed_for = given.get("for", path)
    if signed_for is None:
        return signature
    query = parse_qs(signed_for.partition("?")[2])
    named = f"url\n{query.get('fnId', [''])[0]}\n{query.get('stepId', ['step'])[0]}\n".encode()
    return {**signature, "x-service-signature-url": mac(named + body)}


def check_answer(answer: Answer, expected: dict[str, Any], names: Names) -> None:
    only(expected, ("status", "headers", "body"))
    status, headers, body = answer
    names.check({"status": status, "body": json.loads(body)}, {"status": expected["status"], "body": expected["body"]})
    _check_headers(headers, {**_ALWAYS_ANSWERED, **expected.get("headers", {})}, names)


def check_requests(actual: Sequence[Asked], expected: Sequence[dict[str, Any]], names: Names) -> None:
    assert [f"{asked.method} {asked.path}" for asked in actual] == [
        f"{request['method']} {request['path']}" for request in expected
    ]
    for asked, request in zip(actual, expected, strict=True):
        only(request, ("method", "path", "headers", "body"))
        if "body" in request:
            names.check(asked.json, request["body"])
        else:
            assert asked.body == b""
        _check_headers(asked.headers, {**_ALWAYS_REQUESTED, **request.get("headers", {})}, names)


def _check_headers(actual: dict[str, str], expected: dict[str, str], names: Names) -> None:
    relevant = {name: value for name, value in actual.items() if name in expected or name in _NOT_UNLESS_NAMED}
    names.check(relevant, expected, "headers")
