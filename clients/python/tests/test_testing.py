"""The helper for tests of functions, with async and with plain ones."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from support.played_service import Reply, played_service
from tidegate import BatchEvents, Context, Event, NonRetriableError, StepError, SyncContext, Tidegate
from tidegate.testing import (
    MovedClock,
    PublishedMessage,
    SentSignal,
    advance_clock,
    advance_clock_async,
    run_function,
    run_function_async,
)

client = Tidegate("shop", is_dev=True)
created = client.create_function(id="fn", trigger="order/paid", retries=2)


@created
async def thank(ctx: Context) -> Any:
    price = await ctx.step.run("price", lambda: ctx.event.data["total"] * 2)
    ids = await ctx.step.send_event("tell", Event(name="told", data={"price": price}))
    await ctx.step.sleep("rest", "1d")
    back = await ctx.step.wait_for_event("back", event="order/returned", timeout="14d")
    return [price, ids, back.data if back else None]


@created
def thank_plain(ctx: SyncContext) -> Any:
    price = ctx.step.run("price", lambda: ctx.event.data["total"] * 2)
    ids = ctx.step.send_event("tell", Event(name="told", data={"price": price}))
    ctx.step.sleep("rest", "1d")
    back = ctx.step.wait_for_event("back", event="order/returned", timeout="14d")
    return [price, ids, back.data if back else None]


def test_a_function_that_batches_events_gets_all_of_them() -> None:
    @client.create_function(id="batch", trigger="order/paid", batch_events=BatchEvents(max_size=10, timeout=5))
    def total(ctx: SyncContext) -> list[Any]:
        return [ctx.event.data["total"], *(event.data["total"] for event in ctx.events), ctx.events[1].name]

    run = run_function(total, events=[{"data": {"total": 3}}, Event(name="order/paid", data={"total": 4})])
    assert run.result == [3, 3, 4, "order/paid"]


@pytest.mark.parametrize("fn", [thank, thank_plain])
def test_it_runs_the_steps_and_returns_their_results(fn: Any) -> None:
    run = run_function(fn, event={"data": {"total": 3}})
    assert (run.result, run.error) == ([6, ["test-event-1"], None], None)
    assert [(step.id, step.kind) for step in run.steps] == [
        ("price", "run"),
        ("tell", "send_event"),
        ("rest", "sleep"),
        ("back", "wait_for_event"),
    ]
    assert run.sent == [{"name": "told", "data": {"price": 6}}]


@pytest.mark.parametrize("fn", [thank, thank_plain])
def test_it_takes_stubs(fn: Any) -> None:
    stubs = {"price": 7, "tell": lambda: {"ids": ["x"]}, "back": {"data": {"why": "torn"}}}
    assert run_function(fn, steps=stubs).result == [7, ["x"], {"why": "torn"}]
    failed = run_function(fn, steps={"price": NonRetriableError("no price")})
    assert isinstance(failed.error, StepError)
    assert (failed.error.step_id, failed.error.name) == ("price", "NonRetriableError")


def test_it_may_be_awaited_with_async_stubs() -> None:
    async def price() -> int:
        return 9

    async def run() -> Any:
        with pytest.raises(RuntimeError, match="run_function_async"):
            run_function(thank)
        return await run_function_async(thank, steps={"price": price})

    assert asyncio.run(run()).result[0] == 9


def test_sleeps_end_in_the_order_of_their_moments() -> None:
    @created
    def fn(ctx: SyncContext) -> None:
        ctx.step.parallel(
            [
                lambda: ctx.step.sleep("long", "2h"),
                lambda: ctx.step.sleep_until("until", "2026-01-01T01:00:00Z"),
                lambda: ctx.step.sleep("short", 5),
            ]
        )

    run = run_function(fn, now=datetime(2026, 1, 1, tzinfo=timezone.utc))
    assert [step.id for step in run.steps] == ["short", "until", "long"]


def test_what_fails_is_tried_again_as_often_as_the_function_says() -> None:
    attempts: list[tuple[str, int]] = []

    @created
    def fn(ctx: SyncContext) -> None:
        def work() -> None:
            attempts.append(("step", ctx.attempt))
            raise OSError("down")

        try:
            ctx.step.run("work", work)
        except StepError as error:
            attempts.append((error.name, ctx.attempt))
            raise ValueError("and so am I") from error

    run = run_function(fn)
    assert isinstance(run.error, ValueError)
    assert attempts == [("step", 0), ("step", 1), ("step", 2), ("OSError", 0), ("OSError", 1), ("OSError", 2)]


def test_given_errors_fail_the_first_attempts_of_a_step() -> None:
    @created
    def fn(ctx: SyncContext) -> Any:
        try:
            return ctx.step.run("charge", lambda: "ch_1")
        except StepError as error:
            return error.message

    def failing(*errors: Exception) -> tuple[Any, int]:
        run = run_function(fn, failures={"charge": errors})
        return run.result, run.steps[0].attempts

    busy = OSError("busy")
    assert failing(busy, busy) == ("ch_1", 3)
    assert failing(busy, busy, busy) == ("busy", 3)
    assert failing(NonRetriableError("declined")) == ("declined", 1)


def test_a_run_has_a_clock_that_sleeps_advance() -> None:
    run = run_function(thank, event={"data": {"total": 3}}, now=datetime(2026, 1, 1, tzinfo=timezone.utc))
    assert [step.ended_at.isoformat()[:10] for step in run.steps] == [
        "2026-01-01",
        "2026-01-01",
        "2026-01-02",
        "2026-01-16",
    ]


def test_it_shows_the_signals_and_messages_that_steps_would_have_sent() -> None:
    @created
    def fn(ctx: SyncContext) -> None:
        ctx.step.send_signal("wake", signal="order-7", data={"by": "test"})
        ctx.step.publish("tell", channel="order:7", topic="status", data="paid")

    run = run_function(fn)
    assert run.signals == [SentSignal(signal="order-7", data={"by": "test"})]
    assert run.published == [PublishedMessage(channel="order:7", topic="status", data="paid")]


def test_it_asks_for_the_result_of_an_invoked_function() -> None:
    @created
    async def fn(ctx: Context) -> Any:
        return await ctx.step.invoke("sum", function=thank)

    with pytest.raises(LookupError, match='Step "sum" invokes shop-fn'):
        run_function(fn)
    assert run_function(fn, steps={"sum": 3}).result == 3


def _moved(reached: str, waiting: int) -> Reply:
    data = {"now": "2026-01-02T00:00:00.000Z", "target": "2026-01-04T00:00:00.000Z", "reached": reached}
    return Reply(body={"data": {**data, "runs_started": 2, "runs_ended": 1, "waiting": waiting}})


def test_the_clock_moves_on_until_the_service_has_reached_the_time() -> None:
    moved = MovedClock(datetime(2026, 1, 2, tzinfo=timezone.utc), runs_started=4, runs_ended=2, waiting=3)
    with played_service(_moved("limit", 5), _moved("target", 3)) as service:
        assert advance_clock(service.url, timedelta(days=3)) == moved
        assert [(asked.method, asked.path, asked.json) for asked in service.requests] == [
            ("POST", "/v1/dev/clock", {"advance": "259200000ms"}),
            ("POST", "/v1/dev/clock", {"to": "2026-01-04T00:00:00.000Z"}),
        ]


def test_a_clock_that_does_not_move_says_why() -> None:
    moment = datetime(1970, 1, 2, tzinfo=timezone.utc)
    with played_service(Reply(status=403, body={"error": "in dev mode only"}), _moved("busy", 1)) as service:
        with pytest.raises(RuntimeError, match="in dev mode only"):
            advance_clock(service.url, moment)
        with pytest.raises(RuntimeError, match="something does not end"):
            asyncio.run(advance_clock_async(service.url, moment))
        assert service.requests[0].json == {"to": 86_400_000}
    with pytest.raises(ValueError, match="time zone"):
        advance_clock("http://127.0.0.1:1", datetime(2026, 1, 2))
