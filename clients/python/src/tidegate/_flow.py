"""When and how often a function runs: handed through to the service, which does not act on all of it yet.

Keys and conditions are CEL over `event`; lengths of time are seconds, timedeltas, or such as "30s", "2h", "1d".
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._moments import Duration, time_string


@dataclass(frozen=True, kw_only=True)
class Concurrency:
    """Steps that run at the same time."""

    limit: int
    key: str | None = None
    """A limit for each value of this."""
    scope: Literal["fn", "env", "account"] | None = None


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """Runs started within a period; more of them wait."""

    limit: int
    period: Duration
    burst: int | None = None
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class RateLimit:
    """Runs started within a period; more of them are dropped."""

    limit: int
    period: Duration
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Debounce:
    """Runs once events have stopped coming for this long."""

    period: Duration
    key: str | None = None
    timeout: Duration | None = None


@dataclass(frozen=True, kw_only=True)
class BatchEvents:
    """Several events in one run."""

    max_size: int
    timeout: Duration
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Priority:
    run: str | None = None
    """Gives seconds by which a run goes before others."""


@dataclass(frozen=True, kw_only=True)
class Singleton:
    """One run at a time: a new one is skipped, or cancels the old one."""

    mode: Literal["skip", "cancel"]
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """How long a run may wait to start, and take from then."""

    start: Duration | None = None
    finish: Duration | None = None


@dataclass(frozen=True, kw_only=True)
class CancelOn:
    """An event that cancels a run."""

    event: str
    if_: str | None = None
    """`event` is the one that triggered the run, `async` the one that arrives."""
    timeout: Duration | None = None
    """Only within this time of the run's start."""


@dataclass(frozen=True, kw_only=True)
class FlowControl:
    concurrency: int | Concurrency | Sequence[Concurrency] | None = None
    throttle: Throttle | None = None
    rate_limit: RateLimit | None = None
    debounce: Debounce | None = None
    batch_events: BatchEvents | None = None
    priority: Priority | None = None
    singleton: Singleton | None = None
    cancel_on: Sequence[CancelOn] | None = None
    idempotency: str | None = None
    """One run for each value of this, in 24 hours."""
    timeouts: Timeouts | None = None

    def on_the_wire(self) -> dict[str, Any]:
        """The part of a function's registration that says this."""
        wire: dict[str, Any] = {}
        for name, wire_name in _HANDED_THROUGH.items():
            setting = getattr(self, name)
            if setting is not None:
                wire[wire_name] = setting if isinstance(setting, str) else _fields(setting)
        if isinstance(self.concurrency, int):
            wire["concurrency"] = self.concurrency
        elif self.concurrency is not None:
            limits = [self.concurrency] if isinstance(self.concurrency, Concurrency) else self.concurrency
            wire["concurrency"] = [_fields(limit) for limit in limits]
        if self.cancel_on is not None:
            wire["cancel"] = [_fields(event) for event in self.cancel_on]
        return wire


_HANDED_THROUGH = {
    "throttle": "throttle",
    "rate_limit": "rateLimit",
    "debounce": "debounce",
    "batch_events": "batchEvents",
    "priority": "priority",
    "singleton": "singleton",
    "idempotency": "idempotency",
    "timeouts": "timeouts",
}

_WIRE_NAMES = {"if_": "if", "max_size": "maxSize"}

_LENGTHS = frozenset({"period", "timeout", "start", "finish"})


def _fields(setting: Any) -> dict[str, Any]:
    """A length of time that is text is not checked here: the service says what it takes."""
    wire: dict[str, Any] = {}
    for field in dataclasses.fields(setting):
        value = getattr(setting, field.name)
        if value is not None:
            length = field.name in _LENGTHS and not isinstance(value, str)
            wire[_WIRE_NAMES.get(field.name, field.name)] = time_string(value) if length else value
    return wire
