"""The base class of middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from .calls import FunctionCall, SendCall, StepCall

Next = Callable[[], Awaitable[Any]]
NextSync = Callable[[], Any]

ValueAt = Literal["event", "step", "output"]
"""Where a value is: an event's `data`, a step's stored result, or what a function has returned."""

Place = tuple[str, ...]
"""What a value belongs to, by which one that was moved is recognized: `("event", name)`, `("event", name, function,
caller)` of an invocation, `("step", hashed ID, function, run)`, `("output", function, run or caller)`. Functions are
named `<app id>-<function id>`; a caller is the invoking `<run>.<hashed ID of its step>`."""


class Middleware:
    """Wraps what a client and its functions do: override the hooks that you need.

    The hooks with `_sync` are those of plain functions and of `send_sync`. Each hook calls `next`, and returns what
    that gave or something else; what it raises is as if the code inside had raised it. In a list of middleware the
    first is the outermost; a function's own are inside of the client's.

    One object serves all calls, also at the same time: what belongs to one call is in the hook's variables.
    """

    name: str = "Middleware"
    """In messages. Default: the name of the class."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    async def on_run(self, call: FunctionCall, next: Next, /) -> Any:
        """Around each call of a function; `next` runs its handler.

        A run takes several calls. What comes after `next` runs only in the call in which the handler returns or
        raises. A call that ends at a new step is unwound by an asyncio.CancelledError (in plain code by another
        BaseException): `finally` clauses and `with` blocks run in every call, `except Exception` does not. A step that
        nobody waits for any more, as that of the loser of a race, may run after the handler has returned.
        """
        return await next()

    def on_run_sync(self, call: FunctionCall, next: NextSync, /) -> Any:
        return next()

    async def on_step(self, step: StepCall, next: Next, /) -> Any:
        """Around the code of a `step.run`, when that runs: not when its stored result is replayed."""
        return await next()

    def on_step_sync(self, step: StepCall, next: NextSync, /) -> Any:
        return next()

    async def on_send(self, send: SendCall, next: Callable[[], Awaitable[list[str]]], /) -> list[str]:
        """Around `client.send` and `step.send_event`; `next` sends the events and gives their IDs."""
        return await next()

    def on_send_sync(self, send: SendCall, next: Callable[[], list[str]], /) -> list[str]:
        return next()

    def encode(self, value: Any, at: ValueAt, /) -> Any:
        """A value on its way to the service: what was given or returned, so dataclasses and models too; an event's data
        are a dict. Comes to JSON at last. The first middleware of a list encodes last."""
        return value

    def decode(self, value: Any, at: ValueAt, /) -> Any:
        """A value from the service. The first middleware of a list decodes first. Leave a value alone that `encode`
        has not made: it may be older than the middleware, or another app's."""
        return value

    def encode_in_place(self, value: Any, at: ValueAt, place: Place, /) -> Any:
        """As `encode`, for middleware that binds a value to its place. Default: calls `encode`."""
        return self.encode(value, at)

    def decode_in_place(self, value: Any, at: ValueAt, places: Sequence[Place], /) -> Any:
        """As `decode`; `places` are where the value may belong: a re-run from a step has results of earlier runs too.
        None: no client encodes such values, as the responses of `step.fetch`. Default: calls `decode`."""
        return self.decode(value, at)
