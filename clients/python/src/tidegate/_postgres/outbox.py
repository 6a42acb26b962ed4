"""Events that are written in a transaction of the app, and sent by a relay after its commit."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from .._effects import Effects, drive, drive_async
from .._events import EventOrEvents, events_to_send
from .._json import write
from .._settings import DEFAULT_MAX_BYTES
from .sessions import AnySession, async_session_of, query, session_of
from .statements import OUTBOX_INSERT


async def outbox(
    tx: object, events: EventOrEvents, *, order_key: str | None = None, max_bytes: int = DEFAULT_MAX_BYTES
) -> list[str]:
    """Writes one event or several into the outbox in the transaction of `tx`, and gives their deduplication IDs: after
    the commit a `Relay` sends them, once each, whatever dies; after a rollback nothing is sent.

    tx: an async connection or cursor of psycopg 3, a connection of asyncpg, an AsyncSession or AsyncConnection of
        SQLAlchemy; in a transaction.
    order_key: events of one key are sent in the order in which they were written.
    max_bytes: what an event may have as JSON, as the client's.

    Raises TypeError or ValueError for what is no event, before anything is written; ConfigError when the tables are
    missing; RuntimeError outside of a transaction; what the library raises.
    """
    ready = _ready(events, order_key, max_bytes)
    return await drive_async(_add(async_session_of(tx), ready))


def outbox_sync(
    tx: object, events: EventOrEvents, *, order_key: str | None = None, max_bytes: int = DEFAULT_MAX_BYTES
) -> list[str]:
    """As `outbox`, for code that is not async.

    tx: a connection or cursor of psycopg 3, a Session or Connection of SQLAlchemy, a connection of Django within
        `transaction.atomic()`.
    """
    ready = _ready(events, order_key, max_bytes)
    return drive(_add(session_of(tx), ready))


@dataclass(frozen=True)
class _Ready:
    ids: list[str]
    rows: str
    """JSON."""


def _add(session: AnySession, ready: _Ready) -> Effects[list[str]]:
    if ready.ids:
        yield from query(session, OUTBOX_INSERT, ready.rows)
    return ready.ids


def _ready(events: EventOrEvents, order_key: str | None, max_bytes: int) -> _Ready:
    if order_key is not None and "\0" in order_key:
        raise ValueError("order_key has a NUL, which Postgres does not store")
    own = [{"id": str(uuid.uuid4()), **event} for event in events_to_send(events)]
    for index, event in enumerate(own):
        _check(event, f'Event {index} ("{event.get("name")}")', max_bytes)
    return _Ready([event["id"] for event in own], write([{"event": write(event), "key": order_key} for event in own]))


def _check(event: dict[str, Any], what: str, max_bytes: int) -> None:
    for field in ("name", "id"):
        if not isinstance(event.get(field), str) or not event[field]:
            raise TypeError(f"{what}: {field} must be a text that is not empty, got {event.get(field)!r}")
    if not isinstance(event.get("data"), dict):
        raise TypeError(f"{what}: data must be an object, got {event.get('data')!r}")
    # In brackets, as it is sent.
    size = len(write(event).encode()) + 2
    if size > max_bytes:
        raise ValueError(f"{what} has {size} bytes as JSON, and a request to the service at most {max_bytes}")
