"""Functions as an ASGI app, without a framework: `app = tidegate.asgi.serve(client, [thank], path="/api/service")`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import quote

from ._app_request import MAX_BODY_BYTES, AppRequest, check_body_size
from ._client import Tidegate
from ._functions import Function
from ._handler import Handler
from ._run_call import AppAnswer
from .errors import ServeError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def serve(
    client: Tidegate,
    functions: Sequence[Function[Any]],
    *,
    path: str | None = None,
    serve_origin: str | None = None,
) -> AsgiApp:
    """An app to run alone or to mount. If `path` (the whole path) is set, requests to other paths get a 404."""
    return AsgiApp(Handler(client, functions, path=path, serve_origin=serve_origin, framework="asgi"))


class AsgiApp:
    """The adapter for ASGI, on which the adapters of its frameworks are based."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            raise RuntimeError(f"Only HTTP is answered here, not {scope['type']}")

    async def _live(self, receive: Receive, send: Send) -> None:
        """A server tells an app that runs alone to start and to stop: then it closes its connections."""
        while True:
            message = await receive()
            stopping = message["type"] == "lifespan.shutdown"
            if stopping:
                await self._handler.aclose()
            await send({"type": f"{message['type']}.complete"})
            if stopping:
                return

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            # Bodies of other requests are never read.
            body = await _read_body(receive) if scope["method"] == "POST" else b""
        except ServeError as error:
            await _send(self._handler.refusal(error), send)
            return
        if body is not None:
            await _send(await self._handler.answer_async(_request(scope, body)), send)


def _request(scope: Scope, body: bytes) -> AppRequest:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    raw_path: bytes | None = scope.get("raw_path")
    path = raw_path.decode("latin-1") if raw_path else quote(scope["path"])
    # Servers do not agree on whether the path begins with the root's, as it should.
    root = quote(scope.get("root_path", ""))
    whole = path if path.startswith(root) else root + path
    query = scope.get("query_string", b"").decode("latin-1")
    url = f"{whole}?{query}" if query else whole
    return AppRequest(
        method=scope["method"], url=url, headers=headers, body=body, secure=scope.get("scheme") == "https"
    )


async def _read_body(receive: Receive) -> bytes | None:
    """None if the client has gone away. A body that is too large is read and dropped, so that the response arrives."""
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            chunks.append(chunk)
        more = message.get("more_body", False)
    check_body_size(size)
    return b"".join(chunks)


async def _send(answer: AppAnswer, send: Send) -> None:
    body = answer.body.encode()
    fields = {**answer.headers, "content-length": str(len(body))}
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
