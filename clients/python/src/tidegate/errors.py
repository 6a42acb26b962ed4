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
    """An option or variable that is missing or makes no sense. The message names it and says how to set it."""


class TransportError(TidegateError):
    """No answer came: the address could not be reached, or not in time."""


class SendError(TidegateError):
    """The service refused what was sent (events, a signal, a message), or could not be reached in any of the tries."""

    status: int | None
    """HTTP status of the last answer; None when there was none."""
    code: str | None
    """The service's error code, such as `event_invalid`; or `timeout`, `body_too_large` from here."""
    request_id: str | None
    """Finds the request in the service's log."""
    accepted_ids: tuple[str, ...]
    """Of a send that took several requests: the IDs of the events accepted, which are the first ones of it."""
    seed: str | None
    """`send(events, seed=seed)` with the same events stores none of them twice, whatever had arrived."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        accepted_ids: Sequence[str] = (),
        seed: str | None = None,
    ) -> None:
        super().__init__(message)
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
"""Codes of the service that pass by themselves."""


class ConnectError(TidegateError):
    """The service refuses the connection of an app, or could not be reached."""

    code: str | None
    """The service's error code, such as `credentials_invalid`; None: it could not be reached."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code

    @property
    def passes(self) -> bool:
        """Whether another try may succeed without a change of the app."""
        return self.code is None or self.code in _PASSING


class NonRetriableError(TidegateError):
    """Raise it in a handler to fail the run for good, or in a step to fail that: no retry would help.

    `data` (any JSON) and `code` come along, as such attributes of any exception do, and so does its `from`.
    """

    data: Any
    code: str | float | None

    def __init__(self, message: str = "", *, data: object = None, code: str | float | None = None) -> None:
        super().__init__(message)
        self.data = data
        self.code = code


class RetryAfterError(TidegateError):
    """Raise it in a handler or a step to choose when that is tried again."""

    retry_after_seconds: int

    def __init__(self, message: str, retry_after: float | timedelta | datetime | str) -> None:
        """`retry_after` is seconds, a timedelta, an aware datetime, or what a `retry-after` header says.

        Raises ValueError when it is none of these.
        """
        super().__init__(message)
        seconds = _delay_seconds(retry_after)
        if seconds is None or not math.isfinite(seconds):
            raise ValueError(f"RetryAfterError: {retry_after!r} is not seconds, a date or a retry-after header")
        # Rounded first: a float's last digit must not cost a second.
        self.retry_after_seconds = max(0, math.ceil(round(seconds, 6)))


class StepError(TidegateError):
    """A step that has failed for good, raised where it is awaited: catch it, and the function goes on.

    Uncaught, it fails the run: the step has had its retries. It has the name, message, `data` and `code` of what the
    step raised; its `cause` is that itself, with the stack, and with the `cause` that it had.
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
    """What a step or a run failed with, in another call perhaps: the exception itself is gone."""

    name: str
    message: str
    stack: str | None
    cause: Any
    """A RemoteError too, or any JSON."""
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
    """A webhook that did not come from its provider, or too long ago: fails the run for good."""


class ServeError(TidegateError):
    """A request to the app that ends in an error answer before any function ran. Becomes that answer."""

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
