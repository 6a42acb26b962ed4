"""Features of the Python client alone: events, transports, time-outs, cancelling. Conformance cases have the rest."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from support.played_service import PlayedService, Reply, played_service
from tidegate import ConfigError, Event, HttpRequest, HttpResponse, SendError, Tidegate, Transport, TransportError
from tidegate._clock import RealClock
from tidegate._effects import drive, drive_async
from tidegate._send import send_events
from tidegate._transport_httpx import HttpxTransport
from tidegate._transport_urllib import UrllibTransport

SENT = Reply(body={"ids": ["01A"], "status": 200})
TRANSPORTS: dict[str, Callable[[], Transport]] = {"httpx": HttpxTransport, "urllib": UrllibTransport}
WAYS = ["async", "plain"]

EVENT = Event(name="a", data={})


class Recording:
    """A transport that keeps what it was asked, and answers."""

    def __init__(self) -> None:
        self.requests: list[HttpRequest] = []

    def send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        return HttpResponse(status=200, body=b'{"ids":["01A"]}')

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        return self.send(request)

    def close(self) -> None: ...

    async def aclose(self) -> None: ...

    @property
    def sent(self) -> Any:
        return json.loads(self.requests[-1].body or b"")


class Hurried(RealClock):
    """Takes no time, and keeps how long it should have taken."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    def random(self) -> float:
        return 1

    def sleep(self, seconds: float) -> None:
        self.delays.append(seconds)

    async def sleep_async(self, seconds: float) -> None:
        self.delays.append(seconds)


class Order(BaseModel):
    id: str
    at: datetime


@dataclasses.dataclass
class Line:
    sku: str
    count: int = 1


def _send(client: Tidegate, way: str, events: Any = EVENT, **options: Any) -> list[str]:
    async def send() -> list[str]:
        async with client:
            return await client.send(events, **options)

    if way == "async":
        return asyncio.run(send())
    with client:
        return client.send_sync(events, **options)


def test_an_event_is_sent_as_the_fields_that_it_has() -> None:
    transport = Recording()
    client = Tidegate("shop", is_dev=True, transport=transport)
    moment = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    client.send_sync(Event(name="a", data={"n": (1, 2)}, id="x", ts=moment, user={"id": 1}, v="2"))
    everything = {"name": "a", "data": {"n": [1, 2]}, "id": "x", "ts": 1_767_225_600_000, "user": {"id": 1}, "v": "2"}
    assert transport.sent == [everything]
    client.send_sync([EVENT, {"name": "b", "data": {}, "id": None}])
    assert transport.sent == [{"name": "a", "data": {}}, {"name": "b", "data": {}}]


def test_data_may_be_a_pydantic_model_or_a_dataclass() -> None:
    transport = Recording()
    client = Tidegate("shop", is_dev=True, transport=transport)
    order = Order(id="7", at=datetime(2026, 1, 1, tzinfo=timezone.utc))
    client.send_sync([Event(name="a", data=order), Event(name="b", data=Line("x"))])
    assert [event["data"] for event in transport.sent] == [
        {"id": "7", "at": "2026-01-01T00:00:00Z"},
        {"sku": "x", "count": 1},
    ]
    client.send_sync({"name": "a", "data": {"lines": [Line("y", 2)]}})
    assert transport.sent[0]["data"] == {"lines": [{"sku": "y", "count": 2}]}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Event(name="a", data={"n": float("nan")}), 'Event 1 ("a"): data.n is nan, which is not JSON'),
        (Event(name="a", data={"deep": [{"tags": {1}}]}), 'Event 1 ("a"): data.deep[0].tags is of the type set'),
        (Event(name="a", data={"at": datetime(2026, 1, 1)}), "data.at is of the type datetime"),
        (Event(name="a", data={1: 2}), "data has the key 1; keys in JSON are strings"),  # type: ignore[dict-item]
        (
            Event(name="a", data={}, ts=datetime(2026, 1, 1)),
            'Event 1 ("a"): ts: datetime.datetime(2026, 1, 1, 0, 0) has',
        ),
        ("order/paid", "Event 1 is a str; it must be a tidegate.Event or a mapping"),
    ],
)
def test_what_is_no_json_is_refused_by_name_and_nothing_is_sent(event: Any, words: str) -> None:
    transport = Recording()
    client = Tidegate("shop", is_dev=True, transport=transport)
    with pytest.raises(TypeError) as raised:
        client.send_sync([EVENT, event])
    assert words in str(raised.value)
    assert transport.requests == []


def test_what_contains_itself_is_no_json() -> None:
    data: dict[str, Any] = {}
    data["self"] = data
    with pytest.raises(TypeError, match="contains itself"):
        Tidegate("shop", is_dev=True, transport=Recording()).send_sync({"name": "a", "data": data})


def test_half_a_surrogate_pair_is_sent_as_an_escape() -> None:
    transport = Recording()
    Tidegate("shop", is_dev=True, transport=transport).send_sync({"name": "a", "data": {"t": "\ud83d 🌊"}})
    assert b'"\\ud83d \xf0\x9f\x8c\x8a"' in (transport.requests[0].body or b"")


def test_send_many_sends_a_list_in_both_ways() -> None:
    transport = Recording()
    client = Tidegate("shop", is_dev=True, transport=transport)
    assert client.send_many_sync([EVENT]) == asyncio.run(client.send_many([EVENT])) == ["01A"]
    assert client.send_many_sync([]) == []
    assert len(transport.requests) == 2


def test_settings_are_read_when_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = Recording()
    client = Tidegate("shop", transport=transport)
    with pytest.raises(ConfigError, match=r"no base URL: set SERVICE_BASE_URL \(or pass base_url"):
        client.send_sync(EVENT)
    monkeypatch.setenv("SERVICE_BASE_URL", "https://events.example/")
    monkeypatch.setenv("SERVICE_EVENT_KEY", "a/key")
    client.send_sync(EVENT)
    assert transport.requests[0].url == "https://events.example/e/a%2Fkey"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", TRANSPORTS)
class TestATransport:
    def test_posts_and_reads_the_response(self, kind: str, way: str) -> None:
        with _service(SENT) as (service, client):
            assert _send(client(kind), way) == ["01A"]
            assert service.requests[0].headers["x-service-sdk"] == "py:v0.1.0"

    def test_tries_again_when_the_connection_breaks_with_the_same_seed(self, kind: str, way: str) -> None:
        with _service(Reply(hang_up=True), SENT) as (service, client):
            assert _send(client(kind), way) == ["01A"]
            first, second = service.requests
            assert first.headers["x-service-event-id-seed"] == second.headers["x-service-event-id-seed"]

    def test_says_which_service_could_not_be_reached_without_telling_the_key(self, kind: str, way: str) -> None:
        with _service(SENT) as (service, _):
            gone = service.url
        client = Tidegate("shop", event_key="secret", is_dev=True, base_url=gone, transport=TRANSPORTS[kind]())
        sending = send_events([{"name": "a", "data": {}}], client.settings(), Hurried())
        with client, pytest.raises(SendError, match="could not be reached") as raised:
            asyncio.run(drive_async(sending)) if way == "async" else drive(sending)
        assert "secret" not in str(raised.value)
        assert isinstance(raised.value.__cause__, TransportError)

    def test_gives_up_when_the_time_of_the_send_is_up(self, kind: str, way: str) -> None:
        answer = threading.Event()
        with _service(Reply(wait_for=answer)) as (_, client):
            with pytest.raises(SendError) as raised:
                _send(client(kind), way, timeout=0.1)
            answer.set()
        assert (raised.value.code, str(raised.value)) == ("timeout", "The send was not done in time")

    def test_does_not_wait_for_a_try_that_would_be_too_late(self, kind: str, way: str) -> None:
        with _service(Reply(503, {"error": "busy"}, {"retry-after": "20"})) as (_, client):
            one = client(kind)
            with pytest.raises(SendError) as raised:
                _send(one, way, timeout=10)
        error = raised.value
        assert (error.code, error.status) == ("timeout", 503)
        assert str(error) == "The send was not done in time. Until then: busy"

    def test_does_not_follow_redirects(self, kind: str, way: str) -> None:
        with _service(Reply(307, {}, {"location": "/elsewhere"})) as (service, client):
            with pytest.raises(SendError, match="answered 307"):
                _send(client(kind), way)
            assert len(service.requests) == 1

    def test_reaches_a_service_on_this_machine_past_any_proxy(
        self, kind: str, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
        with _service(SENT) as (_, client):
            assert _send(client(kind), way) == ["01A"]

    def test_goes_through_the_proxy_of_the_environment_elsewhere(
        self, kind: str, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
            monkeypatch.delenv(name)
        with _service(SENT) as (service, _):
            monkeypatch.setenv("http_proxy", service.url)
            client = Tidegate("shop", is_dev=True, base_url="http://events.example", transport=TRANSPORTS[kind]())
            assert _send(client, way) == ["01A"]
            assert service.requests[0].path == "http://events.example/e/dev"

    def test_refuses_a_certificate_that_nobody_vouches_for(self, kind: str, way: str, tmp_path: Path) -> None:
        with _tls_listener(tmp_path) as url:
            client = Tidegate("shop", is_dev=True, base_url=url, transport=TRANSPORTS[kind]())
            request = HttpRequest(method="GET", url=url, headers={}, timeout=5)
            transport = client.settings().transport
            with pytest.raises(TransportError, match=r"(?i)certificate"):
                asyncio.run(transport.send_async(request)) if way == "async" else transport.send(request)


@pytest.mark.parametrize("kind", TRANSPORTS)
def test_cancelling_a_send_stops_it_at_once(kind: str) -> None:
    answer = threading.Event()

    async def run(client: Tidegate, asked: threading.Event) -> None:
        async with client:
            task = asyncio.create_task(client.send(EVENT))
            await asyncio.to_thread(asked.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with _service(Reply(wait_for=answer)) as (service, client):
        asyncio.run(run(client(kind), service.asked))
        assert not answer.is_set()
        answer.set()
        assert len(service.requests) == 1


def test_five_tries_take_as_long_as_the_backoff_says() -> None:
    clock = Hurried()
    with _service(Reply(500)) as (service, client):
        settings = client("httpx").settings()
        with pytest.raises(SendError):
            drive(send_events([{"name": "a", "data": {}}], settings, clock))
        settings.transport.close()
        assert len(service.requests) == 5
    assert clock.delays == [0.2, 0.4, 0.8, 1.6]


def test_a_client_works_again_after_it_was_closed() -> None:
    with _service(SENT) as (_, client):
        one = client("httpx")
        assert _send(one, "plain") == _send(one, "async") == _send(one, "plain") == ["01A"]


def test_without_httpx_the_standard_library_is_used() -> None:
    code = """
import sys
sys.modules["httpx"] = None
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "httpx" else find(name, *rest)
import tidegate
print(type(tidegate.Tidegate("shop", is_dev=True).settings().transport).__name__, *sorted(
    name for name in ("httpx", "pydantic", "fastapi", "flask", "django", "starlette") if sys.modules.get(name)))
"""
    source = Path(__file__).parents[1] / "src"
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert result.stdout == "UrllibTransport\n"


@contextmanager
def _service(*replies: Reply) -> Iterator[tuple[PlayedService, Callable[[str], Tidegate]]]:
    with played_service(*replies) as service:
        yield service, lambda kind: Tidegate("shop", is_dev=True, base_url=service.url, transport=TRANSPORTS[kind]())


@contextmanager
def _tls_listener(folder: Path) -> Iterator[str]:
    """With a certificate that it has signed itself."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=127.0.0.1"
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    command = [*make.split(), *names, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    started = threading.Event()
    address: list[Any] = []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0, ssl=context) as server:
            address.append(server.sockets[0].getsockname())
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    started.wait(10)
    try:
        yield f"https://127.0.0.1:{address[0][1]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
