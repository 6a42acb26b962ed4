"""The outbox, on a real Postgres and through the real libraries."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from support.postgres import ASYNC, SYNC, AppDatabase, in_transaction
from tidegate import ConfigError, Event
from tidegate.postgres import outbox, outbox_sync

each_way = pytest.mark.parametrize("way", [*SYNC, *ASYNC])


def add(way: str, database: AppDatabase, events: Any, **options: Any) -> list[str]:
    async def awaited(tx: Any) -> list[str]:
        return await outbox(tx, events, **options)

    ids: list[str] = in_transaction(way, database, lambda tx: outbox_sync(tx, events, **options), awaited)
    return ids


@each_way
def test_events_are_in_the_outbox_after_the_commit(way: str, database: AppDatabase) -> None:
    data = {"text": 'ä "quoted" \\u0000 \0 \ud800 $1 %s %(p1)s :p1', "none": None, "n": 1.5}
    events = [Event(name="order/paid", data=data, id="order-7", ts=7), {"name": "order/told", "data": {}}]
    ids = add(way, database, events, order_key="o'7")
    first, second = database.outbox
    assert first["event"] == {"name": "order/paid", "data": data, "id": "order-7", "ts": 7}
    assert second["event"] == {"name": "order/told", "data": {}, "id": ids[1]}
    assert (ids[0], len(ids[1])) == ("order-7", 36)
    assert [(row["order_key"], row["state"], row["sends"]) for row in (first, second)] == [("o'7", "waiting", [])] * 2


@each_way
def test_nothing_is_in_the_outbox_after_a_rollback(way: str, database: AppDatabase) -> None:
    def plain(tx: Any) -> None:
        outbox_sync(tx, {"name": "order/paid", "data": {}})
        raise ZeroDivisionError

    async def awaited(tx: Any) -> None:
        await outbox(tx, {"name": "order/paid", "data": {}})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_transaction(way, database, plain, awaited)
    assert database.outbox == []


@each_way
def test_missing_tables_are_an_error_that_says_where_they_come_from(way: str, database: AppDatabase) -> None:
    database.sql("alter table tidegate_outbox rename to elsewhere")
    try:
        with pytest.raises(ConfigError, match="tidegate outbox migrate --print"):
            add(way, database, {"name": "order/paid", "data": {}})
    finally:
        database.sql("alter table elsewhere rename to tidegate_outbox")


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"data": {}}, r"Event 1 \(\"None\"\): name must be a text"),
        ({"name": "", "data": {}}, "name must be a text"),
        ({"name": "a", "data": [1]}, r"Event 1 \(\"a\"\): data must be an object"),
        ({"name": "a", "data": {"x": object()}}, "data.x is of the type object"),
        ({"name": "a", "data": {}, "id": 7}, "id must be a text"),
        ({"name": "a", "data": {"x": "x" * 600_000}}, "a request to the service at most 524288"),
    ],
)
def test_what_is_no_event_is_refused_before_anything_is_written(
    database: AppDatabase, event: dict[str, Any], message: str
) -> None:
    with database.connect() as connection, connection.transaction():
        with pytest.raises((TypeError, ValueError), match=message):
            outbox_sync(connection, [{"name": "good", "data": {}}, event])
        # The transaction goes on.
        outbox_sync(connection, {"name": "good", "data": {}})
    assert len(database.outbox) == 1


def test_no_events_are_no_rows(database: AppDatabase) -> None:
    assert add("psycopg", database, []) == []
    assert database.outbox == []


def test_a_connection_that_is_in_no_transaction_is_refused(database: AppDatabase) -> None:
    with database.connect() as connection, pytest.raises(RuntimeError, match="not in a transaction"):
        outbox_sync(connection, {"name": "a", "data": {}})
    assert database.outbox == []


def test_transactions_of_sqlalchemy_that_are_none_are_refused(database: AppDatabase) -> None:
    engine = create_engine(database.of_dialect("psycopg"), isolation_level="AUTOCOMMIT")
    with engine.begin() as connection, pytest.raises(RuntimeError, match="not in a transaction"):
        outbox_sync(connection, {"name": "a", "data": {}})
    engine.dispose()

    async def run() -> None:
        engine = create_async_engine(database.of_dialect("asyncpg"), isolation_level="AUTOCOMMIT")
        async with AsyncSession(engine) as session, session.begin():
            with pytest.raises(RuntimeError, match="not in a transaction"):
                await outbox(session, {"name": "a", "data": {}})
        await engine.dispose()

    asyncio.run(run())
    assert database.outbox == []


def test_what_is_no_transaction_of_a_known_library_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Got a builtins\.dict; sync code takes a connection or cursor of psycopg 3"):
        outbox_sync({}, {"name": "a", "data": {}})


@pytest.mark.parametrize("way", ["async psycopg", "asyncpg"])
def test_an_async_transaction_is_refused_by_the_sync_function(way: str, database: AppDatabase) -> None:
    async def awaited(tx: Any) -> None:
        with pytest.raises(TypeError, match="sync code takes"):
            outbox_sync(tx, {"name": "a", "data": {}})

    in_transaction(way, database, print, awaited)


def test_an_event_is_stored_as_the_text_that_is_sent(database: AppDatabase) -> None:
    add("psycopg", database, {"name": "a", "data": {"b": 1, "a": "ä"}, "id": "1"})
    (row,) = database.sql("select event::text as text from tidegate_outbox")
    assert row["text"] == json.dumps(
        {"id": "1", "name": "a", "data": {"b": 1, "a": "ä"}}, ensure_ascii=False, separators=(",", ":")
    )
