"""Requests of the app to the service that prove who asks, other than sending events."""

from __future__ import annotations

from collections.abc import Mapping

from . import _headers as headers
from . import _hints as hints
from ._effects import Effects, does
from ._settings import Settings
from ._signature import hashed_key
from ._transport import HttpRequest, HttpResponse, RoundTrip
from .errors import ServeError, TransportError

_TIMEOUT_SECONDS = 30.0


def ask_service(
    method: str,
    path: str,
    settings: Settings,
    *,
    fields: Mapping[str, str] | None = None,
    body: bytes | None = None,
    timeout: float = _TIMEOUT_SECONDS,
) -> Effects[HttpResponse]:
    """While the signing key is being rotated, the service may know only the other one of the two.

    Raises ServeError when it could not be reached; ConfigError.
    """
    cloud = settings.mode == "cloud"

    def ask(key: str | None) -> Effects[HttpResponse]:
        proofs = {
            headers.SDK_HEADER: headers.SDK,
            **({headers.ENV: settings.env} if settings.env else {}),
            **({"authorization": f"Bearer {hashed_key(key)}"} if key else {}),
        }
        request = HttpRequest(
            method=method,
            url=settings.base_url + path,
            headers={**(fields or {}), **proofs},
            body=body,
            timeout=timeout,
        )
        try:
            response = yield from does(RoundTrip(request, settings.transport))
        except TransportError as error:
            raise ServeError(500, hints.unreachable(settings, error)) from error
        return response

    answer = yield from ask(settings.signing_key if cloud else None)
    if answer.status in (401, 403) and cloud and settings.signing_key_fallback:
        answer = yield from ask(settings.signing_key_fallback)
    return answer
