"""The URL under which the app registers."""

from __future__ import annotations

from ._app_request import AppRequest
from ._settings import DEV_HINT, Settings, to_origin
from .errors import ConfigError, ServeError


def url_of(request: AppRequest, path: str | None, serve_origin: str | None, settings: Settings) -> str:
    """Outside dev mode never by the request's own word: whoever may forge its host would choose where the service
    sends every event."""
    own_path = request.path if path is None else path
    origin = to_origin(serve_origin) if serve_origin else settings.serve_origin
    if origin:
        return origin + own_path
    if settings.mode == "dev":
        return _origin_of(request) + own_path
    raise ConfigError(
        "To register, the app must know its own address: set SERVICE_SERVE_ORIGIN (or pass serve_origin to serve()), "
        f"such as https://shop.example. {DEV_HINT}"
    )


def _origin_of(request: AppRequest) -> str:
    """Deliberately without x-forwarded-host, even in dev mode."""
    forwarded = (request.header("x-forwarded-proto") or "").split(",")[0].strip()
    protocol = forwarded if forwarded in ("http", "https") else "https" if request.secure else "http"
    host = request.header("host")
    if not host:
        raise ServeError(400, "The request names no host: set serve_origin")
    return f"{protocol}://{host}"
