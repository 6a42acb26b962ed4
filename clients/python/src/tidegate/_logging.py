"""Where a handler logs: each line once, though the code between steps is repeated."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    LoggerAdapter: TypeAlias = logging.LoggerAdapter[Any]
    AnyLogger: TypeAlias = logging.Logger | LoggerAdapter
else:
    # Not generic at run time before Python 3.11.
    LoggerAdapter = logging.LoggerAdapter
    AnyLogger = logging.Logger | logging.LoggerAdapter


class RunLogger(LoggerAdapter):
    """Says nothing while the code repeats what it did in earlier calls."""

    def __init__(self, logger: AnyLogger, replaying: Callable[[], bool]) -> None:
        super().__init__(logger, {})
        self._replaying = replaying

    def isEnabledFor(self, level: int) -> bool:
        return not self._replaying() and self.logger.isEnabledFor(level)

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Leaves `extra` to the caller, where the adapter would put its own."""
        return msg, kwargs
