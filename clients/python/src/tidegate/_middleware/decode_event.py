"""Events that come from the service, with their data decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

from .middleware import Place, ValueAt
from .places import output_place, received_place

Decode = Callable[[Any, ValueAt, Sequence[Place]], Any]
"""Decodes a value from the service by middleware."""

_ABOUT_A_RUN = (
    "inngest/function.failed",
    "inngest/function.finished",
    "inngest/function.cancelled",
    "tidegate/run.paused",
)
"""The service's own events, which contain the run's events and output as stored."""


def decoded_event(wire: Mapping[str, Any], decode: Decode) -> dict[str, Any]:
    """Raises what `decode` raises."""
    event = _with_data_decoded(wire, decode)
    if event.get("name") in _ABOUT_A_RUN and isinstance(event.get("data"), dict):
        event["data"] = _decoded_inside(event["data"], decode)
    return event


def _with_data_decoded(wire: Mapping[str, Any], decode: Decode) -> dict[str, Any]:
    data = wire.get("data")
    if data is None:
        return dict(wire)
    return {**wire, "data": decode(data, "event", [received_place(wire.get("name", ""), data)])}


def _decoded_inside(data: Mapping[str, Any], decode: Decode) -> dict[str, Any]:
    decoded = dict(data)
    if "event" in data:
        decoded["event"] = _inner(data["event"], decode)
    if isinstance(data.get("events"), list):
        decoded["events"] = [_inner(event, decode) for event in data["events"]]
    # A failed run has its error here, which is not encoded.
    if "result" in data and not data.get("error"):
        place = output_place(str(data.get("function_id")), str(data.get("run_id")), data.get("event"))
        decoded["result"] = decode(data["result"], "output", [place])
    return decoded


def _inner(event: object, decode: Decode) -> object:
    return _with_data_decoded(event, decode) if _is_event(event) else event


def _is_event(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict) and "name" in value
