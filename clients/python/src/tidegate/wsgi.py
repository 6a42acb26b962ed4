"""Functions as a WSGI app, without a framework: `app = tidegate.wsgi.serve(client, [thank], path="/api/service")`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import quote

from ._app_request import MAX_BODY_BYTES, AppRequest, check_body_size
from ._client import Tidegate
from ._functions import Function
from ._handler import Handler
from ._run_call import AppAnswer
from .errors import ServeError

Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], object]

_CHUNK_BYTES = 64 * 1_024


def serve(
    client: Tidegate,
    functions: Sequence[Function[Any]],
    *,
    path: str | None = None,
    serve_origin: str | None = None,
) -> WsgiApp:
    """An app to run alone or to mount. If `path` (the whole path) is set, requests to other paths get a 404.

    A plain function runs in the thread of its request, an async function in its own event loop.
    """
    return WsgiApp(Handler(client, functions, path=path, serve_origin=serve_origin, framework="wsgi"))


class WsgiApp:
    """The adapter for WSGI, on which the adapters of its frameworks are based."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        answer = self.answer(environ)
        body = answer.body.encode()
        status = f"{answer.status} {HTTPStatus(answer.status).phrase}"
        start_response(status, [*answer.headers.items(), ("content-length", str(len(body)))])
        return [body]

    def answer(self, environ: Environ) -> AppAnswer:
        try:
            # Bodies of other requests are never read.
            body = _read_body(environ) if environ["REQUEST_METHOD"] == "POST" else b""
        except ServeError as error:
            return self._handler.refusal(error)
        return self._handler.answer(_request(environ, body))


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _read_body(environ: Environ) -> bytes:
    length = environ.get("CONTENT_LENGTH")
    if length:
        return read_body(environ["wsgi.input"], int(length))
    # Without a length, only some servers report the end of the body; with others, reading would block forever.
    return read_body(environ["wsgi.input"], None) if environ.get("wsgi.input_terminated") else b""


def read_body(stream: Readable, length: int | None) -> bytes:
    """A body that is too large is read and dropped, so that the response arrives. Then raises ServeError."""
    chunks: list[bytes] = []
    size = 0
    while length is None or size < length:
        chunk = stream.read(_CHUNK_BYTES if length is None else min(_CHUNK_BYTES, length - size))
        if not chunk:
            break
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            chunks.append(chunk)
    check_body_size(size)
    return b"".join(chunks)


def _request(environ: Environ, body: bytes) -> AppRequest:
    headers = {
        name[len("HTTP_") :].replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    # Texts of WSGI are bytes in disguise.
    path = quote((environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1"))
    query = environ.get("QUERY_STRING")
    return AppRequest(
        method=environ["REQUEST_METHOD"],
        url=f"{path}?{query}" if query else path,
        headers=headers,
        body=body,
        secure=environ.get("wsgi.url_scheme") == "https",
    )
