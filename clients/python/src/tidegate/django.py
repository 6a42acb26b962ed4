"""Functions in a Django project, under WSGI or ASGI:

urlpatterns = [tidegate.django.serve(client, [thank], path="api/service")]
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.urls import path as url_pattern
from django.views.decorators.csrf import csrf_exempt

from ._app_request import AppRequest
from ._client import Tidegate
from ._functions import Function
from ._handler import Handler
from ._steps.moves import Progress
from .errors import ServeError
from .wsgi import read_body


def serve(
    client: Tidegate,
    functions: Sequence[Function[Any]],
    path: str = "api/service",
    *,
    serve_origin: str | None = None,
) -> URLPattern:
    """An entry of `urlpatterns`; `path` is relative to it. The view, named `tidegate`, is exempt from CSRF protection
    and from ATOMIC_REQUESTS: each step commits by itself.

    A plain function runs where Django runs plain views, so its database connections are managed.
    """
    handler = Handler(client, functions, serve_origin=serve_origin, framework="django", in_thread=_in_django_thread)

    async def tidegate(request: HttpRequest) -> HttpResponse:
        try:
            body = await sync_to_async(_read)(request) if request.method == "POST" else b""
        except ServeError as error:
            answer = handler.refusal(error)
        else:
            answer = await handler.answer_async(_app_request(request, body))
        return HttpResponse(answer.body, status=answer.status, headers=answer.headers)

    view = csrf_exempt(transaction.non_atomic_requests(tidegate))
    return url_pattern(path.lstrip("/"), view, name="tidegate")


async def _in_django_thread(run: Callable[[], Progress]) -> Progress:
    return await cast("Callable[[], Awaitable[Progress]]", sync_to_async(run, thread_sensitive=True))()


def _read(request: HttpRequest) -> bytes:
    """Replaces `request.body`, whose limit, DATA_UPLOAD_MAX_MEMORY_SIZE, is below the size that a call may have."""
    return read_body(request, None)


def _app_request(request: HttpRequest, body: bytes) -> AppRequest:
    return AppRequest(
        method=request.method or "GET",
        url=request.get_full_path(),
        headers=dict(request.headers),
        body=body,
        secure=request.is_secure(),
    )
