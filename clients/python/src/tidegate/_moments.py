"""Lengths of time and moments, as Python has them and as the protocol writes them."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

Duration = float | timedelta | str
"""Seconds; or a timedelta; or a time string such as `30s`, `2h45m`, `1d`, `1w`."""

_TIME_STRING = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d|w)\s*)+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d|w)")
_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]")
# datetime.fromisoformat takes neither "Z" nor one digit of a second's fraction before Python 3.11.
_ISO_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?(Z|[+-][0-9]{2}:?[0-9]{2}))?"
)
_ONE_MS = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def time_string(duration: Duration) -> str:
    """On the wire. Raises ValueError or TypeError when it is no length of time."""
    if isinstance(duration, str):
        if _TIME_STRING.fullmatch(duration):
            return duration
        raise ValueError(_not_a_duration(duration))
    return f"{max(0, _ceil_ms(duration))}ms"


def _ceil_ms(duration: float | timedelta) -> int:
    if isinstance(duration, timedelta):
        return -(-duration // _ONE_MS)
    # Redundant under strict typing, but users pass a bool or None.
    if isinstance(duration, bool) or not isinstance(duration, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(_not_a_duration(duration))
    if not math.isfinite(duration):
        raise ValueError(_not_a_duration(duration))
    # Rounded first: 1.1 seconds are 1100.0000000000002 ms to a float.
    return math.ceil(round(duration * 1_000, 6))


def _not_a_duration(value: object) -> str:
    return f'Got {value!r}; a length of time is seconds, a timedelta, or such as "30s", "2h45m", "1d"'


def time_string_ms(text: str) -> float | None:
    """The length of a time string; None when it is not one."""
    if not _TIME_STRING.fullmatch(text):
        return None
    return sum(float(amount) * _UNIT_MS[unit] for amount, unit in _PART.findall(text))


def moment_ms(text: str, now_ms: float) -> float:
    """When a time string, counted from now, or an ISO date is; milliseconds since 1970."""
    length_ms = time_string_ms(text)
    return epoch_ms(parse_iso_date(text)) if length_ms is None else now_ms + length_ms


def iso_date(moment: datetime | str) -> str:
    """On the wire, in UTC with milliseconds. Raises ValueError when it is no moment, or one without a time zone."""
    aware = _aware(parse_iso_date(moment) if isinstance(moment, str) else moment).astimezone(timezone.utc)
    return f"{aware:%Y-%m-%dT%H:%M:%S}.{aware.microsecond // 1_000:03d}Z".rjust(24, "0")


def timeout_string(timeout: Duration | datetime) -> str:
    """A time-out may be given as a length or as a moment."""
    return iso_date(timeout) if isinstance(timeout, datetime) else time_string(timeout)


def epoch_ms(moment: datetime) -> int:
    """Raises ValueError when it has no time zone: which moment it is would depend on the machine."""
    return (_aware(moment) - _EPOCH) // _ONE_MS


def _aware(moment: datetime) -> datetime:
    if not isinstance(moment, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"Got {moment!r}; a moment is a datetime or an ISO date")
    if moment.utcoffset() is None:
        raise ValueError(f"{moment!r} has no time zone: make it aware, as datetime.now(timezone.utc) is")
    return moment


def parse_iso_date(text: str) -> datetime:
    """A date alone is midnight UTC. Raises ValueError when it cannot be read, or has a time without a zone."""
    found = _ISO_DATE.fullmatch(text)
    if not found:
        raise ValueError(f'Got {text!r}; a moment is an aware datetime or such as "2030-01-01T00:00:00Z"')
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    clock = (int(hour or 0), int(minute or 0), int(second or 0), micros)
    return datetime(int(year), int(month), int(day), *clock, tzinfo=_zone(zone or "Z"))


def _zone(text: str) -> timezone:
    if text == "Z":
        return timezone.utc
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)


def retry_after_ms(header: str | None, now_ms: float) -> float | None:
    """The delay a `retry-after` header asks for, in seconds or as a date (RFC 9110, 10.2.3; ISO dates too).

    None when it says nothing that can be understood; never negative.
    """
    value = (header or "").strip()
    if _SECONDS.fullmatch(value):
        return float(value) * 1_000
    try:
        moment = parsedate_to_datetime(value) if _HTTP_DATE.match(value) else parse_iso_date(value)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0, epoch_ms(moment) - now_ms)
