"""Steps of a test send nothing: its memory keeps the events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._json import as_json
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


class AsyncMemoryOutside:
    def __init__(self, run: RunInMemory) -> None:
        self._plain = MemoryOutside(run)

    async def send_event(self, events: Sequence[dict[str, Any]], hashed_id: str) -> list[str]:
        return self._plain.send_event(events, hashed_id)

    async def send_signal(self, signal: str, data: object) -> str | None:
        return self._plain.send_signal(signal, data)

    async def publish(self, channel: str, topic: str, data: object) -> None:
        self._plain.publish(channel, topic, data)
