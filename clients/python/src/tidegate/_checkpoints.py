"""Checkpoints: one call runs several steps, and stores each while it continues (docs/protocol.md#checkpoints)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ._call import Call
from ._checkpoint import Checkpoint
from ._checkpoint_groups import CheckpointGroups
from ._effects import Effects
from ._functions import Function
from ._json import write
from ._settings import Settings
from ._steps.found import Op
from .errors import ConfigError, ServeError

_MAX_BUFFERED_LENGTH = 1_048_576
"""Maximum of buffered steps, in characters: a response has room for them and one more step of maximum size."""
_SLOW_SECONDS = 1.0
"""A request that fails sooner costs a call little."""
_PAUSE_SECONDS = 60.0

SendCheckpoint = Callable[[str, str, Settings], Effects[int]]
"""Sends the run's ID and the body of a checkpoint to the service. Comes to the status of the response."""


class Checkpoints:
    """Checkpoints of an app's functions."""

    def __init__(self, framework: str) -> None:
        self._serverless = framework == "aws-lambda"
        self._groups = CheckpointGroups()
        self._paused_until = 0.0
        """Until this time no call tries: the service rejects checkpoints or does not respond, and each step would
        wait in vain."""

    def of(
        self,
        call: Call,
        requested_step: str | None,
        fn: Function[object],
        settings: Settings,
        *,
        on_stored: Callable[[], None],
        send: SendCheckpoint | None = None,
    ) -> CallCheckpoints | None:
        """None: each step ends this call.

        send: default: by a request.
        """
        given = settings.checkpoint if fn.checkpoint is None else fn.checkpoint
        if given is None:
            given = not (self._serverless or settings.is_serverless)
        alone = requested_step is None and not call.disable_immediate_execution
        # In a retry, `attempt` is that of the first new step, and would be wrong for later steps.
        if not given or not alone or call.attempt > 0 or not call.execution_id:
            return None
        if time.monotonic() < self._paused_until:
            return None

        def store(steps: Sequence[Op]) -> Effects[bool]:
            stored = yield from self._store(call, steps, settings, send or self._groups.send)
            if stored:
                on_stored()
            return stored

        return CallCheckpoints(Checkpoint() if given is True else given, store)

    def _store(self, call: Call, steps: Sequence[Op], settings: Settings, send: SendCheckpoint) -> Effects[bool]:
        body = {"run_id": call.run_id, "fn_id": call.function_uuid, "qi_id": call.execution_id, "steps": steps}
        slow_at = time.monotonic() + _SLOW_SECONDS
        try:
            status = yield from send(call.run_id, write(body), settings)
        except (ServeError, ConfigError):
            if time.monotonic() >= slow_at:
                self._pause()
            return False
        if status in (401, 403, 404):
            self._pause()
        return status == 200

    def _pause(self) -> None:
        self._paused_until = time.monotonic() + _PAUSE_SECONDS


class CallCheckpoints:
    """Checkpoints of one call."""

    def __init__(self, options: Checkpoint, store: Callable[[Sequence[Op]], Effects[bool]]) -> None:
        """`store` resolves to whether the service has stored the steps and the call may continue."""
        self._store = store
        self._buffer = options.buffer
        self._ends_at = time.monotonic() + options.max_runtime_seconds
        self._length = 0
        self.unstored: list[Op] = []
        """Finished steps that belong into the response, before what ends the call."""

    def keep(self, step: Op) -> Effects[bool]:
        """Stores a finished step, possibly later together with others. Returns whether the call continues."""
        self.unstored.append(step)
        self._length += len(write(step))
        if time.monotonic() >= self._ends_at:
            return False
        if len(self.unstored) < self._buffer and self._length < _MAX_BUFFERED_LENGTH:
            return True
        if not (yield from self._store(self.unstored)):
            return False
        self.unstored = []
        self._length = 0
        return True
