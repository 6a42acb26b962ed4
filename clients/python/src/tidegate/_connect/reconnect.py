"""Keeps an app connected: one WebSocket after another, until it is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeAlias

from .._settings import Settings
from ..errors import ConfigError, ConnectError, ServeError
from .backoff import backoff_seconds, jitter_seconds
from .calls import CallsInFlight
from .frames import Frame
from .socket import GatewaySocket, open_socket

ConnectionState: TypeAlias = Literal["connecting", "ready", "reconnecting", "closing", "closed"]
"""`connecting` at first; `ready` for calls; `reconnecting` after a break; `closing` while the last calls end;
`closed`."""


class ReconnectingConnection:
    def __init__(
        self,
        calls: CallsInFlight,
        settings: Callable[[], Settings],
        instance: dict[str, Any],
        on_state: Callable[[ConnectionState], None],
    ) -> None:
        """`instance` is the part of the first message that says who connects."""
        self._calls = calls
        self._settings = settings
        self._instance = instance
        self._on_state = on_state
        self._socket: GatewaySocket | None = None
        self._reconnecting: asyncio.Task[None] | None = None
        self._last_trouble: str | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.state: ConnectionState = "connecting"

    async def start(self) -> None:
        """Until the app gets calls. Raises ConnectError, ConfigError."""
        self._tell(self.state)
        await self._connect()

    async def close(self) -> None:
        """Takes no more calls, and waits until all calls in flight have ended and the connection is closed."""
        if self.state == "closed":
            return
        self._become("closing")
        if self._socket:
            self._socket.send("workerPause", {})
        await self._calls.idle()
        if self._reconnecting:
            self._reconnecting.cancel()
        self._calls.use(None)
        socket, self._socket = self._socket, None
        if socket:
            await socket.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._become("closed")

    async def _connect(self) -> None:
        tries = 0
        while self._socket is None or self._socket.is_leaving:
            await self._try_to_connect(tries)
            tries += 1

    async def _try_to_connect(self, tries: int) -> None:
        """Raises ConnectError, ConfigError: a refusal ends the start."""
        try:
            socket = await open_socket(self._settings(), self._instance)
        except (ConnectError, ConfigError, ServeError) as error:
            passes = error.passes if isinstance(error, ConnectError) else isinstance(error, ServeError)
            if self.state == "connecting" and not passes:
                raise
            self._warn(str(error))
            await asyncio.sleep(backoff_seconds(tries))
        else:
            self._use(socket)

    def _use(self, socket: GatewaySocket) -> None:
        former, self._socket = self._socket, socket
        # The leases first: calls in flight then count before the gateway sends others.
        self._calls.use(socket)
        if self.state != "closing":
            socket.send("workerReady", {})
            if self._last_trouble is not None:
                self._settings().logger.info("Connected to the service again")
            self._last_trouble = None
            self._become("ready")
        self._begin(self._read(socket))
        if former:
            self._begin(former.close())

    async def _read(self, socket: GatewaySocket) -> None:
        reason = await socket.read(lambda frame: self._receive(frame, socket))
        if socket is not self._socket:
            return
        self._socket = None
        self._calls.use(None)
        if self.state == "ready":
            self._become("reconnecting")
        self._warn(f"The connection to the service has ended: {reason}")
        self._reconnect()

    def _receive(self, frame: Frame, socket: GatewaySocket) -> None:
        if frame.kind == "gatewayClosing":
            socket.is_leaving = True
            self._reconnect()
        else:
            self._calls.receive(frame, socket)

    def _reconnect(self) -> None:
        if self._reconnecting is None or self._reconnecting.done():
            self._reconnecting = self._begin(self._connect_again())

    async def _connect_again(self) -> None:
        """The instances of a gateway do not all come at once."""
        await asyncio.sleep(jitter_seconds())
        await self._connect()

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _become(self, state: ConnectionState) -> None:
        if state != self.state:
            self.state = state
            self._tell(state)

    def _tell(self, state: ConnectionState) -> None:
        try:
            self._on_state(state)
        except Exception:
            self._settings().logger.exception("on_state has failed")

    def _warn(self, message: str) -> None:
        """The same trouble once."""
        if message != self._last_trouble:
            self._last_trouble = message
            self._settings().logger.warning(message)
