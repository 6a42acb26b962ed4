"""One call of a function, and its outcome in the protocol's terms: 200 done, 206 under way, 400 failed for good,
500 try again."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _headers as headers
from ._call import Call
from ._checkpoints import CallCheckpoints
from ._context import Context, SyncContext
from ._events import received
from ._functions import Function
from ._json import as_json, write
from ._log_collector import LogCollector
from ._logging import AnyLogger, RunLogger
from ._middleware.calls import FunctionCall
from ._middleware.places import RunPlaces
from ._middleware.stack import Stack
from ._middleware.values import Values
from ._outside import AsyncOutside, Outside
from ._steps.current import running
from ._steps.found import Op
from ._steps.ids import hash_step_id
from ._steps.moves import Done, Failed, Progress, ReplayCall
from ._steps.outcomes import Ops
from ._steps.replay_async import AsyncReplay
from ._steps.replay_sync import SyncReplay
from ._steps.sync_tools import SyncSteps
from ._steps.tools import Steps
from ._steps.wrapping import AsyncWrapping, Wrapping
from ._wire_error import WireError, describe_error, is_final, retry_after_seconds, with_source

_FUNCTION_END: Op = {"id": hash_step_id("complete"), "name": "complete", "displayName": "complete"}
"""The name in operations of the function itself, which have no step."""


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
    logs: LogCollector | None = None
    """Gets the lines that the function logs."""
    checkpoints: CallCheckpoints | None = None

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
        step = Steps(replay, self.deps.outside_async(self.call), AsyncWrapping(**self._names))
        handler: Callable[..., Any] = self.fn.handler

        async def body() -> Any:
            call = self._function_call()

            async def handle() -> Any:
                return await handler(Context(step=step, **self._context_fields(call, replay.board.replaying)))

            return await self._middleware.run(call, handle)

        return self._encoded(await replay.run(body))

    def _run_sync(self) -> Progress:
        replay = SyncReplay(self._replay_call)
        step = SyncSteps(replay, self.deps.outside(self.call), Wrapping(**self._names))

        def body() -> Any:
            call = self._function_call()

            def handle() -> Any:
                return self._call_plain(SyncContext(step=step, **self._context_fields(call, replay.board.replaying)))

            return self._middleware.run_sync(call, handle)

        return self._encoded(replay.run(body))

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
            values=self._values,
            checkpoints=self.checkpoints,
        )

    @property
    def _middleware(self) -> Stack:
        return Stack(self.fn.middleware)

    @property
    def _values(self) -> Values:
        fn, call = self.fn, self.call
        places = RunPlaces(function_id=fn.composite_id, run_id=call.run_id, rerun_of=call.rerun_of, event=call.event)
        return Values(self._middleware, places)

    @property
    def _names(self) -> dict[str, Any]:
        """Facts about the run, for the middleware of its steps."""
        return {
            "middleware": self._middleware,
            "app_id": self.fn.app_id,
            "function_id": self.fn.id,
            "run_id": self.call.run_id,
            "attempt": self.call.attempt,
        }

    def _function_call(self) -> FunctionCall:
        """Raises what decoding the events raises."""
        call, decode = self.call, self._values.decode_event
        return FunctionCall(
            app_id=self.fn.app_id,
            function_id=self.fn.id,
            run_id=call.run_id,
            attempt=call.attempt,
            max_attempts=self.fn.retries + 1 if call.max_attempts is None else call.max_attempts,
            events=[received(decode(event)) for event in (call.event, *call.events[1:])],
        )

    def _context_fields(self, call: FunctionCall, replaying: Callable[[], bool]) -> dict[str, Any]:
        return {
            "event": call.event,
            "events": call.events,
            "run_id": self.call.run_id,
            "attempt": call.attempt,
            "max_attempts": call.max_attempts,
            "logger": RunLogger(self.deps.logger, self._repeats(replaying), self._collect if self.logs else None),
            "deps": call.deps,
        }

    def _repeats(self, replaying: Callable[[], bool]) -> Callable[[], bool]:
        """A call of one planned step repeats all that is outside of it."""
        return lambda: replaying() or (self.requested_step is not None and running.get() is None)

    def _collect(self, level: int, message: str, fields: dict[str, Any]) -> None:
        step = running.get()
        if self.logs:
            self.logs.add(level, message, fields, step.id if step else None)

    def _encoded(self, progress: Progress) -> Progress:
        """An output as stored."""
        if not isinstance(progress, Done):
            return progress
        try:
            return Done(self._values.encode_output(progress.output))
        except Exception as error:
            return Failed(error)


def outcome_of(progress: Progress, *, error_source: bool, unstored: Sequence[Op] = ()) -> AppAnswer:
    """An output that cannot be written as JSON fails the attempt.

    error_source: whether errors have the lines of code where they were raised.
    unstored: finished steps that checkpoints have not stored.
    """
    located = with_source if error_source else _as_it_is
    if isinstance(progress, Ops):
        ops: list[Op] = [{**op, "error": located(op["error"])} if "error" in op else op for op in progress.ops]
        return _under_way(Ops([*unstored, *ops], progress.retry_after_seconds))
    if isinstance(progress, Failed):
        return _failed(progress.error, located, unstored)
    try:
        if not unstored:
            return AppAnswer(status=200, headers={}, body=write(progress.output))
        output = as_json(progress.output, "it")
        return _under_way(Ops([*unstored, {**_FUNCTION_END, "op": "RunComplete", "data": output}]))
    except TypeError as error:
        return _failed(error, located, unstored)


def _as_it_is(error: WireError) -> WireError:
    return error


def _under_way(progress: Ops) -> AppAnswer:
    fields: dict[str, str] = {}
    failure = next((op for op in progress.ops if op.get("error")), None)
    if failure:
        fields[headers.NO_RETRY] = _flag(failure.get("op") == "StepFailed")
    if progress.retry_after_seconds is not None:
        fields[headers.RETRY_AFTER] = str(progress.retry_after_seconds)
    return AppAnswer(status=206, headers=fields, body=write(progress.ops))


def _failed(thrown: BaseException, located: Callable[[WireError], WireError], unstored: Sequence[Op]) -> AppAnswer:
    final = is_final(thrown)
    fields = {headers.NO_RETRY: _flag(final)}
    seconds = retry_after_seconds(thrown)
    if seconds is not None:
        fields[headers.RETRY_AFTER] = str(seconds)
    error = located(describe_error(thrown))
    if not unstored:
        return AppAnswer(status=400 if final else 500, headers=fields, body=write(error))
    op: Op = {**_FUNCTION_END, "op": "RunError", "error": error}
    return AppAnswer(status=206, headers=fields, body=write([*unstored, op]))


def _flag(value: bool) -> str:
    return "true" if value else "false"
