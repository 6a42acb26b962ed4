"""Collects the lines that a function logs in one call, within limits, for the service (docs/protocol.md#logs)."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

from ._json import write
from ._steps.ids import hash_step_id

_MAX_LINES = 200
_MAX_LINE_LENGTH = 8_000
_MAX_LENGTH = 64_000
_MAX_DEPTH = 6
_MAX_ENTRIES = 200
"""Maximum number of entries of all objects and lists in one line."""


class LogCollector:
    """For one call, whose steps may run in other threads."""

    def __init__(self) -> None:
        self._lines: list[dict[str, Any]] = []
        self._length = 0
        self._dropped = 0
        self._lock = threading.Lock()

    def add(self, level: int, message: str, fields: Mapping[str, Any], step: str | None) -> None:
        """Raises nothing: what cannot be written as JSON is left out. `step`: name of the step that logs it."""
        with self._lock:
            if len(self._lines) >= _MAX_LINES or self._length >= _MAX_LENGTH:
                self._dropped += 1
                return
        line: dict[str, Any] = {"at": int(time.time() * 1_000), "level": _level_name(level)}
        line["message"] = message[:_MAX_LINE_LENGTH]
        kept = _fields(fields, _MAX_LINE_LENGTH - len(line["message"]))
        if kept:
            line["fields"] = kept
        if step is not None:
            line["step"] = hash_step_id(step)
        length = len(write(line))
        with self._lock:
            if self._length + length > _MAX_LENGTH:
                self._dropped += 1
                # After a line that is left out, further lines would look as if nothing were missing.
                self._length = _MAX_LENGTH
                return
            self._length += length
            self._lines.append(line)

    def take_batch(self) -> dict[str, Any] | None:
        """Takes the lines logged since it was last called, and resets the limits. None: there are no lines."""
        with self._lock:
            batch = {"lines": self._lines, "dropped": self._dropped} if self._lines else None
            self._lines, self._length, self._dropped = [], 0, 0
            return batch


def error_field(error: BaseException) -> dict[str, Any]:
    return {
        "name": type(error).__name__,
        "message": _text(error),
        "stack": "".join(traceback.format_exception(error))[-_MAX_LINE_LENGTH // 2 :],
    }


def _level_name(level: int) -> str:
    if level >= logging.ERROR:
        return "error"
    if level >= logging.WARNING:
        return "warn"
    return "info" if level >= logging.INFO else "debug"


def _fields(given: Mapping[str, Any], room: int) -> dict[str, Any]:
    try:
        kept = cast("dict[str, Any]", _bounded(given, _MAX_DEPTH, [_MAX_ENTRIES]))
        return kept if not kept or len(write(kept)) <= room else {"…": "too large"}
    except Exception:
        return {}


def _bounded(value: Any, depth: int, left: list[int]) -> Any:
    """The value as JSON, without parts that are too deep or too long. `left`: number of entries that may still be
    kept."""
    if value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, float) or value - value == 0 else _text(value)
    if isinstance(value, BaseException):
        return error_field(value)
    if _is_mapping(value):
        if depth == 0:
            return "…"
        entries = list(value.items())[: max(0, left[0])]
        left[0] -= len(entries)
        return {_text(key)[:100]: _bounded(one, depth - 1, left) for key, one in entries}
    if _is_list(value):
        if depth == 0:
            return "…"
        items = list(value[: max(0, left[0])])
        left[0] -= len(items)
        return [_bounded(one, depth - 1, left) for one in items]
    return _text(value)


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _text(value: object) -> str:
    try:
        text = str(value)
    except Exception:
        text = f"(a {type(value).__name__} that cannot be shown)"
    return text if len(text) <= _MAX_LINE_LENGTH else text[: _MAX_LINE_LENGTH - 1] + "…"
