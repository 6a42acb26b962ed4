"""Canonical JSON (RFC 8785): the bytes that the service signed, when only their meaning is left."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import cast

from ._json import escape_surrogates


def canonical(value: object) -> str:
    """The canonical JSON of a parsed value."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return escape_surrogates(json.dumps(value, ensure_ascii=False))
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, Mapping):
        entries = sorted(cast("Mapping[str, object]", value).items(), key=_by_utf16)
        return "{" + ",".join(f"{canonical(key)}:{canonical(item)}" for key, item in entries) + "}"
    if isinstance(value, list | tuple):
        items = cast("list[object] | tuple[object, ...]", value)
        return "[" + ",".join(map(canonical, items)) + "]"
    raise TypeError(f"A {type(value).__name__} is no JSON value")


def _by_utf16(entry: tuple[str, object]) -> bytes:
    return entry[0].encode("utf-16-be", "surrogatepass")


def _number(value: float) -> str:
    """A number as ECMAScript writes it: every number is a double, and has an exponent only from 1e21 and below 1e-6."""
    try:
        double = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(double):
        return "null"
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    mantissa, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.<digits> * 10 ** point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _layout(digits, point)


def _layout(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if count > 1 else "")
    return f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
