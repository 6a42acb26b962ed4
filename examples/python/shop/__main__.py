"""A small shop whose functions run on events: examples/python/start"""

import asyncio
import contextlib
import json
import os
import socket
import urllib.error
import urllib.request

import uvicorn
from fastapi import FastAPI

from tidegate.fastapi import serve

from .client import client
from .fulfil_order import fulfil_order
from .functions import audit, flaky_stock_sync, on_push, reward_big_order, send_receipt

PATH = "/api/service"
FUNCTIONS = [send_receipt, reward_big_order, flaky_stock_sync, on_push, audit, fulfil_order]

app = FastAPI()
serve(app, client, FUNCTIONS, path=PATH)


async def main() -> None:
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "3940"))))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"
    print(f"example-shop-python serves {len(FUNCTIONS)} functions at {url}", flush=True)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    registering = asyncio.create_task(register_when_ready(url))
    await server.serve(sockets=[listener])
    registering.cancel()


async def register_when_ready(url: str) -> None:
    """Asks the app, by its own URL, to register: again and again until the service has answered. Says why it waits,
    once."""
    said = None
    while True:
        registered, message = await asyncio.to_thread(register, url)
        if message != said:
            print(message, flush=True)
        if registered:
            return
        said = message
        await asyncio.sleep(0.5)


def register(url: str) -> tuple[bool, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="PUT")) as answer:
            return True, json.load(answer)["message"]
    except urllib.error.HTTPError as refusal:
        return False, json.load(refusal)["message"]


with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main())
