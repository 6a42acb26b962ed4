"""Rows of the outbox that a relay has claimed, and the internal IDs under which their events may have been accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._json import parse
from .._seed import event_id_under
from .sessions import Row


@dataclass(frozen=True, kw_only=True)
class ClaimedRow:
    position: int
    number: int
    """Its number in the send, from 1."""
    event: dict[str, Any]
    order_key: str | None
    sent_seconds_ago: float
    """When it was first sent, by the database's clock: the claim itself counts."""
    earlier_sends: Sequence[str]

    @property
    def earlier_ids(self) -> list[str]:
        """Internal IDs, one for each earlier send."""
        return [event_id_under(*_read(send)) for send in self.earlier_sends]


def _read(send: str) -> tuple[str, int]:
    """The seed, and the event's number in the send."""
    seed, _, number = send.rpartition(",")
    return seed, int(number)


def claimed_rows(rows: Sequence[Row]) -> list[ClaimedRow]:
    """In the order of their positions, which is the order of the send."""
    ordered = sorted(rows, key=lambda row: row["position"])
    return [
        ClaimedRow(
            position=row["position"],
            number=number,
            event=parse(row["event"]),
            order_key=row["order_key"],
            sent_seconds_ago=row["sent_seconds_ago"],
            earlier_sends=row["sends"][:-1],
        )
        for number, row in enumerate(ordered, 1)
    ]
