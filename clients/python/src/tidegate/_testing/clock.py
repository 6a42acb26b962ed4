"""Moves the clock of a service in dev mode: `advance_clock("http://127.0.0.1:8288", "3d")`."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from .._transport import HttpRequest
from .._transport_urllib import UrllibTransport

_TIMEOUT_SECONDS = 90.0


@dataclass(frozen=True)
class MovedClock:
    now: datetime
    """The time of the service."""
    runs_started: int
    """Runs that had their first call."""
    runs_ended: int
    waiting: int
    """Active runs, which sleep or wait."""


def advance_clock(service_url: str, by: str | timedelta | datetime) -> MovedClock:
    """Returns when everything that is due until then has happened, in its order. In async code await
    `advance_clock_async`.

    by: how much time passes, as a timedelta or a text such as "90s", "1h30m" or "3d"; or the aware datetime to which it
        passes.

    Raises RuntimeError when the service refuses, as in production, or when something does not end, such as a call;
    TransportError when it cannot be reached.
    """
    started = ended = 0
    body: dict[str, object] = _wanted(by)
    while True:
        moved = _post(service_url, body)
        started += moved["runs_started"]
        ended += moved["runs_ended"]
        if moved["reached"] == "target":
            return MovedClock(_time(moved["now"]), started, ended, moved["waiting"])
        if moved["reached"] != "limit":
            raise RuntimeError(f"The clock stopped at {moved['now']}: something does not end, such as a call")
        body = {"to": moved["target"]}


async def advance_clock_async(service_url: str, by: str | timedelta | datetime) -> MovedClock:
    """As `advance_clock`; meanwhile the event loop goes on, and with it an app in it."""
    return await asyncio.to_thread(advance_clock, service_url, by)


def _wanted(by: str | timedelta | datetime) -> dict[str, object]:
    if isinstance(by, datetime):
        if by.tzinfo is None:
            raise ValueError("The time needs a time zone, such as datetime(…, tzinfo=timezone.utc)")
        return {"to": round(by.timestamp() * 1_000)}
    return {"advance": by if isinstance(by, str) else f"{round(by / timedelta(milliseconds=1))}ms"}


def _post(service_url: str, body: dict[str, object]) -> dict[str, Any]:
    request = HttpRequest(
        method="POST",
        url=f"{service_url.rstrip('/')}/v1/dev/clock",
        headers={"content-type": "application/json"},
        body=json.dumps(body).encode(),
        timeout=_TIMEOUT_SECONDS,
    )
    response = UrllibTransport().send(request)
    answer: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        answer = json.loads(response.body)
    if response.status == 200 and "data" in answer:
        data: dict[str, Any] = answer["data"]
        return data
    raise RuntimeError(f"The clock was not moved: {answer.get('error') or f'the service answered {response.status}'}")


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
