"""Defining functions with an app's client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar, overload

from ._checkpoint import Checkpoint
from ._context import Context, SyncContext
from ._flow import (
    BatchEvents,
    CancelOn,
    ConcurrencyOfRunsAndSteps,
    Debounce,
    FlowControl,
    OneOrTwo,
    Order,
    Priority,
    RateLimit,
    Singleton,
    Throttle,
    Timeouts,
)
from ._functions import DEFAULT_RETRIES, FailureHandler, Function, OnExhausted, Trigger, define_function
from ._middleware.check import checked
from ._middleware.middleware import Middleware
from ._options import told_of_unknown
from ._versioning import Versioning

T = TypeVar("T")


class FunctionDecorator(Protocol):
    @overload
    def __call__(self, handler: Callable[[Context], Awaitable[T]], /) -> Function[T]: ...
    @overload
    def __call__(self, handler: Callable[[SyncContext], T], /) -> Function[T]: ...


class FunctionCreator:
    app_id: str
    middleware: tuple[Middleware, ...]
    versioning: Versioning | None

    @overload
    def create_function(
        self,
        *,
        id: str,
        trigger: Trigger | Sequence[Trigger],
        name: str | None = None,
        description: str | None = None,
        group: str | None = None,
        retries: int = DEFAULT_RETRIES,
        on_exhausted: OnExhausted | None = None,
        checkpoint: Checkpoint | bool | None = None,
        versioning: Versioning | None = None,
        on_failure: FailureHandler | None = None,
        cancel_on: Sequence[CancelOn] | None = None,
        concurrency: int | OneOrTwo | ConcurrencyOfRunsAndSteps | None = None,
        throttle: Throttle | None = None,
        rate_limit: RateLimit | None = None,
        debounce: Debounce | None = None,
        batch_events: None = None,
        priority: Priority | None = None,
        singleton: Singleton | None = None,
        order: Order | None = None,
        idempotency: str | None = None,
        timeouts: Timeouts | None = None,
        middleware: Sequence[Middleware] = (),
    ) -> FunctionDecorator: ...

    @overload
    def create_function(
        self,
        *,
        id: str,
        trigger: Trigger | Sequence[Trigger],
        batch_events: BatchEvents,
        name: str | None = None,
        description: str | None = None,
        group: str | None = None,
        retries: int = DEFAULT_RETRIES,
        on_exhausted: OnExhausted | None = None,
        checkpoint: Checkpoint | bool | None = None,
        versioning: Versioning | None = None,
        on_failure: FailureHandler | None = None,
        concurrency: int | OneOrTwo | ConcurrencyOfRunsAndSteps | None = None,
        throttle: Throttle | None = None,
        timeouts: Timeouts | None = None,
        middleware: Sequence[Middleware] = (),
    ) -> FunctionDecorator: ...

    @told_of_unknown("Function")
    def create_function(
        self,
        *,
        id: str,
        trigger: Trigger | Sequence[Trigger],
        name: str | None = None,
        description: str | None = None,
        group: str | None = None,
        retries: int = DEFAULT_RETRIES,
        on_exhausted: OnExhausted | None = None,
        checkpoint: Checkpoint | bool | None = None,
        versioning: Versioning | None = None,
        on_failure: FailureHandler | None = None,
        cancel_on: Sequence[CancelOn] | None = None,
        concurrency: int | OneOrTwo | ConcurrencyOfRunsAndSteps | None = None,
        throttle: Throttle | None = None,
        rate_limit: RateLimit | None = None,
        debounce: Debounce | None = None,
        batch_events: BatchEvents | None = None,
        priority: Priority | None = None,
        singleton: Singleton | None = None,
        order: Order | None = None,
        idempotency: str | None = None,
        timeouts: Timeouts | None = None,
        middleware: Sequence[Middleware] = (),
    ) -> FunctionDecorator:
        """Makes a function of `async def fn(ctx: Context)` or `def fn(ctx: SyncContext)`.

        It runs once it is handed to `serve` and the app has registered. What it returns, as JSON, is the run's output.

        id: unique in the app. The function's identity: change it and it is a new one.
        trigger: the name of an event, an EventTrigger, a CronTrigger, or up to ten of these.
        name: for people. Default: the id.
        description: for people: what the function does.
        group: a heading under which the dashboard lists it.
        retries: after the first try, of the function and of each of its steps.
        on_exhausted: what becomes of a run whose function or step has no try left: it fails, the default, or with
            "pause" waits until a user resumes it from there.
        checkpoint: whether a call goes on after a step, once it is stored, instead of ending with it; and how:
            Checkpoint(buffer=5, max_runtime="30s"). Default: the client's.
        versioning: whether its runs end on the version of the app on which they begin ("pinned"), or go on with the
            newest ("latest"). Default: the client's.
        on_failure: runs when a run has failed for good: a function of its own, `<id>-failure`, with steps and retries.
        middleware: inside of the client's own.
        batch_events: not together with rate_limit, idempotency, debounce, singleton, order, priority or cancel_on.
        order: not together with singleton.

        Raises ConfigError when the configuration makes no sense.
        """
        flow = FlowControl(
            cancel_on=cancel_on,
            concurrency=concurrency,
            throttle=throttle,
            rate_limit=rate_limit,
            debounce=debounce,
            batch_events=batch_events,
            priority=priority,
            singleton=singleton,
            order=order,
            idempotency=idempotency,
            timeouts=timeouts,
        )

        own = checked(f'Function "{id}"', middleware)

        def decorate(handler: Callable[..., Any]) -> Function[Any]:
            return define_function(
                handler,
                app_id=self.app_id,
                id=id,
                trigger=trigger,
                name=name,
                retries=retries,
                on_exhausted=on_exhausted,
                checkpoint=checkpoint,
                versioning=self.versioning if versioning is None else versioning,
                on_failure=on_failure,
                flow=flow,
                middleware=(*self.middleware, *own),
                description=description,
                group=group,
            )

        return decorate
