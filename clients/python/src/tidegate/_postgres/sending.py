"""Sends claimed rows under the seed of their claim: each is then accepted, refused, or left for the next send."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._effects import Effects
from .._seed import seed_from
from ..errors import SendError
from .rows import ClaimedRow

Send = Callable[[list[dict[str, Any]], str], Effects[list[str]]]
"""Sends events under a seed. Returns their internal IDs; raises SendError."""

_REFUSALS = (400, 413, 422)
"""A repetition is refused too. What the service says about the key or the address is not the event's fault."""
_REFUSAL_CODES = ("event_refused", "body_too_large")


@dataclass
class SendResult:
    accepted: list[tuple[ClaimedRow, str]] = field(default_factory=list[tuple[ClaimedRow, str]])
    """With internal IDs."""
    refused: list[tuple[ClaimedRow, str]] = field(default_factory=list[tuple[ClaimedRow, str]])
    """With errors."""
    uncertain: list[tuple[ClaimedRow, str]] = field(default_factory=list[tuple[ClaimedRow, str]])
    """With the reasons."""
    left: list[ClaimedRow] = field(default_factory=list[ClaimedRow])
    """They wait for the next send."""
    error: SendError | None = None
    """Why rows are left."""


def send_rows(rows: Sequence[ClaimedRow], seed: str, send: Send, result: SendResult) -> Effects[None]:
    """In their order. Each event gets the internal ID that its row tells, whichever of the others are sent with it."""
    for group in _consecutive(rows):
        yield from _send_group(group, seed, send, result)


def _consecutive(rows: Sequence[ClaimedRow]) -> list[list[ClaimedRow]]:
    groups: list[list[ClaimedRow]] = []
    for row in rows:
        if groups and groups[-1][-1].number + 1 == row.number:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _send_group(rows: list[ClaimedRow], seed: str, send: Send, result: SendResult) -> Effects[None]:
    if result.error:
        result.left += rows
        return
    try:
        ids = yield from send([row.event for row in rows], seed_from(seed, rows[0].number - 1))
    except SendError as error:
        accepted = len(error.accepted_ids)
        result.accepted += zip(rows, error.accepted_ids, strict=False)
        yield from _after_error(rows[accepted:], error, seed, send, result)
    else:
        result.accepted += zip(rows, ids, strict=True)


def _after_error(rest: list[ClaimedRow], error: SendError, seed: str, send: Send, result: SendResult) -> Effects[None]:
    if error.status not in _REFUSALS and error.code not in _REFUSAL_CODES:
        result.left += rest
        result.error = error
    elif len(rest) == 1:
        result.refused.append((rest[0], str(error)))
    else:
        # One event refuses its request: half by half, the one at fault is found, and the others are sent.
        middle = len(rest) // 2
        yield from _send_group(rest[:middle], seed, send, result)
        yield from _send_group(rest[middle:], seed, send, result)
