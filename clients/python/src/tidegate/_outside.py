"""What steps do in the service beside being reported: the step tools ask for it here, and tests put a memory there."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol

from . import _ask as ask
from ._call import Call
from ._clock import Clock
from ._effects import Effects, drive, drive_async
from ._events import EventOrEvents, events_to_send
from ._seed import seed_of_step
from ._send import send_events
from ._settings import Settings


class Outside(Protocol):
    """Of plain functions."""

    def send_event(self, events: EventOrEvents, hashed_id: str) -> Any:
        """Gives the step's memo: `{"ids": […]}`."""
        ...

    def send_signal(self, signal: str, data: object) -> Any:
        """Gives the ID of the run that goes on, or None."""
        ...

    def publish(self, channel: str, topic: str, data: object) -> Any: ...


class AsyncOutside(Protocol):
    """As `Outside`, awaited."""

    def send_event(self, events: EventOrEvents, hashed_id: str) -> Awaitable[Any]: ...

    def send_signal(self, signal: str, data: object) -> Awaitable[Any]: ...

    def publish(self, channel: str, topic: str, data: object) -> Awaitable[Any]: ...


@dataclass(frozen=True)
class _OfCall:
    settings: Settings
    call: Call
    clock: Clock

    def _send_event(self, events: EventOrEvents, hashed_id: str) -> Effects[dict[str, list[str]]]:
        """The seed depends on run and step alone: events that arrived in an attempt whose answer was lost are not
        stored again."""
        wire = events_to_send(events)
        if not wire:
            return {"ids": []}
        seed = seed_of_step(self.call.run_id, hashed_id, self.call.event.get("ts") or 0)
        return {"ids": (yield from send_events(wire, self.settings, self.clock, seed=seed))}

    def _publish(self, channel: str, topic: str, data: object) -> Effects[None]:
        return ask.publish(channel, topic, data, self.settings, self.call.run_id)


class ServiceOutside(_OfCall):
    def send_event(self, events: EventOrEvents, hashed_id: str) -> Any:
        return drive(self._send_event(events, hashed_id))

    def send_signal(self, signal: str, data: object) -> str | None:
        return drive(ask.send_signal(signal, data, self.settings))

    def publish(self, channel: str, topic: str, data: object) -> None:
        drive(self._publish(channel, topic, data))


class AsyncServiceOutside(_OfCall):
    async def send_event(self, events: EventOrEvents, hashed_id: str) -> Any:
        return await drive_async(self._send_event(events, hashed_id))

    async def send_signal(self, signal: str, data: object) -> str | None:
        return await drive_async(ask.send_signal(signal, data, self.settings))

    async def publish(self, channel: str, topic: str, data: object) -> None:
        await drive_async(self._publish(channel, topic, data))
