"""A function's steps, wrapped by its middleware."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .._events import EventOrEvents, events_on_the_wire, fields_of_events
from .._middleware.calls import SendCall, StepCall
from .._middleware.stack import Stack
from .._outside import AsyncOutside, Outside
from .found import FoundStep


@dataclass(frozen=True, kw_only=True)
class _OfCall:
    middleware: Stack
    app_id: str
    function_id: str
    run_id: str
    attempt: int

    def _step_call(self, step: FoundStep, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> StepCall:
        return StepCall(
            id=step.id,
            name=step.display_name,
            app_id=self.app_id,
            function_id=self.function_id,
            run_id=self.run_id,
            attempt=self.attempt,
            args=args,
            kwargs=dict(kwargs),
        )

    def _send_call(self, step: FoundStep, events: EventOrEvents) -> SendCall:
        return SendCall(
            events=fields_of_events(events),
            function_id=self.function_id,
            run_id=self.run_id,
            step_id=step.display_name,
        )

    def _on_the_wire(self, send: SendCall) -> list[dict[str, Any]]:
        return events_on_the_wire(send.events, self.middleware.encode_sent)


class AsyncWrapping(_OfCall):
    """Steps of an async function."""

    def step(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Callable[[FoundStep], Any]:
        """How the step's code is run once it is known which step it is."""

        def run(found: FoundStep) -> Any:
            call = self._step_call(found, args, kwargs)

            async def execute() -> Any:
                result = fn(*call.args, **call.kwargs)
                return await result if inspect.isawaitable(result) else result

            return self.middleware.step(call, execute)

        return run

    def send(self, events: EventOrEvents, outside: AsyncOutside) -> Callable[[FoundStep], Any]:
        async def run(found: FoundStep) -> dict[str, list[str]]:
            call = self._send_call(found, events)

            async def transmit() -> list[str]:
                return await outside.send_event(self._on_the_wire(call), found.hashed_id)

            return {"ids": await self.middleware.send(call, transmit)}

        return run


class Wrapping(_OfCall):
    """Steps of a plain function."""

    def step(
        self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Callable[[FoundStep], Any]:
        def run(found: FoundStep) -> Any:
            call = self._step_call(found, args, kwargs)
            return self.middleware.step_sync(call, lambda: fn(*call.args, **call.kwargs))

        return run

    def send(self, events: EventOrEvents, outside: Outside) -> Callable[[FoundStep], Any]:
        def run(found: FoundStep) -> dict[str, list[str]]:
            call = self._send_call(found, events)

            def transmit() -> list[str]:
                return outside.send_event(self._on_the_wire(call), found.hashed_id)

            return {"ids": self.middleware.send_sync(call, transmit)}

        return run
