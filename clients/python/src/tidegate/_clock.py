"""Time and chance, which a test may choose."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int: ...

    def monotonic(self) -> float:
        """Seconds."""
        ...

    def random(self) -> float:
        """From 0 to 1."""
        ...

    def sleep(self, seconds: float) -> None: ...

    async def sleep_async(self, seconds: float) -> None: ...


class RealClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    def random(self) -> float:
        return random.random()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True)
class Pause:
    """The effect of waiting."""

    seconds: float
    clock: Clock

    def perform(self) -> None:
        self.clock.sleep(self.seconds)

    async def perform_async(self) -> None:
        await self.clock.sleep_async(self.seconds)
