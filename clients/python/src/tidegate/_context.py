"""The context of a handler."""

from __future__ import annotations

from dataclasses import dataclass

from ._events import ReceivedEvent
from ._logging import RunLogger
from ._middleware.dependencies import Dependencies
from ._steps.sync_tools import SyncSteps
from ._steps.tools import Steps
from .errors import RemoteError


@dataclass(frozen=True, kw_only=True)
class _Run:
    event: ReceivedEvent
    events: list[ReceivedEvent]
    """All events of this run: one, unless the function takes them in batches."""
    run_id: str
    attempt: int
    """0 on the first try: of the function, or of the step that this call runs."""
    max_attempts: int
    """Tries that there are at most, the first one among them."""
    logger: RunLogger
    """Logs each line once, though the code between steps is repeated."""
    deps: Dependencies
    """Values that middleware has injected: `ctx.deps[Database]`."""


@dataclass(frozen=True, kw_only=True)
class Context(_Run):
    """The context of `async def fn(ctx)`."""

    step: Steps


@dataclass(frozen=True, kw_only=True)
class SyncContext(_Run):
    """The context of `def fn(ctx)`."""

    step: SyncSteps


@dataclass(frozen=True, kw_only=True)
class FailureContext(Context):
    """The context of an async `on_failure`. Its event's data has `function_id`, `run_id`, `error`, and the run's
    `event`."""

    error: RemoteError
    """What the run failed with."""


@dataclass(frozen=True, kw_only=True)
class SyncFailureContext(SyncContext):
    """The context of a plain `on_failure`."""

    error: RemoteError
    """What the run failed with."""
