"""Race mode: the service calls the function again when any pending step has ended, not only when all have."""

from __future__ import annotations

from contextvars import ContextVar

from .found import Op

racing: ContextVar[bool] = ContextVar("racing", default=False)
"""Whether the current code is in a branch of a race."""


def refuse_empty(branches: object) -> None:
    if not branches:
        raise TypeError("A race needs a branch: step.race([lambda: step.run(…), …])")


def in_race_mode(op: Op) -> Op:
    return {**op, "opts": {**op.get("opts", {}), "parallelMode": "race"}}
