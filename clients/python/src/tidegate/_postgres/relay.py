"""The relay as the app starts and ends it: a thread, or a task."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .._client import Tidegate
from .._clock import RealClock
from .._effects import drive, drive_async
from .connections import AsyncWakeup, Open, SyncWakeup, Wakeup
from .relay_work import OutboxStatus, RelayOptions, RelayWork


class Relay:
    """Sends the events of the outbox: as soon as their transactions are committed, and what is left of a process that
    died. Every instance of the app can have one: an advisory lock lets one of them work.

    In sync code a thread, `with Relay(client, lambda: psycopg.connect(url)):`; in async code a task, `async with
    Relay(client, lambda: asyncpg.connect(url)):`. It ends after the send that is under way. After a fork, as in
    gunicorn's workers, it must be started anew.
    """

    def __init__(
        self,
        client: Tidegate,
        connect: Callable[[], Any],
        *,
        keep_days: float = 0,
        retention_days: float = 7,
        steps_keep_days: float = 30,
    ) -> None:
        """connect: opens a connection for the relay alone: of psycopg 3 for a thread; of asyncpg, or an AsyncConnection
            of psycopg 3, for a task.
        keep_days: how long rows are kept after the service has acknowledged their events. Default: not at all.
        retention_days: for how long the service keeps events: whether an event was accepted longer ago is a question
            for a person, and its row becomes `uncertain`.
        steps_keep_days: for how long results of `step.transaction` are kept at least; then until the service no longer
            has their run.
        """
        self._client = client
        self._connect = connect
        self._options = RelayOptions(
            keep_days=keep_days,
            retention_days=retention_days,
            steps_keep_days=steps_keep_days,
        )
        self._work: RelayWork | None = None
        self._thread: threading.Thread | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def status(self) -> OutboxStatus | None:
        """The outbox, as the relay has seen it a minute ago at most. None: it has not seen it, or another one works."""
        return self._work.status if self._work else None

    def start(self) -> None:
        """Starts the thread."""
        work, wakeup = self._begin(SyncWakeup())

        def run() -> None:
            try:
                drive(work.run())
            finally:
                wakeup.close()

        self._thread = threading.Thread(target=run, name="tidegate-relay", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the thread, after the send that is under way."""
        if self._work and self._thread:
            self._work.stop()
            self._thread.join()

    async def start_async(self) -> None:
        """Starts the task, in this event loop."""
        work, _ = self._begin(AsyncWakeup())
        self._task = asyncio.create_task(drive_async(work.run()), name="tidegate-relay")

    async def aclose(self) -> None:
        """Ends the task, after the send that is under way."""
        if self._work and self._task:
            self._work.stop()
            await self._task

    def __enter__(self) -> Relay:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Relay:
        await self.start_async()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()

    def _begin(self, wakeup: Wakeup) -> tuple[RelayWork, Wakeup]:
        if self._work:
            raise RuntimeError("The relay was started before: make another one")
        settings = self._client.settings()
        self._work = RelayWork(
            settings,
            self._options,
            wakeup,
            Open(self._connect, wakeup),
            RealClock(),
        )
        return self._work, wakeup
