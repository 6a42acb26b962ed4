"""The step that the current code runs inside."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CurrentStep:
    id: str
    """The ID in the code, numbered when it repeats in the run: `id:1`, `id:2`."""
    run_id: str
    hashed_id: str
    """The step's ID in the protocol."""

    @property
    def idempotency_key(self) -> str:
        """The same in all attempts of the step, and different for each step and run: for APIs that do twice what they
        are asked twice, such as in Stripe's header `Idempotency-Key`. 67 characters."""
        return f"{self.run_id}-{self.hashed_id}"


running: ContextVar[CurrentStep | None] = ContextVar("running", default=None)


def current_step() -> CurrentStep:
    """The step whose code this is called in, also in functions and threads (`asyncio.to_thread`) that it calls.

    Raises RuntimeError outside of steps.
    """
    step = running.get()
    if step is None:
        raise RuntimeError("current_step() was called outside of a step: call it in the function that step.run runs")
    return step
