"""Functions in a Flask app: `tidegate.flask.serve(app, client, [thank])`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Flask, Response, request

from ._client import Tidegate
from ._functions import Function
from ._handler import Handler
from .wsgi import WsgiApp

_METHODS = ("GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS")
"""The handler itself says which it takes."""


def serve(
    app: Flask,
    client: Tidegate,
    functions: Sequence[Function[Any]],
    path: str = "/api/service",
    *,
    serve_origin: str | None = None,
) -> None:
    """Adds a URL rule to the app, whose endpoint is `tidegate`. Exempt that from CSRF protection, if there is any."""
    adapter = WsgiApp(Handler(client, functions, serve_origin=serve_origin, framework="flask"))

    def tidegate() -> Response:
        answer = adapter.answer(request.environ)
        return Response(answer.body, status=answer.status, headers=answer.headers)

    app.add_url_rule(path, view_func=tidegate, methods=_METHODS, provide_automatic_options=False)
