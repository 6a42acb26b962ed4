from __future__ import annotations

import functools
import os
import ssl
import uuid
from collections.abc import Iterator

import pytest

from support.postgres import AppDatabase, app_database
from support.real_service import variable
from tidegate import Tidegate


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


@pytest.fixture(params=["dev", "production"])
def client(request: pytest.FixtureRequest) -> Iterator[Tidegate]:
    """A client of a real service in dev mode, and a client of a service in production mode."""
    if request.param == "dev":
        made = Tidegate(f"py-{uuid.uuid4()}", is_dev=True, base_url=variable("TEST_DEV_SERVICE"))
    else:
        made = Tidegate(
            f"py-{uuid.uuid4()}",
            is_dev=False,
            base_url=variable("TEST_PRODUCTION_SERVICE"),
            event_key=variable("TEST_EVENT_KEY").split(",")[0],
            signing_key=variable("TEST_SIGNING_KEY"),
        )
    with made:
        yield made


@pytest.fixture(scope="session")
def shared_database() -> Iterator[AppDatabase]:
    with app_database() as database:
        yield database


@pytest.fixture
def database(shared_database: AppDatabase) -> AppDatabase:
    """Empty."""
    shared_database.sql("truncate tidegate_outbox, tidegate_steps, orders restart identity")
    return shared_database
