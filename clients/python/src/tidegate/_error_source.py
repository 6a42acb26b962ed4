"""The lines of code around the place where an error was raised, for people who look at the run."""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NEIGHBORS = 2
_MAX_LINE_LENGTH = 200
_MAX_FILE_LENGTH = 500
_MAX_FILE_BYTES = 1_048_576
"""A larger file was not written by hand, and takes long to read."""
_MAX_STACK_LENGTH = 32_768
_MAX_FRAMES = 5
"""Frames whose files are tried: the first one that can be read counts."""
_FRAME = re.compile(r'^[ |]*File "([^"]{1,4096})", line (\d{1,9})', re.MULTILINE)
_NOT_OWN = tuple(
    f"{path}{os.sep}"
    for path in (str(Path(__file__).parent), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
)
_LIBRARIES = {"site-packages", "dist-packages"}


def source_of(stack: object) -> dict[str, Any] | None:
    """`{"file", "line", "lines"}` of the app's own innermost frame whose file can be read. Raises nothing."""
    if not isinstance(stack, str):
        return None
    try:
        for index, (file, line) in enumerate(_own_frames(stack)):
            source = _read(file, line)
            if source or index >= _MAX_FRAMES - 1:
                return source
    except Exception:
        # A file that cannot be read is left out: the error itself matters more.
        return None
    return None


def _own_frames(stack: str) -> Iterator[tuple[str, int]]:
    """The innermost first: a traceback has the most recent call last."""
    for file, line in reversed(_FRAME.findall(stack[-_MAX_STACK_LENGTH:])):
        if not file.startswith(("<", *_NOT_OWN)) and _LIBRARIES.isdisjoint(Path(file).parts):
            yield file, int(line)


def _read(file: str, line: int) -> dict[str, Any] | None:
    if Path(file).exists() and Path(file).stat().st_size > _MAX_FILE_BYTES:
        return None
    linecache.checkcache(file)
    every = linecache.getlines(file)
    if not 1 <= line <= len(every):
        return None
    first = max(1, line - _NEIGHBORS)
    shown = every[first - 1 : line + _NEIGHBORS]
    lines = [{"line": first + index, "text": _shortened(text)} for index, text in enumerate(shown)]
    return {"file": _relative(file)[:_MAX_FILE_LENGTH], "line": line, "lines": lines}


def _relative(file: str) -> str:
    root = f"{Path.cwd()}{os.sep}"
    return file[len(root) :] if file.startswith(root) else file


def _shortened(text: str) -> str:
    line = text.rstrip()
    return line if len(line) <= _MAX_LINE_LENGTH else line[: _MAX_LINE_LENGTH - 1] + "…"
