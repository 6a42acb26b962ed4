"""Runs a function without a service: `run_function(thank, event={"data": {"total": 3}})`."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from ._effects import Effects, does, drive, drive_async
from ._events import Event, events_to_send
from ._functions import EventTrigger, Function
from ._json import as_json
from ._logging import AnyLogger
from ._middleware.check import check_hooks, checked
from ._middleware.middleware import Middleware
from ._middleware.places import RunPlaces, received_place
from ._middleware.stack import Stack
from ._middleware.values import Values
from ._moments import epoch_ms
from ._run_call import CallDeps, RunCall
from ._steps.found import Op
from ._steps.moves import Done, Failed, Progress
from ._testing.clock import MovedClock, advance_clock, advance_clock_async
from ._testing.memory import TEST_RUN, FunctionRun, PublishedMessage, RunInMemory, SentSignal, StepRecord
from ._testing.outside import AsyncMemoryOutside, MemoryOutside
from ._testing.stubs import NEED_STUBS, Ending, Stub, needs_stub
from ._wire_error import WireError, describe_error, is_final

__all__ = [
    "FunctionRun",
    "MovedClock",
    "PublishedMessage",
    "SentSignal",
    "StepRecord",
    "advance_clock",
    "advance_clock_async",
    "run_function",
    "run_function_async",
]

T = TypeVar("T")

EventToTest = Event | Mapping[str, Any]


class _CallFunction(Protocol):
    def __call__(self, attempt: int, step: str | None = None) -> Effects[Progress]:
        """Calls the function as the service would; with the hashed ID of a step, to run that step."""
        ...


def run_function(
    fn: Function[T],
    *,
    event: EventToTest | None = None,
    events: Sequence[EventToTest] | None = None,
    steps: Mapping[str, Any] | None = None,
    failures: Mapping[str, Sequence[Exception]] | None = None,
    now: datetime | None = None,
    retries: int | None = None,
    middleware: Sequence[Middleware] | None = None,
    logger: AnyLogger | None = None,
) -> FunctionRun[T]:
    """Its steps are run, unless they are stubbed; what fails is tried again, at once. `step.send_event` and its like
    send nothing; `client.send`, in the function, does. In async code await `run_function_async`, which takes the same.

    event: triggers the run; its `name` may be absent. Default: an event of the function's first trigger, without data.
    events: for functions that take events in batches. Default: the one event.
    steps: stubs by step ID (`id`, `id:1`, …): the step is not run, and comes to this value, or to what this function
        returns; an exception, given or raised, fails it for good. For `wait_for_event`: an event, or None when none
        comes in time; for `wait_for_signal` a ReceivedSignal or None, for `fetch` a FetchResponse.
    failures: exceptions by ID of a step that runs in the app: its first attempts fail with them, and its code does
        not run. Then it is retried as usual.
    now: when the run starts. Sleeps and time-outs take no time, but end in the order of their moments.
    retries: default: the function's own.
    middleware: instead of the client's and the function's own, to inject something else perhaps. What the run comes
        to is told as `decode` makes it.
    logger: default: one that says nothing.

    Raises LookupError when a step that the service would do has no stub: one that invokes, fetches or infers.
    """
    given = _Given(event, events, steps or {}, failures or {}, now, retries, logger or _silent())
    whole = _run(_with_middleware(fn, middleware), given)
    if not fn.is_async:
        return drive(whole)
    if _in_event_loop():
        raise RuntimeError("There is an event loop already: await run_function_async(…) instead")
    return asyncio.run(drive_async(whole))


async def run_function_async(
    fn: Function[T],
    *,
    event: EventToTest | None = None,
    events: Sequence[EventToTest] | None = None,
    steps: Mapping[str, Any] | None = None,
    failures: Mapping[str, Sequence[Exception]] | None = None,
    now: datetime | None = None,
    retries: int | None = None,
    middleware: Sequence[Middleware] | None = None,
    logger: AnyLogger | None = None,
) -> FunctionRun[T]:
    """Like `run_function`, in this event loop."""
    given = _Given(event, events, steps or {}, failures or {}, now, retries, logger or _silent())
    return await drive_async(_run(_with_middleware(fn, middleware), given))


def _with_middleware(fn: Function[T], middleware: Sequence[Middleware] | None) -> Function[T]:
    if middleware is None:
        return fn
    own = checked(f'Function "{fn.id}"', middleware)
    check_hooks(f'Function "{fn.id}"', own, "async" if fn.is_async else "plain")
    return dataclasses.replace(fn, middleware=own)


@dataclasses.dataclass(frozen=True)
class _Given:
    """The value that the test gives."""

    event: EventToTest | None
    events: Sequence[EventToTest] | None
    stubs: Mapping[str, Any]
    failures: Mapping[str, Sequence[Exception]]
    now: datetime | None
    retries: int | None
    logger: AnyLogger


def _run(fn: Function[T], given: _Given) -> Effects[FunctionRun[T]]:
    retries = fn.retries if given.retries is None else given.retries
    now_ms = time.time_ns() // 1_000_000 if given.now is None else epoch_ms(given.now)
    stack = Stack(fn.middleware)
    triggering = [_stored(_event(fn, one, now_ms), stack) for one in (given.events or [given.event or {}])]
    values = Values(stack, RunPlaces(function_id=fn.composite_id, run_id=TEST_RUN, event=triggering[0]))
    run = RunInMemory(triggering, retries + 1, now_ms, values)
    deps = _deps(run, given.logger)

    def call(attempt: int, step: str | None = None) -> Effects[Progress]:
        return does(RunCall(fn=fn, call=run.call(attempt), requested_step=step, deps=deps))

    while True:
        progress = yield from _until_it_succeeds(call, retries)
        if isinstance(progress, Done):
            return run.ended(result=values.decode_output(progress.output))
        if isinstance(progress, Failed):
            return run.ended(error=progress.error)
        waiting: list[Op] = []
        for op in progress.ops:
            name = op.get("displayName", "")
            if name in given.stubs:
                run.finish(op, (yield from does(Stub(op, given.stubs[name]))))
            elif op.get("op") == "StepPlanned":
                ending, attempts = yield from _run_step(op, call, retries, given.failures.get(name, ()))
                run.finish(op, ending, attempts)
            elif op.get("op") in NEED_STUBS:
                raise needs_stub(op)
            else:
                waiting.append(op)
        # Sleeps and time-outs come after whatever can be done before them.
        if len(waiting) == len(progress.ops):
            run.finish_first(waiting)


def _until_it_succeeds(call: _CallFunction, retries: int) -> Effects[Progress]:
    attempt = 0
    while True:
        progress = yield from call(attempt)
        if not isinstance(progress, Failed) or is_final(progress.error) or attempt >= retries:
            return progress
        attempt += 1


def _run_step(op: Op, call: _CallFunction, retries: int, failures: Sequence[Exception]) -> Effects[tuple[Ending, int]]:
    """Returns its ending, and the attempts that it took.

    failures: of its first attempts.
    """
    attempt = 0
    while True:
        if attempt < len(failures):
            error = describe_error(failures[attempt])
            may_retry = not is_final(failures[attempt])
        else:
            progress = yield from call(attempt, op.get("id"))
            outcome: Op = {} if isinstance(progress, Done | Failed) else progress.ops[0]
            if outcome.get("op") == "StepRun":
                return Ending(data=outcome.get("data"), encoded=True), attempt + 1
            lost: WireError = {"name": "Error", "message": f'Step "{op.get("displayName")}" was not found again'}
            error = outcome.get("error", lost)
            may_retry = outcome.get("op") == "StepError"
        if not may_retry or attempt >= retries:
            return Ending(error=error), attempt + 1
        attempt += 1


def _deps(run: RunInMemory, logger: AnyLogger) -> CallDeps:
    async def release() -> None: ...

    return CallDeps(
        logger=logger,
        outside=lambda _: MemoryOutside(run),
        outside_async=lambda _: AsyncMemoryOutside(run),
        release=release,
    )


def _event(fn: Function[Any], given: EventToTest, now_ms: int) -> dict[str, Any]:
    name = next((trigger.event for trigger in fn.triggers if isinstance(trigger, EventTrigger)), "test/scheduled")
    own = events_to_send(given)[0]
    return {"name": name, "data": {}, "id": "test-event", "ts": now_ms, **own}


def _stored(event: dict[str, Any], stack: Stack) -> dict[str, Any]:
    """The value in the form in which the service would have it."""
    place = received_place(event["name"], event["data"])
    return {**event, "data": as_json(stack.encode(event["data"], "event", place), "The event")}


def _silent() -> logging.Logger:
    """A separate logger: one from `getLogger` would be shared."""
    logger = logging.Logger("tidegate.testing")
    logger.disabled = True
    return logger


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
