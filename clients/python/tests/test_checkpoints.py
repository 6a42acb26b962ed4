"""Checkpoints beside the cases of clients/conformance/checkpoints.json."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from support.calls import call_request
from support.played_service import PlayedService, Reply
from tidegate import Checkpoint, ConfigError, Context, Handler, SyncContext, Tidegate
from tidegate._steps.ids import hash_step_id


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
