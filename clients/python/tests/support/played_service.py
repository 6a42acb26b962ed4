"""A service that answers as it is told, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: Any = field(default_factory=dict)
    """A text is sent as it is, anything else as JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_up: bool = False
    """Cuts the connection instead."""
    wait_for: threading.Event | None = None
    """Before it answers."""


class PlayedService:
    def __init__(self, replies: Sequence[Reply]) -> None:
        self.requests: list[Asked] = []
        self.asked = threading.Event()
        """At least once."""
        self._replies = list(replies)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler_class())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                service._answer(self)

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *_: object) -> None: ...

        return Handler

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.requests.append(Asked(handler.command, handler.path, headers, body))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        self.asked.set()
        if reply.wait_for:
            reply.wait_for.wait(10)
        handler.close_connection = True
        if reply.hang_up:
            return
        text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        try:
            handler.send_response(reply.status)
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.send_header("content-length", str(len(text.encode())))
            handler.end_headers()
            handler.wfile.write(text.encode())
        except OSError:
            return


@contextmanager
def played_service(*replies: Reply) -> Iterator[PlayedService]:
    """The last reply is repeated for ever."""
    service = PlayedService(replies or [Reply()])
    try:
        yield service
    finally:
        service.stop()
