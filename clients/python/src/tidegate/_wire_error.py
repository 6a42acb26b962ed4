"""Errors as they travel: `{"name", "message", "stack"?, "cause"?, "data"?, "code"?, "source"?}`."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any, cast

from ._error_source import source_of
from ._json import parse, write
from .errors import NonRetriableError, RemoteError, RetryAfterError, StepError

WireError = dict[str, Any]


_MAX_CAUSES = 5
"""Number of causes that the service keeps."""
_MAX_DATA_LENGTH = 16 * 1_024
"""Maximum size of `data` that the service keeps."""


def describe_error(thrown: BaseException) -> WireError:
    """Whatever was raised, described. A group of one error, as task groups make, is that error."""
    errors = list(_leaves(thrown))
    error = errors[0] if len(errors) == 1 else thrown
    return _describe(error, _stack_of(error) or "".join(traceback.format_exception(thrown)), _MAX_CAUSES)


def with_source(error: WireError) -> WireError:
    """Includes the lines of code around the one that raised the error, if they can be read."""
    source = source_of(error.get("stack"))
    return {**error, "source": source} if source else error


def _describe(error: BaseException, stack: str, causes: int) -> WireError:
    name = error.name if isinstance(error, StepError | RemoteError) else type(error).__name__
    wire: WireError = {"name": name, "message": str(error), "stack": stack}
    cause = _cause_of(error)
    if cause is not None and causes:
        wire["cause"] = _describe_cause(cause, causes - 1)
    data, code = _bounded(_attribute(error, "data")), _attribute(error, "code")
    if data is not None:
        wire["data"] = data
    # False is an int too.
    if isinstance(code, str | int | float) and not isinstance(code, bool) and _bounded(code) is not None:
        wire["code"] = code
    return wire


def _cause_of(error: BaseException) -> Any:
    """The cause of a StepError is the description of the exception that the step raised."""
    described = error.cause or error if isinstance(error, StepError) else error
    return described.cause if isinstance(described, RemoteError) else described.__cause__


def _describe_cause(cause: Any, causes: int) -> Any:
    if not isinstance(cause, BaseException):
        return _bounded(cause)
    return _describe(cause, _stack_of(cause) or "".join(traceback.format_exception(cause, chain=False)), causes)


def _stack_of(error: BaseException) -> str | None:
    """The stack that came with the error. A failed step's own leads to the code that raised it; the StepError's, to
    where the step is awaited."""
    remote = error.__cause__ if isinstance(error, StepError) else error
    return remote.stack if isinstance(remote, RemoteError) else None


def _attribute(error: BaseException, name: str) -> Any:
    """The attribute of any exception, which may have any value, or raise."""
    try:
        return getattr(error, name, None)
    except Exception:
        return None


def _bounded(value: object) -> Any:
    """None when it is too large, or no JSON."""
    try:
        text = write(value)
        return parse(text) if len(text) <= _MAX_DATA_LENGTH else None
    except Exception:
        return None


def is_final(thrown: BaseException) -> bool:
    """Whether a retry cannot help. A failed step has used its retries, so its error is final if it is not caught."""
    return any(isinstance(error, NonRetriableError | StepError) for error in _leaves(thrown))


def is_non_retriable(thrown: BaseException) -> bool:
    """Whether a step said so itself."""
    return any(isinstance(error, NonRetriableError) for error in _leaves(thrown))


def retry_after_seconds(thrown: BaseException) -> int | None:
    return next((error.retry_after_seconds for error in _leaves(thrown) if isinstance(error, RetryAfterError)), None)


def revive_error(wire: WireError) -> RemoteError:
    """An exception again, with all that it had where it was raised."""
    return RemoteError(
        str(wire.get("message") or "The error has no message"),
        name=str(wire.get("name") or "Error"),
        stack=wire.get("stack"),
        cause=_revive_cause(wire.get("cause")),
        data=wire.get("data"),
        code=wire.get("code"),
    )


def _revive_cause(cause: Any) -> Any:
    error = _error_fields(cause)
    return revive_error(error) if "message" in error else cause


def _error_fields(cause: object) -> WireError:
    return cast("WireError", cause) if isinstance(cause, dict) else {}


def step_error(step_id: str, wire: WireError) -> StepError:
    message = wire.get("message")
    error = StepError(
        f'The step "{step_id}" failed' if message is None else str(message),
        name=str(wire.get("name") or "StepError"),
        step_id=step_id,
        data=wire.get("data"),
        code=wire.get("code"),
    )
    error.__cause__ = revive_error(wire)
    return error


def _leaves(thrown: BaseException) -> Iterator[BaseException]:
    """The exceptions of an exception group (Python 3.11), or the exception itself. A group is never empty."""
    inner: object = getattr(thrown, "exceptions", None)
    errors = cast("tuple[object, ...]", inner) if isinstance(inner, tuple) else ()
    if errors and all(isinstance(error, BaseException) for error in errors):
        for error in cast("tuple[BaseException, ...]", errors):
            yield from _leaves(error)
    else:
        yield thrown
