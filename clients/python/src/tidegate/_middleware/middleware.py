"""The base class of middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from .calls import FunctionCall, SendCall, StepCall

Next = Callable[[], Awaitable[Any]]
NextSync = Callable[[], Any]

ValueAt = Literal["event", "step", "output"]
"""Kind of a value: an event's `data`, a step's stored result, or a function's return value."""

Place = tuple[str, ...]
"""The place to which a value belongs, by which a value that was moved is recognized: `("event", name)`, `("event",
name, function, caller)` of an invocation, `("step", hashed ID, function, run)`, `("output", function, run or
caller)`. Functions are named `<app id>-<function id>`; a caller is the invoking `<run>.<hashed ID of its step>`."""


class Middleware:
    """Hooks around the work of a client and its functions: override the hooks that you need.

    Hooks with `_sync` are for plain functions and `send_sync`. Each hook calls `next`, and returns its result or
    another value; an exception of the hook counts as one of the code inside. The first middleware of a list is the
    outermost; the function's middleware is inside the client's.

    One object serves all calls, also concurrent ones: keep the state of a call in variables of the hook.
    """

    name: str = "Middleware"
    """In messages. Default: the name of the class."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    async def on_run(self, call: FunctionCall, next: Next, /) -> Any:
        """Wraps each call of a function; `next` runs its handler.

        A run takes several calls. What comes after `next` runs only in the call in which the handler returns or
        raises. A call that ends at a new step is unwound by an asyncio.CancelledError (in plain code by another
        BaseException): `finally` clauses and `with` blocks run in every call, `except Exception` does not. A step
        for which no code waits any more, such as that of the loser of a race, may run after the handler has
        returned.
        """
        return await next()

    def on_run_sync(self, call: FunctionCall, next: NextSync, /) -> Any:
        return next()

    async def on_step(self, step: StepCall, next: Next, /) -> Any:
        """Wraps the code of a `step.run` when it runs; not called if the stored result is replayed."""
        return await next()

    def on_step_sync(self, step: StepCall, next: NextSync, /) -> Any:
        return next()

    async def on_send(self, send: SendCall, next: Callable[[], Awaitable[list[str]]], /) -> list[str]:
        """Wraps `client.send` and `step.send_event`; `next` sends the events and returns their IDs."""
        return await next()

    def on_send_sync(self, send: SendCall, next: Callable[[], list[str]], /) -> list[str]:
        return next()

    def encode(self, value: Any, at: ValueAt, /) -> Any:
        """Encodes a value for the service: the value as given or returned, which may be a dataclass or a model; an
        event's data is a dict. The result must become JSON. The first middleware of a list encodes last."""
        return value

    def decode(self, value: Any, at: ValueAt, /) -> Any:
        """Decodes a value from the service. The first middleware of a list decodes first. Return a value unchanged
        if `encode` has not made it: it may be older than the middleware, or from another app."""
        return value

    def encode_in_place(self, value: Any, at: ValueAt, place: Place, /) -> Any:
        """Like `encode`, for middleware that binds a value to its place. Default: calls `encode`."""
        return self.encode(value, at)

    def decode_in_place(self, value: Any, at: ValueAt, places: Sequence[Place], /) -> Any:
        """Like `decode`; `places` are the places to which the value may belong: a re-run from a step also has
        results of earlier runs. None: clients never encode this value, such as the response of `step.fetch`.
        Default: calls `decode`."""
        return self.decode(value, at)
