"""Functions in a FastAPI app: `tidegate.fastapi.serve(app, client, [thank])`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI

from ._client import Tidegate
from ._functions import Function
from ._handler import Handler
from .starlette import add_route


def serve(
    app: FastAPI,
    client: Tidegate,
    functions: Sequence[Function[Any]],
    path: str = "/api/service",
    *,
    serve_origin: str | None = None,
) -> None:
    """Adds a route to the app, which is not in its OpenAPI document."""
    add_route(app, Handler(client, functions, serve_origin=serve_origin, framework="fastapi"), path)
