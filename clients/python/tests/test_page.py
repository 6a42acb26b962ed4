"""The Python of docs/exactly-once.md runs as it stands, on a real service and a real Postgres."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support.hosts import ask, wsgi_host
from support.postgres import AppDatabase, wait_until
from support.real_service import variable
from tidegate import wsgi

PAGE = Path(__file__).parents[3] / "docs/exactly-once.md"


def test_its_example_sends_the_event_of_an_order_and_books_it_once(
    database: AppDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.sql(
        "create table bookings (number bigint generated always as identity primary key, order_id text not null)"
    )
    monkeypatch.setenv("SERVICE_DEV", variable("TEST_DEV_SERVICE"))
    monkeypatch.setenv("DATABASE_URL", database.url)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec", dont_inherit=True), names)
    apps: list[Any] = []

    def app(environ: Any, start_response: Any) -> Any:
        return apps[0](environ, start_response)

    try:
        with wsgi_host(app) as origin, names["relay"]:
            apps.append(wsgi.serve(names["client"], [names["book"]], path="/api/service", serve_origin=origin))
            assert ask(origin, "PUT", "/api/service")[0] == 200
            names["place_order"]("A1")
            wait_until(lambda: database.sql("select result from tidegate_steps") == [{"result": 1}])
            wait_until(lambda: database.outbox == [])
            assert database.sql("select order_id from bookings") == [{"order_id": "A1"}]
    finally:
        names["client"].close()
        database.sql("drop table bookings")
