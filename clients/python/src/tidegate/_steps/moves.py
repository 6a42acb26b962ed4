"""The moves of one call of a function: its code is run from the start, finished steps resolve to their memos,
and the call ends with the function, or with the first steps that are new. Nothing is remembered between calls.

    settle → the requested step is reached: run it, answer its outcome
           → the handler has ended:         answer its output or error
           → a memo can be delivered:       deliver one, settle again
           → one new step that runs here:   run it at once; go on if a checkpoint takes its outcome, else answer it
           → new steps:                     answer them as planned
           → nothing at all:                the code awaits something of its own; go on when that brings a step
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from .._effects import Effects
from .._json import as_json
from .._middleware.values import Values
from .board import Board
from .found import FoundStep, Op, op_of
from .memo import Memos
from .outcomes import Ops, Timing, repeat_outcome
from .race import in_race_mode


class Checkpointing(Protocol):
    def keep(self, step: Op) -> Effects[bool]:
        """Resolves to whether the call continues."""
        ...


@dataclass(frozen=True, kw_only=True)
class ReplayCall:
    memos: Memos
    order: Sequence[str]
    """Hashed IDs of the finished steps, in order of completion."""
    requested_step: str | None
    """Hashed ID of the one planned step to run; None: find out what comes next."""
    disable_immediate_execution: bool
    """A single new step is planned too, not run at once."""
    values: Values
    checkpoints: Checkpointing | None = None
    """Stores the results of steps while the call continues; None: the first step ends the call."""


@dataclass(frozen=True)
class Done:
    output: Any


@dataclass(frozen=True)
class Failed:
    error: BaseException


Progress = Done | Failed | Ops


@dataclass(frozen=True)
class Run:
    """Run this step; its outcome is the response, unless `kept` takes it."""

    step: FoundStep


Move = Progress | Run | Literal["delivered", "requested is missing", "nothing"]


def next_move(call: ReplayCall, board: Board, end: Progress | None) -> Move:
    """Called once the code has settled. `end` is the result of the handler, if it has ended."""
    requested = board.get(call.requested_step) if call.requested_step else None
    if requested:
        return _requested(requested, board)
    if end:
        return step_not_found(call.requested_step, board) if call.requested_step else end
    try:
        if board.deliver_next():
            return "delivered"
    except Exception as error:
        # Not raised where the step is awaited: code that caught it would continue as if the step had failed.
        return Failed(error)
    pending = board.pending()
    if not pending:
        return "nothing"
    if call.requested_step:
        return "requested is missing"
    if len(pending) == 1 and pending[0].run and not call.disable_immediate_execution:
        return Run(pending[0])
    return Ops([op_of(step) for step in pending])


def _requested(step: FoundStep, board: Board) -> Move:
    if step.hashed_id in board.memos:
        return Ops([repeat_outcome(step, board.memo_of(step))])
    return Run(step) if step.run else Ops([op_of(step)])


def kept(call: ReplayCall, board: Board, step: FoundStep, outcome: Ops, timing: Timing) -> Effects[Ops | None]:
    """The response to the call after a step has run, or None if the call continues."""
    if not call.checkpoints:
        return outcome
    op: Op = {**outcome.ops[0], "timing": timing.until_now()}
    if op.get("op") != "StepRun":
        return replace(outcome, ops=[op])
    if not (yield from call.checkpoints.keep(op)):
        # The response contains this step and earlier steps that are not stored.
        return Ops([])
    # A copy: the code may change it before it is stored.
    board.finish(step, {"data": as_json(op.get("data"), "The result")})
    return None


def in_mode(progress: Progress, board: Board) -> Progress:
    """The response as reported: its operations say whether they are in race mode."""
    if not isinstance(progress, Ops) or not board.in_race():
        return progress
    return replace(progress, ops=[in_race_mode(op) for op in progress.ops])


def step_not_found(hashed_id: str, board: Board) -> Ops:
    seen = ", ".join(f'"{step.display_name}"' for step in board.pending())
    message = (
        f"The function did not reach the planned step {hashed_id}: its code has changed under the run. "
        f"New steps that it did reach: {seen or 'none'}"
    )
    op: Op = {
        "id": hashed_id,
        "op": "StepNotFound",
        "name": hashed_id,
        "displayName": hashed_id,
        "error": {"name": "StepNotFoundError", "message": message},
    }
    return Ops([op])
