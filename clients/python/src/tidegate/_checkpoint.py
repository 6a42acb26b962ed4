"""The option `checkpoint` of functions and clients."""

from __future__ import annotations

from dataclasses import dataclass

from ._moments import Duration, time_string, time_string_ms
from .errors import ConfigError

_MAX_BUFFER = 100


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """How a call continues after a step."""

    buffer: int = 1
    """How many finished steps are stored together. If the app dies, finished steps that are not stored yet run again:
    at most one less than this. 1: a finished step never runs again."""
    max_runtime: Duration = "10s"
    """After so long the call ends with the step that it runs, and the service makes another one."""

    @property
    def max_runtime_seconds(self) -> float:
        return (time_string_ms(time_string(self.max_runtime)) or 0) / 1_000


def check_checkpoint(of: str, given: object) -> None:
    """Raises ConfigError."""
    if given is None or isinstance(given, bool):
        return
    if not isinstance(given, Checkpoint):
        raise ConfigError(f"{of}: checkpoint must be True, False or Checkpoint(buffer=, max_runtime=), got {given!r}")
    buffer = given.buffer
    # Redundant under strict typing, but True is an int, too.
    if isinstance(buffer, bool) or not isinstance(buffer, int) or not 1 <= buffer <= _MAX_BUFFER:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigError(f"{of}: checkpoint.buffer must be a whole number from 1 to {_MAX_BUFFER}, got {buffer!r}")
    try:
        time_string(given.max_runtime)
    except (TypeError, ValueError):
        raise ConfigError(
            f'{of}: checkpoint.max_runtime must be a duration such as "10s", got {given.max_runtime!r}'
        ) from None
