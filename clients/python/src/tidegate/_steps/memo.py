"""The memo of a finished step: the service sends it with every later call, and the step resolves to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._middleware.values import Values
from .._wire_error import WireError, step_error
from .found import FoundStep, StepKind

Memo = dict[str, Any] | None
"""`{"data"}` or `{"error"}`; a sleep's is None, a wait's the whole event or None."""

Memos = Mapping[str, Memo]
"""Memos by hashed step ID."""


@dataclass(frozen=True)
class Resolved:
    data: Any


@dataclass(frozen=True)
class Rejected:
    error: WireError


def read_memo(memo: Memo, kind: StepKind) -> Resolved | Rejected:
    """How the step ended. An event has `data` too, and may have an `error`: its name tells it apart."""
    if memo and memo.get("error") and "name" not in memo:
        return Rejected(memo["error"])
    if kind == "sleep":
        return Resolved(None)
    if kind == "wait":
        return Resolved(memo)
    return Resolved(memo.get("data") if memo else None)


def deliver(step: FoundStep, memo: Memo, values: Values) -> None:
    """Lets the code that awaits the step continue. Raises the errors of decoding."""
    step.delivered = True
    ending = read_memo(memo, step.kind)
    if isinstance(ending, Rejected):
        step.awaiter.reject(step_error(step.display_name, ending.error))
    else:
        step.awaiter.resolve(values.decode_result(step, ending.data))
