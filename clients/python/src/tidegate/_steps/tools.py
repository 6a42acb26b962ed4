"""`ctx.step` of an async handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, ParamSpec, TypeVar, overload

from .._events import EventData, EventOrEvents, ReceivedEvent, received
from .._moments import Duration
from .._outside import AsyncOutside
from .._postgres.transaction import Isolation
from .._received import FetchResponse, ReceivedSignal, fetch_response, received_signal
from . import describe
from .branches import race_branches, run_branches
from .invocable import Invocable, function_id_of
from .race import refuse_empty
from .replay_async import AsyncReplay
from .wrapping import AsyncWrapping

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

Branch = Callable[[], Awaitable[T]]


class Steps:
    """Steps are the parts of a function that a run remembers. A finished step never runs again, whatever happens to the
    app: its result is kept as JSON. The code between steps is repeated after each step. So put effects into steps, and
    decisions between them.

    Each step has its own ID in its function; a repeated ID, as in a loop, is numbered. Durations are seconds,
    timedeltas, or texts such as "30s", "2h45m", "1d", "1w". A step that failed permanently raises a StepError where
    it is awaited. For parallel steps, use asyncio.gather, a TaskGroup, or `parallel`.
    """

    def __init__(self, replay: AsyncReplay, outside: AsyncOutside, wrapped: AsyncWrapping) -> None:
        self._replay = replay
        self._outside = outside
        self._wrapped = wrapped

    @overload
    async def run(self, id: str, fn: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    @overload
    async def run(self, id: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    async def run(self, id: str, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Runs `fn` once; if it raises, only this step is retried. Resolves to its return value as JSON.

        A plain `fn` is called on the event loop. Run a blocking function in a thread, as in
        `step.run("resize", lambda: asyncio.to_thread(resize, image))`.
        """
        return await self._replay.find(describe.run(id, self._wrapped.step(fn, args, kwargs)))

    async def transaction(
        self,
        id: str,
        database: object,
        fn: Callable[[Any], Awaitable[T]],
        *,
        isolation: Isolation | None = None,
    ) -> T:
        """Runs `fn(tx)` in a transaction of the app's own Postgres, which also stores the result: its writes happen
        exactly once, whatever dies. Resolves to its return value as JSON. Serialization failures and deadlocks are
        tried again inside.

        database: an AsyncConnectionPool or AsyncConnection of psycopg 3, a pool or connection of asyncpg, an
            AsyncEngine or async_sessionmaker of SQLAlchemy. `tx` is a connection of it, or a session.
        isolation: default: the connection's.
        """
        run = self._wrapped.step(lambda: self._outside.transaction(database, fn, isolation), (), {})
        result: T = await self._replay.find(describe.transaction(id, run))
        return result

    async def sleep(self, id: str, duration: Duration) -> None:
        """The run uses no resources meanwhile."""
        await self._replay.find(describe.sleep(id, duration))

    async def sleep_until(self, id: str, moment: datetime | str) -> None:
        """Sleeps until an aware datetime or an ISO date. Does not wait for a time in the past."""
        await self._replay.find(describe.sleep_until(id, moment))

    async def send_event(self, id: str, events: EventOrEvents) -> list[str]:
        """Sends events from a function. Each is stored once, however often the step is retried. Resolves to their
        IDs."""
        sent: dict[str, list[str]] = await self._replay.find(
            describe.send_event(id, self._wrapped.send(events, self._outside))
        )
        return sent["ids"]

    async def wait_for_event(
        self, id: str, *, event: str, timeout: Duration | datetime, if_: str | None = None
    ) -> ReceivedEvent | None:
        """Resolves to the first matching event from now on, or to None at the timeout.

        In `if_`, a CEL expression, `event` is the event that triggered this run, and `async` the received event.
        """
        arrived = await self._replay.find(describe.wait_for_event(id, event, timeout, if_))
        return None if arrived is None else received(arrived)

    async def wait_for_signal(
        self,
        id: str,
        *,
        signal: str,
        timeout: Duration | datetime,
        conflict: Literal["fail", "replace"] | None = None,
    ) -> ReceivedSignal | None:
        """Resolves to the signal, which ends only this step, or to None at the timeout.

        If another step already waits for the signal, this step fails its run, or takes over with `conflict="replace"`.
        """
        return received_signal(await self._replay.find(describe.wait_for_signal(id, signal, timeout, conflict)))

    async def send_signal(self, id: str, signal: str, data: object = None) -> str | None:
        """Ends the step that waits for the signal. Resolves to the ID of its run, or to None if no step waits."""
        step = describe.send_signal(id, lambda: self._outside.send_signal(signal, data))
        run_id: str | None = await self._replay.find(step)
        return run_id

    async def fetch(
        self,
        id: str,
        url: str,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: object = None,
    ) -> FetchResponse:
        """The service makes the request (default: GET), so that no process of the app waits for it.

        Resolves to the response, whatever its status. A `body` that is not a string is sent as JSON.
        """
        return fetch_response(await self._replay.find(describe.fetch(id, url, method, headers, body)))

    async def infer(
        self,
        id: str,
        url: str,
        *,
        format: str,
        body: EventData,
        headers: Mapping[str, str] | None = None,
        auth_key: str | None = None,
    ) -> Any:
        """The service sends the request to a model provider, and retries while the provider is overloaded. Resolves to
        the JSON of the response.

        `format` says where `auth_key` goes: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `azure-openai`, …
        """
        return await self._replay.find(describe.infer(id, url, format, body, headers, auth_key))

    async def publish(self, id: str, channel: str, topic: str, data: object) -> None:
        """Publishes a message to the current subscribers once, whereas `client.publish` would repeat it at each
        call."""
        await self._replay.find(describe.publish(id, lambda: self._outside.publish(channel, topic, data)))

    @overload
    async def invoke(
        self,
        id: str,
        *,
        function: Invocable[T],
        data: EventData | None = None,
        user: Mapping[str, Any] | None = None,
        v: str | None = None,
        timeout: Duration | datetime | None = None,
    ) -> T: ...
    @overload
    async def invoke(
        self,
        id: str,
        *,
        function: str,
        data: EventData | None = None,
        user: Mapping[str, Any] | None = None,
        v: str | None = None,
        timeout: Duration | datetime | None = None,
    ) -> Any: ...
    async def invoke(
        self,
        id: str,
        *,
        function: Invocable[Any] | str,
        data: EventData | None = None,
        user: Mapping[str, Any] | None = None,
        v: str | None = None,
        timeout: Duration | datetime | None = None,
    ) -> Any:
        """Runs another function and resolves to its output; raises a StepError if it fails.

        A function is given as an object or as a string `<app id>-<function id>`. Default `timeout`: none.
        """
        step = describe.invoke(id, function_id_of(function), data, user, v, timeout)
        return await self._replay.find(step)

    @overload
    async def parallel(self, branches: tuple[Branch[A], Branch[B]], /) -> tuple[A, B]: ...
    @overload
    async def parallel(self, branches: tuple[Branch[A], Branch[B], Branch[C]], /) -> tuple[A, B, C]: ...
    @overload
    async def parallel(self, branches: tuple[Branch[A], Branch[B], Branch[C], Branch[D]], /) -> tuple[A, B, C, D]: ...
    @overload
    async def parallel(self, branches: Sequence[Branch[T]], /) -> tuple[T, ...]: ...
    async def parallel(self, branches: Sequence[Branch[Any]], /) -> tuple[Any, ...]:
        """Runs the functions in parallel and resolves to their return values; raises the first error.

        In a tuple, each value keeps its own type.
        """
        return await run_branches(branches, self._replay.settling)

    async def race(self, branches: Sequence[Branch[T]], /) -> T:
        """Runs the functions in parallel; resolves to the return value of the first to end, or raises its error.

        The function continues at once, and the steps of the other branches still run.
        """
        refuse_empty(branches)
        winner: T = await race_branches(branches, self._replay.settling, self._replay.losers)
        return winner
