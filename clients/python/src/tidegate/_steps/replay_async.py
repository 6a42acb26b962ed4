"""The replay of an async handler, which runs in a task next to the loop that makes the moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from .._effects import drive_async
from .board import Board
from .current import running
from .found import StepDescription
from .moves import Done, Failed, Progress, ReplayCall, Run, in_mode, kept, next_move, step_not_found
from .outcomes import Ops, Timing, refuse_nesting, run_step_async
from .race import racing
from .settling import Settling

_NOT_FOUND_AFTER_SECONDS = 10.0
"""How long a requested step is waited for when the code awaits other steps and perhaps something of its own: no other
case depends on time, and only code that has changed under its run gets here."""


class _Future:
    """Lets a coroutine wait for a step."""

    def __init__(self) -> None:
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def resolve(self, data: Any) -> None:
        if not self.future.done():
            self.future.set_result(data)

    def reject(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            # Retrieved, because a step that fails while nothing awaits it is not an error of the code.
            self.future.exception()

    def gave_up(self) -> bool:
        return self.future.cancelled()


class AsyncReplay:
    """One call. Make it anew for each."""

    def __init__(self, call: ReplayCall, *, not_found_after: float = _NOT_FOUND_AFTER_SECONDS) -> None:
        self._call = call
        self._not_found_after = not_found_after
        self._over = False
        self._end: Progress | None = None
        self.settling = Settling()
        self.losers: set[asyncio.Task[Any]] = set()
        """Branches of races that others have won; they continue as long as the call."""
        self.board = Board(call.memos, call.order, call.values)

    async def find(self, description: StepDescription) -> Any:
        """Resolves when the step's memo is delivered; is cancelled at the end of the call if it is not in there."""
        refuse_nesting(description.id)
        if self._over:
            raise asyncio.CancelledError
        awaiter = _Future()
        self.board.find(description, awaiter)
        self.settling.note_change()
        return await awaiter.future

    async def run(self, body: Callable[[], Awaitable[Any]]) -> Progress:
        """Raises nothing but the cancellation of the call itself. Leaves no task behind that waits for a step."""
        handler = asyncio.create_task(self._start(body))
        try:
            return in_mode(await self._advance(), self.board)
        finally:
            await self._unwind(handler)

    async def _start(self, body: Callable[[], Awaitable[Any]]) -> None:
        # A function that is called from inside of another one's step, in a test perhaps, is not part of that.
        running.set(None)
        racing.set(False)
        try:
            self._end = Done(await body())
        except asyncio.CancelledError as error:
            if self._over:
                raise
            # The handler itself awaited something that was cancelled.
            self._end = Failed(error)
        except Exception as error:
            self._end = Failed(error)
        finally:
            self.settling.note_change()

    async def _advance(self) -> Progress:
        while True:
            change = self.settling.next_change()
            await self.settling.settled()
            move = next_move(self._call, self.board, self._end)
            if isinstance(move, Run):
                timing = Timing()
                outcome = await run_step_async(move.step, self._call.values)
                answer = await drive_async(kept(self._call, self.board, move.step, outcome, timing))
                if answer:
                    return answer
                continue
            if isinstance(move, Done | Failed | Ops):
                return move
            if move == "requested is missing" and self._call.requested_step:
                try:
                    await asyncio.wait_for(change, self._not_found_after)
                except asyncio.TimeoutError:
                    return step_not_found(self._call.requested_step, self.board)
            elif move == "nothing":
                await change

    async def _unwind(self, handler: asyncio.Task[None]) -> None:
        """Cancels the handler, and whoever else waits for a step, and waits until their `finally` clauses are done."""
        self._over = True
        handler.cancel()
        for step in self.board.waiting():
            if isinstance(step.awaiter, _Future):
                step.awaiter.future.cancel()
        for task in self.losers:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait([handler, *self.losers])
        await self.settling.settled()
