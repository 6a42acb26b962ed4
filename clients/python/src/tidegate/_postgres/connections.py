"""A relay's own connection, and how it waits: until the database notifies it, or it is woken, or a time is over."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import selectors
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .sessions import AnySession, AsyncpgSession, AsyncPsycopgSession, PsycopgSession, classes_of
from .statements import CHANNEL

_LISTEN = f"listen {CHANNEL}"


class SyncWakeup:
    """Wakes the relay's thread from any other."""

    def __init__(self) -> None:
        self._reads, self._writes = socket.socketpair()
        self._reads.setblocking(False)
        self._writes.setblocking(False)

    def set(self) -> None:
        # Full, or closed after the relay's end: it is awake.
        with contextlib.suppress(OSError):
            self._writes.send(b"1")

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._reads.recv(1_024):
                pass

    def wait(self, seconds: float, readable: int | None) -> None:
        with selectors.DefaultSelector() as selector:
            for file in (self._reads.fileno(), readable):
                if file is not None:
                    selector.register(file, selectors.EVENT_READ)
            selector.select(seconds)

    def close(self) -> None:
        self._reads.close()
        self._writes.close()


class AsyncWakeup:
    """Wakes the relay's task from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def set(self) -> None:
        # The loop is closed: nothing waits.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._event.set)

    def clear(self) -> None:
        self._event.clear()

    async def wait(self, seconds: float, readable: int | None) -> None:
        if readable is not None:
            self._loop.add_reader(readable, self._event.set)
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        finally:
            if readable is not None:
                self._loop.remove_reader(readable)

    def close(self) -> None: ...


Wakeup = SyncWakeup | AsyncWakeup


@dataclass(frozen=True)
class Wait:
    """The effect of waiting."""

    wakeup: Any
    seconds: float
    readable: int | None = None
    """A socket that has something to read when the database notifies."""

    def perform(self) -> None:
        self.wakeup.wait(self.seconds, self.readable)

    async def perform_async(self) -> None:
        await self.wakeup.wait(self.seconds, self.readable)


class RelayConnection(Protocol):
    @property
    def session(self) -> AnySession: ...

    @property
    def readable(self) -> int | None: ...

    def close(self) -> Any:
        """Awaited if it is async."""
        ...


@dataclass(frozen=True)
class Open:
    """The effect of connecting, and of listening."""

    connect: Callable[[], Any]
    wakeup: Wakeup

    def perform(self) -> RelayConnection:
        own: Any = self.connect()
        if "psycopg.Connection" in classes_of(own):
            try:
                return _Psycopg(own, self.wakeup)
            except BaseException:
                own.close()
                raise
        if inspect.iscoroutine(own):
            own.close()
        raise TypeError(f"A relay that is a thread needs a connection of psycopg 3; connect gave {own!r}")

    async def perform_async(self) -> RelayConnection:
        own: Any = self.connect()
        if inspect.isawaitable(own):
            own = await own
        for name, kind in (("psycopg.AsyncConnection", _AsyncPsycopg), ("asyncpg.Connection", _Asyncpg)):
            if name in classes_of(own):
                try:
                    return await kind.listening(own, self.wakeup)
                except BaseException:
                    await own.close()
                    raise
        raise TypeError(
            "A relay that is a task needs a connection of asyncpg or an AsyncConnection of psycopg 3; "
            f"connect gave {own!r}"
        )


@dataclass(frozen=True)
class Close:
    """The effect of closing a connection, broken or not."""

    connection: RelayConnection

    def perform(self) -> None:
        with contextlib.suppress(Exception):
            self.connection.close()

    async def perform_async(self) -> None:
        with contextlib.suppress(Exception):
            await self.connection.close()


def _waking(wakeup: Wakeup) -> Callable[..., None]:
    def wake(*_: object) -> None:
        wakeup.set()

    return wake


class _Psycopg:
    def __init__(self, own: Any, wakeup: Wakeup) -> None:
        self._own = own
        self.session = PsycopgSession(own)
        own.autocommit = True
        # A notification that comes with the response of a statement leaves nothing to read.
        own.add_notify_handler(_waking(wakeup))
        self.session.query(_LISTEN, ())

    @property
    def readable(self) -> int:
        descriptor: int = self._own.fileno()
        return descriptor

    def close(self) -> None:
        self._own.close()


class _AsyncPsycopg:
    def __init__(self, own: Any) -> None:
        self._own = own
        self.session = AsyncPsycopgSession(own)

    @classmethod
    async def listening(cls, own: Any, wakeup: Wakeup) -> _AsyncPsycopg:
        await own.set_autocommit(True)
        own.add_notify_handler(_waking(wakeup))
        connection = cls(own)
        await connection.session.query(_LISTEN, ())
        return connection

    @property
    def readable(self) -> int:
        descriptor: int = self._own.fileno()
        return descriptor

    async def close(self) -> None:
        await self._own.close()


class _Asyncpg:
    readable = None

    def __init__(self, own: Any) -> None:
        self._own = own
        self.session = AsyncpgSession(own)

    @classmethod
    async def listening(cls, own: Any, wakeup: Wakeup) -> _Asyncpg:
        wake = _waking(wakeup)
        own.add_termination_listener(wake)
        await own.add_listener(CHANNEL, wake)
        return cls(own)

    async def close(self) -> None:
        await self._own.close(timeout=5)
