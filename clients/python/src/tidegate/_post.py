"""One request with events, tried again until the service has taken it, refused it, or five tries have failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from urllib.parse import quote

from . import _headers as headers
from . import _hints as hints
from ._clock import Clock, Pause
from ._effects import Effects, does
from ._json import parse_object
from ._moments import retry_after_ms
from ._settings import Settings
from ._transport import HttpRequest, HttpResponse, RoundTrip
from .errors import TransportError

_MAX_TRIES = 5
_TRY_TIMEOUT_SECONDS = 30.0
_MAX_RETRY_AFTER_MS = 30_000.0
_FIRST_BACKOFF_MS = 200


@dataclass(frozen=True, kw_only=True)
class PostRequest:
    body: bytes
    """A JSON array of events."""
    seed: str
    ends_at: float | None
    """On the clock: when the send is given up."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    message: str
    status: int | None = None
    code: str | None = None
    request_id: str | None = None
    """As the service names it."""
    cause: BaseException | None = None
    retriable: bool = False
    retry_after: str | None = None
    limit_bytes: int | None = None


def post_events(request: PostRequest, settings: Settings, clock: Clock) -> Effects[list[str] | Failure]:
    """Every try repeats seed and body, so events that did arrive are not stored twice. Raises ConfigError."""
    tries = 1
    while True:
        if _seconds_left(request, clock) <= 0:
            return abandoned()
        outcome = yield from _try_once(request, settings, clock)
        if not isinstance(outcome, Failure) or not outcome.retriable or tries == _MAX_TRIES:
            return outcome
        delay = _delay_ms(outcome, tries, clock) / 1_000
        # There is no point in waiting for an attempt that would not be made.
        if delay >= _seconds_left(request, clock):
            return abandoned(outcome)
        yield from does(Pause(delay, clock))
        tries += 1


def _try_once(request: PostRequest, settings: Settings, clock: Clock) -> Effects[list[str] | Failure]:
    env = settings.env
    fields = {
        "content-type": "application/json",
        headers.SDK_HEADER: headers.SDK,
        headers.EVENT_ID_SEED: request.seed,
        **({headers.ENV: env} if env else {}),
    }
    wire = HttpRequest(
        method="POST",
        url=f"{settings.base_url}/e/{quote(settings.event_key, safe='')}",
        headers=fields,
        body=request.body,
        timeout=min(_TRY_TIMEOUT_SECONDS, _seconds_left(request, clock)),
    )
    try:
        response = yield from does(RoundTrip(wire, settings.transport))
    except TransportError as error:
        if _seconds_left(request, clock) <= 0:
            return abandoned()
        return Failure(message=hints.unreachable(settings, error), cause=error, retriable=True)
    return _read_answer(response, settings)


def _seconds_left(request: PostRequest, clock: Clock) -> float:
    return float("inf") if request.ends_at is None else request.ends_at - clock.monotonic()


def abandoned(before: Failure | None = None) -> Failure:
    """`before` is the result of the last attempt, if there was one."""
    what = "The send was not done in time"
    if before is None:
        return Failure(message=what, code="timeout")
    message = f"{what}. Until then: {before.message}"
    return Failure(
        message=message,
        code="timeout",
        status=before.status,
        request_id=before.request_id,
        retry_after=before.retry_after,
    )


def _read_answer(response: HttpResponse, settings: Settings) -> list[str] | Failure:
    answer = parse_object(response.body)
    ids = answer.get("ids")
    if response.ok and isinstance(ids, list):
        return cast("list[str]", ids)
    error, code, limit_bytes = answer.get("error"), answer.get("code"), answer.get("limit_bytes")
    if response.ok:
        message = f"The response ({response.status}) has no ids, so it did not come from the service"
    else:
        message = error if isinstance(error, str) else f"The service answered {response.status}"
        message = hints.refused(settings, message, response.status)
    return Failure(
        message=message,
        status=response.status,
        code=code if isinstance(code, str) else None,
        request_id=response.headers.get(headers.REQUEST_ID),
        retriable=response.status in (408, 429) or response.status >= 500,
        retry_after=response.headers.get(headers.RETRY_AFTER),
        limit_bytes=limit_bytes if isinstance(limit_bytes, int) else None,
    )


def _delay_ms(failure: Failure, tries: int, clock: Clock) -> float:
    """The delay that the service asks for; otherwise exponential backoff with full jitter."""
    asked_ms = retry_after_ms(failure.retry_after, clock.now_ms())
    if asked_ms is not None:
        return min(asked_ms, _MAX_RETRY_AFTER_MS)
    return clock.random() * _FIRST_BACKOFF_MS * (1 << (tries - 1))
