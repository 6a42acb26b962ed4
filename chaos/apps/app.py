"""The app in Python: app.ts with fewer functions."""

import asyncio
import datetime
import json
import os
import socket
import sys
import time
import urllib.request
import uuid
from typing import Any

import uvicorn
from fastapi import FastAPI

from tidegate import Context, Function, Tidegate
from tidegate.connect import connect
from tidegate.fastapi import serve

PATH = "/api/service"
RETRIES = 10
client = Tidegate(app_id="chaos-python")
connected = Tidegate(app_id="chaos-python-connected")


def report(ctx: Context, function: str, step: str, finished: list[str]) -> None:
    execution = {
        "phase": "start",
        "id": str(uuid.uuid4()),
        "app": "python",
        "functionId": f"{client.app_id}-{function}",
        "runId": ctx.run_id,
        "step": step,
        "finished": finished,
        "atMs": time.time() * 1000,
        "sentIds": [event.data["id"] for event in ctx.events],
    }
    body = json.dumps(execution).encode()
    request = urllib.request.Request(os.environ["EXECUTIONS_URL"], data=body, method="POST")
    with urllib.request.urlopen(request) as answer:
        answer.read()


async def report_async(ctx: Context, function: str, step: str, finished: list[str]) -> None:
    await asyncio.to_thread(report, ctx, function, step, finished)


def both_of(app: Tidegate, prefix: str) -> list[Function[Any]]:
    """Of an app that serves, or of one that connects."""

    @app.create_function(id="steps", retries=RETRIES, trigger="chaos/steps")
    async def steps(ctx: Context) -> None:
        await ctx.step.run("a", report_async, ctx, f"{prefix}steps", "a", [])
        await ctx.step.sleep("nap", datetime.timedelta(milliseconds=300))
        await ctx.step.run("b", report_async, ctx, f"{prefix}steps", "b", ["a"])

    @app.create_function(id="chain", retries=RETRIES, trigger="chaos/chain")
    async def chain(ctx: Context) -> None:
        await ctx.step.run("a", report_async, ctx, f"{prefix}chain", "a", [])
        await ctx.step.run("b", report_async, ctx, f"{prefix}chain", "b", ["a"])
        await ctx.step.run("c", report_async, ctx, f"{prefix}chain", "c", ["a", "b"])

    return [steps, chain]


@client.create_function(id="flaky", retries=RETRIES, trigger="chaos/flaky")
async def flaky(ctx: Context) -> None:
    await ctx.step.run("a", report_async, ctx, "flaky", "a", [])
    if ctx.attempt == 0:
        raise ValueError("the first attempt fails")
    await ctx.step.run("b", report_async, ctx, "flaky", "b", ["a"])


async def main() -> None:
    app = FastAPI()
    serve(app, client, [*both_of(client, ""), flaky], path=PATH)
    connection = await connect(connected, both_of(connected, "connected-"))
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"}), flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving: asyncio.Task[Any] = asyncio.create_task(server.serve(sockets=[listener]))
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.should_exit = True
    await serving
    await connection.close()


asyncio.run(main())
