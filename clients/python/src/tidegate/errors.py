"""Every error that this package raises, or understands when a handler raises it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from ._moments import epoch_ms, retry_after_ms


class TidegateError(Exception):
    """Any error of this package."""


class ConfigError(TidegateError, ValueError):
    """An option or variable is missing or invalid. The message names it and says how to set it."""


class TransportError(TidegateError):
    """There was no response: the address could not be reached, or did not respond in time."""


class SendError(TidegateError):
    """The service rejected a request (events, a signal, a message), or could not be reached in any attempt."""

    status: int | None
    """HTTP status of the last response; None if there was no response."""
    code: str | None
    """The service's error code, such as `event_invalid`; or the client's `timeout`, `body_too_large`."""
    request_id: str | None
    """Finds the request in the service's log."""
    accepted_ids: tuple[str, ...]
    """For a send that took several requests: the IDs of the events that were accepted, the first ones of the send."""
    retry_after_seconds: float | None
    """How long the service asked to wait, if it did."""
    seed: str | None
    """`send(events, seed=seed)` with the same events stores each event once, even if some had been accepted."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        accepted_ids: Sequence[str] = (),
        seed: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
        self.status = status
        self.code = code
        self.request_id = request_id
        self.accepted_ids = tuple(accepted_ids)
        self.seed = seed


_PASSING = (
    "connect_gateway_closing",
    "internal",
    "memory_short",
    "overloaded",
    "too_many_connections",
    "unavailable",
)
"""Error codes of the service that are temporary."""


class ConnectError(TidegateError):
    """The service rejects the connection of an app, or could not be reached."""

    code: str | None
    """The service's error code, such as `credentials_invalid`; None: the service could not be reached."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code

    @property
    def passes(self) -> bool:
        """Whether another attempt may succeed without a change of the app."""
        return self.code is None or self.code in _PASSING


class NonRetriableError(TidegateError):
    """Raise it in a handler to fail the run permanently, or in a step to fail the step permanently.

    `data` (any JSON), `code` and the exception's cause (`from`) are kept, as they are for any exception.
    """

    data: Any
    code: str | float | None

    def __init__(self, message: str = "", *, data: object = None, code: str | float | None = None) -> None:
        super().__init__(message)
        self.data = data
        self.code = code


class RetryAfterError(TidegateError):
    """Raise it in a handler or a step to choose when it is retried."""

    retry_after_seconds: int

    def __init__(self, message: str, retry_after: float | timedelta | datetime | str) -> None:
        """`retry_after` is a number of seconds, a timedelta, an aware datetime, or the value of a `retry-after` header.

        Raises ValueError for any other value.
        """
        super().__init__(message)
        seconds = _delay_seconds(retry_after)
        if seconds is None or not math.isfinite(seconds):
            raise ValueError(f"RetryAfterError: {retry_after!r} is not seconds, a date or a retry-after header")
        # Rounded first: a float's last digit must not cost a second.
        self.retry_after_seconds = max(0, math.ceil(round(seconds, 6)))


class StepError(TidegateError):
    """A step that failed permanently, raised where it is awaited. Catch it to continue the function.

    Uncaught, it fails the run, because the step has used its retries. It has the name, message, `data` and `code` of
    the step's exception; its `cause` describes that exception, with its stack and its own `cause`.
    """

    name: str
    message: str
    step_id: str
    """The step's ID, numbered when it repeats."""
    data: Any
    code: str | float | None

    def __init__(
        self, message: str, *, name: str, step_id: str, data: object = None, code: str | float | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.step_id = step_id
        self.data = data
        self.code = code

    @property
    def cause(self) -> RemoteError | None:
        return self.__cause__ if isinstance(self.__cause__, RemoteError) else None


class RemoteError(TidegateError):
    """Description of the exception with which a step or a run failed, possibly in an earlier call."""

    name: str
    message: str
    stack: str | None
    cause: Any
    """A RemoteError or any JSON."""
    data: Any
    code: str | float | None

    def __init__(
        self,
        message: str,
        *,
        name: str,
        stack: str | None = None,
        cause: object = None,
        data: object = None,
        code: str | float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.stack = stack
        self.cause = cause
        self.data = data
        self.code = code
        if isinstance(cause, RemoteError):
            self.__cause__ = cause


class WebhookVerificationError(NonRetriableError):
    """A webhook was not sent by its provider, or too long ago. Fails the run permanently."""


class ServeError(TidegateError):
    """A request to the app fails before any function has run. Becomes the error response."""

    status: int

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _delay_seconds(retry_after: float | timedelta | datetime | str) -> float | None:
    if isinstance(retry_after, timedelta):
        return retry_after.total_seconds()
    if isinstance(retry_after, datetime):
        return epoch_ms(retry_after) / 1_000 - time.time()
    if isinstance(retry_after, str):
        delay_ms = retry_after_ms(retry_after, time.time() * 1_000)
        return None if delay_ms is None else delay_ms / 1_000
    return retry_after
