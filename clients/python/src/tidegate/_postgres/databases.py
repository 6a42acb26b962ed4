"""Transactions that a step begins and commits, through the library that the app uses."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from .sessions import (
    AnySession,
    AsyncpgSession,
    AsyncPsycopgSession,
    AsyncSqlalchemySession,
    DjangoSession,
    PsycopgSession,
    SqlalchemySession,
    classes_of,
)


@dataclass(frozen=True)
class Opened:
    tx: Any
    """The argument of the app's function."""
    session: AnySession


def begin(database: object) -> AbstractContextManager[Opened]:
    """A transaction that is committed at its end, and rolled back by an exception.

    Raises TypeError for what is none of a library that is known, RuntimeError for a connection in a transaction.
    """
    kinds = classes_of(database)
    own: Any = database
    if "psycopg_pool.ConnectionPool" in kinds:
        return _psycopg_pool(own)
    if "psycopg.Connection" in kinds:
        return _psycopg(own)
    if "sqlalchemy.Engine" in kinds:
        return _sqlalchemy(own)
    if "sqlalchemy.sessionmaker" in kinds:
        return _sqlalchemy_orm(own)
    if kinds & {"django.BaseDatabaseWrapper", "django.ConnectionProxy"}:
        return _django(own)
    raise TypeError(
        f"Got {_named(database)}; step.transaction of a plain function takes a ConnectionPool or connection of "
        "psycopg 3, an Engine or sessionmaker of SQLAlchemy, or a connection of Django"
    )


def begin_async(database: object) -> AbstractAsyncContextManager[Opened]:
    """As `begin`."""
    kinds = classes_of(database)
    own: Any = database
    if "psycopg_pool.AsyncConnectionPool" in kinds:
        return _psycopg_pool_async(own)
    if "psycopg.AsyncConnection" in kinds:
        return _psycopg_async(own)
    if "asyncpg.Pool" in kinds:
        return _asyncpg_pool(own)
    if kinds & {"asyncpg.Connection", "asyncpg.PoolConnectionProxy"}:
        return _asyncpg(own)
    if "sqlalchemy.AsyncEngine" in kinds:
        return _sqlalchemy_async(own)
    if "sqlalchemy.async_sessionmaker" in kinds:
        return _sqlalchemy_orm_async(own)
    raise TypeError(
        f"Got {_named(database)}; step.transaction of an async function takes an AsyncConnectionPool or "
        "AsyncConnection of psycopg 3, a pool or connection of asyncpg, or an AsyncEngine or async_sessionmaker of "
        "SQLAlchemy"
    )


def _named(given: object) -> str:
    return f"a {type(given).__module__}.{type(given).__name__}"


def _check_idle(is_idle: bool) -> None:
    # The app's own transaction might be rolled back later, when the step counts as done.
    if not is_idle:
        raise RuntimeError("step.transaction needs a pool, or a connection that is not in a transaction")


@contextmanager
def _psycopg(connection: Any) -> Generator[Opened]:
    _check_idle(connection.info.transaction_status.name == "IDLE")
    with connection.transaction():
        yield Opened(connection, PsycopgSession(connection))


@contextmanager
def _psycopg_pool(pool: Any) -> Generator[Opened]:
    with pool.connection() as connection, _psycopg(connection) as opened:
        yield opened


@contextmanager
def _sqlalchemy(engine: Any) -> Generator[Opened]:
    with engine.begin() as connection:
        yield Opened(connection, SqlalchemySession(connection))


@contextmanager
def _sqlalchemy_orm(maker: Any) -> Generator[Opened]:
    with maker.begin() as session:
        yield Opened(session, SqlalchemySession(session.connection()))


@contextmanager
def _django(connection: Any) -> Generator[Opened]:
    from django.db import transaction

    _check_idle(not connection.in_atomic_block or _is_in_test_case(connection))
    with transaction.atomic(using=connection.alias):
        yield Opened(connection, DjangoSession(connection))


def _is_in_test_case(connection: Any) -> bool:
    """Whether all open blocks are those of a TestCase, as Django's own `atomic(durable=True)` looks at it."""
    return all(getattr(block, "_from_testcase", False) for block in connection.atomic_blocks)


@asynccontextmanager
async def _psycopg_async(connection: Any) -> AsyncGenerator[Opened]:
    _check_idle(connection.info.transaction_status.name == "IDLE")
    async with connection.transaction():
        yield Opened(connection, AsyncPsycopgSession(connection))


@asynccontextmanager
async def _psycopg_pool_async(pool: Any) -> AsyncGenerator[Opened]:
    async with pool.connection() as connection, _psycopg_async(connection) as opened:
        yield opened


@asynccontextmanager
async def _asyncpg(connection: Any) -> AsyncGenerator[Opened]:
    _check_idle(not connection.is_in_transaction())
    async with connection.transaction():
        yield Opened(connection, AsyncpgSession(connection))


@asynccontextmanager
async def _asyncpg_pool(pool: Any) -> AsyncGenerator[Opened]:
    async with pool.acquire() as connection, _asyncpg(connection) as opened:
        yield opened


@asynccontextmanager
async def _sqlalchemy_async(engine: Any) -> AsyncGenerator[Opened]:
    async with engine.begin() as connection:
        yield Opened(connection, AsyncSqlalchemySession(connection))


@asynccontextmanager
async def _sqlalchemy_orm_async(maker: Any) -> AsyncGenerator[Opened]:
    async with maker.begin() as session:
        yield Opened(session, AsyncSqlalchemySession(session, is_orm=True))
