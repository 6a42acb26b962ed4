"""Functions in a Starlette app: `tidegate.starlette.serve(app, client, [thank])`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route

from ._client import Tidegate
from ._functions import Function
from ._handler import Handler
from .asgi import AsgiApp


def serve(
    app: Starlette,
    client: Tidegate,
    functions: Sequence[Function[Any]],
    path: str = "/api/service",
    *,
    serve_origin: str | None = None,
) -> None:
    """Adds a route to the app."""
    add_route(app, Handler(client, functions, serve_origin=serve_origin, framework="starlette"), path)


def add_route(app: Starlette, handler: Handler, path: str) -> None:
    """For all methods: the handler itself says which it takes."""
    app.router.routes.append(Route(path, endpoint=AsgiApp(handler), include_in_schema=False))
