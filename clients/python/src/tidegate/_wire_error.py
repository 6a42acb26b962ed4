"""Errors as they travel: `{"name", "message", "stack"?}`."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any, cast

from .errors import NonRetriableError, RemoteError, RetryAfterError, StepError

WireError = dict[str, Any]


def describe_error(thrown: BaseException) -> WireError:
    """Whatever was raised, described. A group of one error, as task groups make, is that error."""
    errors = list(_leaves(thrown))
    error = errors[0] if len(errors) == 1 else thrown
    name = error.name if isinstance(error, StepError | RemoteError) else type(error).__name__
    return {"name": name, "message": str(error), "stack": "".join(traceback.format_exception(thrown))}


def is_final(thrown: BaseException) -> bool:
    """Whether a retry cannot help. A failed step has had its retries: its error, when nobody caught it, is final."""
    return any(isinstance(error, NonRetriableError | StepError) for error in _leaves(thrown))


def is_non_retriable(thrown: BaseException) -> bool:
    """Whether a step said so itself."""
    return any(isinstance(error, NonRetriableError) for error in _leaves(thrown))


def retry_after_seconds(thrown: BaseException) -> int | None:
    return next((error.retry_after_seconds for error in _leaves(thrown) if isinstance(error, RetryAfterError)), None)


def revive_error(wire: WireError) -> RemoteError:
    """An exception again, with the name, message and stack that it had where it was raised."""
    return RemoteError(
        str(wire.get("message") or "The error has no message"),
        name=str(wire.get("name") or "Error"),
        stack=wire.get("stack"),
    )


def step_error(step_id: str, wire: WireError) -> StepError:
    message = wire.get("message")
    error = StepError(
        f'The step "{step_id}" failed' if message is None else str(message),
        name=str(wire.get("name") or "StepError"),
        step_id=step_id,
    )
    error.__cause__ = revive_error(wire)
    return error


def _leaves(thrown: BaseException) -> Iterator[BaseException]:
    """Those of an exception group (Python 3.11), or the one itself. A group is never empty."""
    inner: object = getattr(thrown, "exceptions", None)
    errors = cast("tuple[object, ...]", inner) if isinstance(inner, tuple) else ()
    if errors and all(isinstance(error, BaseException) for error in errors):
        for error in cast("tuple[BaseException, ...]", errors):
            yield from _leaves(error)
    else:
        yield thrown
