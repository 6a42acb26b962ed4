"""The app in Python: app.ts with fewer functions."""

import asyncio
import datetime
import json
import os
import socket
import sys
import urllib.request
from typing import Any

import uvicorn
from fastapi import FastAPI

from tidegate import Context, Tidegate
from tidegate.fastapi import serve

PATH = "/api/service"
client = Tidegate(app_id="chaos-python")


def report(run_id: str, step: str, finished: list[str]) -> None:
    body = json.dumps({"app": "python", "runId": run_id, "step": step, "finished": finished}).encode()
    request = urllib.request.Request(os.environ["EXECUTIONS_URL"], data=body, method="POST")
    with urllib.request.urlopen(request) as answer:
        answer.read()


async def report_async(run_id: str, step: str, finished: list[str]) -> None:
    await asyncio.to_thread(report, run_id, step, finished)


@client.create_function(id="steps", trigger="chaos/steps")
async def steps(ctx: Context) -> None:
    await ctx.step.run("a", report_async, ctx.run_id, "a", [])
    await ctx.step.sleep("nap", datetime.timedelta(milliseconds=300))
    await ctx.step.run("b", report_async, ctx.run_id, "b", ["a"])


@client.create_function(id="flaky", trigger="chaos/flaky")
async def flaky(ctx: Context) -> None:
    await ctx.step.run("a", report_async, ctx.run_id, "a", [])
    if ctx.attempt == 0:
        raise ValueError("the first attempt fails")
    await ctx.step.run("b", report_async, ctx.run_id, "b", ["a"])


async def main() -> None:
    app = FastAPI()
    serve(app, client, [steps, flaky], path=PATH)
    listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    print(json.dumps({"url": f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"}), flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving: asyncio.Task[Any] = asyncio.create_task(server.serve(sockets=[listener]))
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.should_exit = True
    await serving


asyncio.run(main())
