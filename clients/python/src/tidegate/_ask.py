"""Signals and realtime: requests to the service that are made once, by a client or by a step of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import urlencode

from . import _headers as headers
from . import _hints as hints
from ._effects import Effects
from ._json import as_json, parse_object, write
from ._service import ask_service
from ._settings import Settings
from .errors import SendError, ServeError

_MAX_IDS = 1_000


def send_signal(signal: str, data: object, settings: Settings) -> Effects[str | None]:
    """Returns the ID of the run that continues; None if no step waits. Raises SendError, TypeError, ConfigError."""
    body = {"signal": signal, "data": as_json(data, "The signal's data")}
    try:
        answer = yield from _post("/v1/signals", body, settings)
    except SendError as error:
        if error.status == 404 and error.code == "not_found":
            return None
        raise
    return str(answer["data"]["run_id"])


def publish(channel: str, topic: str, data: object, settings: Settings, run_id: str | None = None) -> Effects[None]:
    """Raises SendError, TypeError, ConfigError."""
    query = urlencode({"channel": channel, "topic": topic, **({"run_id": run_id} if run_id else {})})
    yield from _post(f"/v1/realtime/publish?{query}", as_json(data, "The message"), settings)


def subscription_token(channel: str, topics: Sequence[str], settings: Settings) -> Effects[str]:
    """Raises SendError, ConfigError."""
    if isinstance(topics, str):
        raise TypeError(f'Got topics={topics!r}; topics are a list of names, such as ["{topics}"]')
    body = [{"channel": channel, "name": topic, "kind": "run"} for topic in topics]
    answer = yield from _post("/v1/realtime/token", body, settings)
    return str(answer.get("jwt"))


def look_up(kind: Literal["events", "runs"], ids: Sequence[str], settings: Settings) -> Effects[set[str]]:
    """Returns the internal IDs that the service has. Raises SendError, ConfigError."""
    found: set[str] = set()
    for start in range(0, len(ids), _MAX_IDS):
        page = list(ids[start : start + _MAX_IDS])
        answer = yield from _post(f"/v1/{kind}/lookup", {"ids": page}, settings)
        data: list[dict[str, Any]] = answer.get("data") or []
        # Events that are not found are sent again or deleted: the response of another program must not pass for
        # the service's.
        if [one.get("id") for one in data] != page:
            raise SendError(f"The response to a look-up of {kind} does not tell of each ID")
        found.update(one["id"] for one in data if one.get("found") is not False)
    return found


def _post(path: str, body: object, settings: Settings) -> Effects[dict[str, Any]]:
    fields = {"content-type": "application/json"}
    try:
        response = yield from ask_service("POST", path, settings, fields=fields, body=write(body).encode())
    except ServeError as error:
        raise SendError(str(error)) from error.__cause__
    answer = parse_object(response.body)
    if response.ok:
        return answer
    reason, code = answer.get("error"), answer.get("code")
    message = reason if isinstance(reason, str) else f"The service answered {response.status}"
    raise SendError(
        hints.refused(settings, message, response.status),
        status=response.status,
        code=code if isinstance(code, str) else None,
        request_id=response.headers.get(headers.REQUEST_ID),
    )
