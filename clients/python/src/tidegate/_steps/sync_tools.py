"""`ctx.step` of a plain handler: the tools of `Steps`, without await."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, ParamSpec, TypeVar, overload

from .._events import EventData, EventOrEvents, ReceivedEvent, received
from .._moments import Duration
from .._outside import Outside
from .._postgres.transaction import Isolation
from .._received import FetchResponse, ReceivedSignal, fetch_response, received_signal
from . import describe
from .invocable import Invocable, function_id_of
from .race import refuse_empty
from .replay_sync import SyncReplay
from .wrapping import Wrapping

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

Branch = Callable[[], T]


class SyncSteps:
    """Like `Steps`, for plain functions. Steps are called in the handler's own thread; parallel steps with
    `parallel`."""

    def __init__(self, replay: SyncReplay, outside: Outside, wrapped: Wrapping) -> None:
        self._replay = replay
        self._outside = outside
        self._wrapped = wrapped

    def run(self, id: str, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `fn` once; if it raises, only this step is retried. Returns its return value as JSON."""
        result: T = self._replay.find(describe.run(id, self._wrapped.step(fn, args, kwargs)))
        return result

    def transaction(
        self, id: str, database: object, fn: Callable[[Any], T], *, isolation: Isolation | None = None
    ) -> T:
        """As `Steps.transaction`.

        database: a ConnectionPool or connection of psycopg 3, an Engine or sessionmaker of SQLAlchemy, a connection of
            Django. `fn` gets a connection of it, or a session.
        """
        run = self._wrapped.step(lambda: self._outside.transaction(database, fn, isolation), (), {})
        result: T = self._replay.find(describe.transaction(id, run))
        return result

    def sleep(self, id: str, duration: Duration) -> None:
        """The run takes up no resources meanwhile."""
        self._replay.find(describe.sleep(id, duration))

    def sleep_until(self, id: str, moment: datetime | str) -> None:
        """Until an aware datetime, or an ISO date. One that has passed does not wait."""
        self._replay.find(describe.sleep_until(id, moment))

    def send_event(self, id: str, events: EventOrEvents) -> list[str]:
        """Sends events from a function, stored once each however often the step is tried. Returns their IDs."""
        sent: dict[str, list[str]] = self._replay.find(
            describe.send_event(id, self._wrapped.send(events, self._outside))
        )
        return sent["ids"]

    def wait_for_event(
        self, id: str, *, event: str, timeout: Duration | datetime, if_: str | None = None
    ) -> ReceivedEvent | None:
        """Returns the first matching event from now on, or None at the timeout.

        In `if_`, a CEL expression, `event` is the one that triggered this run, `async` the one that arrives.
        """
        arrived = self._replay.find(describe.wait_for_event(id, event, timeout, if_))
        return None if arrived is None else received(arrived)

    def wait_for_signal(
        self,
        id: str,
        *,
        signal: str,
        timeout: Duration | datetime,
        conflict: Literal["fail", "replace"] | None = None,
    ) -> ReceivedSignal | None:
        """Returns the signal, which ends only this step, or None at the timeout.

        If another step already waits for the signal, this step fails its run, or takes over with `conflict="replace"`.
        """
        return received_signal(self._replay.find(describe.wait_for_signal(id, signal, timeout, conflict)))

    def send_signal(self, id: str, signal: str, data: object = None) -> str | None:
        """Ends the step that waits for the signal. Returns the ID of its run, or None when no step waits."""
        step = describe.send_signal(id, lambda: self._outside.send_signal(signal, data))
        run_id: str | None = self._replay.find(step)
        return run_id

    def fetch(
        self,
        id: str,
        url: str,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: object = None,
    ) -> FetchResponse:
        """The service makes the request (default: GET), so that no process of the app waits for it.

        Returns the response, whatever its status. A `body` that is not a string is sent as JSON.
        """
        return fetch_response(self._replay.find(describe.fetch(id, url, method, headers, body)))

    def infer(
        self,
        id: str,
        url: str,
        *,
        format: str,
        body: EventData,
        headers: Mapping[str, str] | None = None,
        auth_key: str | None = None,
    ) -> Any:
        """The service asks a provider of models, and retries when that is overloaded. Returns its JSON.

        `format` says where `auth_key` goes: `openai-chat`, `openai-responses`, `anthropic`, `gemini`, `azure-openai`, …
        """
        return self._replay.find(describe.infer(id, url, format, body, headers, auth_key))

    def publish(self, id: str, channel: str, topic: str, data: object) -> None:
        """Publishes a message to who is subscribed now: once, whereas `client.publish` does so at each call."""
        self._replay.find(describe.publish(id, lambda: self._outside.publish(channel, topic, data)))

    @overload
    def invoke(
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
    def invoke(
        self,
        id: str,
        *,
        function: str,
        data: EventData | None = None,
        user: Mapping[str, Any] | None = None,
        v: str | None = None,
        timeout: Duration | datetime | None = None,
    ) -> Any: ...
    def invoke(
        self,
        id: str,
        *,
        function: Invocable[Any] | str,
        data: EventData | None = None,
        user: Mapping[str, Any] | None = None,
        v: str | None = None,
        timeout: Duration | datetime | None = None,
    ) -> Any:
        """Runs another function and returns its output; raises a StepError when it fails.

        As a string, a function is `<app id>-<function id>`. Default `timeout`: as long as it takes.
        """
        step = describe.invoke(id, function_id_of(function), data, user, v, timeout)
        return self._replay.find(step)

    @overload
    def parallel(self, branches: tuple[Branch[A], Branch[B]], /) -> tuple[A, B]: ...
    @overload
    def parallel(self, branches: tuple[Branch[A], Branch[B], Branch[C]], /) -> tuple[A, B, C]: ...
    @overload
    def parallel(self, branches: tuple[Branch[A], Branch[B], Branch[C], Branch[D]], /) -> tuple[A, B, C, D]: ...
    @overload
    def parallel(self, branches: Sequence[Branch[T]], /) -> tuple[T, ...]: ...
    def parallel(self, branches: Sequence[Branch[Any]], /) -> tuple[Any, ...]:
        """Runs the functions in parallel and returns their return values; raises the first error.

        In a tuple, each keeps its own type.
        """
        return self._replay.parallel(branches)

    def race(self, branches: Sequence[Branch[T]], /) -> T:
        """Runs the functions in parallel; returns the return value of the first to end, or raises its error.

        The function continues at once, and the steps of the other branches still run.
        """
        refuse_empty(branches)
        winner: T = self._replay.race(branches)
        return winner
