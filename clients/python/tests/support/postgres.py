"""The app's own Postgres of a test: a database of its own on the server of scripts/test, and transactions in it through
each library that `tidegate.postgres` knows."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import psycopg
from django.conf import settings
from django.db import connections, transaction
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import sessionmaker

from conformance.cases import CASES

from .django_project import configure
from .real_service import variable

TABLES = "\n".join(
    line
    for case in json.loads((CASES / "postgres.json").read_text(encoding="utf-8"))["cases"]
    if case["name"] == "schema"
    for line in case["sql"]
)


@dataclass(frozen=True)
class AppDatabase:
    url: str

    def sql(self, text: str, *values: Any) -> list[dict[str, Any]]:
        with self.connect() as connection:
            cursor = connection.cursor(row_factory=dict_row).execute(text.encode(), values)
            return cursor.fetchall() if cursor.description else []

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    @property
    def outbox(self) -> list[dict[str, Any]]:
        return self.sql("select * from tidegate_outbox order by position")

    def of_dialect(self, dialect: str) -> str:
        return self.url.replace("postgres://", f"postgresql+{dialect}://")


def wait_until(condition: Callable[[], bool]) -> None:
    """Asks until it is true: Postgres has no other way to tell."""
    never = threading.Event()
    for _ in range(1_500):
        if condition():
            return
        never.wait(0.01)
    raise AssertionError("What was waited for did not come")


@contextmanager
def app_database() -> Iterator[AppDatabase]:
    """With Tidegate's tables, and the app's table `orders`."""
    server, name = variable("TEST_DATABASE_URL"), f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
        database = AppDatabase(f"{server.rpartition('/')[0]}/{name}")
        try:
            database.sql(TABLES)
            database.sql("create table orders (id text primary key, total int not null default 0)")
            yield database
        finally:
            close_django()
            connection.execute(f"drop database {name} with (force)".encode())


def close_django() -> None:
    if settings.configured and "app" in connections.settings:
        connections["app"].close()


def django_connection(database: AppDatabase) -> Any:
    """The connection with the alias `app`."""
    configure()
    wanted = conninfo_to_dict(database.url)
    wanted_settings = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": wanted["dbname"],
        "USER": wanted["user"],
        "HOST": wanted["host"],
        "PORT": wanted["port"],
    }
    close_django()
    connections.settings["app"] = connections.configure_settings({"default": {}, "app": wanted_settings})["app"]
    if hasattr(connections._connections, "app"):  # type: ignore[attr-defined]
        del connections["app"]
    return connections["app"]


Begin = Callable[[AppDatabase], Any]
"""A transaction as a context manager, which gives what the library calls its transaction."""


@contextmanager
def _psycopg(database: AppDatabase) -> Iterator[Any]:
    with psycopg.connect(database.url) as connection:
        yield connection


@contextmanager
def _psycopg_cursor(database: AppDatabase) -> Iterator[Any]:
    with database.connect() as connection, connection.transaction(), connection.cursor() as cursor:
        yield cursor


@contextmanager
def _sqlalchemy(database: AppDatabase) -> Iterator[Any]:
    engine = create_engine(database.of_dialect("psycopg"))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def _sqlalchemy_session(database: AppDatabase) -> Iterator[Any]:
    engine = create_engine(database.of_dialect("psycopg"))
    try:
        with sessionmaker(engine).begin() as session:
            yield session
    finally:
        engine.dispose()


@contextmanager
def _django(database: AppDatabase) -> Iterator[Any]:
    connection = django_connection(database)
    with transaction.atomic(using="app"):
        yield connection


@asynccontextmanager
async def _psycopg_async(database: AppDatabase) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(database.url) as connection:
        yield connection


@asynccontextmanager
async def _asyncpg(database: AppDatabase) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(database.url)
    # As apps have it that want JSON as objects.
    await connection.set_type_codec("json", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def _sqlalchemy_async(database: AppDatabase) -> AsyncIterator[Any]:
    engine = create_async_engine(database.of_dialect("psycopg"))
    try:
        async with engine.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


@asynccontextmanager
async def _sqlalchemy_asyncpg_session(database: AppDatabase) -> AsyncIterator[Any]:
    engine = create_async_engine(database.of_dialect("asyncpg"))
    try:
        async with async_sessionmaker(engine).begin() as session:
            yield session
    finally:
        await engine.dispose()


SYNC: dict[str, Begin] = {
    "psycopg": _psycopg,
    "psycopg, a cursor": _psycopg_cursor,
    "SQLAlchemy": _sqlalchemy,
    "SQLAlchemy, a session": _sqlalchemy_session,
    "Django": _django,
}
ASYNC: dict[str, Begin] = {
    "async psycopg": _psycopg_async,
    "asyncpg": _asyncpg,
    "async SQLAlchemy on psycopg": _sqlalchemy_async,
    "async SQLAlchemy on asyncpg, a session": _sqlalchemy_asyncpg_session,
}


def in_transaction(
    way: str, database: AppDatabase, sync: Callable[[Any], Any], awaited: Callable[[Any], Awaitable[Any]]
) -> Any:
    """Runs `sync` or `awaited`, whichever is for this way, with a transaction, and returns its result."""
    if way in SYNC:
        with SYNC[way](database) as tx:
            return sync(tx)

    async def run() -> Any:
        async with ASYNC[way](database) as tx:
            return await awaited(tx)

    return asyncio.run(run())
