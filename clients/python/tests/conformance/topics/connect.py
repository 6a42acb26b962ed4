"""An app that connects, and a gateway that is played by the case."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from support.played_service import Asked
from tidegate import ConfigError, ConnectError, __version__
from tidegate.connect import Connection, connect

from ..cases import Case, only
from ..match import Names
from ..settings import Flavour, client_of, function_of, set_environment
from ..wire import SDK, check_requests
from .served import CLIENT, call_request

FIELDS = ("client", "functions", "program", "connect", "talk", "states", "error")
_PATIENCE_SECONDS = 20.0
_JSON_TEXTS = ("functions", "body", "requestPayload")
"""Fields of a payload that are JSON in a text."""
_STATES = ["connecting", "ready", "closing", "closed"]
_ENDING = [{"app": "close"}, {"gets": "workerPause"}, {"closes": 1000}]

_FUNCTION = {
    "id": "shop-fn",
    "name": "fn",
    "triggers": [{"event": "order/paid"}],
    "steps": {"step": {"id": "step", "name": "step", "runtime": {"type": "ws"}, "retries": {"attempts": 4}}},
}


def check_connect(case: Case, flavour: Flavour, _: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment({}, monkeypatch)
    asyncio.run(_check(case, flavour))


async def _check(case: Case, flavour: Flavour) -> None:
    functions = case.get("functions") or [
        {"id": "fn", "triggers": [{"event": "order/paid"}], "program": case.get("program", [])}
    ]
    states: list[str] = []
    async with _played_gateway() as gateway, client_of(gateway.names.fill(case.get("client", CLIENT))) as client:
        options = case.get("connect", {})
        only(options, ("max_concurrency", "instance_id", "app_version"))
        hosted = [function_of(client, fn, flavour) for fn in functions]
        connecting = asyncio.create_task(connect(client, hosted, on_state=states.append, **options))
        talk = case["talk"]
        if "error" in case:
            await gateway.play(talk, connecting)
            with pytest.raises((ConnectError, ConfigError)) as raised:
                await connecting
            error = {"code": getattr(raised.value, "code", None), "message": str(raised.value)}
            gateway.names.check(error, case["error"])
            return
        await gateway.play(talk if {"app": "close"} in talk else [*talk, *_ENDING], connecting)
        await gateway.closing
        assert states == case.get("states", _STATES)
        assert gateway.events.empty(), gateway.events


@dataclass
class _Request:
    asked: Asked
    reply: asyncio.Future[Any]


@dataclass
class _Gateway:
    names: Names
    events: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    """Requests, WebSockets that open, and their frames, as they come."""
    sockets: list[ServerConnection] = field(default_factory=list)
    """That are open. The last one is that of the talk."""
    closing: Any = None

    async def play(self, talk: Sequence[dict[str, Any]], connecting: asyncio.Task[Connection]) -> None:
        for entry in talk:
            for part in _expanded(entry):
                await asyncio.wait_for(self._play(part, connecting), _PATIENCE_SECONDS)

    async def _play(self, entry: dict[str, Any], connecting: asyncio.Task[Connection]) -> None:
        kind, value = next(iter(entry.items()))
        if kind == "request":
            only(entry, ("request", "reply"))
            request = await self._next(_Request)
            check_requests([_with_json(request.asked)], [value], self.names)
            request.reply.set_result(self.names.fill(entry["reply"]))
        elif kind == "opens":
            only(entry, ("opens",))
            socket = await self._next(ServerConnection)
            assert socket.subprotocol == value
            self.sockets.append(socket)
        elif kind == "gets":
            frame = json.loads(await self._next(str))
            self._check_frame(frame, entry)
        elif kind == "sends":
            await self.sockets[-1].send(json.dumps({"kind": value, "payload": _payload(entry)}))
        elif kind == "cuts":
            only(entry, ("cuts",))
            self.sockets.pop().transport.abort()
        elif kind == "ends":
            only(entry, ("ends", "reason"))
            await self.sockets.pop().close(value, entry["reason"])
        elif kind == "closes":
            only(entry, ("closes",))
            socket = self.sockets.pop(0)
            await socket.wait_closed()
            assert socket.close_code == value
        else:
            only(entry, ("app",))
            self.closing = asyncio.create_task((await connecting).close())

    async def _next(self, kind: type[Any]) -> Any:
        event = await self.events.get()
        assert isinstance(event, kind), f"{event} is no {kind}"
        return event

    def _check_frame(self, frame: dict[str, Any], expected: dict[str, Any]) -> None:
        only(frame, ("kind", "payload"))
        payload = _read_texts(frame["payload"])
        assert frame["kind"] == expected["gets"], frame
        wanted = {name: value for name, value in expected.items() if name != "gets"}
        if "steps" in wanted:
            payload["steps"] = _names_of(payload.pop("body"))
        self.names.check(payload, wanted, "payload")


def _expanded(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The short forms."""
    kind = next(iter(entry))
    if kind in ("starts", "connects"):
        yield from _handshake(kind, entry[kind])
    elif kind == "calls":
        only(entry, ("calls", "lease", "function", "call"))
        named = {"requestId": entry["calls"], "leaseId": entry["lease"]}
        slug = entry.get("function", "shop-fn")
        yield {"sends": "gatewayExecutorRequest", **named, "functionSlug": slug, "call": entry["call"]}
        yield {"gets": "workerRequestAck", "requestId": entry["calls"]}
    elif kind == "replies":
        rest = {name: value for name, value in entry.items() if name != "replies"}
        yield {"gets": "workerReply", "requestId": entry["replies"], "noRetry": False, "sdkVersion": SDK, **rest}
    else:
        yield entry


def _handshake(kind: str, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    only(given, ("headers", "heartbeatInterval", "extendLeaseInterval"))
    intervals = {"heartbeatInterval": "10s", "extendLeaseInterval": "5s", **given}
    headers = intervals.pop("headers", {})
    started = {"connectionId": "01CONNECTION", "gatewayEndpoint": "{{gateway}}", "sessionToken": "once"}
    request = {"method": "POST", "path": "/v0/connect/start", "body": {}, "headers": headers}
    yield {"request": request, "reply": {"status": 200, "body": started}}
    yield {"opens": "v1.connect.tidegate"}
    yield {"sends": "gatewayHello"}
    yield {
        "gets": "workerConnect",
        "instanceId": "{{any}}",
        "apps": [{"appName": "shop", "functions": [_FUNCTION]}],
        "framework": "connect",
        "sdkLanguage": "{{language}}",
        "sdkVersion": "{{version}}",
        "connectionId": "01CONNECTION",
        "authData": {"sessionToken": "once", "syncToken": "once"},
        "workerManualReadinessAck": True,
    }
    if kind == "connects":
        yield {"sends": "gatewayConnectionReady", **intervals}


def _payload(entry: dict[str, Any]) -> dict[str, Any]:
    payload = {name: value for name, value in entry.items() if name not in ("sends", "call")}
    if "call" in entry:
        request = call_request(entry["call"])
        payload["stepId"] = request["body"]["ctx"]["step_id"]
        payload["requestPayload"] = json.dumps(request["body"])
    return payload


def _read_texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_read_texts(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: json.loads(item) if name in _JSON_TEXTS and isinstance(item, str) else _read_texts(item)
        for name, item in value.items()
    }


def _names_of(body: Any) -> list[str]:
    """The names of the operations of a reply or a checkpoint."""
    if isinstance(body, list):
        return [op["displayName"] for op in body]
    only(body, ("run_id", "fn_id", "qi_id", "steps"))
    assert (body["fn_id"], body["qi_id"]) == ("01FUNCTION", "01EXECUTION")
    return [op["displayName"] for op in body["steps"]]


def _with_json(asked: Asked) -> Asked:
    body = json.dumps(_read_texts(json.loads(asked.body))).encode()
    return Asked(asked.method, asked.path, asked.headers, body)


@asynccontextmanager
async def _played_gateway() -> AsyncIterator[_Gateway]:
    gateway = _Gateway(Names(sdk=SDK, language="py", version=f"v{__version__}"))

    async def receive(socket: ServerConnection) -> None:
        gateway.events.put_nowait(socket)
        try:
            async for text in socket:
                gateway.events.put_nowait(text)
        except ConnectionClosed:
            return

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
        method, path, _ = head[0].split(" ")
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        gateway.events.put_nowait(_Request(Asked(method, path, headers, body), reply))
        given = await reply
        if given != "hang up":
            text = json.dumps(given["body"]).encode()
            fields = f"content-length: {len(text)}\r\nconnection: close"
            writer.write(f"HTTP/1.1 {given['status']} OK\r\n{fields}\r\n\r\n".encode() + text)
        writer.close()

    requests = await asyncio.start_server(answer, "127.0.0.1", 0)
    sockets = await serve(
        receive,
        "127.0.0.1",
        0,
        subprotocols=[Subprotocol("v1.connect.tidegate")],
        ping_interval=None,
        close_timeout=1,
    )
    gateway.names.known["service"] = f"http://127.0.0.1:{requests.sockets[0].getsockname()[1]}"
    gateway.names.known["gateway"] = f"ws://127.0.0.1:{next(iter(sockets.sockets)).getsockname()[1]}"
    async with requests, sockets:
        yield gateway
