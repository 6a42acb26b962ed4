"""Functions over a connection that the app opens: it needs no address (docs/connect.md). To host them at a URL, see
`tidegate.fastapi` and so on.

Needs the package websockets: `pip install "tidegate[connect]"`.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import socket
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from . import _headers as headers
from ._app_calls import AppCalls
from ._client import Tidegate
from ._connect.calls import CallsInFlight
from ._connect.reconnect import ConnectionState, ReconnectingConnection
from ._functions import Function
from ._json import write
from ._options import told_of_unknown
from ._registration import function_on_the_wire
from ._steps.moves import Progress
from .errors import ConfigError, ConnectError

__all__ = ["ConnectError", "Connection", "ConnectionState", "connect", "run"]

_FRAMEWORK = "connect"
_THREADS_MAX = 1_000
"""The default of the service's CONNECTION_CALLS_MAX. A thread starts when there is a call for it."""


class Connection:
    """As a context manager (`async with`), it closes automatically."""

    def __init__(self, inner: ReconnectingConnection, threads: ThreadPoolExecutor) -> None:
        self._inner = inner
        self._threads = threads

    @property
    def state(self) -> ConnectionState:
        return self._inner.state

    async def close(self) -> None:
        """Takes no more calls, and waits until all calls in flight have ended and the connection is closed."""
        await self._inner.close()
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


@told_of_unknown("connect")
async def connect(
    client: Tidegate,
    functions: Sequence[Function[Any]],
    *,
    max_concurrency: int | None = None,
    instance_id: str | None = None,
    app_version: str | None = None,
    on_state: Callable[[ConnectionState], None] | None = None,
) -> Connection:
    """Connects the app, and stays connected until `close()`. Returns once the app can get calls.

    Async functions run in this event loop, plain ones in a thread for each call.

    max_concurrency: maximum number of concurrent calls. Default: the service's CONNECTION_CALLS_MAX.
    instance_id: name of this process, unique in the app. Default: `<host name>-<process ID>`.
    app_version: version or build of the app. Default: the client's.
    on_state: called at each change.

    Raises ConnectError if the service rejects the app at the start; ConfigError.
    """
    whole = isinstance(max_concurrency, int) and not isinstance(max_concurrency, bool)
    if max_concurrency is not None and not (whole and max_concurrency > 0):
        raise ConfigError(f"connect: max_concurrency must be a whole number from 1, got {max_concurrency!r}")
    threads = ThreadPoolExecutor(max_concurrency or _THREADS_MAX, "tidegate-call")

    async def in_thread(work: Callable[[], Progress]) -> Progress:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(threads, lambda: context.run(work))

    app = AppCalls(client, functions, _FRAMEWORK, in_thread)
    wire = write([function_on_the_wire(fn, {"type": "ws"}) for fn in app.functions])
    version = app_version or client.settings().app_version
    named = {"appVersion": version} if version else {}
    language, sdk_version = headers.SDK.split(":")
    instance: dict[str, Any] = {
        "instanceId": instance_id or f"{socket.gethostname()}-{os.getpid()}",
        "apps": [{"appName": client.app_id, **named, "functions": wire}],
        "framework": _FRAMEWORK,
        "sdkLanguage": language,
        "sdkVersion": sdk_version,
        **({} if max_concurrency is None else {"maxWorkerConcurrency": max_concurrency}),
    }
    calls = CallsInFlight(app, client.settings)
    connection = ReconnectingConnection(calls, client.settings, instance, on_state or (lambda _: None))
    await connection.start()
    return Connection(connection, threads)


@told_of_unknown("run")
def run(
    client: Tidegate,
    functions: Sequence[Function[Any]],
    *,
    max_concurrency: int | None = None,
    instance_id: str | None = None,
    app_version: str | None = None,
    on_state: Callable[[ConnectionState], None] | None = None,
) -> None:
    """Runs `connect` as a whole process: on SIGTERM or SIGINT it finishes its calls and ends. A second signal ends the
    process at once."""

    async def work() -> None:
        with _stop_signal() as stopped:
            options: dict[str, Any] = {
                "max_concurrency": max_concurrency,
                "instance_id": instance_id,
                "app_version": app_version,
                "on_state": on_state,
            }
            connecting = asyncio.create_task(connect(client, functions, **options))
            stopped.add_done_callback(lambda _: connecting.cancel())
            try:
                async with await connecting:
                    await stopped
            except asyncio.CancelledError:
                if not connecting.cancelled():
                    raise
            finally:
                await client.aclose()

    asyncio.run(work())


@contextmanager
def _stop_signal() -> Generator[asyncio.Future[None]]:
    """Done at the first SIGTERM or SIGINT; further signals have their usual effect."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[None] = loop.create_future()
    former = {number: signal.getsignal(number) or signal.SIG_DFL for number in (signal.SIGTERM, signal.SIGINT)}

    def restore() -> None:
        for number, handler in former.items():
            signal.signal(number, handler)

    def stop(*_: int | FrameType | None) -> None:
        restore()
        loop.call_soon_threadsafe(stopped.set_result, None)

    for number in former:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        restore()
