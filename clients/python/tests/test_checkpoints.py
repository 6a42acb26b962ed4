"""Checkpoints beside the cases of clients/conformance/checkpoints.json."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from support.calls import call_request
from support.played_service import PlayedService, Reply
from tidegate import Checkpoint, ConfigError, Context, Handler, SyncContext, Tidegate
from tidegate._checkpoint_groups import CheckpointGroups
from tidegate._effects import drive, drive_async
from tidegate._steps.ids import hash_step_id
from tidegate._transport import HttpRequest, HttpResponse


@pytest.fixture
def service() -> Iterator[PlayedService]:
    played = PlayedService([Reply()])
    yield played
    played.stop()


def client_of(url: str) -> Tidegate:
    return Tidegate("shop", is_dev=True, base_url=url)


def request_of(fn: Any, **ctx: Any) -> Any:
    request = call_request(fn)
    request.body["ctx"].update({"attempt": 0, "fn_id": "f", "qi_id": "q", **ctx})  # type: ignore[index]
    return request


def stored(service: PlayedService) -> list[list[str]]:
    asked = [asked.json for asked in service.requests if asked.path.startswith("/v1/checkpoint/")]
    return [[step["name"] for step in body["steps"]] for body in asked]


def ops(answer: Any) -> list[tuple[str, Any]]:
    assert answer.status == 206, answer
    return [(op["displayName"], op.get("data")) for op in json.loads(answer.body)]


def test_a_buffer_is_stored_before_it_is_full_when_its_results_are_large(service: PlayedService) -> None:
    @client_of(service.url).create_function(id="fn", trigger="order/paid", checkpoint=Checkpoint(buffer=100))
    def fn(ctx: SyncContext) -> None:
        for name in "abcde":
            ctx.step.run(name, lambda: "x" * 600_000)

    answer = Handler(client_of(service.url), [fn]).answer(request_of(fn))
    assert [name for name, _ in ops(answer)] == ["e", "complete"]
    assert stored(service) == [["a", "b"], ["c", "d"]]


def test_a_result_is_stored_as_it_was_returned_whatever_the_function_does_with_it(service: PlayedService) -> None:
    @client_of(service.url).create_function(id="fn", trigger="order/paid", checkpoint=Checkpoint(buffer=2))
    def fn(ctx: SyncContext) -> list[int]:
        result = ctx.step.run("a", lambda: [1])
        result.append(2)
        return result

    assert ops(Handler(client_of(service.url), [fn]).answer(request_of(fn))) == [("a", [1]), ("complete", [1, 2])]


def test_checkpoints_pause_where_the_service_has_none() -> None:
    played = PlayedService([Reply(404)])
    try:

        @client_of(played.url).create_function(id="fn", trigger="order/paid")
        async def fn(ctx: Context) -> int:
            return await ctx.step.run("a", lambda: 1) + await ctx.step.run("b", lambda: 2)

        handler = Handler(client_of(played.url), [fn])
        for _ in range(3):
            assert ops(handler.answer(request_of(fn))) == [("a", 1)]
        assert stored(played) == [["a"]]
    finally:
        played.stop()


def test_what_was_logged_is_sent_with_each_checkpoint(service: PlayedService) -> None:
    @client_of(service.url).create_function(id="fn", trigger="order/paid")
    def fn(ctx: SyncContext) -> None:
        for name in "ab":
            ctx.step.run(name, lambda: [ctx.logger.info("line") for _ in range(200)] and None)

    assert Handler(client_of(service.url), [fn]).answer(request_of(fn, logs=True)).status == 200
    ends_at = time.monotonic() + 20
    while len(batches := [asked.json for asked in service.requests if asked.path.endswith("/logs")]) < 2:
        assert time.monotonic() < ends_at, "the lines did not arrive"
        time.sleep(0.01)
    assert [(len(batch["lines"]), batch["dropped"]) for batch in batches] == [(200, 0), (200, 0)]
    assert {line["step"] for batch in batches for line in batch["lines"]} == {hash_step_id("a"), hash_step_id("b")}


@pytest.mark.parametrize(
    ("checkpoint", "message"),
    [
        ("on", r"Function \"fn\": checkpoint must be True, False or Checkpoint\(buffer=, max_runtime=\), got 'on'"),
        (Checkpoint(buffer=0), "checkpoint.buffer must be a whole number from 1 to 100, got 0"),
        (Checkpoint(max_runtime="long"), "checkpoint.max_runtime must be a duration such as \"10s\", got 'long'"),
    ],
)
def test_options_that_make_no_sense_are_refused(checkpoint: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Tidegate("shop").create_function(id="fn", trigger="order/paid", checkpoint=checkpoint)(lambda ctx: None)


class HeldTransport:
    """Answers a request when its response is set, in an event loop or in threads."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Future[HttpResponse]]] = []

    def send(self, request: HttpRequest) -> HttpResponse:
        return self._asked(request).result(20)

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        return await asyncio.wrap_future(self._asked(request))

    def close(self) -> None: ...

    async def aclose(self) -> None: ...

    def runs(self, number: int) -> list[str]:
        return re.findall(r'"run_id": ?"(\w+)"', self.asked[number][0])

    def answer(self, number: int) -> None:
        results = [{"status": 200} for _ in self.runs(number)]
        self.asked[number][1].set_result(HttpResponse(status=200, body=json.dumps({"results": results}).encode()))

    def _asked(self, request: HttpRequest) -> Future[HttpResponse]:
        answer: Future[HttpResponse] = Future()
        self.asked.append(((request.body or b"").decode(), answer))
        return answer


def test_a_call_that_is_cancelled_takes_no_other_one_of_its_group_with_it() -> None:
    transport, groups = HeldTransport(), CheckpointGroups()
    settings = Tidegate("shop", is_dev=True, base_url="http://127.0.0.1:9", transport=transport).settings()

    async def send_all() -> list[int | BaseException]:
        calls: list[asyncio.Task[int]] = []
        for run in ("r0", "r1", "leads", "waits", "cancelled", "last"):
            sent = groups.send(run, json.dumps({"run_id": run}), settings)
            calls.append(asyncio.create_task(drive_async(sent)))
            await asyncio.sleep(0)
        # A call that waits for its turn and is cancelled disturbs no other.
        calls[4].cancel()
        transport.answer(0)
        await until(lambda: len(transport.asked) == 3)
        assert transport.runs(2) == ["leads", "waits", "last"]
        calls[2].cancel()
        await until(lambda: len(transport.asked) == 4)
        assert transport.runs(3) == ["waits", "last"]
        transport.answer(3)
        transport.answer(1)
        return await asyncio.gather(*calls, return_exceptions=True)

    statuses = asyncio.run(send_all())
    assert [status if isinstance(status, int) else type(status).__name__ for status in statuses] == [
        *(200, 200, "CancelledError", 200, "CancelledError", 200)
    ]


def test_calls_of_threads_and_of_event_loops_share_a_request() -> None:
    transport, groups = HeldTransport(), CheckpointGroups()
    settings = Tidegate("shop", is_dev=True, base_url="http://127.0.0.1:9", transport=transport).settings()
    with ThreadPoolExecutor(6) as pool:
        calls: list[Future[int]] = []
        for number in range(6):
            sent = groups.send(f"r{number}", json.dumps({"run_id": f"r{number}"}), settings)
            calls.append(pool.submit(drive, sent) if number % 2 else pool.submit(asyncio.run, drive_async(sent)))
            if number < 2:
                wait_until(lambda number=number: len(transport.asked) > number)
        wait_until(lambda: len(groups._waiting) == 4)
        transport.answer(0)
        wait_until(lambda: len(transport.asked) == 3)
        assert sorted(transport.runs(2)) == ["r2", "r3", "r4", "r5"]
        transport.answer(2)
        transport.answer(1)
        assert [call.result() for call in calls] == [200] * 6


async def until(condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends_at
        await asyncio.sleep(0.005)


def wait_until(condition: Callable[[], bool]) -> None:
    asyncio.run(until(condition))
