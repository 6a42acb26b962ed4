"""Events: as they are sent, and as a handler receives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """An event as it arrives in a function."""

    data: dict[str, Any]
    id: str = ""
    ts: int = 0
    """Milliseconds since 1970."""
    user: dict[str, Any] | None = None
    raw: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)
    """All of it, as it came."""


EventToSend = Event | Mapping[str, Any]
"""A mapping has the fields of an Event."""

EventOrEvents = EventToSend | Sequence[EventToSend]

_FIELDS = ("name", "data", "id", "ts", "user", "v")


def events_to_send(given: EventOrEvents) -> list[dict[str, Any]]:
    """As JSON. Raises TypeError, naming the event, when one cannot be that."""
    if isinstance(given, Event | Mapping):
        return [_on_the_wire(given, 0)]
    if isinstance(given, str | bytes):
        raise TypeError(f"An event is a tidegate.Event or a mapping, got {given!r}")
    return [_on_the_wire(event, index) for index, event in enumerate(given)]


def _on_the_wire(event: object, index: int) -> dict[str, Any]:
    if isinstance(event, Event):
        fields: Mapping[str, Any] = {name: getattr(event, name) for name in _FIELDS}
    elif isinstance(event, Mapping):
        fields = cast("Mapping[str, Any]", event)
    else:
        raise TypeError(f"Event {index} is a {type(event).__name__}; it must be a tidegate.Event or a mapping")
    what = f'Event {index} ("{fields.get("name")}")'
    wire: dict[str, Any] = {}
    for name, value in fields.items():
        # `data` is required: what is wrong with it is for the service to say.
        if value is not None or name not in _FIELDS[2:]:
            wire[name] = _field(name, value, what)
    return wire


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
        raw=dict(wire),
    )
