"""Places of encoded values. Middleware that encrypts binds a value to its place: a moved value does not decrypt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from .middleware import Place

_INVOKED = "inngest/function.invoked"


def event_place(name: str) -> Place:
    """An event that is sent has only its name: there is no run yet."""
    return ("event", name)


def received_place(name: str, data: object) -> Place:
    """The service names, in the data of an invocation, the function and the step that invoked it."""
    invocation = _invocation_in(data) if name == _INVOKED else None
    return (*event_place(name), *invocation) if invocation else event_place(name)


def output_place(function_id: str, run_id: str, event: object) -> Place:
    """The output of an invoked run belongs to the step that invoked it, any other to its run.

    function_id: `<app id>-<function id>`.
    """
    trigger = _mapping(event)
    invocation = _invocation_in(trigger.get("data")) if trigger.get("name") == _INVOKED else None
    return ("output", function_id, invocation[1] if invocation and invocation[0] == function_id else run_id)


@dataclass(frozen=True, kw_only=True)
class RunPlaces:
    """The places of one run's values."""

    function_id: str
    """`<app id>-<function id>`."""
    run_id: str
    rerun_of: Sequence[str] = ()
    """For a re-run from a step: the runs whose results it has, latest first."""
    event: object = None
    """The first of the run's events, unchanged."""

    def step(self, hashed_id: str) -> Place:
        return ("step", hashed_id, self.function_id, self.run_id)

    @property
    def output(self) -> Place:
        return output_place(self.function_id, self.run_id, self.event)

    def invocation(self, function_id: str, hashed_id: str) -> Place:
        return (*event_place(_INVOKED), function_id, _caller(self.run_id, hashed_id))

    def results_of_step(self, hashed_id: str) -> list[Place]:
        return [("step", hashed_id, self.function_id, run) for run in (self.run_id, *self.rerun_of)]

    def results_of_invocation(self, function_id: str, hashed_id: str) -> list[Place]:
        return [("output", function_id, _caller(run, hashed_id)) for run in (self.run_id, *self.rerun_of)]


def _caller(run_id: str, hashed_id: str) -> str:
    """The text of `_inngest.correlation_id` of an invocation, as the service writes it."""
    return f"{run_id}.{hashed_id}"


def _invocation_in(data: object) -> tuple[str, str] | None:
    """The function, and the step that invoked it."""
    told = _mapping(_mapping(data).get("_inngest"))
    function_id, caller = told.get("fn_id"), told.get("correlation_id")
    return (function_id, caller) if isinstance(function_id, str) and isinstance(caller, str) else None


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
