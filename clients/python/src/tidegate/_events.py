"""Events, as sent and as received by handlers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Protocol, cast

from ._json import plain
from ._moments import epoch_ms


class DataclassLike(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class ModelLike(Protocol):
    """Any model of pydantic 2: dumped in the mode `json`."""

    def model_dump(self, *, mode: str) -> dict[str, Any]: ...


EventData = Mapping[str, Any] | DataclassLike | ModelLike


@dataclass(frozen=True, kw_only=True)
class Event:
    name: str
    data: EventData
    id: str | None = None
    """A second event with this id, of any name, is ignored for 24 hours."""
    ts: int | datetime | None = None
    """Milliseconds since 1970, or an aware datetime. Default: when the service receives it."""
    user: Mapping[str, Any] | None = None
    v: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReceivedEvent(Event):
    """An event as a function receives it."""

    data: dict[str, Any]
    id: str = ""
    ts: int = 0
    """Milliseconds since 1970."""
    user: dict[str, Any] | None = None
    verified: bool | None = None
    """For a webhook with a provider: whether the provider's signature was verified. Only the service sets it."""
    raw: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)
    """The whole event as received, with its data as decoded by middleware."""


EventToSend = Event | Mapping[str, Any]
"""A mapping has the fields of an Event."""

EventOrEvents = EventToSend | Sequence[EventToSend]

_FIELDS = ("name", "data", "id", "ts", "user", "v")

Encode = Callable[[str, Any], Any]
"""Decodes the data of an event of this name by middleware."""


def events_to_send(given: EventOrEvents) -> list[dict[str, Any]]:
    """The events as JSON. Raises TypeError, which names the event, if JSON cannot represent one."""
    return events_on_the_wire(fields_of_events(given))


def fields_of_events(given: EventOrEvents) -> list[dict[str, Any]]:
    """The fields that each has, as middleware sees them: `data` is a dict, in it the values that were given."""
    if isinstance(given, Event | Mapping):
        return [_fields_of(given, 0)]
    if isinstance(given, str | bytes):
        raise TypeError(f"An event is a tidegate.Event or a mapping, got {given!r}")
    return [_fields_of(event, index) for index, event in enumerate(given)]


def events_on_the_wire(events: Sequence[Mapping[str, Any]], encode: Encode | None = None) -> list[dict[str, Any]]:
    """Raises TypeError, naming the event, when one cannot be JSON; what `encode` raises."""
    return [_on_the_wire(event, index, encode) for index, event in enumerate(events)]


def data_as_dict(data: object) -> Any:
    """Other errors are reported elsewhere."""
    if isinstance(data, Mapping):
        return dict(cast("Mapping[object, object]", data))
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        return {field.name: getattr(data, field.name) for field in dataclasses.fields(data)}
    dump = getattr(data, "model_dump", None)
    return dump(mode="json") if callable(dump) and not isinstance(data, type) else data


def _fields_of(event: object, index: int) -> dict[str, Any]:
    if isinstance(event, Event):
        fields: Mapping[str, Any] = {name: getattr(event, name) for name in _FIELDS}
    elif isinstance(event, Mapping):
        fields = cast("Mapping[str, Any]", event)
    else:
        raise TypeError(f"Event {index} is a {type(event).__name__}; it must be a tidegate.Event or a mapping")
    # `data` is required; the service reports other errors in it.
    given = {name: value for name, value in fields.items() if value is not None or name not in _FIELDS[2:]}
    return {**given, "data": data_as_dict(given["data"])} if "data" in given else given


def _on_the_wire(event: Mapping[str, Any], index: int, encode: Encode | None) -> dict[str, Any]:
    what = f'Event {index} ("{event.get("name")}")'
    own = event
    if encode and event.get("data") is not None:
        own = {**event, "data": encode(str(event.get("name")), event["data"])}
    return {name: _field(name, value, what) for name, value in own.items()}


def _field(name: str, value: object, what: str) -> Any:
    if name == "ts" and isinstance(value, datetime):
        try:
            return epoch_ms(value)
        except ValueError as error:
            raise TypeError(f"{what}: ts: {error}") from error
    return plain(value, f"{what}: {name}")


def received(wire: Mapping[str, Any]) -> ReceivedEvent:
    """From a call of the service."""
    return ReceivedEvent(
        name=wire.get("name", ""),
        data=wire.get("data") or {},
        id=wire.get("id") or "",
        ts=wire.get("ts") or 0,
        user=wire.get("user"),
        v=wire.get("v"),
        verified=wire.get("verified"),
        raw=dict(wire),
    )
