"""The calls that an instance is working on.

They outlive a connection: after a break they go on over the next one, and a reply that no connection confirms is sent
by a request.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from .._app_calls import AppCalls, refusal
from .._checkpoints import SendCheckpoint
from .._effects import does, drive_async
from .._json import write
from .._service import ask_service
from .._settings import Settings
from ..errors import ConfigError, ServeError
from .backoff import backoff_seconds
from .frames import Frame, reply_of
from .socket import GatewaySocket

_CONFIRM_SECONDS = 5.0
"""A connection confirms a reply within this time, or a request brings it."""
_STORE_TIMEOUT_SECONDS = 10.0
_SUPERSEDED = 409
_UNANSWERED = 504
"""Statuses of a checkpoint without a response: the call ends with its steps."""
_FLUSH_SECONDS = 300.0
"""The service keeps a call without a lease no longer."""
_TRY_TIMEOUT_SECONDS = 10.0


@dataclass
class _CallInFlight:
    request: dict[str, Any]
    is_lost: bool = False
    """The service has given it to another instance, or counts it as failed."""
    reply: dict[str, Any] | None = None
    confirmed: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class _PendingCheckpoint:
    payload: dict[str, Any]
    status: asyncio.Future[int]


@dataclass(frozen=True)
class _InLoop:
    """The effect of work in the connection's event loop: async functions run in it, plain ones in threads."""

    work: Callable[[], Coroutine[Any, Any, int]]
    loop: asyncio.AbstractEventLoop

    def perform(self) -> int:
        return asyncio.run_coroutine_threadsafe(self.work(), self.loop).result()

    async def perform_async(self) -> int:
        return await self.work()


class CallsInFlight:
    def __init__(self, app: AppCalls, settings: Callable[[], Settings]) -> None:
        self._app = app
        self._settings = settings
        self._calls: dict[str, _CallInFlight] = {}
        self._checkpoints: dict[str, _PendingCheckpoint] = {}
        self._socket: GatewaySocket | None = None
        self._extending: asyncio.Task[None] | None = None
        self._working: set[asyncio.Task[None]] = set()
        self._last_checkpoint = 0

    async def idle(self) -> None:
        """Until no call is in flight."""
        while self._working:
            await asyncio.wait(self._working)

    def use(self, socket: GatewaySocket | None) -> None:
        """Continues over this connection; None: over no connection until there is another one."""
        if self._extending:
            self._extending.cancel()
            self._extending = None
        self._socket = socket
        if not socket:
            return
        self._extend_all()
        for call in self._calls.values():
            if call.reply:
                socket.send("workerReply", call.reply)
        for pending in self._checkpoints.values():
            socket.send("workerCheckpoint", pending.payload)
        self._extending = asyncio.create_task(self._keep_extending(socket))

    def receive(self, frame: Frame, socket: GatewaySocket) -> None:
        payload = frame.payload
        if frame.kind == "gatewayExecutorRequest":
            self._take(payload, socket)
        elif frame.kind == "workerRequestExtendLeaseAck":
            self._extended(payload)
        elif frame.kind == "workerReplyAck":
            call = self._calls.get(payload.get("requestId", ""))
            if call:
                call.confirmed.set()
        elif frame.kind == "workerCheckpointAck":
            pending = self._checkpoints.get(payload.get("checkpointId", ""))
            if pending and not pending.status.done():
                pending.status.set_result(payload.get("status", _UNANSWERED))

    def _take(self, request: dict[str, Any], socket: GatewaySocket) -> None:
        request_id: str = request.get("requestId", "")
        socket.send("workerRequestAck", {"requestId": request_id})
        call = self._calls.get(request_id)
        if call:
            # Its acknowledgement was lost with a connection, so the service has sent it again.
            call.request, call.is_lost = request, False
            if call.reply:
                socket.send("workerReply", call.reply)
            return
        self._calls[request_id] = call = _CallInFlight(request)
        task = asyncio.create_task(self._work(request_id, call))
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _work(self, request_id: str, call: _CallInFlight) -> None:
        try:
            call.reply = reply = await self._reply(request_id, call)
            if not call.is_lost:
                await self._deliver(call, reply)
        finally:
            del self._calls[request_id]

    async def _reply(self, request_id: str, call: _CallInFlight) -> dict[str, Any]:
        body = str(call.request.get("requestPayload")).encode(errors="replace")
        target = str(call.request.get("functionSlug")), str(call.request.get("stepId") or "step")
        try:
            running = self._app.run(body, target, self._settings(), self._checkpoint_sender(call))
            answer = await drive_async(running)
        except Exception as error:
            answer = refusal(error)
        return reply_of(request_id, answer)

    async def _deliver(self, call: _CallInFlight, reply: dict[str, Any]) -> None:
        if self._socket:
            self._socket.send("workerReply", reply)
            await _within(_CONFIRM_SECONDS, call.confirmed)
        await self._flush(reply, call.confirmed)

    async def _flush(self, reply: dict[str, Any], confirmed: asyncio.Event) -> None:
        fields, body = {"content-type": "application/json"}, write(reply).encode()
        until, tries = time.monotonic() + _FLUSH_SECONDS, 0
        while not confirmed.is_set() and time.monotonic() < until:
            try:
                asked = ask_service(
                    "POST",
                    "/v0/connect/flush",
                    self._settings(),
                    fields=fields,
                    body=body,
                    timeout=_TRY_TIMEOUT_SECONDS,
                )
                response = await drive_async(asked)
                if response.ok:
                    return
                if response.status in (400, 413):
                    self._settings().logger.error("The service refused the reply to a call: %s", response.text)
                    return
            except (ServeError, ConfigError):
                # It cannot be reached now.
                pass
            await _within(backoff_seconds(tries), confirmed)
            tries += 1

    def _checkpoint_sender(self, call: _CallInFlight) -> SendCheckpoint:
        loop = asyncio.get_running_loop()
        return lambda run_id, body, _: does(_InLoop(lambda: self._send_checkpoint(call, run_id, body), loop))

    async def _send_checkpoint(self, call: _CallInFlight, run_id: str, body: str) -> int:
        """Comes to the status; after a break the next connection repeats it."""
        if call.is_lost:
            return _SUPERSEDED
        self._last_checkpoint += 1
        checkpoint_id = str(self._last_checkpoint)
        payload = {"checkpointId": checkpoint_id, "runId": run_id, "body": body}
        pending = _PendingCheckpoint(payload, asyncio.get_running_loop().create_future())
        self._checkpoints[checkpoint_id] = pending
        if self._socket:
            self._socket.send("workerCheckpoint", payload)
        try:
            return await asyncio.wait_for(pending.status, _STORE_TIMEOUT_SECONDS)
        except asyncio.TimeoutError:
            return _UNANSWERED
        finally:
            del self._checkpoints[checkpoint_id]

    async def _keep_extending(self, socket: GatewaySocket) -> None:
        while True:
            await asyncio.sleep(socket.extend_lease_seconds)
            self._extend_all()

    def _extend_all(self) -> None:
        for call in self._calls.values():
            if self._socket and not call.is_lost:
                lease = {name: call.request.get(name) for name in ("requestId", "leaseId")}
                self._socket.send("workerRequestExtendLease", lease)

    def _extended(self, payload: dict[str, Any]) -> None:
        call = self._calls.get(payload.get("requestId", ""))
        if not call:
            return
        lease = payload.get("newLeaseId")
        if lease:
            call.request["leaseId"] = lease
        else:
            call.is_lost = True


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Until the event, but no longer than this."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except asyncio.TimeoutError:
        return
