"""Calls that store steps at the same time share requests."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import tidegate.asgi
import tidegate.wsgi
from tidegate import Context, SyncContext, Tidegate

from ..cases import Case
from ..settings import Flavour, set_environment
from ..stages import Stages
from ..wire import ask_app
from .served import call_request

_HELD = 2
"""Requests that the service holds until all calls have run their step."""
_RUN = "01HQZX8K2D3F4G5H6J7K8M9{:03}"


def check_checkpoint_groups(case: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment({}, monkeypatch)
    stored, is_older = case["stored"], case.get("shared_status") == 404
    ran: list[None] = []

    def result() -> str:
        ran.append(None)
        return "x" * case.get("result_length", 1)

    with _holding(case) as service, Tidegate("shop", is_dev=True, base_url=service.url) as client:
        origin = stages.show(flavour, _app(client, flavour, result))
        with ThreadPoolExecutor(len(stored)) as pool:
            calls: list[Future[Any]] = []
            for number in range(len(stored)):
                call = call_request({"run_id": _RUN.format(number), "qi_id": "q", "fn_id": "f"})
                calls.append(pool.submit(ask_app, origin, call))
                if number < _HELD:
                    _until(lambda number=number: len(service.received) > number)
            _until(lambda: len(ran) == len(stored))
            service.released.set()
            assert [call.result()[0] for call in calls] == case["answers"]
    assert any(is_shared for is_shared, _ in service.received) == case["shares"]
    assert is_older or service.most_in_flight <= _HELD
    sent = [number for is_shared, numbers in service.received if not (is_shared and is_older) for number in numbers]
    assert sorted(sent) == list(range(len(stored)))


def _app(client: Tidegate, flavour: Flavour, result: Callable[[], str]) -> Any:
    if flavour == "async":

        @client.create_function(id="fn", trigger="order/paid")
        async def fn(ctx: Context) -> str:
            return await ctx.step.run("a", result)

        return tidegate.asgi.serve(client, [fn])

    @client.create_function(id="fn", trigger="order/paid")
    def plain(ctx: SyncContext) -> str:
        return ctx.step.run("a", result)

    return tidegate.wsgi.serve(client, [plain])


class _HoldingService:
    def __init__(self, case: Case) -> None:
        self.released = threading.Event()
        self.received: list[tuple[bool, list[int]]] = []
        """Whether shared, and the numbers of the calls."""
        self.most_in_flight = 0
        self.url = ""
        self._case = case
        self._in_flight = 0
        self._lock = threading.Lock()

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        is_shared = path == "/v1/checkpoints"
        numbers = [int(one["run_id"][-3:]) for one in (body["checkpoints"] if is_shared else [body])]
        with self._lock:
            self.received.append((is_shared, numbers))
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        assert self.released.wait(20)
        with self._lock:
            self._in_flight -= 1
        statuses = [self._case["stored"][number] for number in numbers]
        results = [{"status": status, "code": "", "message": ""} for status in statuses]
        return self._case.get("shared_status", 200) if is_shared else statuses[0], {"results": results}


@contextmanager
def _holding(case: Case) -> Iterator[_HoldingService]:
    service = _HoldingService(case)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, answer = service.answer(self.path, body)
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        service.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _until(condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends_at, "it did not come"
        time.sleep(0.005)
