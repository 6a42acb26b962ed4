"""Messages name SERVICE_DEV and the port where these may be what is wrong."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from support.calls import call_request
from support.played_service import Reply, played_service
from tidegate import AppRequest, ConfigError, Handler, SendError, SyncContext, Tidegate
from tidegate._clock import RealClock
from tidegate._transport_httpx import HttpxTransport
from tidegate._transport_urllib import UrllibTransport

EVENT = {"name": "a", "data": {}}
TRANSPORTS = {"httpx": HttpxTransport, "urllib": UrllibTransport}
PRODUCTION: Any = {"is_dev": False, "event_key": "k", "signing_key": "signkey-test-0123456789abcdef"}


@pytest.fixture
def closed_port() -> int:
    """Nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RealClock, "random", lambda _: 0.0)


def _sent(client: Tidegate, way: str) -> str:
    """The message with which a send fails."""

    async def send() -> list[str]:
        async with client:
            return await client.send(EVENT)

    with pytest.raises((SendError, ConfigError)) as raised:
        asyncio.run(send()) if way == "async" else client.send_sync(EVENT)
    client.close()
    return str(raised.value)


def _registered(client: Tidegate, way: str, serve_origin: str | None = "https://shop.example") -> str:
    """The response to a registration."""
    handler = Handler(client, [_function(client)], serve_origin=serve_origin)
    request = AppRequest(method="PUT", url="/api/service", headers={"host": "127.0.0.1"})
    answer = asyncio.run(handler.answer_async(request)) if way == "async" else handler.answer(request)
    assert answer.status == 500
    return answer.body


def _function(client: Tidegate) -> Any:
    @client.create_function(id="fn", trigger="a")
    def fn(ctx: SyncContext) -> None: ...

    return fn


@pytest.mark.parametrize("way", ["async", "plain"])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_when_nobody_listens_at_the_address_of_a_service_in_dev_mode(
    way: str, transport: str, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_DEV", f"http://127.0.0.1:{closed_port}")
    for message in (
        _sent(Tidegate("shop", transport=TRANSPORTS[transport]()), way),
        _registered(Tidegate("shop", transport=TRANSPORTS[transport]()), way),
    ):
        for words in (f"http://127.0.0.1:{closed_port} could not be reached", "Is it started", "8288", "SERVICE_DEV"):
            assert words in message


def test_when_service_dev_is_not_set_and_nothing_else_is() -> None:
    for message, variable in (
        (_sent(Tidegate("shop"), "plain"), "SERVICE_BASE_URL"),
        (_registered(Tidegate("shop"), "plain", serve_origin=None), "SERVICE_SERVE_ORIGIN"),
        (_registered(Tidegate("shop"), "plain"), "SERVICE_SIGNING_KEY"),
    ):
        for words in (variable, "SERVICE_DEV=1", "8288"):
            assert words in message


def test_when_an_app_in_production_mode_is_refused() -> None:
    with played_service(Reply(401, {"error": "The key is unknown."})) as service:
        client = Tidegate("shop", base_url=service.url, **PRODUCTION)
        for message in (_sent(client, "plain"), _registered(client, "plain")):
            for words in ("The key is unknown. This app is in production mode", "SERVICE_DEV=1", "8288"):
                assert words in message
        with pytest.raises(SendError, match="SERVICE_DEV=1"):
            client.send_signal_sync("go")


def test_when_an_app_in_dev_mode_is_refused() -> None:
    with played_service(Reply(401, {"error": "The key is unknown"})) as service:
        client = Tidegate("shop", is_dev=True, base_url=service.url)
        for message in (_sent(client, "plain"), _registered(client, "plain")):
            assert "The key is unknown. SERVICE_DEV is set" in message
            assert "unset it" in message


def test_when_a_service_in_dev_mode_calls_an_app_in_production_mode() -> None:
    client = Tidegate("shop", **PRODUCTION)
    fn = _function(client)
    answer = Handler(client, [fn]).answer(call_request(fn))
    assert answer.status == 401
    for words in ("not signed", "SERVICE_DEV=1"):
        assert words in answer.body


def test_other_refusals_and_failures_have_no_hint() -> None:
    with played_service(Reply(403, {"error": "No."}), Reply(hang_up=True)) as service:
        client = Tidegate("shop", is_dev=True, base_url=service.url)
        assert _sent(client, "plain") == "No."
        assert "SERVICE_DEV" not in _sent(client, "plain")
