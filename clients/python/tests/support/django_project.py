"""A Django project around the patterns of a test: its protections are on, as a new project's are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import django
from django.conf import settings
from django.http import HttpRequest
from django.urls import URLPattern

_MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]


def configure() -> None:
    """Once in a process: Django has it so."""
    if settings.configured:
        return
    settings.configure(
        SECRET_KEY="of a test",
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:", "ATOMIC_REQUESTS": True}},
        MIDDLEWARE=_MIDDLEWARE,
        LOGGING_CONFIG=None,
        ROOT_URLCONF=(),
    )
    django.setup()


def django_app(pattern: URLPattern, kind: Any) -> Callable[..., Any]:
    """`kind` is a handler class. Several such apps may be alive at once, each with its own pattern."""
    configure()

    class Own(kind):  # type: ignore[misc]
        def resolve_request(self, request: HttpRequest) -> Any:
            request.urlconf = (pattern,)
            return super().resolve_request(request)

    app: Callable[..., Any] = Own()
    return app
