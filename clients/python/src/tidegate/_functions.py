"""Defining a function: its configuration checked, and its `on_failure` made a function of its own."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from ._checkpoint import Checkpoint, check_checkpoint
from ._context import Context, FailureContext, SyncContext, SyncFailureContext
from ._cron import is_cron
from ._flow import FlowControl
from ._flow_check import check_catch_up, check_flow, check_jitter, check_on_exhausted
from ._middleware.check import check_hooks
from ._middleware.middleware import Middleware
from ._moments import Duration, time_string
from ._versioning import Versioning, check_versioning
from ._wire_error import revive_error
from .errors import ConfigError

Output_co = TypeVar("Output_co", covariant=True)

DEFAULT_RETRIES = 4
MAX_RETRIES = 20
"""The service takes no more."""
MAX_TRIGGERS = 10


@dataclass(frozen=True)
class EventTrigger:
    event: str
    """A name, or a wildcard such as `order/*`."""
    if_: str | None = None
    """CEL over `event`, such as `event.data.total > 100`."""

    def on_the_wire(self) -> dict[str, str]:
        return {"event": self.event, **({"expression": self.if_} if self.if_ else {})}


@dataclass(frozen=True)
class CronTrigger:
    cron: str
    """In UTC, or in a time zone: `TZ=Europe/Berlin 0 9 * * 1`."""
    jitter: Duration | None = None
    """Starts each run up to this much later, by chance: spreads functions with the same schedule."""
    catch_up: Literal["last", "all"] | None = None
    """Runs after a time in which nothing could run: for all missed times, up to the last 1,000, or for the last one
    only, the default."""

    def on_the_wire(self) -> dict[str, str]:
        jitter = {} if self.jitter is None else {"jitter": time_string(self.jitter)}
        return {"cron": self.cron, **jitter, **({"catchUp": self.catch_up} if self.catch_up else {})}


Trigger = str | EventTrigger | CronTrigger
"""A string is the name of an event."""

OnExhausted = Literal["fail", "pause"]
"""Whether a run without an attempt left fails or pauses."""

AsyncHandler = Callable[[Context], Awaitable[Output_co]]
SyncHandler = Callable[[SyncContext], Output_co]
FailureHandler = Callable[[FailureContext], Awaitable[object]] | Callable[[SyncFailureContext], object]


@dataclass(frozen=True, kw_only=True)
class Function(Generic[Output_co]):
    """A function as `serve` takes it."""

    app_id: str
    id: str
    name: str
    retries: int
    triggers: tuple[EventTrigger | CronTrigger, ...]
    flow: FlowControl
    handler: AsyncHandler[Output_co] | SyncHandler[Output_co]
    on_failure: Function[object] | None = None
    """Registered and served with it."""
    middleware: tuple[Middleware, ...] = ()
    """The client's, and inside of it the function's own."""
    description: str | None = None
    group: str | None = None
    on_exhausted: OnExhausted | None = None
    checkpoint: Checkpoint | bool | None = None
    """None: the client's."""
    versioning: Versioning | None = None

    @property
    def composite_id(self) -> str:
        """The function's id in the service, where several apps live side by side."""
        return f"{self.app_id}-{self.id}"

    @property
    def is_async(self) -> bool:
        return _is_async(self.handler)

    @property
    def output_type(self) -> type[Output_co] | None:
        """Only for type checkers, which learn from it what `step.invoke` comes to."""
        return None


def define_function(
    handler: Callable[..., Any],
    *,
    app_id: str,
    id: str,
    trigger: Trigger | Sequence[Trigger],
    name: str | None,
    retries: int,
    on_failure: FailureHandler | None,
    flow: FlowControl,
    middleware: tuple[Middleware, ...] = (),
    description: str | None = None,
    group: str | None = None,
    on_exhausted: OnExhausted | None = None,
    checkpoint: Checkpoint | bool | None = None,
    versioning: Versioning | None = None,
) -> Function[Any]:
    """Raises ConfigError when the configuration makes no sense."""
    if not id:
        raise ConfigError("A function needs an id")
    if not callable(handler):
        raise ConfigError(f'Function "{id}": the handler must be a function, got {handler!r}')
    # Not strict typing, but True is an int too.
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= MAX_RETRIES:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(f'Function "{id}": retries must be a whole number from 0 to {MAX_RETRIES}, got {retries}')
    check_on_exhausted(id, on_exhausted)
    check_flow(id, flow)
    check_checkpoint(f'Function "{id}"', checkpoint)
    check_versioning(f'Function "{id}"', versioning)
    fn: Function[Any] = Function(
        app_id=app_id,
        id=id,
        name=id if name is None else name,
        retries=retries,
        triggers=_triggers(id, trigger),
        flow=flow,
        handler=handler,
        middleware=middleware,
        description=_text(id, "description", description),
        group=_text(id, "group", group),
        on_exhausted=on_exhausted,
        checkpoint=checkpoint,
        versioning=versioning,
    )
    check_hooks(f'Function "{id}"', middleware, "async" if fn.is_async else "plain")
    return dataclasses.replace(fn, on_failure=_failure_function(fn, on_failure)) if on_failure else fn


def _text(id: str, option: str, given: object) -> str | None:
    if given is None or isinstance(given, str):
        return given
    raise ConfigError(f'Function "{id}": {option} must be a text, got {given!r}')


def _triggers(id: str, given: Trigger | Sequence[Trigger]) -> tuple[EventTrigger | CronTrigger, ...]:
    triggers = [given] if isinstance(given, str | EventTrigger | CronTrigger | Mapping) else given
    if len(triggers) > MAX_TRIGGERS:
        raise ConfigError(f'Function "{id}": trigger must be at most {MAX_TRIGGERS}, got {len(triggers)}')
    return tuple(_trigger(id, trigger) for trigger in triggers)


def _trigger(id: str, trigger: object) -> EventTrigger | CronTrigger:
    if isinstance(trigger, str):
        trigger = EventTrigger(trigger)
    if isinstance(trigger, EventTrigger) and trigger.event:
        return trigger
    if isinstance(trigger, CronTrigger):
        if is_cron(trigger.cron):
            check_jitter(id, trigger.jitter)
            check_catch_up(id, trigger.catch_up)
            return trigger
        raise ConfigError(
            f'Function "{id}": cron must be a schedule such as "0 9 * * 1" (minute, hour, day, month, weekday), '
            f'got "{trigger.cron}"'
        )
    raise ConfigError(
        f'Function "{id}": a trigger is the name of an event, an EventTrigger or a CronTrigger; got {trigger!r}'
    )


def _failure_function(of: Function[Any], on_failure: FailureHandler) -> Function[Any]:
    """`on_failure` is a function too, triggered by what the service sends when a run has failed for good."""
    return define_function(
        _failure_handler(on_failure),
        app_id=of.app_id,
        id=f"{of.id}-failure",
        name=f"{of.name} (failure)",
        trigger=EventTrigger("inngest/function.failed", if_=f"event.data.function_id == '{of.composite_id}'"),
        retries=DEFAULT_RETRIES,
        on_failure=None,
        flow=FlowControl(),
        middleware=of.middleware,
        checkpoint=of.checkpoint,
        versioning=of.versioning,
    )


def _failure_handler(on_failure: FailureHandler) -> Callable[..., Any]:
    def fields(ctx: Context | SyncContext) -> dict[str, Any]:
        context = {field.name: getattr(ctx, field.name) for field in dataclasses.fields(ctx)}
        return {**context, "error": revive_error(ctx.event.data.get("error") or {})}

    if _is_async(on_failure):
        handle = cast("Callable[[FailureContext], Awaitable[object]]", on_failure)

        async def run_async(ctx: Context) -> object:
            return await handle(FailureContext(**fields(ctx)))

        return run_async
    handle_plain = cast("Callable[[SyncFailureContext], object]", on_failure)

    def run(ctx: SyncContext) -> object:
        return handle_plain(SyncFailureContext(**fields(ctx)))

    return run


def _is_async(handler: Callable[..., Any]) -> bool:
    """Objects with an async `__call__` too."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None))  # noqa: B004
