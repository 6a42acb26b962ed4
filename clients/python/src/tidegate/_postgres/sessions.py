"""Statements in a transaction of the app, through the library that the app uses.

The libraries are never imported here unless the app has: what is given is recognized by the names of its classes.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .._effects import Effects, does
from ..errors import ConfigError

Row = Mapping[str, Any]

_PARAMETER = re.compile(r"\$([0-9]+)")


class Session(Protocol):
    def query(self, sql: str, values: Sequence[Any]) -> list[Row]: ...


class AsyncSession(Protocol):
    def query(self, sql: str, values: Sequence[Any]) -> Awaitable[list[Row]]: ...


AnySession = Session | AsyncSession


@dataclass(frozen=True)
class Query:
    """The effect of a statement. Its session is of the kind of the code that makes the effect."""

    session: Any
    sql: str
    values: Sequence[Any]

    def perform(self) -> list[Row]:
        rows: list[Row] = self.session.query(self.sql, self.values)
        return rows

    async def perform_async(self) -> list[Row]:
        rows: list[Row] = await self.session.query(self.sql, self.values)
        return rows


def query(session: AnySession, sql: str, *values: Any) -> Effects[list[Row]]:
    """Raises ConfigError when the tables are missing; what the library raises."""
    try:
        return (yield from does(Query(session, sql, values)))
    except Exception as error:
        if sqlstate_of(error) == "42P01" and "tidegate_" in str(error):
            raise ConfigError(
                "The tables tidegate_outbox and tidegate_steps are not where this connection looks: add what "
                "`tidegate outbox migrate --print` prints to the app's migrations"
            ) from error
        raise


def sqlstate_of(error: BaseException | None) -> str | None:
    """The SQLSTATE of an error of Postgres, as any of the libraries wraps it."""
    for _ in range(5):
        if error is None:
            return None
        for name in ("sqlstate", "pgcode"):
            state = getattr(error, name, None)
            if isinstance(state, str):
                return state
        error = getattr(error, "orig", None) or error.__cause__
    return None


def classes_of(given: object) -> set[str]:
    """Its classes, as `<package>.<class>`."""
    return {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(given).__mro__}


def session_of(tx: object) -> Session:
    """Raises TypeError for what is none of a library that is known, RuntimeError outside of a transaction."""
    kinds = classes_of(tx)
    own: Any = tx
    if kinds & {"psycopg.Connection", "psycopg.Cursor"}:
        connection = own.connection if "psycopg.Cursor" in kinds else own
        _check(not _commits_by_itself(connection))
        return PsycopgSession(connection)
    if kinds & {"sqlalchemy.Session", "sqlalchemy.scoped_session"}:
        return SqlalchemySession(own.connection())
    if "sqlalchemy.Connection" in kinds:
        return SqlalchemySession(own)
    if kinds & {"django.BaseDatabaseWrapper", "django.ConnectionProxy"}:
        _check(own.in_atomic_block)
        return DjangoSession(own)
    raise TypeError(
        f"Got {_named(tx)}; sync code takes a connection or cursor of psycopg 3, a Session or Connection of "
        "SQLAlchemy, or a connection of Django"
    )


def async_session_of(tx: object) -> AsyncSession:
    """Raises as `session_of` does."""
    kinds = classes_of(tx)
    own: Any = tx
    if kinds & {"psycopg.AsyncConnection", "psycopg.AsyncCursor"}:
        connection = own.connection if "psycopg.AsyncCursor" in kinds else own
        _check(not _commits_by_itself(connection))
        return AsyncPsycopgSession(connection)
    if kinds & {"asyncpg.Connection", "asyncpg.PoolConnectionProxy"}:
        _check(own.is_in_transaction())
        return AsyncpgSession(own)
    if kinds & {"sqlalchemy.AsyncSession", "sqlalchemy.async_scoped_session"}:
        return AsyncSqlalchemySession(own, is_orm=True)
    if "sqlalchemy.AsyncConnection" in kinds:
        return AsyncSqlalchemySession(own)
    raise TypeError(
        f"Got {_named(tx)}; async code takes an async connection or cursor of psycopg 3, a connection of asyncpg, or "
        "an AsyncSession or AsyncConnection of SQLAlchemy"
    )


def _named(given: object) -> str:
    return f"a {type(given).__module__}.{type(given).__name__}"


def _commits_by_itself(connection: Any) -> bool:
    return bool(connection.autocommit) and connection.info.transaction_status.name == "IDLE"


def _check(in_transaction: bool) -> None:
    if not in_transaction:
        raise RuntimeError("The connection is not in a transaction: begin one around the app's writes and this call")


@dataclass(frozen=True)
class PsycopgSession:
    connection: Any

    def query(self, sql: str, values: Sequence[Any]) -> list[Row]:
        from psycopg import Cursor
        from psycopg.rows import dict_row

        with Cursor(self.connection, row_factory=dict_row) as cursor:
            cursor.execute(_in_pyformat(sql).encode(), _named_values(values))
            return list(cursor.fetchall()) if cursor.description else []


@dataclass(frozen=True)
class AsyncPsycopgSession:
    connection: Any

    async def query(self, sql: str, values: Sequence[Any]) -> list[Row]:
        from psycopg import AsyncCursor
        from psycopg.rows import dict_row

        async with AsyncCursor(self.connection, row_factory=dict_row) as cursor:
            await cursor.execute(_in_pyformat(sql).encode(), _named_values(values))
            return list(await cursor.fetchall()) if cursor.description else []


@dataclass(frozen=True)
class AsyncpgSession:
    connection: Any

    async def query(self, sql: str, values: Sequence[Any]) -> list[Row]:
        return list(await self.connection.fetch(sql, *values))


@dataclass(frozen=True)
class DjangoSession:
    connection: Any

    def query(self, sql: str, values: Sequence[Any]) -> list[Row]:
        with self.connection.cursor() as cursor:
            cursor.execute(_in_pyformat(sql), _named_values(values))
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()] if names else []


@dataclass(frozen=True)
class SqlalchemySession:
    connection: Any

    def query(self, sql: str, values: Sequence[Any]) -> list[Row]:
        return _rows_of(self.connection.exec_driver_sql(*_for_dialect(self.connection, sql, values)))


@dataclass(frozen=True)
class AsyncSqlalchemySession:
    own: Any
    is_orm: bool = False
    """It has its connection, rather than being one."""

    async def query(self, sql: str, values: Sequence[Any]) -> list[Row]:
        connection = await self.own.connection() if self.is_orm else self.own
        return _rows_of(await connection.exec_driver_sql(*_for_dialect(connection, sql, values)))


def _for_dialect(connection: Any, sql: str, values: Sequence[Any]) -> tuple[str, Any]:
    # The isolation level "AUTOCOMMIT" of SQLAlchemy makes its transactions none.
    own = getattr(connection, "sync_connection", connection).connection.dbapi_connection
    _check(not own.autocommit)
    style = connection.dialect.paramstyle
    if style == "numeric_dollar":
        return sql, tuple(values)
    if style == "pyformat":
        return _in_pyformat(sql), _named_values(values)
    raise TypeError(
        f"SQLAlchemy has the dialect {type(connection.dialect).__name__} here; psycopg and asyncpg are supported"
    )


def _rows_of(result: Any) -> list[Row]:
    return list(result.mappings().all()) if result.returns_rows else []


def _in_pyformat(sql: str) -> str:
    return _PARAMETER.sub(r"%(p\1)s", sql)


def _named_values(values: Sequence[Any]) -> dict[str, Any]:
    return {f"p{number}": value for number, value in enumerate(values, 1)}
