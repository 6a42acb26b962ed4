"""When async code has settled: when it has done all that it can do without outside help.

JavaScript has a macrotask for this, which comes after all microtasks. An asyncio loop has no such thing: it makes
rounds, and one round's callbacks schedule the next round's. From the delivery of a memo to the next step that the code
asks for there are a few rounds (a future wakes a task, its end wakes a gather or a task group, that wakes the handler),
two or three for each level of them. So: settled is when so many rounds in a row have brought nothing, neither a new
step nor the handler's end, that no sound nesting is deeper. A round that has nothing to do takes microseconds.

The count never depends on time or load: a replay of the same code takes the same rounds, so a race has the same
winner each time. Code that awaits something from outside between its steps is not waited for; its step, when it
comes, is found then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_QUIET_ROUNDS = 40


class BranchStart:
    """How many calls of `parallel` inside of a branch are still starting theirs."""

    def __init__(self) -> None:
        self.open_inside = 0


class Settling:
    def __init__(self) -> None:
        self.starting = 0
        """Calls of `parallel` that have branches to start."""
        self._changes = 0
        self._change: asyncio.Future[None] | None = None

    def note_change(self) -> None:
        """The code has asked for a step, or started a branch, or ended."""
        self._changes += 1
        if self._change and not self._change.done():
            self._change.set_result(None)
        self._change = None

    def next_change(self) -> asyncio.Future[None]:
        if self._change is None or self._change.done():
            self._change = asyncio.get_running_loop().create_future()
        return self._change

    async def settled(self) -> None:
        await self._quiet(lambda: self.starting > 0)

    async def started(self, branch: BranchStart) -> None:
        """Once a branch of `parallel` has come to its first wait, and the branches inside of it have too."""
        await self._quiet(lambda: branch.open_inside > 0)

    async def _quiet(self, busy: Callable[[], bool]) -> None:
        """Counts in plain callbacks: they are cheaper than waking a task each time."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        seen, quiet = self._changes, 0

        def count() -> None:
            nonlocal seen, quiet
            if done.done():
                return
            if self._changes != seen or busy():
                seen, quiet = self._changes, 0
            quiet += 1
            if quiet > _QUIET_ROUNDS:
                done.set_result(None)
            else:
                loop.call_soon(count)

        loop.call_soon(count)
        await done
