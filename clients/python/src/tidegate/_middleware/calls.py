"""Arguments of the hooks of a middleware."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from .._events import ReceivedEvent
from .dependencies import Dependencies

T = TypeVar("T")


@dataclass(kw_only=True)
class FunctionCall:
    """One call of a function, before its handler gets it."""

    app_id: str
    function_id: str
    """The ID given to `create_function(id=…)`."""
    run_id: str
    attempt: int
    """0 on the first try."""
    max_attempts: int
    events: list[ReceivedEvent]
    """May be replaced: the handler gets the value at the time when `next` is called."""
    deps: Dependencies = field(default_factory=Dependencies)

    @property
    def event(self) -> ReceivedEvent:
        """The first event. May be replaced: `call.event = dataclasses.replace(call.event, data={…})`."""
        return self.events[0]

    @event.setter
    def event(self, event: ReceivedEvent) -> None:
        self.events = [event, *self.events[1:]]

    @overload
    def inject(self, key: type[T], value: T) -> None: ...
    @overload
    def inject(self, key: str, value: object) -> None: ...
    def inject(self, key: type[Any] | str, value: object) -> None:
        """The handler has it as `ctx.deps[key]`."""
        self.deps.put(key, value)


@dataclass(kw_only=True)
class StepCall:
    """One execution of the code of a `step.run`."""

    id: str
    """As in the code."""
    name: str
    """The ID, numbered when it repeats in the run: `id:1`, `id:2`."""
    app_id: str
    function_id: str
    run_id: str
    attempt: int
    args: tuple[Any, ...]
    """Arguments of the step's code. A hook may replace `args` and `kwargs`."""
    kwargs: dict[str, Any]


@dataclass(kw_only=True)
class SendCall:
    """One send of events, by `client.send` or `step.send_event`."""

    events: list[dict[str, Any]]
    """The fields of each event (`name`, `data`, …). May be replaced."""
    function_id: str | None = None
    """Only for a send of a step, like the fields below."""
    run_id: str | None = None
    step_id: str | None = None
    """The ID in the code, numbered if it repeats."""
