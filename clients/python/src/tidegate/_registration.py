"""Registering: the app tells the service its address and its functions (`POST {service}/fn/register`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from . import _headers as headers
from . import _hints as hints
from ._effects import Effects
from ._flow_wire import flow_on_the_wire
from ._functions import Function
from ._json import parse_object, write
from ._service import ask_service
from ._settings import Settings
from .errors import ServeError


@dataclass(frozen=True, kw_only=True)
class App:
    id: str
    url: str
    """The URL at which the service will call the function."""
    framework: str
    functions: Sequence[Function[Any]]
    what_if: str | None = None
    """ID of the what-if that asks for the registration."""


def register(app: App, settings: Settings) -> Effects[dict[str, Any]]:
    """Returns the service's response. Raises ServeError if the service rejected it or could not be reached;
    ConfigError."""
    response = yield from ask_service(
        "POST",
        "/fn/register",
        settings,
        fields={
            "content-type": "application/json",
            headers.FRAMEWORK: app.framework,
            headers.EXPECTED_SERVER_KIND: settings.mode,
            **({headers.WHAT_IF: app.what_if} if app.what_if else {}),
        },
        body=write(payload_of(app, settings.app_version)).encode(),
    )
    answer = parse_object(response.body)
    if response.ok and answer.get("ok") is not False:
        return answer
    error = answer.get("error")
    reason = error if isinstance(error, str) else f"it answered {response.status}"
    message = f"The service at {settings.base_url} refused to register the app: {reason}"
    raise ServeError(500, hints.refused(settings, message, response.status))


def payload_of(app: App, app_version: str | None = None) -> dict[str, Any]:
    return {
        "url": app.url,
        "deployType": "ping",
        "appName": app.id,
        "sdk": headers.SDK,
        "v": "0.1",
        "framework": app.framework,
        **({"appVersion": app_version} if app_version else {}),
        "functions": [function_on_the_wire(fn, _http_runtime(fn, app)) for fn in app.functions],
    }


def _http_runtime(fn: Function[Any], app: App) -> dict[str, str]:
    query = urlencode({"fnId": fn.composite_id, "stepId": "step"})
    return {"type": "http", "url": f"{app.url}?{query}"}


def function_on_the_wire(fn: Function[Any], runtime: dict[str, str]) -> dict[str, Any]:
    """`runtime` is how the service calls it."""
    step = {"id": "step", "name": "step", "runtime": runtime, "retries": {"attempts": fn.retries}}
    return {
        "id": fn.composite_id,
        "name": fn.name,
        **({"description": fn.description} if fn.description else {}),
        **({"group": fn.group} if fn.group else {}),
        **({"versioning": fn.versioning} if fn.versioning else {}),
        **({"onExhausted": fn.on_exhausted} if fn.on_exhausted else {}),
        "triggers": [trigger.on_the_wire() for trigger in fn.triggers],
        "steps": {"step": step},
        **flow_on_the_wire(fn.flow),
    }
