"""Checks of keyword arguments: Python names an unknown argument; these checks also name the argument that was
probably meant."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_OF_OTHERS = {"triggers": "trigger"}
"""Names of other libraries for what has another one here."""


def told_of_unknown(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """For a function whose arguments are options. `what` begins the message."""

    def wrap(fn: Callable[P, T]) -> Callable[P, T]:
        known = [name for name in inspect.signature(fn).parameters if name != "self"]

        @functools.wraps(fn)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            for name in kwargs:
                if name not in known:
                    of = f' "{kwargs["id"]}"' if "id" in kwargs and "id" in known else ""
                    raise TypeError(f'{what}{of} has no option "{name}"; {_hint(name, known)}')
            return fn(*args, **kwargs)

        return checked

    return wrap


def _hint(name: str, known: list[str]) -> str:
    near = _OF_OTHERS.get(name)
    if near not in known:
        near = next(iter(difflib.get_close_matches(name.lower(), known, n=1)), None)
    return f'did you mean "{near}"?' if near else f"known are {', '.join(known)}"
