"""A list of middleware as one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from .calls import FunctionCall, SendCall, StepCall
from .middleware import Middleware, Place, ValueAt
from .places import event_place


@dataclass(frozen=True)
class Stack:
    """Outermost first."""

    middleware: tuple[Middleware, ...] = ()

    @property
    def encodes(self) -> bool:
        """Whether any middleware encodes values for the service."""
        return any(
            type(one).encode is not Middleware.encode or type(one).encode_in_place is not Middleware.encode_in_place
            for one in self.middleware
        )

    def encode(self, value: Any, at: ValueAt, place: Place) -> Any:
        for one in reversed(self.middleware):
            value = one.encode_in_place(value, at, place)
        return value

    def encode_sent(self, name: str, data: Any) -> Any:
        """The data of an event that is sent."""
        return self.encode(data, "event", event_place(name))

    def decode(self, value: Any, at: ValueAt, places: Sequence[Place]) -> Any:
        for one in self.middleware:
            value = one.decode_in_place(value, at, places)
        return value

    async def run(self, call: FunctionCall, handle: Callable[[], Awaitable[Any]]) -> Any:
        return await _nested((one.on_run for one in self.middleware), call, _once(handle))()

    def run_sync(self, call: FunctionCall, handle: Callable[[], Any]) -> Any:
        return _nested((one.on_run_sync for one in self.middleware), call, _once(handle))()

    async def step(self, step: StepCall, execute: Callable[[], Awaitable[Any]]) -> Any:
        return await _nested((one.on_step for one in self.middleware), step, execute)()

    def step_sync(self, step: StepCall, execute: Callable[[], Any]) -> Any:
        return _nested((one.on_step_sync for one in self.middleware), step, execute)()

    async def send(self, send: SendCall, transmit: Callable[[], Awaitable[list[str]]]) -> list[str]:
        return _ids(await _nested((one.on_send for one in self.middleware), send, transmit)())

    def send_sync(self, send: SendCall, transmit: Callable[[], list[str]]) -> list[str]:
        return _ids(_nested((one.on_send_sync for one in self.middleware), send, transmit)())


def _nested(hooks: Iterable[Callable[..., Any]], call: object, innermost: Callable[[], Any]) -> Callable[[], Any]:
    """The hooks, each around the next one."""
    inner = innermost
    for hook in reversed(list(hooks)):
        inner = partial(hook, call, inner)
    return inner


def _ids(given: Any) -> list[str]:
    if isinstance(given, list):
        return cast("list[str]", given)
    raise TypeError(f"A middleware's hook of sends must return what next() gave, the list of IDs; got {given!r}")


def _once(handle: Callable[[], Any]) -> Callable[[], Any]:
    """The steps of a handler that runs twice in a call would be numbered as other steps."""
    called = False

    def handle_once() -> Any:
        nonlocal called
        if called:
            raise RuntimeError("A middleware has called next() of on_run twice: a handler runs once in a call")
        called = True
        return handle()

    return handle_once
