"""One WebSocket to a gateway of the service, from the request for its address to its close."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

try:
    from websockets.asyncio.client import ClientConnection
    from websockets.asyncio.client import connect as open_websocket
    from websockets.exceptions import ConnectionClosed, WebSocketException
    from websockets.typing import Subprotocol
except ImportError as error:
    raise ImportError('connect() needs the package websockets: pip install "tidegate[connect]"') from error

from .. import _hints as hints
from .._effects import drive_async
from .._json import parse_object
from .._service import ask_service
from .._settings import Settings
from .._transport import is_loopback, reason_of
from ..errors import ConnectError
from .frames import SUBPROTOCOL, Frame, frame_text, read_frame

_HANDSHAKE_TIMEOUT_SECONDS = 15.0
_CLOSE_TIMEOUT_SECONDS = 1.0
_SILENT_INTERVALS = 3.5
"""Number of intervals without a message after which the connection is considered lost."""


class GatewaySocket:
    """Registered with the gateway; it gets calls after `workerReady`."""

    def __init__(self, websocket: ClientConnection, intervals: dict[str, Any]) -> None:
        self._websocket = websocket
        self._unsent: asyncio.Queue[str] = asyncio.Queue()
        self._heartbeat_seconds = _seconds(intervals.get("heartbeatInterval"))
        self._heard_at = asyncio.get_running_loop().time()
        self._lost: str | None = None
        self.extend_lease_seconds = _seconds(intervals.get("extendLeaseInterval"))
        self.is_leaving = False
        """Whether its gateway shuts down."""

    def send(self, kind: str, payload: dict[str, Any]) -> None:
        """A frame that cannot be sent is lost: calls that need a confirmation send it again later."""
        self._unsent.put_nowait(frame_text(kind, payload))

    async def read(self, on_frame: Callable[[Frame], None]) -> str:
        """Reads and writes until it is closed. Comes to the reason."""
        beside = [asyncio.create_task(work()) for work in (self._write, self._beat)]
        try:
            async for text in self._websocket:
                self._heard_at = asyncio.get_running_loop().time()
                if isinstance(text, str):
                    on_frame(read_frame(text))
        except ConnectionClosed:
            pass
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
        return self._lost or _reason_of_close(self._websocket)

    async def close(self) -> None:
        """Set once all frames are sent."""
        if self._websocket.close_code is None:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._unsent.join(), _CLOSE_TIMEOUT_SECONDS)
        await self._websocket.close()

    async def _write(self) -> None:
        while True:
            text = await self._unsent.get()
            with suppress(ConnectionClosed):
                await self._websocket.send(text)
            self._unsent.task_done()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat_seconds)
            if asyncio.get_running_loop().time() - self._heard_at > _SILENT_INTERVALS * self._heartbeat_seconds:
                self._lost = "the gateway is silent"
                await self._websocket.close()
                return
            self.send("workerHeartbeat", {})


async def open_socket(settings: Settings, instance: dict[str, Any]) -> GatewaySocket:
    """`instance` is the part of the first message that says who connects.

    Raises ConnectError, ConfigError; ServeError when the service cannot be reached.
    """
    started = await _start(settings)
    endpoint = str(started.get("gatewayEndpoint"))
    failed = f"The connection to {endpoint} has failed"
    opening = _open(endpoint, started, instance)
    try:
        return await asyncio.wait_for(opening, _HANDSHAKE_TIMEOUT_SECONDS)
    except asyncio.TimeoutError as error:
        raise ConnectError(f"{failed}: the gateway does not answer") from error
    except (OSError, ValueError, WebSocketException) as error:
        raise ConnectError(f"{failed}: {reason_of(error)}") from error


async def _open(endpoint: str, started: dict[str, Any], instance: dict[str, Any]) -> GatewaySocket:
    websocket = await open_websocket(
        endpoint,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        compression=None,
        proxy=None if is_loopback(urlsplit(endpoint).hostname or "") else True,
        open_timeout=None,
        close_timeout=_CLOSE_TIMEOUT_SECONDS,
        # There are heartbeats.
        ping_interval=None,
        # The service bounds its calls.
        max_size=None,
    )
    try:
        return GatewaySocket(websocket, await _greet(websocket, endpoint, started, instance))
    except BaseException:
        await websocket.close()
        raise


async def _greet(
    websocket: ClientConnection, endpoint: str, started: dict[str, Any], instance: dict[str, Any]
) -> dict[str, Any]:
    """Comes to the gateway's intervals."""
    token, refusal = started.get("sessionToken"), None
    async for text in websocket:
        frame = read_frame(str(text))
        if frame.kind == "gatewayHello":
            proof = {"sessionToken": token, "syncToken": token}
            who = {**instance, "connectionId": started.get("connectionId"), "authData": proof}
            await websocket.send(frame_text("workerConnect", {**who, "workerManualReadinessAck": True}))
        elif frame.kind == "syncFailed":
            message = f"The service refused the connection: {frame.payload.get('message')}"
            refusal = ConnectError(message, frame.payload.get("code"))
            break
        elif frame.kind == "gatewayConnectionReady":
            return frame.payload
    raise refusal or ConnectError(f"The connection to {endpoint} has failed: {_reason_of_close(websocket)}")


async def _start(settings: Settings) -> dict[str, Any]:
    fields = {"content-type": "application/json"}
    response = await drive_async(ask_service("POST", "/v0/connect/start", settings, fields=fields, body=b"{}"))
    answer = parse_object(response.body)
    if response.ok:
        return answer
    error, code = answer.get("error"), answer.get("code")
    reason = error if isinstance(error, str) else f"it answered {response.status}"
    message = f"The service at {settings.base_url} refused the connection: {reason}"
    raise ConnectError(hints.refused(settings, message, response.status), code if isinstance(code, str) else None)


def _reason_of_close(websocket: ClientConnection) -> str:
    return f"{websocket.close_code} {websocket.close_reason or ''}".strip()


def _seconds(interval: Any) -> float:
    """Seconds of a text such as "10s"."""
    return float(str(interval).removesuffix("s"))
