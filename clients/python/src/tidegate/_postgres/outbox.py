"""Events that are written in a transaction of the app, and sent by a relay after its commit."""

from __future__ import annotations

import re
import uuid
from typing import Any

from .._client import Tidegate
from .._effects import Effects, drive, drive_async
from .._events import EventOrEvents, events_on_the_wire, fields_of_events
from .._json import write
from .._middleware.calls import SendCall
from .._middleware.check import Kind, check_hooks
from .._middleware.stack import Stack
from .sessions import AnySession, async_session_of, query, session_of
from .statements import OUTBOX_INSERT

_EVENTS_AT_ONCE = 1_000
"""In one statement."""
_ONE_LIST = re.compile(r"\(\$1.*?\)")


async def outbox(tx: object, client: Tidegate, events: EventOrEvents, *, order_key: str | None = None) -> list[str]:
    """Writes one event or several into the outbox in the transaction of `tx`, and gives their deduplication IDs: after
    the commit a `Relay` sends them, once each, whatever dies; after a rollback nothing is sent.

    tx: an async connection or cursor of psycopg 3, a connection of asyncpg, an AsyncSession or AsyncConnection of
        SQLAlchemy; in a transaction.
    client: its middleware and `max_bytes` apply here: what is in the outbox is sent as it is, by whichever relay.
    order_key: events of one key are sent in the order in which they were written.

    Raises TypeError or ValueError for what is no event, before anything is written; ConfigError when the tables are
    missing; RuntimeError outside of a transaction; what the library raises, and what middleware raises.
    """
    session = async_session_of(tx)
    send = _send_call("outbox()", client, events, "async", order_key)
    if not send.events:
        return []

    async def add() -> list[str]:
        return await drive_async(_add(session, client, send, order_key))

    return await Stack(client.middleware).send(send, add)


def outbox_sync(tx: object, client: Tidegate, events: EventOrEvents, *, order_key: str | None = None) -> list[str]:
    """As `outbox`, for code that is not async.

    tx: a connection or cursor of psycopg 3, a Session or Connection of SQLAlchemy, a connection of Django within
        `transaction.atomic()`.
    """
    session = session_of(tx)
    send = _send_call("outbox_sync()", client, events, "plain", order_key)
    if not send.events:
        return []
    return Stack(client.middleware).send_sync(send, lambda: drive(_add(session, client, send, order_key)))


def _send_call(what: str, client: Tidegate, events: EventOrEvents, kind: Kind, order_key: str | None) -> SendCall:
    if order_key is not None and "\0" in order_key:
        raise ValueError("order_key has a NUL, which Postgres does not store")
    check_hooks(what, client.middleware, kind, ["send"])
    return SendCall(events=fields_of_events(events))


def _add(session: AnySession, client: Tidegate, send: SendCall, order_key: str | None) -> Effects[list[str]]:
    """The events that middleware has left."""
    wire = events_on_the_wire(send.events, Stack(client.middleware).encode_sent)
    own = [{"id": str(uuid.uuid4()), **event} for event in wire]
    max_bytes = client.settings().max_bytes
    for index, event in enumerate(own):
        _check(event, f'Event {index} ("{event.get("name")}")', max_bytes)
    for start in range(0, len(own), _EVENTS_AT_ONCE):
        some = own[start : start + _EVENTS_AT_ONCE]
        values = [value for event in some for value in (write(event), order_key)]
        yield from query(session, _insert_of(len(some)), *values)
    return [event["id"] for event in own]


def _insert_of(events: int) -> str:
    lists = (f"(${2 * n + 1}::text::json, ${2 * n + 2}::text)" for n in range(events))
    return _ONE_LIST.sub(", ".join(lists), OUTBOX_INSERT)


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
