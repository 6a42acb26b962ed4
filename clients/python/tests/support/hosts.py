"""Apps behind real servers: uvicorn for ASGI, wsgiref for WSGI."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import uvicorn
from tornado.httpserver import HTTPServer
from tornado.web import Application

import tidegate.asgi
from tidegate import Tidegate


class _Server(uvicorn.Server):
    """Says when it has started."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def asgi_host(app: Any, **config: Any) -> Iterator[str]:
    """Its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = _Server(uvicorn.Config(app, interface="asgi3", log_level="critical", **config))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    try:
        assert server.ready.wait(10), "uvicorn did not start"
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def closing(app: Any, client: Tidegate) -> Any:
    """The app, whose end closes the client's connections in its event loop: as a lifespan handler does."""
    own = tidegate.asgi.serve(client, [])

    async def either(scope: Any, receive: Any, send: Any) -> None:
        await (own if scope["type"] == "lifespan" else app)(scope, receive, send)

    return either


@contextmanager
def tornado_host(app: Application) -> Iterator[str]:
    """Its address."""
    ready, listener = threading.Event(), socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    ends: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        server = HTTPServer(app)
        server.add_socket(listener)
        ends.append((asyncio.get_running_loop(), asyncio.Event()))
        ready.set()
        await ends[0][1].wait()
        server.stop()
        await server.close_all_connections()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert ready.wait(10), "Tornado did not start"
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        loop, end = ends[0]
        loop.call_soon_threadsafe(end.set)
        thread.join()


class _ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None: ...


@contextmanager
def wsgi_host(app: Callable[..., Any]) -> Iterator[str]:
    """Its address."""
    server = make_server("127.0.0.1", 0, app, server_class=_ThreadingServer, handler_class=_QuietHandler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(
    origin: str, method: str, path: str, headers: dict[str, str] | None = None, body: bytes = b""
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers by lower-case name, body. The path is sent as it is."""
    connection = HTTPConnection(origin.removeprefix("http://"), timeout=20)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return response.status, fields, response.read()
    finally:
        connection.close()
