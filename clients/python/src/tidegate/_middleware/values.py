"""The values of one call, encoded on their way to the service and decoded on their way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._events import data_as_dict
from .._json import as_json, plain
from .._steps.found import FoundStep, Op
from .decode_event import decoded_event
from .places import RunPlaces, received_place
from .stack import Stack


@dataclass(frozen=True)
class Values:
    stack: Stack
    places: RunPlaces

    def encode_result(self, step: FoundStep, result: Any) -> Any:
        encoded = self.stack.encode(result, "step", self.places.step(step.hashed_id))
        return as_json(encoded, f'The result of step "{step.display_name}"')

    def encode_output(self, output: Any) -> Any:
        return self.stack.encode(output, "output", self.places.output)

    def encode_opts(self, kind: str, opts: dict[str, Any], hashed_id: str) -> dict[str, Any]:
        """The data of an invocation: nothing else in them is only for apps to read."""
        if kind != "invoke":
            return opts
        payload = opts["payload"]
        place = self.places.invocation(opts["function_id"], hashed_id)
        data = plain(self.stack.encode(data_as_dict(payload["data"]), "event", place), "data")
        return {**opts, "payload": {**payload, "data": data}}

    def decode_event(self, wire: Mapping[str, Any]) -> dict[str, Any]:
        return decoded_event(wire, self.stack.decode)

    def decode_result(self, step: FoundStep, data: Any) -> Any:
        """The result of a step that has not failed. Raises the errors of `decode`."""
        # Nothing came.
        if step.kind == "sleep" or (step.kind in ("signal", "wait") and not data):
            return None
        if step.kind == "wait":
            # The event that the step waits for, whatever the memo says.
            return self.decode_event({**data, "name": step.name})
        if step.kind == "invoke":
            places = self.places.results_of_invocation(step.opts["function_id"], step.hashed_id)
            return self.stack.decode(data, "output", places)
        return self.stack.decode(
            data, "step", self.places.results_of_step(step.hashed_id) if step.kind == "run" else ()
        )

    def encode_stub(self, op: Op, data: Any) -> Any:
        """Encodes a test's stub of a step's result as the service would store it. Values that the service itself makes
        are not encoded."""
        code, hashed_id = op.get("op"), op.get("id", "")
        if code == "WaitForEvent" and data:
            place = received_place(op.get("name", ""), data["data"])
            return {**data, "data": self.stack.encode(data["data"], "event", place)}
        if code == "InvokeFunction":
            place = self.places.results_of_invocation(op.get("opts", {})["function_id"], hashed_id)[0]
            return self.stack.encode(data, "output", place)
        return self.stack.encode(data, "step", self.places.step(hashed_id)) if code == "StepPlanned" else data

    def decode_stored(self, op: Op, data: Any) -> Any:
        """A value that a step has given to the service."""
        return self.stack.decode(data, "step", [self.places.step(op.get("id", ""))])

    def decode_output(self, output: Any) -> Any:
        return self.stack.decode(as_json(output, "The output"), "output", [self.places.output])
