"""One call of a function, and its outcome in the protocol's terms: 200 done, 206 under way, 400 failed for good,
500 try again."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from . import _headers as headers
from ._call import Call
from ._context import Context, SyncContext
from ._events import received
from ._functions import Function
from ._json import write
from ._logging import AnyLogger, RunLogger
from ._outside import AsyncOutside, Outside
from ._steps.moves import Failed, Progress, ReplayCall
from ._steps.outcomes import Ops
from ._steps.replay_async import AsyncReplay
from ._steps.replay_sync import SyncReplay
from ._steps.sync_tools import SyncSteps
from ._steps.tools import Steps
from ._wire_error import describe_error, is_final, retry_after_seconds


@dataclass(frozen=True, kw_only=True)
class AppAnswer:
    status: int
    headers: dict[str, str]
    body: str
    """JSON."""


@dataclass(frozen=True, kw_only=True)
class CallDeps:
    logger: AnyLogger
    outside: Callable[[Call], Outside]
    outside_async: Callable[[Call], AsyncOutside]
    release: Callable[[], Awaitable[None]]
    """Closes what an event loop that ends has kept open."""


@dataclass(frozen=True, kw_only=True)
class RunCall:
    """The effect of running a function as far as this call takes it."""

    fn: Function[Any]
    call: Call
    requested_step: str | None
    """Hashed ID of the one step to run, if it is that."""
    deps: CallDeps
    in_thread: Callable[[Callable[[], Progress]], Awaitable[Progress]] = asyncio.to_thread
    """How async code calls a plain function that may block."""

    def perform(self) -> Progress:
        """An async function gets an event loop of its own."""
        return asyncio.run(self._run_alone()) if self.fn.is_async else self._run_sync()

    async def perform_async(self) -> Progress:
        return await (self._run_async() if self.fn.is_async else self.in_thread(self._run_sync))

    async def _run_alone(self) -> Progress:
        try:
            return await self._run_async()
        finally:
            await self.deps.release()

    async def _run_async(self) -> Progress:
        replay = AsyncReplay(self._replay_call)
        step = Steps(replay, self.deps.outside_async(self.call))
        context = Context(step=step, **self._context_fields(replay.board.replaying))
        handler: Callable[..., Any] = self.fn.handler
        return await replay.run(lambda: handler(context))

    def _run_sync(self) -> Progress:
        replay = SyncReplay(self._replay_call)
        step = SyncSteps(replay, self.deps.outside(self.call))
        context = SyncContext(step=step, **self._context_fields(replay.board.replaying))
        return replay.run(lambda: self._call_plain(context))

    def _call_plain(self, context: SyncContext) -> Any:
        handler: Callable[..., Any] = self.fn.handler
        result = handler(context)
        if inspect.iscoroutine(result):
            result.close()
            raise TypeError(f'Function "{self.fn.id}" is a plain one that returns a coroutine: make it async def')
        return result

    @property
    def _replay_call(self) -> ReplayCall:
        return ReplayCall(
            memos=self.call.memos,
            order=self.call.order,
            requested_step=self.requested_step,
            disable_immediate_execution=self.call.disable_immediate_execution,
        )

    def _context_fields(self, replaying: Callable[[], bool]) -> dict[str, Any]:
        call = self.call
        return {
            "event": received(call.event),
            "events": [received(event) for event in call.events],
            "run_id": call.run_id,
            "attempt": call.attempt,
            "max_attempts": self.fn.retries + 1 if call.max_attempts is None else call.max_attempts,
            "logger": RunLogger(self.deps.logger, replaying),
        }


def outcome_of(progress: Progress) -> AppAnswer:
    """An output that cannot be written as JSON fails the attempt."""
    if isinstance(progress, Ops):
        return _under_way(progress)
    if isinstance(progress, Failed):
        return _failed(progress.error)
    try:
        return AppAnswer(status=200, headers={}, body=write(progress.output))
    except TypeError as error:
        return _failed(error)


def _under_way(progress: Ops) -> AppAnswer:
    fields: dict[str, str] = {}
    failure = next((op for op in progress.ops if op.get("error")), None)
    if failure:
        fields[headers.NO_RETRY] = _flag(failure.get("op") == "StepFailed")
    if progress.retry_after_seconds is not None:
        fields[headers.RETRY_AFTER] = str(progress.retry_after_seconds)
    return AppAnswer(status=206, headers=fields, body=write(progress.ops))


def _failed(thrown: BaseException) -> AppAnswer:
    final = is_final(thrown)
    fields = {headers.NO_RETRY: _flag(final)}
    seconds = retry_after_seconds(thrown)
    if seconds is not None:
        fields[headers.RETRY_AFTER] = str(seconds)
    return AppAnswer(status=400 if final else 500, headers=fields, body=write(describe_error(thrown)))


def _flag(value: bool) -> str:
    return "true" if value else "false"
