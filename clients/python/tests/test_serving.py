"""One suite, run against each host: real servers, and requests over HTTP."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from fastapi import FastAPI
from flask import Flask
from starlette.applications import Starlette
from tornado.web import Application, RequestHandler

import tidegate.asgi
import tidegate.django
import tidegate.fastapi
import tidegate.flask
import tidegate.starlette
import tidegate.tornado
import tidegate.wsgi
from support.django_project import django_app
from support.hosts import asgi_host, ask, tornado_host, wsgi_host
from support.played_service import Reply, played_service
from tidegate import ConfigError, Context, Function, NonRetriableError, RetryAfterError, SyncContext, Tidegate

PATH = "/api/service"
KEY = "signkey-test-0123456789abcdef"
EVENT = '{"data":{"café":["ü",{"a":2,"b":1}],"total":3},"id":"01E","name":"order/paid","ts":1700000000000}'
CALL = f'{{"ctx":{{"attempt":2,"run_id":"01R"}},"event":{EVENT},"events":[{EVENT}],"steps":{{}}}}'.encode()

Functions = list[Function[Any]]


@dataclass(frozen=True)
class Host:
    framework: str
    serve: Callable[[Tidegate, Functions], Any]
    """Gives an app."""
    host: Callable[[Any], AbstractContextManager[str]]


def _starlette(client: Tidegate, functions: Functions) -> Starlette:
    app = Starlette()
    tidegate.starlette.serve(app, client, functions, PATH)
    return app


def _fastapi(client: Tidegate, functions: Functions) -> FastAPI:
    app = FastAPI()
    tidegate.fastapi.serve(app, client, functions, PATH)
    return app


def _flask(client: Tidegate, functions: Functions) -> Flask:
    app = Flask("shop")
    tidegate.flask.serve(app, client, functions, PATH)
    return app


def _tornado(client: Tidegate, functions: Functions) -> Application:
    class Other(RequestHandler):
        def get(self) -> None:
            self.set_status(404)

    app = Application([("/.*", Other)], xsrf_cookies=True, cookie_secret="of a test")
    tidegate.tornado.serve(app, client, functions, PATH)
    return app


def _django(kind: Any) -> Callable[[Tidegate, Functions], Any]:
    return lambda client, functions: django_app(tidegate.django.serve(client, functions, PATH), kind)


HOSTS = {
    "ASGI": Host("asgi", lambda client, functions: tidegate.asgi.serve(client, functions, path=PATH), asgi_host),
    "WSGI": Host("wsgi", lambda client, functions: tidegate.wsgi.serve(client, functions, path=PATH), wsgi_host),
    "Starlette": Host("starlette", _starlette, asgi_host),
    "FastAPI": Host("fastapi", _fastapi, asgi_host),
    "Flask": Host("flask", _flask, wsgi_host),
    "Tornado": Host("tornado", _tornado, tornado_host),
    "Django under WSGI": Host("django", _django(WSGIHandler), wsgi_host),
    "Django under ASGI": Host("django", _django(ASGIHandler), lambda app: asgi_host(app, lifespan="off")),
}

dev = Tidegate("shop", is_dev=True)
signed = Tidegate("shop", is_dev=False, signing_key=KEY)


def _functions(of: Tidegate) -> Functions:
    def create(id: str) -> Any:
        return of.create_function(id=id, trigger="order/paid")

    @create("async")
    async def run_async(ctx: Context) -> Any:
        return [ctx.event.data, ctx.event.id, ctx.event.ts, ctx.run_id, ctx.attempt, ctx.max_attempts]

    @create("plain")
    def run_plain(ctx: SyncContext) -> Any:
        return [ctx.event.data, ctx.event.id, ctx.event.ts, ctx.run_id, ctx.attempt, ctx.max_attempts]

    @create("stolen")
    def stolen(ctx: SyncContext) -> None:
        raise NonRetriableError("The card is stolen")

    @create("busy")
    async def busy(ctx: Context) -> None:
        raise RetryAfterError("Busy", 1.5)

    @create("odd")
    def odd(ctx: SyncContext) -> Any:
        return {1, 2}

    return [run_async, run_plain, stolen, busy, odd]


@dataclass(frozen=True)
class Served:
    framework: str
    origins: dict[str, str]
    """By mode."""

    def ask(
        self, method: str, url: str = PATH, body: bytes = b"", signature: str | None = None, mode: str = "dev"
    ) -> tuple[int, dict[str, str], Any]:
        headers = {"content-type": "application/json"}
        if signature is not None:
            headers["x-service-signature"] = signature
            headers["x-service-signature-url"] = _sign_url(url, body, signature)
        status, fields, text = ask(self.origins[mode], method, url, headers, body)
        return status, fields, json.loads(text)

    def call(self, fn: str, body: bytes = CALL, **kwargs: Any) -> tuple[int, dict[str, str], Any]:
        return self.ask("POST", f"{PATH}?fnId=shop-{fn}&stepId=step", body, **kwargs)


@pytest.fixture(scope="module", params=HOSTS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    host = HOSTS[request.param]
    with _hosting(host, dev) as dev_origin, _hosting(host, signed) as cloud_origin:
        yield Served(host.framework, {"dev": dev_origin, "cloud": cloud_origin})


@contextmanager
def _hosting(host: Host, client: Tidegate) -> Iterator[str]:
    with host.host(host.serve(client, _functions(client))) as origin:
        # A lazy app, as Django's, reads its routes at the first request.
        ask(origin, "GET", PATH)
        yield origin


@pytest.mark.parametrize("fn", ["async", "plain"])
def test_the_call_is_handed_to_the_function_and_its_output_answered(served: Served, fn: str) -> None:
    status, headers, body = served.call(fn)
    data = {"café": ["ü", {"a": 2, "b": 1}], "total": 3}
    assert (status, body) == (200, [data, "01E", 1_700_000_000_000, "01R", 2, 5])
    assert headers["content-type"] == "application/json"
    assert headers["x-service-sdk"] == "py:v0.1.0"
    assert headers["x-service-req-version"] == "2"
    assert headers["x-service-framework"] == served.framework
    assert "x-service-no-retry" not in headers


def test_what_a_function_raises_is_answered_with_whether_to_retry(served: Served) -> None:
    status, headers, body = served.call("stolen")
    assert (status, headers["x-service-no-retry"]) == (400, "true")
    assert (body["name"], body["message"]) == ("NonRetriableError", "The card is stolen")
    status, headers, body = served.call("busy")
    assert (status, headers["x-service-no-retry"], headers["retry-after"]) == (500, "false", "2")
    status, headers, body = served.call("odd")
    assert (status, headers["x-service-no-retry"]) == (500, "false")
    assert "type set" in body["message"]


def test_a_function_that_is_not_there_is_named(served: Served) -> None:
    status, headers, body = served.call("gone")
    assert (status, headers["x-service-no-retry"]) == (500, "false")
    assert '"shop-gone"' in body["message"]


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"event":', b"", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_call_is_refused(served: Served, body: bytes) -> None:
    assert served.call("plain", body)[0] == 400


def test_a_body_far_larger_than_any_call_is_refused(served: Served) -> None:
    assert served.call("plain", b" " * (17 * 1_024 * 1_024))[0] == 413


def test_a_call_of_four_mebibytes_is_taken(served: Served) -> None:
    assert served.call("plain", CALL + b" " * (4 * 1_024 * 1_024))[0] == 200


def test_a_call_that_the_service_has_signed_is_run(served: Served) -> None:
    assert served.call("plain", signature=_sign(CALL, 240), mode="cloud")[0] == 200


@pytest.mark.parametrize(
    ("why", "signature"),
    [
        ("not signed", lambda: None),
        ("cannot be read", lambda: "hello"),
        ("wrong", lambda: _sign(CALL)[:-2]),
        ("wrong", lambda: _sign(CALL + b" ")),
        ("older than 5 minutes", lambda: _sign(CALL, 302)),
    ],
)
def test_a_call_without_a_sound_signature_is_not(served: Served, why: str, signature: Any) -> None:
    status, headers, body = served.call("plain", signature=signature(), mode="cloud")
    assert (status, headers["x-service-sdk"]) == (401, "py:v0.1.0")
    assert why in body["message"]


@pytest.mark.parametrize(("path", "status"), [("plain", 200), ("reading", 401)])
def test_a_recorded_call_is_of_no_use_for_another_function(path: str, status: int) -> None:
    handler = tidegate.Handler(signed, _functions(signed))
    headers = _signatures(f"{PATH}?fnId=shop-plain&stepId=step", CALL)
    url = f"{PATH}?fnId=shop-{path}&stepId=step"
    answer = handler.answer(tidegate.AppRequest(method="POST", url=url, headers=headers, body=CALL))
    assert answer.status == status
    stripped = {"X-Service-Signature": headers["X-Service-Signature"]}
    answer = handler.answer(tidegate.AppRequest(method="POST", url=url, headers=stripped, body=CALL))
    assert (answer.status, "URL is not signed" in answer.body) == (401, True)


def test_a_get_tells_how_many_functions_there_are_and_nothing_secret(served: Served) -> None:
    status, _, body = served.ask("GET", mode="cloud")
    assert (status, body) == (200, {"function_count": 5, "mode": "cloud", "framework": served.framework})


def test_other_methods_are_answered_405(served: Served) -> None:
    status, headers, _ = served.ask("DELETE")
    assert (status, headers["allow"]) == (405, "GET, PUT, POST")


def test_other_paths_are_left_alone(served: Served) -> None:
    assert ask(served.origins["dev"], "GET", "/elsewhere")[0] == 404


@pytest.mark.parametrize("name", HOSTS)
def test_registering_tells_the_service_where_the_app_is(name: str) -> None:
    with played_service(Reply(body={"ok": True, "modified": True})) as service:
        client = Tidegate("shop", is_dev=True, base_url=service.url)
        host = HOSTS[name]
        with client, _hosting(host, client) as origin:
            status, _, text = ask(origin, "PUT", f"{PATH}?x=y")
            assert (status, json.loads(text)) == (200, {"message": "Registered", "modified": True})
        (asked,) = service.requests
        assert asked.json["url"] == f"{origin}{PATH}"
        assert asked.json["framework"] == asked.headers["x-service-framework"] == host.framework


def test_the_response_to_a_registration_tells_what_does_not_work_as_configured() -> None:
    problems = [{"id": "shop-plain", "problems": ["retries: 99 count as 20"]}]
    unsupported = [{"function": "shop-plain", "field": "throttle.smooth", "message": "the service ignores it"}]
    body = {"ok": True, "modified": True, "functions": problems, "unsupported": unsupported, "more": 1}
    with played_service(Reply(body=body)) as service:
        client = Tidegate("shop", is_dev=True, base_url=service.url)
        request = tidegate.AppRequest(method="PUT", url=PATH, headers={"host": "127.0.0.1:3000"})
        with client:
            answer = tidegate.Handler(client, _functions(client)).answer(request)
    told = {"message": "Registered", "modified": True, "functions": problems, "unsupported": unsupported}
    assert (answer.status, json.loads(answer.body)) == (200, told)


def test_a_mounted_app_knows_its_whole_path() -> None:
    with played_service(Reply(body={"ok": True})) as service:
        client = Tidegate("shop", is_dev=True, base_url=service.url)
        app = Starlette()
        app.mount("/deep", tidegate.asgi.serve(client, _functions(client)))
        with client, asgi_host(app) as origin:
            assert ask(origin, "PUT", "/deep/r%C3%A4ume")[0] == 200
        assert service.requests[0].json["url"] == f"{origin}/deep/r%C3%A4ume"


def test_a_body_that_was_parsed_is_checked_by_its_canonical_form() -> None:
    handler = tidegate.Handler(signed, _functions(signed))
    canonical = json.dumps(json.loads(CALL), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    request = tidegate.AppRequest(
        method="POST",
        url=f"{PATH}?fnId=shop-plain&stepId=step",
        headers=_signatures(f"{PATH}?fnId=shop-plain&stepId=step", canonical),
        body=dict(reversed(json.loads(CALL).items())),
    )
    assert handler.answer(request).status == 200


def test_a_plain_function_runs_in_the_request_s_own_thread_on_wsgi() -> None:
    threads: list[int] = []

    @dev.create_function(id="fn", trigger="order/paid")
    def fn(ctx: SyncContext) -> bool:
        return threading.get_ident() == threads[0]

    app = tidegate.wsgi.serve(dev, [fn])

    def remembering(environ: Any, start_response: Any) -> Any:
        threads.append(threading.get_ident())
        return app(environ, start_response)

    with wsgi_host(remembering) as origin:
        assert ask(origin, "POST", "/?fnId=shop-fn&stepId=step", {}, CALL)[2] == b"true"


def test_what_did_not_fit_into_a_call_is_fetched_with_a_proof() -> None:
    trimmed = b'{"ctx":{"run_id":"01R"},"use_api":true}'
    with played_service(Reply(body=[json.loads(EVENT)]), Reply(body={})) as service:
        client = Tidegate("shop", is_dev=False, base_url=service.url, signing_key=KEY)
        handler = tidegate.Handler(client, _functions(client))
        with client:
            url = f"{PATH}?fnId=shop-plain&stepId=step"
            headers = _signatures(url, trimmed)
            answer = handler.answer(tidegate.AppRequest(method="POST", url=url, headers=headers, body=trimmed))
        assert answer.status == 200
        assert [asked.path for asked in service.requests] == ["/v0/runs/01R/batch", "/v0/runs/01R/actions"]
        proof = hashlib.sha256(bytes.fromhex("0123456789abcdef")).hexdigest()
        assert service.requests[0].headers["authorization"] == f"Bearer signkey-test-{proof}"


def test_functions_with_one_id_or_of_another_app_are_refused() -> None:
    fn = _functions(dev)[0]
    with pytest.raises(ConfigError, match="same id"):
        tidegate.Handler(dev, [fn, fn])
    with pytest.raises(ConfigError, match='of the app "shop", not "other"'):
        tidegate.Handler(Tidegate("other"), [fn])


def _signatures(url: str, body: bytes) -> dict[str, str]:
    signature = _sign(body)
    return {"X-Service-Signature": signature, "X-Service-Signature-Url": _sign_url(url, body, signature)}


def _sign_url(url: str, body: bytes, signature: str) -> str:
    query = parse_qs(url.partition("?")[2])
    named = f"url\n{query['fnId'][0]}\n{query['stepId'][0]}\n".encode()
    at = signature.partition("&")[0].removeprefix("t=").encode()
    return hmac.new(b"0123456789abcdef", named + body + at, "sha256").hexdigest()


def _sign(body: bytes, age_seconds: int = 0) -> str:
    at = int(time.time()) - age_seconds
    return f"t={at}&s={hmac.new(b'0123456789abcdef', body + str(at).encode(), 'sha256').hexdigest()}"
