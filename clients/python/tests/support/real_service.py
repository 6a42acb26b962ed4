"""The real services that test/support/with-services.ts starts; tests that need one are skipped where there is none."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import httpx
import pytest

_POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 15.0


def variable(name: str) -> str:
    """Skips the test when it is not set."""
    value = os.environ.get(name)
    if not value:
        pytest.skip(f"{name} is not set: run this beside real services, by test/support/with-services.ts")
    return value


def wait_for(http: httpx.Client, path: str, until: Callable[[httpx.Response], bool]) -> httpx.Response:
    """Asks until the response is as wished: the service has no other way to tell."""
    ends_at = time.monotonic() + _PATIENCE_SECONDS
    never = threading.Event()
    while True:
        answer = http.get(path)
        if until(answer):
            return answer
        assert time.monotonic() < ends_at, f"{path} did not come to what was waited for: {answer.text}"
        never.wait(_POLL_SECONDS)
