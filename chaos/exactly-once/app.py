"""The app in Python: app.ts with the same points at which it kills itself."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Generator
from typing import Any

import psycopg
import uvicorn
from fastapi import FastAPI
from psycopg_pool import ConnectionPool
from tidegate import HttpRequest, HttpResponse, SyncContext, Tidegate
from tidegate._transport import default_transport
from tidegate.fastapi import serve
from tidegate.postgres import Relay, outbox_sync

DATABASE = os.environ["APP_DATABASE_URL"]
EVENT = os.environ["ORDER_EVENT"]
PATH = "/api/service"
ROLLED_BACK = 8
"""One in so many orders is rolled back."""
PAUSE_SECONDS = 0.02

AT_STATEMENTS = {
    "outbox: begun": (r"insert into orders", "before"),
    "outbox: order written": (r"insert into orders", "after"),
    "outbox: event written": (r".*insert into tidegate_outbox", "after"),
    "outbox: commit asked for": (r"COMMIT", "before"),
    "outbox: committed": (r"COMMIT", "after"),
    "outbox: before the claim": (r"with locked", "before"),
    "outbox: claimed": (r"with locked", "after"),
    "outbox: before the deletion": (r"delete from tidegate_outbox", "before"),
    "outbox: deleted": (r"delete from tidegate_outbox", "after"),
    "transaction: before the step is claimed": (r"insert into tidegate_steps", "before"),
    "transaction: step claimed": (r"insert into tidegate_steps", "after"),
    "transaction: booking written": (r"insert into bookings", "after"),
    "transaction: result written": (r"update tidegate_steps", "after"),
}


class Death:
    """Kills this process at the point DIES_AT, which is passed DIES_AFTER times before."""

    def __init__(self) -> None:
        self._point = os.environ.get("DIES_AT", "")
        self._left = int(os.environ.get("DIES_AFTER", "0"))
        self._statement, self._when = AT_STATEMENTS.get(self._point, ("$.", ""))
        self._lock = threading.Lock()

    def pass_point(self, point: str) -> None:
        self._pass(point == self._point)

    def pass_statement(self, statement: object, when: str) -> None:
        text = statement.decode() if isinstance(statement, bytes) else str(statement)
        self._pass(when == self._when and re.match(self._statement, text) is not None)

    def _pass(self, here: bool) -> None:
        with self._lock:
            if not here:
                return
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            self._left -= 1


death = Death()
own_execute, own_command = psycopg.Cursor.execute, psycopg.Connection._exec_command


def execute(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
    death.pass_statement(query, "before")
    result = own_execute(self, query, *args, **kwargs)
    death.pass_statement(query, "after")
    return result


def command(self: Any, text: Any, *args: Any) -> Generator[Any, Any, Any]:
    death.pass_statement(text, "before")
    result = yield from own_command(self, text, *args)
    death.pass_statement(text, "after")
    return result


psycopg.Cursor.execute = execute  # type: ignore[method-assign]
psycopg.Connection._exec_command = command  # type: ignore[method-assign]


class DyingTransport:
    def __init__(self) -> None:
        self._own = default_transport()

    def send(self, request: HttpRequest) -> HttpResponse:
        is_send = "/e/" in request.url
        if is_send:
            death.pass_point("outbox: before the send")
        response = self._own.send(request)
        if is_send:
            death.pass_point("outbox: sent")
        return response

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        return await self._own.send_async(request)

    def close(self) -> None:
        self._own.close()

    async def aclose(self) -> None:
        await self._own.aclose()


client = Tidegate(os.environ["APP_ID"], transport=DyingTransport())
pool = ConnectionPool(DATABASE, min_size=0, max_size=8, open=True, timeout=5, check=ConnectionPool.check_connection)


@client.create_function(id="booked", retries=20, trigger=EVENT)
def booked(ctx: SyncContext) -> dict[str, int]:
    def book(tx: Any) -> int:
        statement = "insert into bookings (order_id, run_id) values (%s, %s) returning number"
        return int(tx.execute(statement, [ctx.event.data["order"], ctx.run_id]).fetchone()[0])

    return {"booking": ctx.step.transaction("book", pool, book)}


def order() -> None:
    name = str(uuid.uuid4())
    with psycopg.connect(DATABASE) as connection:
        connection.execute("insert into orders (id) values (%s)", [name])
        outbox_sync(connection, client, {"name": EVENT, "id": name, "data": {"order": name}})
        if random.random() * ROLLED_BACK < 1:
            connection.rollback()


def orders() -> None:
    while True:
        try:
            order()
        except psycopg.Error:
            time.sleep(0.1)
        time.sleep(PAUSE_SECONDS)


class Answering:
    """Tells when a response has been sent."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "POST":
            death.pass_point("transaction: answered")


async def main() -> None:
    app = FastAPI()
    serve(app, client, [booked], path=PATH)
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    print(json.dumps({"url": f"http://127.0.0.1:{os.environ['PORT']}{PATH}"}), flush=True)
    server = uvicorn.Server(uvicorn.Config(Answering(app), log_level="critical"))
    serving: asyncio.Task[Any] = asyncio.create_task(server.serve(sockets=[listener]))
    relay = Relay(client, lambda: psycopg.connect(DATABASE))
    relay.start()
    if os.environ.get("ORDERS") == "1":
        threading.Thread(target=orders, daemon=True).start()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    relay.close()
    server.should_exit = True
    await serving


asyncio.run(main())
