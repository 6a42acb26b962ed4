"""Functions in a Tornado app: `tidegate.tornado.serve(app, client, [thank])`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tornado.web import Application, RequestHandler, stream_request_body, url

from ._app_request import MAX_BODY_BYTES, AppRequest, check_body_size
from ._client import Tidegate
from ._functions import Function
from ._handler import Handler
from ._run_call import AppAnswer
from .errors import ServeError


def serve(
    app: Application,
    client: Tidegate,
    functions: Sequence[Function[Any]],
    path: str = "/api/service",
    *,
    serve_origin: str | None = None,
) -> None:
    """Adds a handler to the app, before the app's other handlers. It is exempt from `xsrf_cookies`."""
    handler = Handler(client, functions, serve_origin=serve_origin, framework="tornado")
    app.add_handlers(".*", [url(re.escape(path), _TidegateHandler, {"handler": handler}, name="tidegate")])


@stream_request_body
class _TidegateHandler(RequestHandler):
    """Handles all methods: the handler itself rejects the others."""

    def initialize(self, handler: Handler) -> None:
        self._handler = handler
        self._chunks: list[bytes] = []
        self._size = 0

    def data_received(self, chunk: bytes) -> None:
        """A body that is too large is read and dropped, so that the response arrives."""
        self._size += len(chunk)
        if self._size <= MAX_BODY_BYTES:
            self._chunks.append(chunk)

    async def _answer(self) -> None:
        answer = await self._answer_of()
        self.set_status(answer.status)
        for name, value in answer.headers.items():
            self.set_header(name, value)
        self.write(answer.body)  # pyright: ignore[reportUnknownMemberType]

    get = put = post = patch = delete = options = _answer

    def check_xsrf_cookie(self) -> None:
        """Calls have no cookies: their signature is checked instead."""

    async def _answer_of(self) -> AppAnswer:
        request = self.request
        try:
            check_body_size(self._size)
        except ServeError as error:
            return self._handler.refusal(error)
        return await self._handler.answer_async(
            AppRequest(
                method=request.method or "GET",
                url=request.uri or "/",
                headers=dict(request.headers),
                body=b"".join(self._chunks),
                secure=request.protocol == "https",
            )
        )
