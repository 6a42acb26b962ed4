"""JSON, strictly: what cannot be told apart again on the other side is refused, not guessed at."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NoReturn, cast

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def parse(text: str | bytes) -> Any:
    """Raises ValueError when it is not JSON; `NaN` and `Infinity` are not, nor is what nests too deeply."""
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("It nests too deeply") from error


def parse_object(text: str | bytes) -> dict[str, Any]:
    """The fields of a JSON object; no fields for any other text."""
    try:
        value = parse(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def write(value: object) -> str:
    """Raises TypeError when it cannot be written as JSON."""
    return _encode(plain(value, "it"))


def as_json(value: object, what: str) -> Any:
    """The value after a round trip through JSON. `what` names it in the TypeError if JSON cannot represent it."""
    return parse(_encode(plain(value, what)))


def plain(value: object, path: str) -> Any:
    """The value in dicts, lists and scalars; dataclasses and pydantic models become dicts.

    Raises TypeError that says where in it there is something that is no JSON.
    """
    try:
        return _plain(value, path)
    except RecursionError as error:
        raise TypeError(f"{path} contains itself, or nests too deeply to be JSON") from error


def _plain(value: object, path: str) -> Any:
    if value is None or isinstance(value, bool | str | int):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{path} is {value}, which is not JSON")
        return value
    if isinstance(value, Mapping):
        return _plain_mapping(cast("Mapping[object, object]", value).items(), path)
    if isinstance(value, list | tuple):
        items = cast("list[object] | tuple[object, ...]", value)
        return [_plain(item, f"{path}[{index}]") for index, item in enumerate(items)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return _plain_mapping(fields, path)
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return _plain(dump(mode="json"), path)
    raise TypeError(f"{path} is of the type {type(value).__name__}, which is not JSON")


def _plain_mapping(items: Iterable[tuple[object, object]], path: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in items:
        if not isinstance(key, str):
            raise TypeError(f"{path} has the key {key!r}; keys in JSON are strings")
        result[str(key)] = _plain(item, f"{path}.{key}")
    return result


def _encode(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return escape_surrogates(text)


def escape_surrogates(text: str) -> str:
    """Half a surrogate pair has no UTF-8: in JSON it is written as an escape."""
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
