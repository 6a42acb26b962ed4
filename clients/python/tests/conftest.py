from __future__ import annotations

import functools
import os
import ssl
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_tls_context() -> Iterator[None]:
    """Each client of httpx would read all root certificates again, which takes most of a test's CPU time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No SERVICE_* variable of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("SERVICE_")]:
        monkeypatch.delenv(name)
