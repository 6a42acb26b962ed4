"""The option `versioning` of functions and clients: on which version of the app a run goes on after a deploy."""

from __future__ import annotations

from typing import Literal

from .errors import ConfigError

Versioning = Literal["latest", "pinned"]


def check_versioning(of: str, given: object) -> None:
    """Raises ConfigError."""
    if given is not None and given not in ("latest", "pinned"):
        raise ConfigError(f'{of}: versioning must be "latest" or "pinned", got {given!r}')
