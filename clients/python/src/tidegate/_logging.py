"""The logger of a handler: it writes each line once, although the code between steps is repeated."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    LoggerAdapter: TypeAlias = logging.LoggerAdapter[Any]
    AnyLogger: TypeAlias = logging.Logger | LoggerAdapter
else:
    # The class is not generic at run time before Python 3.11.
    LoggerAdapter = logging.LoggerAdapter
    AnyLogger = logging.Logger | logging.LoggerAdapter

Collect: TypeAlias = Callable[[int, str, dict[str, Any]], None]
"""Gets level, message and fields."""

_OWN_FRAMES = 1 if sys.version_info >= (3, 11) else 2
"""Number of additional frames that `stacklevel` skips; older versions also count the frames of `logging`."""


class RunLogger(LoggerAdapter):
    """Logs nothing while the code is repeating steps of earlier calls."""

    def __init__(self, logger: AnyLogger, replaying: Callable[[], bool], collect: Collect | None = None) -> None:
        super().__init__(logger, {})
        self._replaying = replaying
        self._collect = collect

    def isEnabledFor(self, level: int) -> bool:
        return not self._replaying() and self.logger.isEnabledFor(level)

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """The collected lines do not depend on the app's own level, except for `debug`."""
        if self._replaying():
            return
        if self._collect and (level >= logging.INFO or self.logger.isEnabledFor(level)):
            self._collect(level, _message(msg, args), _fields(kwargs))
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + _OWN_FRAMES
        super().log(level, msg, *args, **kwargs)

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Leaves `extra` to the caller, where the adapter would put its own."""
        return msg, kwargs


def _message(msg: object, args: tuple[object, ...]) -> str:
    """The message as `logging` makes it. Arguments that do not fit are left out; the app's own logger reports them."""
    try:
        return logging.LogRecord("", 0, "", 0, msg, args, None).getMessage()
    except Exception:
        return msg if isinstance(msg, str) else "(what was logged cannot be read)"


def _fields(kwargs: dict[str, Any]) -> dict[str, Any]:
    extra: Any = kwargs.get("extra")
    fields = cast("dict[str, Any]", extra) if isinstance(extra, dict) else {}
    error = _error_of(kwargs.get("exc_info"))
    return {**fields, "error": error} if error else fields


def _error_of(exc_info: Any) -> BaseException | None:
    if isinstance(exc_info, BaseException):
        return exc_info
    if exc_info is True:
        return sys.exc_info()[1]
    match exc_info:
        case (_, BaseException() as error, _):
            return error
        case _:
            return None
