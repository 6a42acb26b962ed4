from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.hosts import asgi_host, wsgi_host

from .stages import Stages


@pytest.fixture(scope="session")
def stages() -> Iterator[Stages]:
    stages = Stages()
    with asgi_host(stages.asgi, lifespan="off") as asgi, wsgi_host(stages.wsgi) as wsgi:
        stages.origins = {"async": asgi, "plain": wsgi}
        yield stages
