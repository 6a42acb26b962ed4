"""Hints for a failed request: a forgotten SERVICE_DEV, or another port."""

from __future__ import annotations

from collections.abc import Iterator

from ._settings import DEV_HINT, Settings


def unreachable(settings: Settings, error: BaseException) -> str:
    """The message when no response has come. Has the address without its path: a key in that is a secret."""
    message = f"The service at {settings.base_url} could not be reached: {error}"
    if not any(isinstance(one, ConnectionRefusedError) for one in _causes(error)):
        return message
    if settings.mode == "dev":
        return (
            f"{message}. Is it started? In dev mode a service listens on port 8288, unless its PORT says otherwise: "
            "then set SERVICE_DEV to its address, such as http://127.0.0.1:9000"
        )
    return f"{message}. Is it started, and is SERVICE_BASE_URL its address?"


def refused(settings: Settings, message: str, status: int) -> str:
    """The message of a response, and what may mend it when the app's mode can be the reason."""
    if status != 401:
        return message
    if settings.mode == "dev":
        hint = "SERVICE_DEV is set, so this app shows no keys: unset it for a service that is not in dev mode"
    else:
        hint = f"This app is in production mode, because SERVICE_DEV is not set. {DEV_HINT}"
    return f"{message.rstrip('.')}. {hint}"


def not_from_the_service(flaw: str, signature: str | None) -> str:
    """Calls of a service in dev mode are not signed at all."""
    message = f"Not a call from the service: {flaw}"
    if signature:
        return message
    return (
        f"{message}. This app is in production mode: if a service in dev mode called it, set SERVICE_DEV=1 for the app"
    )


def _causes(error: object) -> Iterator[BaseException]:
    """An error, and its cause or reason, which depends on the transport."""
    if not isinstance(error, BaseException):
        return
    yield error
    for inner in (
        error.__cause__ or error.__context__,
        getattr(error, "reason", None),
        *getattr(error, "exceptions", ()),
    ):
        yield from _causes(inner)
