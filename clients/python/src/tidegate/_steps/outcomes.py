"""Running one step: its outcome as an op."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._middleware.values import Values
from .._wire_error import describe_error, is_non_retriable, retry_after_seconds
from ..errors import NonRetriableError
from .current import CurrentStep, running
from .found import FoundStep, Op, op_of
from .memo import Memo, Rejected, read_memo


@dataclass(frozen=True)
class Ops:
    """The function is under way."""

    ops: Sequence[Op]
    retry_after_seconds: int | None = None


class Timing:
    """The outcome of a step that begins now."""

    def __init__(self) -> None:
        self._started_at = time.time_ns()
        self._start = time.perf_counter_ns()

    def until_now(self) -> dict[str, int]:
        return {"a": self._started_at, "b": time.perf_counter_ns() - self._start}


def refuse_nesting(id: str) -> None:
    """Steps do not nest: the inner one could not be found again without running the outer one again."""
    outer = running.get()
    if outer is not None:
        raise NonRetriableError(
            f'Step "{id}" is inside of step "{outer.id}": steps do not nest. Call it after that step, with its result'
        )


def run_step(step: FoundStep, values: Values) -> Ops:
    """In this thread. A result that cannot be written as JSON fails the step too."""

    def run() -> Any:
        running.set(_current(step, values))
        result = step.run(step) if step.run else None
        if inspect.isawaitable(result):
            if inspect.iscoroutine(result):
                result.close()
            raise TypeError(f'Step "{step.display_name}" is async: the function that it is in must be so too')
        return result

    try:
        # A copy: should the step not be the first to run in this context, nothing is left of the others.
        return _succeeded(step, step.context.copy().run(run), values)
    except Exception as error:
        return _failed(step, error)


async def run_step_async(step: FoundStep, values: Values) -> Ops:
    """In a task of its own, whose context is that of the code around the step."""

    async def run() -> Any:
        running.set(_current(step, values))
        result = step.run(step) if step.run else None
        return await result if inspect.isawaitable(result) else result

    task = step.context.run(asyncio.ensure_future, run())
    try:
        # Not awaited itself: a cancellation of the call could then not be told from one of the step's own making.
        await asyncio.wait([task])
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task])
        raise
    try:
        return _succeeded(step, task.result(), values)
    except (Exception, asyncio.CancelledError) as error:
        return _failed(step, error)


def _current(step: FoundStep, values: Values) -> CurrentStep:
    return CurrentStep(id=step.display_name, run_id=values.places.run_id, hashed_id=step.hashed_id)


def _succeeded(step: FoundStep, result: Any, values: Values) -> Ops:
    op = op_of(step, "StepRun")
    op["data"] = values.encode_result(step, result)
    return Ops([op])


def _failed(step: FoundStep, error: BaseException) -> Ops:
    op = op_of(step, "StepFailed" if is_non_retriable(error) else "StepError")
    op["error"] = describe_error(error)
    return Ops([op], retry_after_seconds(error))


def repeat_outcome(step: FoundStep, memo: Memo) -> Op:
    """The outcome of a step that was run before, for a call that asks for it once more."""
    ending = read_memo(memo, step.kind)
    if isinstance(ending, Rejected):
        op = op_of(step, "StepFailed")
        op["error"] = ending.error
        return op
    op = op_of(step, "StepRun")
    if step.kind != "sleep":
        op["data"] = ending.data
    return op
