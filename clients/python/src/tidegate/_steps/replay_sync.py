"""The replay of a plain handler, in the thread that calls `run`.

Where the handler waits, that thread makes the moves; steps run in it too. Only the branches of `parallel`, the code
between their steps that is, have threads of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import Any

from .._effects import drive
from .board import Board
from .current import running
from .found import StepDescription
from .moves import Done, Failed, Progress, ReplayCall, Run, in_mode, kept, next_move, step_not_found
from .outcomes import Ops, Timing, refuse_nesting, run_step
from .race import racing
from .strands import CallEnded, Strand


class _Result:
    """Keeps a step's memo until the code that waits for it is resumed."""

    def __init__(self) -> None:
        self.filled = False
        self._data: Any = None
        self._error: Exception | None = None

    def resolve(self, data: Any) -> None:
        self._data, self.filled = data, True

    def reject(self, error: Exception) -> None:
        self._error, self.filled = error, True

    def gave_up(self) -> bool:
        return False

    def take(self) -> Any:
        if self._error:
            raise self._error
        return self._data


class _Join:
    """The branches of one `parallel`."""

    def __init__(self, strands: list[Strand]) -> None:
        self._strands = strands
        self._first_error: Exception | None = None

    def ready(self) -> bool:
        """When all are done, or one has failed: the first that did so is remembered."""
        if not self._first_error:
            self._first_error = next((strand.error for strand in self._strands if strand.error), None)
        return self._first_error is not None or all(strand.done for strand in self._strands)

    def take(self) -> Any:
        if self._first_error:
            raise self._first_error
        return tuple(strand.result for strand in self._strands)


class _Race(_Join):
    """The branches of one `race`."""

    _winner: Strand | None = None

    def ready(self) -> bool:
        self._winner = self._winner or next((strand for strand in self._strands if strand.done), None)
        return self._winner is not None

    def take(self) -> Any:
        if self._winner and self._winner.error:
            raise self._winner.error
        return self._winner and self._winner.result


class SyncReplay:
    """One call. Make it anew for each."""

    def __init__(self, call: ReplayCall) -> None:
        self._call = call
        self.board = Board(call.memos, call.order, call.values)
        self._strands: list[Strand] = []
        """A strand's own come right after it."""
        self._current: Strand | None = None
        """None: the handler itself."""
        self._thread = threading.get_ident()
        self._joins: list[_Join] = []
        self._progress: Progress | None = None
        self._over = False

    def find(self, description: StepDescription) -> Any:
        """Returns when the step's memo is delivered; ends the call if it is not in there."""
        refuse_nesting(description.id)
        self._check_turn()
        result = _Result()
        self.board.find(description, result)
        self._wait(lambda: result.filled)
        return result.take()

    def parallel(self, branches: Iterable[Callable[[], Any]]) -> tuple[Any, ...]:
        refuse_nesting("parallel")
        result: tuple[Any, ...] = self._branch_out(branches, _Join)
        return result

    def race(self, branches: Iterable[Callable[[], Any]]) -> Any:
        refuse_nesting("race")
        outside = racing.set(True)
        try:
            return self._branch_out(branches, _Race)
        finally:
            racing.reset(outside)

    def _branch_out(self, branches: Iterable[Callable[[], Any]], kind: type[_Join]) -> Any:
        self._check_turn()
        strands = [Strand(branch) for branch in branches]
        place = self._strands.index(self._current) + 1 if self._current else len(self._strands)
        self._strands[place:place] = strands
        join = kind(strands)
        self._joins.append(join)
        self._wait(join.ready)
        return join.take()

    def run(self, body: Callable[[], Any]) -> Progress:
        """Leaves no thread behind."""
        try:
            end = copy_context().run(self._end_of, body)
            # A handler that swallows what unwinds it does not take the call's end back.
            self._progress = in_mode(self._progress or self._last_move(end), self.board)
            return self._progress
        finally:
            self._over = True
            for strand in reversed(self._strands):
                self._current = strand
                strand.unwind()

    def _end_of(self, body: Callable[[], Any]) -> Progress:
        running.set(None)
        racing.set(False)
        try:
            return Done(body())
        except CallEnded:
            return Done(None)
        except Exception as error:
            return Failed(error)

    def _last_move(self, end: Progress) -> Progress:
        move = next_move(self._call, self.board, end)
        if isinstance(move, Run):
            return run_step(move.step, self._call.values)
        if isinstance(move, Done | Failed | Ops):
            return move
        raise AssertionError(f"A handler has ended, and the next move is {move}")

    def _wait(self, ready: Callable[[], bool]) -> None:
        if self._current:
            self._current.halt(ready)
        else:
            self._make_moves(ready)

    def _make_moves(self, ready: Callable[[], bool]) -> None:
        """Runs in the handler's thread until the handler itself can continue."""
        while True:
            self._run_strands()
            if ready():
                return
            move = next_move(self._call, self.board, None)
            if isinstance(move, Run):
                timing = Timing()
                outcome = run_step(move.step, self._call.values)
                answer = drive(kept(self._call, self.board, move.step, outcome, timing))
                if answer:
                    self._finish(answer)
            elif isinstance(move, Done | Failed | Ops):
                self._finish(move)
            elif move == "requested is missing" and self._call.requested_step:
                # Plain code awaits nothing of its own while it is halted: the step will not come.
                self._finish(step_not_found(self._call.requested_step, self.board))

    def _run_strands(self) -> None:
        """All strands that can continue, new ones first, so that each has started before a failure is seen."""
        while strand := self._runnable():
            self._current = strand
            strand.resume()
            self._current = None
            for join in self._joins:
                join.ready()

    def _runnable(self) -> Strand | None:
        fresh = next((strand for strand in self._strands if not strand.started), None)
        return fresh or next((strand for strand in self._strands if not strand.done and strand.ready()), None)

    def _finish(self, progress: Progress) -> None:
        self._progress = progress
        raise CallEnded

    def _check_turn(self) -> None:
        if self._progress or self._over:
            raise CallEnded
        if threading.get_ident() != (self._current.ident if self._current else self._thread):
            raise RuntimeError(
                "A step was called in a thread that the handler has started. "
                "Call steps in the handler itself; side by side with step.parallel"
            )
