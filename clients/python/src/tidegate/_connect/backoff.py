"""Delays that differ between the instances of a gateway that has died."""

from __future__ import annotations

import random

_FIRST_SECONDS = 0.5
_MAX_SECONDS = 30.0
_MAX_DOUBLINGS = 16
"""More would make no difference, and in the end no number."""


def backoff_seconds(tries: int) -> float:
    """Exponential, with full jitter."""
    return random.random() * min(_MAX_SECONDS, _FIRST_SECONDS * 2.0 ** min(tries, _MAX_DOUBLINGS))


def jitter_seconds() -> float:
    """Before the first try."""
    return random.random() * _FIRST_SECONDS
