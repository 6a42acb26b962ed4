"""`step.transaction`, on a real Postgres and through the real libraries."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import asyncpg
import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import sessionmaker

from support.calls import Caller
from support.postgres import AppDatabase, django_connection
from tidegate import Context, Function, SyncContext, Tidegate
from tidegate._steps.ids import hash_step_id
from tidegate.testing import run_function

client = Tidegate("shop", is_dev=True)
call = Caller(client)
created = client.create_function(id="fn", trigger="order/paid")

BOOK = "insert into orders (id) values ('7')"
Book = Callable[[Any], Any]
"""Makes the app's write in a transaction, as its library has it."""


@contextmanager
def _pool(database: AppDatabase) -> Iterator[Any]:
    with ConnectionPool(database.url, min_size=1, max_size=4, open=True) as pool:
        yield pool


@contextmanager
def _engine(database: AppDatabase, make: Callable[[Any], Any]) -> Iterator[Any]:
    engine = create_engine(database.of_dialect("psycopg"))
    try:
        yield make(engine)
    finally:
        engine.dispose()


@contextmanager
def _django(database: AppDatabase) -> Iterator[Any]:
    yield django_connection(database)


@asynccontextmanager
async def _async_pool(database: AppDatabase) -> AsyncIterator[Any]:
    async with AsyncConnectionPool(database.url, min_size=1, max_size=4, open=False) as pool:
        yield pool


@asynccontextmanager
async def _asyncpg_pool(database: AppDatabase) -> AsyncIterator[Any]:
    async with asyncpg.create_pool(database.url, min_size=1, max_size=4) as pool:
        yield pool


@asynccontextmanager
async def _asyncpg_connection(database: AppDatabase) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(database.url)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def _async_engine(database: AppDatabase, dialect: str, make: Callable[[Any], Any]) -> AsyncIterator[Any]:
    engine = create_async_engine(database.of_dialect(dialect))
    try:
        yield make(engine)
    finally:
        await engine.dispose()


def _itself(engine: Any) -> Any:
    return engine


def _execute(tx: Any) -> Any:
    return tx.execute(BOOK)


def _execute_text(tx: Any) -> Any:
    return tx.execute(text(BOOK))


def _execute_in_cursor(tx: Any) -> None:
    with tx.cursor() as cursor:
        cursor.execute(BOOK)


SYNC: dict[str, tuple[Callable[[AppDatabase], Any], Book]] = {
    "a pool of psycopg": (_pool, _execute),
    "a connection of psycopg": (lambda database: psycopg.connect(database.url), _execute),
    "SQLAlchemy": (lambda database: _engine(database, _itself), _execute_text),
    "SQLAlchemy, sessions": (lambda database: _engine(database, sessionmaker), _execute_text),
    "Django": (_django, _execute_in_cursor),
}
ASYNC: dict[str, tuple[Callable[[AppDatabase], Any], Book]] = {
    "an async pool of psycopg": (_async_pool, _execute),
    "a pool of asyncpg": (_asyncpg_pool, _execute),
    "a connection of asyncpg": (_asyncpg_connection, _execute),
    "async SQLAlchemy on psycopg": (lambda database: _async_engine(database, "psycopg", _itself), _execute_text),
    "async SQLAlchemy on asyncpg": (lambda database: _async_engine(database, "asyncpg", _itself), _execute_text),
    "async SQLAlchemy on asyncpg, sessions": (
        lambda database: _async_engine(database, "asyncpg", async_sessionmaker),
        _execute_text,
    ),
}
each_way = pytest.mark.parametrize("way", [*SYNC, *ASYNC])

Outcome = tuple[str, Any]
"""Code and data of the step's operation, or its code and the error's name and message."""


def attempts(way: str, database: AppDatabase, results: list[Any], **options: Any) -> list[Outcome]:
    """The outcomes of as many attempts of the step: each writes the order, and then gives the result, or raises it."""

    def given() -> Any:
        result = results.pop(0)
        if isinstance(result, BaseException):
            raise result
        return result

    def plain(own: Any, book: Book) -> Function[Any]:
        def write(tx: Any) -> Any:
            book(tx)
            return given()

        return created(lambda ctx: ctx.step.transaction("book", own, write, **options))

    def awaited(own: Any, book: Book) -> Function[Any]:
        async def write(tx: Any) -> Any:
            await book(tx)
            return given()

        @created
        async def fn(ctx: Context) -> Any:
            return await ctx.step.transaction("book", own, write, **options)

        return fn

    count = len(results)
    if way in SYNC:
        begin, book = SYNC[way]
        with begin(database) as own:
            return [outcome_of(call(plain(own, book), step="book")) for _ in range(count)]

    async def run() -> list[Outcome]:
        begin, book = ASYNC[way]
        async with begin(database) as own:
            return [outcome_of(await call.async_(awaited(own, book), step="book")) for _ in range(count)]

    return asyncio.run(run())


def outcome_of(answer: tuple[int, Any]) -> Outcome:
    ((op,),) = (answer[1],)
    assert op["opts"] == {"type": "step.transaction"}
    error = op.get("error")
    return op["op"], f"{error['name']}: {error['message']}" if error else op["data"]


def orders(database: AppDatabase) -> int:
    return len(database.sql("select id from orders"))


@each_way
def test_a_second_attempt_has_the_result_of_the_first_and_writes_nothing(way: str, database: AppDatabase) -> None:
    result = {"seat": '7 "A"', "none": None}
    assert attempts(way, database, [result, "not run"]) == [("StepRun", result)] * 2
    assert orders(database) == 1
    (row,) = database.sql("select run_id, step_id, result from tidegate_steps")
    assert row == {"run_id": "01R", "step_id": hash_step_id("book"), "result": result}


@each_way
def test_an_attempt_that_fails_writes_nothing_and_the_next_one_does(way: str, database: AppDatabase) -> None:
    first, second = attempts(way, database, [ValueError("full"), None])
    assert first == ("StepError", "ValueError: full")
    assert second == ("StepRun", None)
    assert orders(database) == 1


@each_way
def test_a_serialization_failure_is_tried_again_inside_of_the_attempt(way: str, database: AppDatabase) -> None:
    failure = psycopg.errors.SerializationFailure("another transaction was first")
    # The first two are raised in one attempt.
    outcome = attempts_until(way, database, [failure, psycopg.errors.DeadlockDetected(), 7])
    assert outcome == ("StepRun", 7)
    assert orders(database) == 1


def attempts_until(way: str, database: AppDatabase, results: list[Any]) -> Outcome:
    """The outcome of one attempt."""

    class Later(list[Any]):
        def __len__(self) -> int:
            return 1

    (outcome,) = attempts(way, database, Later(results))
    return outcome


@pytest.mark.parametrize("way", ["a pool of psycopg", "a pool of asyncpg", "async SQLAlchemy on asyncpg", "Django"])
def test_the_isolation_level_is_that_of_the_option(way: str, database: AppDatabase) -> None:
    seen: list[str] = []
    statement = "select current_setting('transaction_isolation')"

    def plain(tx: Any) -> None:
        with tx.cursor() as cursor:
            cursor.execute(statement)
            seen.append(cursor.fetchone()[0])

    async def awaited(tx: Any) -> None:
        is_asyncpg = hasattr(tx, "fetchval")
        seen.append(await tx.fetchval(statement) if is_asyncpg else await tx.scalar(text(statement)))

    async def run() -> None:
        async with ASYNC[way][0](database) as own:

            @created
            async def fn(ctx: Context) -> None:
                await ctx.step.transaction("book", own, awaited, isolation="serializable")

            await call.async_(fn)

    if way in ASYNC:
        asyncio.run(run())
    else:
        with SYNC[way][0](database) as own:
            call(created(lambda ctx: ctx.step.transaction("book", own, plain, isolation="serializable")))
    assert seen == ["serializable"]


def test_transactions_that_conflict_are_both_committed(database: AppDatabase) -> None:
    database.sql("insert into orders values ('sum', 0)")
    both_have_read = threading.Barrier(2)
    tries: list[str] = []

    def run(name: str) -> Any:
        def add(tx: Any) -> int:
            tries.append(name)
            (total,) = tx.execute("select total from orders where id = 'sum'").fetchone()
            if tries.count(name) == 1:
                both_have_read.wait(10)
            tx.execute("update orders set total = %s where id = 'sum'", [total + 1])
            return int(total)

        with psycopg.connect(database.url) as connection:
            fn = created(lambda ctx: ctx.step.transaction(name, connection, add, isolation="serializable"))
            return outcome_of(call(fn))

    outcomes: list[Outcome] = []
    threads = [threading.Thread(target=lambda name=name: outcomes.append(run(name))) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [("StepRun", 0), ("StepRun", 1)]
    assert len(tries) == 3
    assert database.sql("select total from orders") == [{"total": 2}]


def test_a_second_attempt_waits_for_the_first_one_that_is_under_way(database: AppDatabase) -> None:
    running, may_end = threading.Event(), threading.Event()
    outcomes: list[Outcome] = []

    def slow(tx: Any) -> str:
        tx.execute(BOOK)
        running.set()
        assert may_end.wait(10)
        return "first"

    def attempt(fn: Callable[[Any], Any]) -> None:
        with psycopg.connect(database.url) as connection:
            outcomes.append(outcome_of(call(created(lambda ctx: ctx.step.transaction("book", connection, fn)))))

    first = threading.Thread(target=attempt, args=(slow,))
    first.start()
    assert running.wait(10)
    second = threading.Thread(target=attempt, args=(lambda tx: "second",))
    second.start()
    waiting = "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    never = threading.Event()
    while not database.sql(waiting):
        never.wait(0.01)
    may_end.set()
    first.join()
    second.join()
    assert outcomes == [("StepRun", "first")] * 2
    assert orders(database) == 1


def test_a_commit_whose_answer_was_lost_counts(database: AppDatabase) -> None:
    class LosesAnswers(psycopg.Connection[Any]):
        is_first = True

        @contextmanager
        def transaction(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
            with super().transaction(*args, **kwargs) as transaction:
                yield transaction
            if self.is_first:
                self.is_first = False
                raise psycopg.OperationalError("the connection was cut after the commit")

    def write(tx: Any) -> str:
        tx.execute(BOOK)
        return "booked"

    with LosesAnswers.connect(database.url) as connection:
        fn = created(lambda ctx: ctx.step.transaction("book", connection, write))
        first, second = outcome_of(call(fn)), outcome_of(call(fn))
    assert first == ("StepError", "OperationalError: the connection was cut after the commit")
    assert second == ("StepRun", "booked")
    assert orders(database) == 1


def test_an_attempt_whose_connection_dies_writes_nothing(database: AppDatabase) -> None:
    def write(tx: Any) -> str:
        tx.execute(BOOK)
        database.sql("select pg_terminate_backend(%s)", tx.info.backend_pid)
        return "lost"

    with ConnectionPool(database.url, min_size=1, open=True, check=ConnectionPool.check_connection) as pool:
        first = outcome_of(call(created(lambda ctx: ctx.step.transaction("book", pool, write))))
        assert first[0] == "StepError"
        assert orders(database) == 0
        second = outcome_of(call(created(lambda ctx: ctx.step.transaction("book", pool, _booked))))
    assert second == ("StepRun", "booked")
    assert orders(database) == 1


def _booked(tx: Any) -> str:
    tx.execute(BOOK)
    return "booked"


def test_results_that_a_step_cannot_have_roll_back(database: AppDatabase) -> None:
    too_large, no_json = attempts("a pool of psycopg", database, ["x" * 4_194_304, object()])
    assert (too_large[0], no_json[0]) == ("StepFailed", "StepError")
    assert too_large[1].startswith('OutputTooLarge: the output of step "book" has 4194315 bytes, more than 4194304')
    assert no_json[1] == 'TypeError: The result of step "book" is of the type object, which is not JSON'
    assert orders(database) == 0
    assert database.sql("select run_id from tidegate_steps") == []


def test_a_connection_in_a_transaction_of_the_app_is_refused(database: AppDatabase) -> None:
    with psycopg.connect(database.url) as connection:
        connection.execute("select 1")
        ((_, error),) = [outcome_of(call(created(lambda ctx: ctx.step.transaction("book", connection, _booked))))]
    assert error == "RuntimeError: step.transaction needs a pool, or a connection that is not in a transaction"


def test_what_is_no_database_of_a_known_library_is_refused() -> None:
    def plain(ctx: SyncContext) -> Any:
        return ctx.step.transaction("book", "postgres://…", _booked)

    async def awaited(ctx: Context) -> Any:
        async def none(tx: Any) -> None: ...

        return await ctx.step.transaction("book", "postgres://…", none)

    for fn, words in ((created(plain), "of a plain function takes a C"), (created(awaited), "an async function takes")):
        assert words in outcome_of(call(fn))[1]


def test_tests_run_the_function_in_a_transaction_each_time_or_stub_the_step(database: AppDatabase) -> None:
    with psycopg.connect(database.url) as connection:

        @created
        def fn(ctx: SyncContext) -> Any:
            return ctx.step.transaction("book", connection, _booked)

        run = run_function(fn)
        assert (run.result, [step.kind for step in run.steps]) == ("booked", ["transaction"])
        database.sql("delete from orders")
        assert run_function(fn).result == "booked"
        assert orders(database) == 1
        assert database.sql("select run_id from tidegate_steps") == []
        assert run_function(fn, steps={"book": "stubbed"}).result == "stubbed"


def test_tests_do_the_same_for_async_functions(database: AppDatabase) -> None:
    async def book(tx: Any) -> str:
        await tx.execute(BOOK)
        return "booked"

    @created
    async def fn(ctx: Context) -> Any:
        async with await psycopg.AsyncConnection.connect(database.url) as connection:
            return await ctx.step.transaction("book", connection, book)

    assert run_function(fn).result == "booked"
    assert orders(database) == 1
