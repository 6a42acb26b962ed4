"""A step that the replayed code has reached."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypedDict

from .._wire_error import WireError

StepKind = Literal["run", "sleep", "wait", "signal", "invoke", "fetch", "infer"]
"""Decides how the step is reported and how its memo is read."""

OpCode = Literal[
    "StepRun",
    "StepPlanned",
    "StepError",
    "StepFailed",
    "Sleep",
    "WaitForEvent",
    "WaitForSignal",
    "InvokeFunction",
    "Gateway",
    "AIGateway",
    "StepNotFound",
    "RunComplete",
    "RunError",
]


class Op(TypedDict, total=False):
    """An operation in the response to a call whose function has not ended (docs/protocol.md#operations)."""

    id: str
    op: OpCode
    name: str
    displayName: str
    opts: dict[str, Any]
    data: Any
    error: WireError
    timing: dict[str, int]
    """When it ran: its start since 1970 (`a`), and its duration (`b`), in nanoseconds."""


@dataclass(frozen=True, kw_only=True)
class StepDescription:
    """A step as a tool describes it."""

    kind: StepKind
    id: str
    """The ID in the code."""
    name: str | None = None
    """On the wire: the event of a wait, the length of a sleep. Default: the ID."""
    opts: dict[str, Any] = field(default_factory=dict[str, Any])
    run: Callable[[FoundStep], Any] | None = None
    """Set only for steps that run in the app."""


class Awaiter(Protocol):
    """Whoever waits for a step: a task of async code, or a strand of plain code."""

    def resolve(self, data: Any) -> None: ...

    def reject(self, error: Exception) -> None: ...

    def gave_up(self) -> bool:
        """Whether the code has cancelled its waiting: then the step no longer belongs to this run."""
        ...


@dataclass(kw_only=True)
class FoundStep:
    kind: StepKind
    id: str
    """The ID in the code."""
    hashed_id: str
    display_name: str
    """The ID in the code, numbered when it repeats."""
    name: str
    opts: dict[str, Any]
    run: Callable[[FoundStep], Any] | None
    context: Context
    """The context of the code that reached the step, so that the step's code sees the same context variables."""
    awaiter: Awaiter
    race: bool
    """It is in a branch of a race."""
    delivered: bool = False


_REPORTED_AS: dict[StepKind, OpCode] = {
    "run": "StepPlanned",
    "sleep": "Sleep",
    "wait": "WaitForEvent",
    "signal": "WaitForSignal",
    "invoke": "InvokeFunction",
    "fetch": "Gateway",
    "infer": "AIGateway",
}


def op_of(step: FoundStep, code: OpCode | None = None) -> Op:
    """The op of a step; of one that has not been run, unless told otherwise."""
    return {
        "id": step.hashed_id,
        "op": code or _REPORTED_AS[step.kind],
        "name": step.name,
        "displayName": step.display_name,
        "opts": step.opts,
    }
