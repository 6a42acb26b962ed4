"""Events that come from the service, with their data decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from .middleware import ValueAt

Decode = Callable[[Any, ValueAt], Any]
"""Of a value from the service, by middleware."""

_ABOUT_A_RUN = ("inngest/function.failed", "inngest/function.finished", "inngest/function.cancelled")
"""The service's own events, which have the run's events and output as they were stored."""


def decoded_event(wire: Mapping[str, Any], decode: Decode) -> dict[str, Any]:
    """Raises what `decode` raises."""
    event = _with_data_decoded(wire, decode)
    if event.get("name") in _ABOUT_A_RUN and isinstance(event.get("data"), dict):
        event["data"] = _decoded_inside(event["data"], decode)
    return event


def _with_data_decoded(wire: Mapping[str, Any], decode: Decode) -> dict[str, Any]:
    data = wire.get("data")
    return dict(wire) if data is None else {**wire, "data": decode(data, "event")}


def _decoded_inside(data: Mapping[str, Any], decode: Decode) -> dict[str, Any]:
    decoded = dict(data)
    if "event" in data:
        decoded["event"] = _inner(data["event"], decode)
    if isinstance(data.get("events"), list):
        decoded["events"] = [_inner(event, decode) for event in data["events"]]
    if "result" in data:
        decoded["result"] = decode(data["result"], "output")
    return decoded


def _inner(event: object, decode: Decode) -> object:
    return _with_data_decoded(event, decode) if _is_event(event) else event


def _is_event(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict) and "name" in value
