"""Runs an ASGI app for a test, at a free port of 127.0.0.1: says {"url": …} in one line, and ends when stdin does."""

import asyncio
import json
import socket
import sys
from typing import Any

import uvicorn


class AnnouncingServer(uvicorn.Server):
    """Says where it listens once it does."""

    def __init__(self, config: uvicorn.Config, path: str) -> None:
        super().__init__(config)
        self.path = path

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(json.dumps({"url": f"http://127.0.0.1:{port}{self.path}"}), flush=True)


async def serve_until_stdin_ends(app: Any, path: str) -> None:
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="off")
    server = AnnouncingServer(config, path)
    serving = asyncio.create_task(server.serve())
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.should_exit = True
    await serving
