"""The steps that one replay has found so far, and the memos that are still to be delivered to them."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import copy_context

from .._middleware.values import Values
from .found import Awaiter, FoundStep, StepDescription
from .ids import RepeatNumbers, hash_step_id
from .memo import Memo, Memos, deliver
from .race import racing


class Board:
    def __init__(self, memos: Memos, order: Sequence[str], values: Values) -> None:
        """`order` is the hashed IDs of the finished steps, in order of completion."""
        self.memos: dict[str, Memo] = dict(memos)
        self._values = values
        self._found: dict[str, FoundStep] = {}
        self._numbers = RepeatNumbers()
        # Memos out of the order, if ever there are such, come last. A dict is an ordered set here.
        self._undelivered = dict.fromkeys(hashed_id for hashed_id in [*order, *memos] if hashed_id in memos)

    def find(self, description: StepDescription, awaiter: Awaiter) -> None:
        """Registers the step. Its memo is delivered to the awaiter, and nothing ever if that is not in this call.

        Raises what encoding the data of an invocation raises.
        """
        display_name = self._numbers.name_of(description.id)
        hashed_id = hash_step_id(display_name)
        self._found[hashed_id] = FoundStep(
            kind=description.kind,
            id=description.id,
            hashed_id=hashed_id,
            display_name=display_name,
            name=description.id if description.name is None else description.name,
            opts=self._values.encode_opts(description.kind, description.opts, hashed_id),
            run=description.run,
            context=copy_context(),
            awaiter=awaiter,
            race=racing.get(),
        )

    def get(self, hashed_id: str) -> FoundStep | None:
        return self._found.get(hashed_id)

    def deliver_next(self) -> bool:
        """Delivers one memo: the first that was completed of those whose step has been found. False when there is none.

        In this order, one at a time, a race has the same winner in every replay. Raises what decoding it raises.
        """
        for hashed_id in self._undelivered:
            step = self._found.get(hashed_id)
            if step:
                del self._undelivered[hashed_id]
                deliver(step, self.memo_of(step), self._values)
                return True
        return False

    def finish(self, step: FoundStep, memo: Memo) -> None:
        """Gives the step a memo in this call."""
        self.memos[step.hashed_id] = memo
        self._undelivered[step.hashed_id] = None

    def memo_of(self, step: FoundStep) -> Memo:
        return self.memos.get(step.hashed_id)

    def pending(self) -> list[FoundStep]:
        """Found, in order, and not finished."""
        return [step for step in self._found.values() if not step.delivered and not step.awaiter.gave_up()]

    def waiting(self) -> list[FoundStep]:
        """Includes steps for which no code waits any more."""
        return [step for step in self._found.values() if not step.delivered]

    def in_race(self) -> bool:
        """Whether a step of a race is pending. Then the steps after the race are in race mode too: the service would
        let them wait for it."""
        return any(step.race and step.hashed_id not in self.memos for step in self._found.values())

    def replaying(self) -> bool:
        """Whether the code is repeating steps of earlier calls."""
        return bool(self._undelivered)
