"""Flow control of a function: how many of its runs, which, and when. `_flow_check` checks the ranges.

Keys and conditions are CEL over `event`; lengths of time are seconds, timedeltas, or such as "30s", "2h", "1d".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, overload

from ._moments import Duration


@dataclass(frozen=True, init=False)
class Concurrency:
    """A limit of concurrent work. Functions share a limit of the scope "env" or "account" by its key."""

    limit: int
    """At least 1."""
    key: str | None
    """A separate limit for each value of this."""
    scope: Literal["fn", "env", "account"] | None

    @overload
    def __init__(self, *, limit: int, key: str | None = None, scope: Literal["fn"] | None = None) -> None: ...
    @overload
    def __init__(self, *, limit: int, key: str, scope: Literal["env", "account"]) -> None: ...
    def __init__(
        self, *, limit: int, key: str | None = None, scope: Literal["fn", "env", "account"] | None = None
    ) -> None:
        for name, value in (("limit", limit), ("key", key), ("scope", scope)):
            object.__setattr__(self, name, value)


OneOrTwo = Concurrency | tuple[Concurrency] | tuple[Concurrency, Concurrency] | list[Concurrency]
"""One or two limits. Type checkers count the elements of a tuple."""


@dataclass(frozen=True, kw_only=True)
class ConcurrencyOfRunsAndSteps:
    """`fn` limits runs, from their start to their end; `step` limits executing steps."""

    fn: OneOrTwo | None = None
    step: OneOrTwo | None = None


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """Run starts per period, 1 s to 7 days; more runs wait."""

    limit: int
    period: Duration
    burst: int | None = None
    """Runs that may start at once in addition to the first `limit`."""
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class RateLimit:
    """Run starts per period, 1 s to 24 hours; more runs are skipped."""

    limit: int
    period: Duration
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Debounce:
    """One run with the latest event, once events have stopped coming for the period, 1 s to 7 days."""

    period: Duration
    key: str | None = None
    timeout: Duration | None = None
    """From the first event to the run, at most."""


@dataclass(frozen=True, kw_only=True)
class BatchEvents:
    """Several events in one run, as `ctx.events`."""

    max_size: int
    """At least 2; at most 100, unless the service allows more."""
    timeout: Duration
    """From the first event of the batch: at least 1 s; at most 60 s, unless the service allows more."""
    key: str | None = None
    """A separate batch for each value of this."""
    if_: str | None = None
    """An event that does not meet this runs alone."""


@dataclass(frozen=True, kw_only=True)
class Priority:
    run: str
    """Gives seconds by which a run goes before others, -600 to 600."""


@dataclass(frozen=True, kw_only=True)
class Singleton:
    """One run at a time: a new one is skipped, or cancels the old one."""

    mode: Literal["skip", "cancel"]
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Order:
    """The events of a key run one after another."""

    key: str
    """A separate lane for each value of this."""
    by: str | None = None
    """A number, a time or a version: events run in its order. Default: in the order in which they come."""
    window: Duration | None = None
    """How long the first event of a lane waits for those before it, up to an hour. Default: not at all."""
    on_stale: Literal["run", "skip"] | None = None
    """What becomes of an event that is older than the last one that began. Default: "run"."""
    on_failure: Literal["skip", "block", "park"] | None = None
    """When a run fails for good: the lane goes on ("skip", the default), runs its event again until that succeeds, or
    waits for a person."""
    name: str | None = None
    """Functions of the app with the same name share their lanes."""


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """A run that has not started, or not finished, within this time is cancelled."""

    start: Duration | None = None
    finish: Duration | None = None


@dataclass(frozen=True, kw_only=True)
class CancelOn:
    """An event that cancels a run."""

    event: str
    if_: str | None = None
    """`event` is the one that triggered the run, `async` the one that arrives."""
    timeout: Duration | None = None
    """Maximum time after the run's start."""


@dataclass(frozen=True, kw_only=True)
class FlowControl:
    concurrency: int | OneOrTwo | ConcurrencyOfRunsAndSteps | None = None
    throttle: Throttle | None = None
    rate_limit: RateLimit | None = None
    debounce: Debounce | None = None
    batch_events: BatchEvents | None = None
    priority: Priority | None = None
    singleton: Singleton | None = None
    order: Order | None = None
    cancel_on: Sequence[CancelOn] | None = None
    idempotency: str | None = None
    """One run for each value of this, in 24 hours."""
    timeouts: Timeouts | None = None
