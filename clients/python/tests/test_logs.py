"""Logs of a handler, on their way to the service."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.calls import call_request
from support.played_service import PlayedService, Reply
from tidegate import Context, Handler, SyncContext, Tidegate
from tidegate._log_collector import LogCollector
from tidegate._steps.ids import hash_step_id
from tidegate.encryption import Encryption


@pytest.fixture
def service() -> Iterator[PlayedService]:
    played = PlayedService([Reply()])
    yield played
    played.stop()


def client_of(service: PlayedService | None, **options: Any) -> Tidegate:
    base_url = service.url if service else "http://127.0.0.1:1"
    return Tidegate("shop", is_dev=True, base_url=base_url, **options)


def request_of(fn: Any, *args: Any, takes_logs: bool = True, **kwargs: Any) -> Any:
    request = call_request(fn, *args, **kwargs)
    if takes_logs:
        request.body["ctx"]["logs"] = True  # type: ignore[index]
    return request


def until(condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < ends_at, "it did not come to that"
        time.sleep(0.01)


def batch_of(service: PlayedService) -> Any:
    until(lambda: bool(service.requests))
    assert len(service.requests) == 1
    asked = service.requests[0]
    assert (asked.method, asked.path) == ("POST", "/v0/runs/01R/logs")
    return asked.json


def logging_once(client: Tidegate, text: str = "x") -> Any:
    @client.create_function(id="fn", trigger="order/paid")
    def fn(ctx: SyncContext) -> str:
        ctx.logger.info(text)
        return "done"

    return fn


def test_lines_have_time_level_fields_step_and_attempt(service: PlayedService) -> None:
    client = client_of(service)

    @client.create_function(id="fn", trigger="order/paid")
    def fn(ctx: SyncContext) -> None:
        ctx.logger.info("start %d", 7, extra={"total": 3, "nested": {"a": [1, object]}})
        ctx.step.run("charge", lambda: ctx.logger.warning("slow"))

    before = int(time.time() * 1_000)
    Handler(client, [fn]).answer(request_of(fn))
    batch = batch_of(service)
    assert batch["attempt"] == 2
    assert batch["dropped"] == 0
    first, second = batch["lines"]
    assert before <= first.pop("at") <= time.time() * 1_000
    second.pop("at")
    fields = {"total": 3, "nested": {"a": [1, "<class 'object'>"]}}
    assert first == {"level": "info", "message": "start 7", "fields": fields}
    assert second == {"level": "warn", "message": "slow", "step": hash_step_id("charge")}


def test_lines_of_async_functions_are_sent_too(service: PlayedService) -> None:
    client = client_of(service)

    @client.create_function(id="fn", trigger="order/paid")
    async def fn(ctx: Context) -> None:
        async def charge() -> None:
            try:
                raise ValueError("no card")
            except ValueError:
                ctx.logger.exception("failed")

        await ctx.step.run("charge", charge)

    asyncio.run(Handler(client, [fn]).answer_async(request_of(fn)))
    (line,) = batch_of(service)["lines"]
    assert (line["level"], line["message"], line["step"]) == ("error", "failed", hash_step_id("charge"))
    assert line["fields"]["error"]["name"] == "ValueError"


def test_lines_are_not_repeated_by_replayed_code_nor_by_calls_of_planned_steps(service: PlayedService) -> None:
    client = client_of(service)

    @client.create_function(id="fn", trigger="order/paid")
    def fn(ctx: SyncContext) -> None:
        ctx.logger.info("start")
        ctx.step.run("one", lambda: None)
        ctx.logger.info("between")
        ctx.step.run("two", lambda: ctx.logger.info("in two"))

    Handler(client, [fn]).answer(request_of(fn, {"one": {"data": None}}, step="two"))
    assert [line["message"] for line in batch_of(service)["lines"]] == ["in two"]


def test_there_are_limits_and_the_other_lines_are_counted() -> None:
    many = LogCollector()
    for number in range(500):
        many.add(logging.INFO, f"line {number}", {}, None)
    batch = many.take_batch()
    assert batch
    assert (len(batch["lines"]), batch["dropped"]) == (200, 300)
    long = LogCollector()
    long.add(logging.INFO, "x" * 1_000_000, {"y": "y" * 1_000_000}, None)
    for _ in range(50):
        long.add(logging.INFO, "z" * 7_000, {}, None)
    batch = long.take_batch()
    assert batch
    assert len(batch["lines"][0]["message"]) == 8_000
    assert len(batch["lines"]) + batch["dropped"] == 51
    assert sum(len(line["message"]) for line in batch["lines"]) <= 64_000


def test_anything_can_be_logged() -> None:
    class Hostile:
        def __str__(self) -> str:
            raise RuntimeError

    circular: dict[str, Any] = {}
    circular["self"] = circular
    collector = LogCollector()
    fields: list[dict[str, Any]] = [
        circular,
        {"x": Hostile()},
        {"n": float("nan")},
        dict.fromkeys(map(str, range(9_999))),
    ]
    for one in fields:
        collector.add(logging.INFO, "x", one, None)
    batch = collector.take_batch()
    assert batch
    assert len(batch["lines"]) == 4
    assert len(batch["lines"][3]["fields"]) == 200


def test_debug_lines_are_sent_where_the_app_keeps_them(service: PlayedService) -> None:
    logger = logging.getLogger("tidegate.test-logs")
    logger.setLevel(logging.ERROR)
    client = client_of(service, logger=logger)

    @client.create_function(id="fn", trigger="order/paid")
    def fn(ctx: SyncContext) -> None:
        ctx.logger.debug("quiet")
        ctx.logger.info("kept by the service alone")

    Handler(client, [fn]).answer(request_of(fn))
    assert [line["message"] for line in batch_of(service)["lines"]] == ["kept by the service alone"]


def test_nothing_is_sent_unless_the_service_takes_it_and_the_client_is_not_told_otherwise(
    service: PlayedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "a secret text of thirty-two characters"
    for options in ({}, {"logs": False}, {"middleware": [Encryption(key=key)]}):
        fn = logging_once(client := client_of(service, **options))
        Handler(client, [fn]).answer(request_of(fn, takes_logs=bool(options)))
    monkeypatch.setenv("SERVICE_LOGS", "0")
    fn = logging_once(client := client_of(service))
    Handler(client, [fn]).answer(request_of(fn))
    fn = logging_once(client := client_of(service, logs=True, middleware=[Encryption(key=key)]), "told")
    Handler(client, [fn]).answer(request_of(fn))
    assert [line["message"] for line in batch_of(service)["lines"]] == ["told"]


def test_the_response_neither_waits_for_the_service_nor_fails_with_it() -> None:
    fn = logging_once(client := client_of(None))
    assert Handler(client, [fn]).answer(request_of(fn)).status == 200


def test_a_batch_is_sent_again_once_when_the_service_has_failed() -> None:
    service = PlayedService([Reply(status=503), Reply()])
    try:
        fn = logging_once(client := client_of(service))
        Handler(client, [fn]).answer(request_of(fn))
        until(lambda: len(service.requests) == 2)
        assert service.requests[0].body == service.requests[1].body
    finally:
        service.stop()
