"""Steps of a test send nothing: its memory keeps the events.

Nor do they store results in a database: all runs of tests have the same ID.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._clock import RealClock
from .._effects import Effects, drive, drive_async
from .._json import as_json
from .._postgres.transaction import Isolation, StepTransaction
from .memory import PublishedMessage, RunInMemory, SentSignal


class MemoryOutside:
    def __init__(self, run: RunInMemory) -> None:
        self._run = run

    def send_event(self, events: Sequence[dict[str, Any]], hashed_id: str) -> list[str]:
        return self._run.keep(events)

    def send_signal(self, signal: str, data: object) -> str | None:
        self._run.signals.append(SentSignal(signal=signal, data=as_json(data, "The signal's data")))
        return f"test-run-that-waits-for-{signal}"

    def publish(self, channel: str, topic: str, data: object) -> None:
        message = PublishedMessage(channel=channel, topic=topic, data=as_json(data, "The message"))
        self._run.published.append(message)

    def transaction(self, database: object, fn: Callable[[Any], Any], isolation: Isolation | None) -> Any:
        return drive(_transaction(database, fn, isolation))


class AsyncMemoryOutside:
    def __init__(self, run: RunInMemory) -> None:
        self._plain = MemoryOutside(run)

    async def send_event(self, events: Sequence[dict[str, Any]], hashed_id: str) -> list[str]:
        return self._plain.send_event(events, hashed_id)

    async def send_signal(self, signal: str, data: object) -> str | None:
        return self._plain.send_signal(signal, data)

    async def publish(self, channel: str, topic: str, data: object) -> None:
        self._plain.publish(channel, topic, data)

    async def transaction(self, database: object, fn: Callable[[Any], Any], isolation: Isolation | None) -> Any:
        return await drive_async(_transaction(database, fn, isolation))


def _transaction(database: object, fn: Callable[[Any], Any], isolation: Isolation | None) -> Effects[Any]:
    step = StepTransaction(database=database, fn=fn, isolation=isolation, is_stored=False, clock=RealClock())
    return step.run()
