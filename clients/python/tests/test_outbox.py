"""The outbox, on a real Postgres and through the real libraries."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from support.postgres import ASYNC, SYNC, AppDatabase, in_transaction
from tidegate import ConfigError, Event, Middleware, SendCall, Tidegate
from tidegate.postgres import outbox, outbox_sync

SHOP = Tidegate("shop", is_dev=True)
each_way = pytest.mark.parametrize("way", [*SYNC, *ASYNC])


def add(way: str, database: AppDatabase, events: Any, **options: Any) -> list[str]:
    async def awaited(tx: Any) -> list[str]:
        return await outbox(tx, SHOP, events, **options)

    ids: list[str] = in_transaction(way, database, lambda tx: outbox_sync(tx, SHOP, events, **options), awaited)
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
        outbox_sync(tx, SHOP, {"name": "order/paid", "data": {}})
        raise ZeroDivisionError

    async def awaited(tx: Any) -> None:
        await outbox(tx, SHOP, {"name": "order/paid", "data": {}})
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
            outbox_sync(connection, SHOP, [{"name": "good", "data": {}}, event])
        # The transaction goes on.
        outbox_sync(connection, SHOP, {"name": "good", "data": {}})
    assert len(database.outbox) == 1


@pytest.mark.parametrize("way", ["psycopg", "asyncpg", "SQLAlchemy", "Django"])
def test_more_events_than_fit_into_a_statement_are_written_in_their_order(way: str, database: AppDatabase) -> None:
    ids = [str(number) for number in range(2_001)]
    events = [{"name": "a", "data": {}, "id": one} for one in ids]
    assert add(way, database, events, order_key="k") == ids
    assert [(row["event"]["id"], row["order_key"]) for row in database.outbox] == [(one, "k") for one in ids]


def test_no_events_are_no_rows(database: AppDatabase) -> None:
    assert add("psycopg", database, []) == []
    assert database.outbox == []


def test_a_connection_that_is_in_no_transaction_is_refused(database: AppDatabase) -> None:
    with database.connect() as connection, pytest.raises(RuntimeError, match="not in a transaction"):
        outbox_sync(connection, SHOP, {"name": "a", "data": {}})
    assert database.outbox == []


def test_transactions_of_sqlalchemy_that_are_none_are_refused(database: AppDatabase) -> None:
    engine = create_engine(database.of_dialect("psycopg"), isolation_level="AUTOCOMMIT")
    with engine.begin() as connection, pytest.raises(RuntimeError, match="not in a transaction"):
        outbox_sync(connection, SHOP, {"name": "a", "data": {}})
    engine.dispose()

    async def run() -> None:
        engine = create_async_engine(database.of_dialect("asyncpg"), isolation_level="AUTOCOMMIT")
        async with AsyncSession(engine) as session, session.begin():
            with pytest.raises(RuntimeError, match="not in a transaction"):
                await outbox(session, SHOP, {"name": "a", "data": {}})
        await engine.dispose()

    asyncio.run(run())
    assert database.outbox == []


def test_what_is_no_transaction_of_a_known_library_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Got a builtins\.dict; sync code takes a connection or cursor of psycopg 3"):
        outbox_sync({}, SHOP, {"name": "a", "data": {}})


@pytest.mark.parametrize("way", ["async psycopg", "asyncpg"])
def test_an_async_transaction_is_refused_by_the_sync_function(way: str, database: AppDatabase) -> None:
    async def awaited(tx: Any) -> None:
        with pytest.raises(TypeError, match="sync code takes"):
            outbox_sync(tx, SHOP, {"name": "a", "data": {}})

    in_transaction(way, database, print, awaited)


def test_an_event_is_stored_as_the_text_that_is_sent(database: AppDatabase) -> None:
    add("psycopg", database, {"name": "a", "data": {"b": 1, "a": "ä"}, "id": "1"})
    (row,) = database.sql("select event::text as text from tidegate_outbox")
    assert row["text"] == json.dumps(
        {"id": "1", "name": "a", "data": {"b": 1, "a": "ä"}}, ensure_ascii=False, separators=(",", ":")
    )


class _Tenant(Middleware):
    def on_send_sync(self, send: SendCall, next: Any) -> list[str]:
        for event in send.events:
            event["user"] = {"tenant": "a"}
        ids: list[str] = next()
        return ids

    async def on_send(self, send: SendCall, next: Any) -> list[str]:
        for event in send.events:
            event["user"] = {"tenant": "a"}
        ids: list[str] = await next()
        return ids

    def encode(self, value: Any, at: str) -> Any:
        return {"reversed": value["text"][::-1]}


@each_way
def test_events_are_in_the_outbox_as_middleware_leaves_them(way: str, database: AppDatabase) -> None:
    client = Tidegate("shop", is_dev=True, middleware=[_Tenant()])
    event = {"name": "a", "data": {"text": "abc"}, "id": "1"}

    async def awaited(tx: Any) -> list[str]:
        return await outbox(tx, client, event)

    assert in_transaction(way, database, lambda tx: outbox_sync(tx, client, event), awaited) == ["1"]
    (row,) = database.outbox
    assert row["event"] == {**event, "data": {"reversed": "cba"}, "user": {"tenant": "a"}}


def test_middleware_without_a_hook_for_this_kind_of_code_is_refused(database: AppDatabase) -> None:
    class OnlyAsync(Middleware):
        async def on_send(self, send: SendCall, next: Any) -> list[str]:
            ids: list[str] = await next()
            return ids

    client = Tidegate("shop", is_dev=True, middleware=[OnlyAsync()])
    with database.connect() as connection, connection.transaction(), pytest.raises(ConfigError, match="on_send_sync"):
        outbox_sync(connection, client, {"name": "a", "data": {}})
