"""Requests of steps to the service. The step tools make them here, and tests replace them by an in-memory service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from . import _ask as ask
from ._call import Call
from ._clock import Clock
from ._effects import Effects, drive, drive_async
from ._postgres.transaction import Isolation, StepTransaction
from ._seed import seed_of_step
from ._send import send_events
from ._settings import Settings


class Outside(Protocol):
    """Requests of plain functions."""

    def send_event(self, events: Sequence[dict[str, Any]], hashed_id: str) -> list[str]:
        """Gets the events as they are on the wire; returns their IDs."""
        ...

    def send_signal(self, signal: str, data: object) -> Any:
        """Returns the ID of the run that continues, or None."""
        ...

    def publish(self, channel: str, topic: str, data: object) -> Any: ...

    def transaction(self, database: object, fn: Callable[[Any], Any], isolation: Isolation | None) -> Any:
        """Called in the step. Returns the step's result."""
        ...


class AsyncOutside(Protocol):
    """Like `Outside`, but awaited."""

    def send_event(self, events: Sequence[dict[str, Any]], hashed_id: str) -> Awaitable[list[str]]: ...

    def send_signal(self, signal: str, data: object) -> Awaitable[Any]: ...

    def publish(self, channel: str, topic: str, data: object) -> Awaitable[Any]: ...

    def transaction(
        self, database: object, fn: Callable[[Any], Any], isolation: Isolation | None
    ) -> Awaitable[Any]: ...


@dataclass(frozen=True)
class _OfCall:
    settings: Settings
    call: Call
    clock: Clock

    def _send_event(self, events: Sequence[dict[str, Any]], hashed_id: str) -> Effects[list[str]]:
        """The seed depends on run and step alone: events that arrived in an attempt whose answer was lost are not
        stored again."""
        if not events:
            return []
        seed = seed_of_step(self.call.run_id, hashed_id, self.call.event.get("ts") or 0)
        return (yield from send_events(events, self.settings, self.clock, seed=seed))

    def _publish(self, channel: str, topic: str, data: object) -> Effects[None]:
        return ask.publish(channel, topic, data, self.settings, self.call.run_id)

    def _transaction(self, database: object, fn: Callable[[Any], Any], isolation: Isolation | None) -> Effects[Any]:
        step = StepTransaction(database=database, fn=fn, isolation=isolation, is_stored=True, clock=self.clock)
        return step.run()


class ServiceOutside(_OfCall):
    def send_event(self, events: Sequence[dict[str, Any]], hashed_id: str) -> list[str]:
        return drive(self._send_event(events, hashed_id))

    def send_signal(self, signal: str, data: object) -> str | None:
        return drive(ask.send_signal(signal, data, self.settings))

    def publish(self, channel: str, topic: str, data: object) -> None:
        drive(self._publish(channel, topic, data))

    def transaction(self, database: object, fn: Callable[[Any], Any], isolation: Isolation | None) -> Any:
        return drive(self._transaction(database, fn, isolation))


class AsyncServiceOutside(_OfCall):
    async def send_event(self, events: Sequence[dict[str, Any]], hashed_id: str) -> list[str]:
        return await drive_async(self._send_event(events, hashed_id))

    async def send_signal(self, signal: str, data: object) -> str | None:
        return await drive_async(ask.send_signal(signal, data, self.settings))

    async def publish(self, channel: str, topic: str, data: object) -> None:
        await drive_async(self._publish(channel, topic, data))

    async def transaction(self, database: object, fn: Callable[[Any], Any], isolation: Isolation | None) -> Any:
        return await drive_async(self._transaction(database, fn, isolation))
