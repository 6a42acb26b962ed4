"""Checks a function's flow control when it is defined, so that a mistake fails there and not at the registration.

The service decides: it also checks what its settings can change, the upper limits of batches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ._flow import (
    BatchEvents,
    CancelOn,
    Concurrency,
    ConcurrencyOfRunsAndSteps,
    Debounce,
    FlowControl,
    OneOrTwo,
    Order,
    Priority,
    RateLimit,
    Singleton,
    Throttle,
    Timeouts,
)
from ._moments import time_string, time_string_ms
from .errors import ConfigError

_CONCURRENCY_LIMITS_MAX = 2
_CANCEL_ON_MAX = 5
_ORDER_NAME_MAX = 100

_NOT_WITH_BATCHES = ("rate_limit", "idempotency", "debounce", "singleton", "order", "priority", "cancel_on")
"""Options that concern single events, and so cannot be combined with batches."""


@dataclass(frozen=True)
class _Rule:
    allowed: str
    fits: Callable[[Any], bool]
    required: bool = False


def _whole_from(least: int, *, required: bool = False) -> _Rule:
    def fits(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= least

    return _Rule(f"a whole number of at least {least}", fits, required)


def _one_of(*names: str, required: bool = False) -> _Rule:
    quoted = [f'"{name}"' for name in names]
    return _Rule(f"{', '.join(quoted[:-1])} or {quoted[-1]}", lambda value: value in names, required)


def _duration(least: str, most: str | None = None, *, required: bool = False) -> _Rule:
    least_ms, most_ms = time_string_ms(least) or 0, time_string_ms(most) if most else None

    def fits(value: Any) -> bool:
        ms = _length_ms(value)
        return ms is not None and ms >= least_ms and (most_ms is None or ms <= most_ms)

    return _Rule(f"a duration from {least} to {most}" if most else f"a duration of at least {least}", fits, required)


def _length_ms(value: Any) -> float | None:
    """None when it is no length of time."""
    try:
        return time_string_ms(time_string(value))
    except (TypeError, ValueError):
        return None


_COUNT = _whole_from(1, required=True)
_EXPRESSION = _Rule("a CEL expression", lambda value: isinstance(value, str) and value != "")
_LONG_WAIT = _duration("1ms", "1827d")
"""The service waits no longer."""

_RULES: dict[type, dict[str, _Rule]] = {
    Concurrency: {"limit": _COUNT, "key": _EXPRESSION, "scope": _one_of("fn", "env", "account")},
    Throttle: {
        "limit": _COUNT,
        "period": _duration("1s", "7d", required=True),
        "burst": _whole_from(0),
        "key": _EXPRESSION,
    },
    RateLimit: {"limit": _COUNT, "period": _duration("1s", "24h", required=True), "key": _EXPRESSION},
    Debounce: {"period": _duration("1s", "7d", required=True), "key": _EXPRESSION, "timeout": _LONG_WAIT},
    BatchEvents: {
        "max_size": _whole_from(2, required=True),
        "timeout": _duration("1s", required=True),
        "key": _EXPRESSION,
        "if_": _EXPRESSION,
    },
    Priority: {"run": _Rule(_EXPRESSION.allowed, _EXPRESSION.fits, required=True)},
    Singleton: {"mode": _one_of("skip", "cancel", required=True), "key": _EXPRESSION},
    Order: {
        "key": _Rule(_EXPRESSION.allowed, _EXPRESSION.fits, required=True),
        "by": _EXPRESSION,
        "window": _duration("0s", "1h"),
        "on_stale": _one_of("run", "skip"),
        "on_failure": _one_of("skip", "block", "park"),
        "name": _Rule(
            f"a text of at most {_ORDER_NAME_MAX} characters",
            lambda value: _EXPRESSION.fits(value) and len(value) <= _ORDER_NAME_MAX,
        ),
    },
    CancelOn: {
        "event": _Rule("the name of an event", _EXPRESSION.fits, required=True),
        "if_": _EXPRESSION,
        "timeout": _Rule('a duration such as "30s" or "7d"', lambda value: _length_ms(value) is not None),
    },
    Timeouts: {"start": _LONG_WAIT, "finish": _LONG_WAIT},
}

_SETTINGS: dict[str, type] = {
    "throttle": Throttle,
    "rate_limit": RateLimit,
    "debounce": Debounce,
    "batch_events": BatchEvents,
    "priority": Priority,
    "singleton": Singleton,
    "order": Order,
    "timeouts": Timeouts,
}


def check_flow(id: str, flow: FlowControl) -> None:
    """Raises ConfigError with the function, the field, the given value and what is allowed."""
    of = f'Function "{id}": '
    if flow.concurrency is not None:
        _check_concurrency(of, flow.concurrency)
    if flow.cancel_on is not None:
        _check_list(f"{of}cancel_on", flow.cancel_on, _CANCEL_ON_MAX, "events", CancelOn)
    if flow.idempotency is not None:
        _check(f"{of}idempotency", flow.idempotency, _EXPRESSION)
    for name, kind in _SETTINGS.items():
        setting = getattr(flow, name)
        if setting is not None:
            _check_fields(f"{of}{name}", setting, kind)
    if flow.order and flow.singleton:
        raise ConfigError(f"{of}order cannot be combined with singleton")
    others = [name for name in _NOT_WITH_BATCHES if getattr(flow, name) is not None]
    if flow.batch_events and others:
        known = "only with concurrency, throttle and timeouts"
        raise ConfigError(f"{of}batch_events cannot be combined with {', '.join(others)}, {known}")


def check_jitter(id: str, jitter: object) -> None:
    """Raises ConfigError."""
    if jitter is not None:
        _check(f'Function "{id}": jitter', jitter, _duration("1s", "24h"))


def check_catch_up(id: str, catch_up: object) -> None:
    """Raises ConfigError."""
    if catch_up is not None:
        _check(f'Function "{id}": catch_up', catch_up, _one_of("last", "all"))


def check_on_exhausted(id: str, on_exhausted: object) -> None:
    """Raises ConfigError."""
    if on_exhausted is not None:
        _check(f'Function "{id}": on_exhausted', on_exhausted, _one_of("fail", "pause"))


def _check_concurrency(of: str, given: int | OneOrTwo | ConcurrencyOfRunsAndSteps) -> None:
    if isinstance(given, ConcurrencyOfRunsAndSteps):
        for name, limits in (("fn", given.fn), ("step", given.step)):
            if limits is not None:
                _check_limits(f"{of}concurrency.{name}", limits)
    elif isinstance(given, Concurrency | tuple | list):
        _check_limits(f"{of}concurrency", given)
    else:
        _check(f"{of}concurrency", given, _COUNT)


def _check_limits(what: str, given: OneOrTwo) -> None:
    limits = [given] if isinstance(given, Concurrency) else given
    _check_list(what, limits, _CONCURRENCY_LIMITS_MAX, "limits", Concurrency)
    for at, limit in enumerate(limits):
        if limit.key is None and limit.scope in ("env", "account"):
            because = f'because the scope is "{limit.scope}"'
            raise ConfigError(f"{what}[{at}].key must be a CEL expression {because}, got nothing")


def _check_list(what: str, given: Sequence[Any], most: int, things: str, kind: type) -> None:
    # Redundant under strict typing, but users pass one element without a list.
    if not isinstance(given, Sequence) or isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(f"{what} must be a list, got {_shown(given)}")
    if len(given) > most:
        raise ConfigError(f"{what} must be at most {most} {things}, got {len(given)}")
    for at, one in enumerate(given):
        _check_fields(f"{what}[{at}]", one, kind)


def _check_fields(what: str, setting: Any, kind: type) -> None:
    if not isinstance(setting, kind):
        raise ConfigError(f"{what} must be a {kind.__name__}, got {_shown(setting)}")
    for name, rule in _RULES[kind].items():
        _check(f"{what}.{name}", getattr(setting, name), rule)


def _check(what: str, value: object, rule: _Rule) -> None:
    if rule.required if value is None else not rule.fits(value):
        raise ConfigError(f"{what} must be {rule.allowed}, got {_shown(value)}")


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
