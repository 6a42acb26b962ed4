"""Flow control as a function's registration says it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ._flow import Concurrency, ConcurrencyOfRunsAndSteps, FlowControl
from ._moments import time_string

_HANDED_THROUGH = {
    "throttle": "throttle",
    "rate_limit": "rateLimit",
    "debounce": "debounce",
    "batch_events": "batchEvents",
    "priority": "priority",
    "singleton": "singleton",
    "order": "order",
    "idempotency": "idempotency",
    "timeouts": "timeouts",
}

_WIRE_NAMES = {"if_": "if", "max_size": "maxSize", "on_stale": "onStale", "on_failure": "onFailure"}

_LENGTHS = frozenset({"period", "timeout", "window", "start", "finish"})


def flow_on_the_wire(flow: FlowControl) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for name, wire_name in _HANDED_THROUGH.items():
        setting = getattr(flow, name)
        if setting is not None:
            wire[wire_name] = setting if isinstance(setting, str) else _fields(setting)
    if flow.concurrency is not None:
        wire["concurrency"] = _concurrency(flow.concurrency)
    if flow.cancel_on is not None:
        wire["cancel"] = [_fields(event) for event in flow.cancel_on]
    return wire


def _concurrency(given: int | Concurrency | Sequence[Concurrency] | ConcurrencyOfRunsAndSteps) -> Any:
    if isinstance(given, int):
        return given
    if isinstance(given, ConcurrencyOfRunsAndSteps):
        both = {"fn": given.fn, "step": given.step}
        return {name: _limits(limits) for name, limits in both.items() if limits is not None}
    return _limits(given)


def _limits(given: Concurrency | Sequence[Concurrency]) -> list[dict[str, Any]]:
    return [_fields(limit) for limit in ([given] if isinstance(given, Concurrency) else given)]


def _fields(setting: Any) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for field in dataclasses.fields(setting):
        value = getattr(setting, field.name)
        if value is not None:
            wire[_WIRE_NAMES.get(field.name, field.name)] = time_string(value) if field.name in _LENGTHS else value
    return wire
