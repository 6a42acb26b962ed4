"""`step.transaction`: the step's result is stored by the transaction of its writes, so they count once together.

begin → the step's row can be inserted: run the function, store its result in the row, commit
      → the row is there:               the function has run: its result is the row's
      → serialization failure, deadlock: roll back, begin again
      → anything else:                  roll back; the step fails, and its retry begins again
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from .._clock import Clock, Pause
from .._effects import Effects, does, drive, drive_async
from .._json import parse, plain, write
from .._steps.current import CurrentStep, current_step
from ..errors import NonRetriableError
from .databases import Opened, begin, begin_async
from .sessions import query, sqlstate_of
from .statements import STEP_BEGIN, STEP_END, STEP_RESULT

Isolation = Literal["read committed", "repeatable read", "serializable"]

_ISOLATIONS = ("read committed", "repeatable read", "serializable")
_TRIES = 10
_TRIED_AGAIN = ("40001", "40P01")
"""Serialization failure, deadlock."""
_FIRST_BACKOFF_SECONDS = 0.01
_MAX_STEP_BYTES = 4 * 1_024 * 1_024
"""Maximum size of a step's result, as the service stores it."""


class OutputTooLarge(NonRetriableError):
    """The result of a transaction is larger than that of a step may be. The transaction is rolled back, and not tried
    again."""


@dataclass(frozen=True, kw_only=True)
class StepTransaction:
    """A step's transaction, in one call."""

    database: object
    fn: Callable[[Any], Any]
    isolation: Isolation | None
    is_stored: bool
    """False in tests of functions, in which all runs have the same ID."""
    clock: Clock

    def run(self) -> Effects[Any]:
        """Raises what the function and the library raise; OutputTooLarge, ConfigError, TypeError."""
        if self.isolation is not None and self.isolation not in _ISOLATIONS:
            raise ValueError(f"isolation is one of {', '.join(_ISOLATIONS)}; got {self.isolation!r}")
        step = current_step()
        tries = 1
        while True:
            try:
                return (yield from does(_Attempt(self.database, lambda opened: self._within(opened, step))))
            except Exception as error:
                if sqlstate_of(error) not in _TRIED_AGAIN or tries == _TRIES:
                    raise
            yield from does(Pause(self.clock.random() * _FIRST_BACKOFF_SECONDS * 2 ** (tries - 1), self.clock))
            tries += 1

    def _within(self, opened: Opened, step: CurrentStep) -> Effects[Any]:
        session = opened.session
        if self.isolation:
            yield from query(session, f"set transaction isolation level {self.isolation}")
        if not self.is_stored:
            return parse(_bounded((yield from does(_Call(self.fn, opened.tx))), step))
        # Waits for another attempt that is under way.
        if not (yield from query(session, STEP_BEGIN, step.run_id, step.hashed_id)):
            (row,) = yield from query(session, STEP_RESULT, step.run_id, step.hashed_id)
            return parse(row["result"])
        text = _bounded((yield from does(_Call(self.fn, opened.tx))), step)
        yield from query(session, STEP_END, step.run_id, step.hashed_id, text)
        return parse(text)


def _bounded(result: Any, step: CurrentStep) -> str:
    """As JSON. The service would refuse it later, when the transaction has been committed."""
    text = write(plain(result, f'The result of step "{step.id}"'))
    size = len(text.encode()) + len('{"data":}')
    if size > _MAX_STEP_BYTES:
        raise OutputTooLarge(
            f'the output of step "{step.id}" has {size} bytes, more than {_MAX_STEP_BYTES}; '
            "store large data elsewhere and return a reference"
        )
    return text


@dataclass(frozen=True)
class _Attempt:
    """The effect of one transaction."""

    database: object
    body: Callable[[Opened], Effects[Any]]

    def perform(self) -> Any:
        with begin(self.database) as opened:
            return drive(self.body(opened))

    async def perform_async(self) -> Any:
        async with begin_async(self.database) as opened:
            return await drive_async(self.body(opened))


@dataclass(frozen=True)
class _Call:
    """The effect of the app's function."""

    fn: Callable[[Any], Any]
    tx: Any

    def perform(self) -> Any:
        result = self.fn(self.tx)
        if inspect.iscoroutine(result):
            result.close()
            raise TypeError("The function of a transaction is async: the function that has the step must be so too")
        return result

    async def perform_async(self) -> Any:
        result = self.fn(self.tx)
        return await result if inspect.isawaitable(result) else result
