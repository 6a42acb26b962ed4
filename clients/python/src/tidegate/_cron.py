"""Whether a text is a schedule: five fields as crontab has them, six with seconds before, or a name such as `@daily`;
perhaps after `TZ=<time zone>`."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = re.compile(r"@(yearly|annually|monthly|weekly|daily|midnight|hourly)")
_TIME_ZONE = re.compile(r"(?:CRON_)?TZ=\S+\s+")
_ITEM = re.compile(r"(?:[*?]|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:/([0-9]+))?", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class _Field(NamedTuple):
    first: int
    last: int
    names: tuple[str, ...] = ()


_SECOND = _Field(0, 59)
_FIELDS = (_Field(0, 59), _Field(0, 23), _Field(1, 31), _Field(1, 12, _MONTHS), _Field(0, 7, _DAYS))


def is_cron(text: object) -> bool:
    if not isinstance(text, str):
        return False
    schedule = _TIME_ZONE.sub("", text.strip(), count=1)
    if _NAMES.fullmatch(schedule):
        return True
    given = schedule.split()
    fields = (_SECOND, *_FIELDS) if len(given) == 6 else _FIELDS
    return len(given) == len(fields) and all(
        _fits(item, field) for items, field in zip(given, fields, strict=True) for item in items.split(",")
    )


def _fits(item: str, field: _Field) -> bool:
    parts = _ITEM.fullmatch(item)
    if not parts or int(parts[3] or 1) < 1:
        return False
    if parts[1] is None:
        return True
    first, last = _value_of(parts[1], field), _value_of(parts[2] or parts[1], field)
    return first is not None and last is not None and field.first <= first <= last <= field.last


def _value_of(text: str, field: _Field) -> int | None:
    if _DIGITS.fullmatch(text):
        return int(text)
    name = text.lower()
    return field.names.index(name) + field.first if name in field.names else None
