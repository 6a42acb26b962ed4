"""Checked by mypy and pyright, not run: what users' type checkers make of this package."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel
from typing_extensions import assert_type

from tidegate import (
    AppAnswer,
    AppRequest,
    BatchEvents,
    CancelOn,
    Concurrency,
    ConcurrencyOfRunsAndSteps,
    Context,
    CronTrigger,
    Debounce,
    Event,
    EventTrigger,
    FailureContext,
    FetchResponse,
    Function,
    FunctionCall,
    Handler,
    Middleware,
    Next,
    NextSync,
    Priority,
    RateLimit,
    ReceivedEvent,
    ReceivedSignal,
    RemoteError,
    SendError,
    Singleton,
    SyncContext,
    SyncFailureContext,
    Throttle,
    Tidegate,
    Timeouts,
    ValueAt,
    current_step,
    reference_function,
)
from tidegate.postgres import OutboxStatus, Relay, outbox, outbox_sync
from tidegate.testing import FunctionRun, run_function

client = Tidegate("shop", is_dev=True)


class Order(BaseModel):
    id: str


async def report(ctx: FailureContext) -> None:
    assert_type(ctx.error, RemoteError)


def report_plain(ctx: SyncFailureContext) -> int:
    return len(ctx.error.message)


async def fetch(id: str, *, limit: int = 1) -> list[int]:
    return [limit, len(id)]


async def book_async(tx: Any) -> int:
    assert_type(await outbox(tx, client, Event(name="a", data={})), list[str])
    return 1


def book(tx: Any) -> list[str]:
    return outbox_sync(tx, client, [{"name": "a", "data": {}}], order_key="k")


async def relay() -> None:
    async with Relay(client, lambda: "a connection", keep_days=1) as own:
        assert_type(own.status, OutboxStatus | None)


@client.create_function(id="thank", trigger=EventTrigger("order/paid", if_="true"), on_failure=report)
async def thank(ctx: Context) -> dict[str, int]:
    assert_type(ctx.event, ReceivedEvent)
    assert_type(ctx.event.id, str)
    assert_type(ctx.event.ts, int)
    assert_type(ctx.event.data, dict[str, Any])
    assert_type(await ctx.step.run("a", fetch, "7", limit=2), list[int])
    assert_type(await ctx.step.run("b", lambda: 3), int)
    assert_type(await ctx.step.run("c", lambda: asyncio.to_thread(len, "abc")), int)
    await ctx.step.run("d", fetch, 7)  # type: ignore[call-overload]  # pyright: ignore
    assert_type(await ctx.step.sleep("e", 2.5), None)
    assert_type(await ctx.step.sleep("f", timedelta(hours=1)), None)
    await ctx.step.sleep_until("g", datetime.now())
    assert_type(await ctx.step.send_event("h", Event(name="a", data=Order(id="7"))), list[str])
    assert_type(await ctx.step.wait_for_event("i", event="x", timeout="1d"), ReceivedEvent | None)
    assert_type(await ctx.step.invoke("j", function=count), int)
    assert_type(await ctx.step.invoke("k", function="shop-count"), Any)
    assert_type(await ctx.step.invoke("w", function=reference_function(app_id="a", function_id="b")), Any)
    charge = reference_function(app_id="a", function_id="b", output=Order)
    assert_type(await ctx.step.invoke("x", function=charge), Order)
    listed = reference_function(app_id="a", function_id="b", output=dict[str, int])
    assert_type(await ctx.step.invoke("y", function=listed), dict[str, int])
    assert_type(ctx.deps[Order], Order)
    assert_type(ctx.deps["order"], Any)
    one, other = await asyncio.gather(ctx.step.run("l", lambda: 1), ctx.step.run("m", lambda: "s"))
    assert_type(one, int)
    assert_type(other, str)
    pair = await ctx.step.parallel((lambda: ctx.step.run("n", fetch, "7"), lambda: ctx.step.run("o", lambda: "s")))
    assert_type(pair, tuple[list[int], str])
    assert_type(await ctx.step.race([lambda: ctx.step.run("p", lambda: 1), lambda: ctx.step.run("q", len, "s")]), int)
    assert_type(
        await ctx.step.wait_for_signal("r", signal="x", timeout="1d", conflict="replace"), ReceivedSignal | None
    )
    assert_type(await ctx.step.send_signal("t", "x", {"by": "Ada"}), str | None)
    assert_type(await ctx.step.fetch("u", "https://a.example", headers={"a": "b"}), FetchResponse)
    assert_type(await ctx.step.transaction("z", "a pool", book_async, isolation="serializable"), int)
    assert_type(current_step().idempotency_key, str)
    assert_type(await ctx.step.infer("v", "https://a.example", format="gemini", body={"a": 1}), Any)
    return {"total": one}


@client.create_function(id="count", trigger=["a", "b"], on_failure=report_plain, throttle=Throttle(limit=1, period=60))
def count(ctx: SyncContext) -> int:
    assert_type(ctx.step.run("a", len, "abc"), int)
    assert_type(ctx.step.transaction("t", "a pool", book), list[str])
    assert_type(ctx.step.wait_for_event("b", event="x", timeout=3), ReceivedEvent | None)
    assert_type(ctx.step.invoke("c", function=thank), dict[str, int])
    assert_type(ctx.step.parallel((lambda: 1, lambda: "s")), tuple[int, str])
    assert_type(ctx.step.parallel([lambda: len("a"), lambda: len("b")]), tuple[int, ...])
    assert_type(ctx.step.race([lambda: len("a"), lambda: len("b")]), int)
    assert_type(ctx.step.fetch("d", "https://a.example", body=[1]).status, int)
    return 3


assert_type(thank, Function[dict[str, int]])
assert_type(count, Function[int])

client.create_function(id="x")  # type: ignore[call-overload]  # pyright: ignore
client.create_function(id="x", trigger="a", throttle={"limit": 1})  # type: ignore[call-overload]  # pyright: ignore
Event(name="a", data=3)  # type: ignore[arg-type]  # pyright: ignore


limit = Concurrency(limit=1, key="event.data.id")
env = Concurrency(limit=1, key="event.data.id", scope="env")
batch = BatchEvents(max_size=2, timeout=1, key="event.data.id", if_="event.data.small")

client.create_function(id="x", trigger="a", concurrency=1)
client.create_function(id="x", trigger="a", concurrency=env)
client.create_function(id="x", trigger="a", concurrency=[limit, env])
client.create_function(id="x", trigger="a", concurrency=(limit, env))
client.create_function(id="x", trigger="a", concurrency=ConcurrencyOfRunsAndSteps(fn=limit, step=(limit, env)))
# At most two.
client.create_function(id="x", trigger="a", concurrency=(limit, env, env))  # type: ignore[arg-type]  # pyright: ignore
ConcurrencyOfRunsAndSteps(fn=(limit, env, env))  # type: ignore[arg-type]  # pyright: ignore
# Functions share these scopes by a key.
Concurrency(limit=1, scope="env")  # type: ignore[call-overload]  # pyright: ignore
Concurrency(limit=1, scope="account")  # type: ignore[call-overload]  # pyright: ignore
Concurrency(limit=1, key="event.data.id", scope="team")  # type: ignore[call-overload]  # pyright: ignore

client.create_function(
    id="x",
    trigger="a",
    batch_events=batch,
    concurrency=1,
    throttle=Throttle(limit=1, period=60),
    timeouts=Timeouts(start=1),
)
# Not with batches.
client.create_function(id="x", trigger="a", batch_events=batch, rate_limit=RateLimit(limit=1, period=1))  # type: ignore[call-overload]  # pyright: ignore
client.create_function(id="x", trigger="a", batch_events=batch, idempotency="event.data.id")  # type: ignore[call-overload]  # pyright: ignore
client.create_function(id="x", trigger="a", batch_events=batch, debounce=Debounce(period=1))  # type: ignore[call-overload]  # pyright: ignore
client.create_function(id="x", trigger="a", batch_events=batch, singleton=Singleton(mode="skip"))  # type: ignore[call-overload]  # pyright: ignore
client.create_function(id="x", trigger="a", batch_events=batch, priority=Priority(run="60"))  # type: ignore[call-overload]  # pyright: ignore
client.create_function(id="x", trigger="a", batch_events=batch, cancel_on=[CancelOn(event="b")])  # type: ignore[call-overload]  # pyright: ignore

client.create_function(
    id="x",
    trigger=CronTrigger("TZ=Europe/Berlin 0 9 * * 1", jitter=30),
    rate_limit=RateLimit(limit=1, period="1m", key="event.data.id"),
    debounce=Debounce(period=1, timeout=timedelta(minutes=1), key="event.data.id"),
    singleton=Singleton(mode="cancel", key="event.data.id"),
    priority=Priority(run="60"),
    idempotency="event.data.id",
)
Singleton(mode="queue")  # type: ignore[arg-type]  # pyright: ignore
Singleton(key="event.data.id")  # type: ignore[call-arg]  # pyright: ignore
Priority()  # type: ignore[call-arg]  # pyright: ignore
EventTrigger("a", jitter=30)  # type: ignore[call-arg]  # pyright: ignore


@client.create_function(id="batches", trigger="a", batch_events=batch)
def batches(ctx: SyncContext) -> list[str]:
    assert_type(ctx.events, list[ReceivedEvent])
    return [event.id for event in ctx.events]


assert_type(batches, Function[list[str]])


class Opening(Middleware):
    async def on_run(self, call: FunctionCall, next: Next) -> Any:
        call.inject(Order, Order(id="7"))
        call.inject("order", 7)
        return await next()

    def on_run_sync(self, call: FunctionCall, go_on: NextSync) -> Any:
        return go_on()

    def encode(self, given: Any, where: ValueAt) -> Any:
        return given


client.create_function(id="x", trigger="a", middleware=[Opening()], description="What it does", group="orders")
client.create_function(id="x", trigger="a", batch_events=batch, middleware=[Opening()], description="…", group="…")
client.create_function(id="x", trigger="a", middleware=[Opening])  # type: ignore[list-item]  # pyright: ignore
Tidegate("shop", middleware=[Opening()])


async def use() -> None:
    async with Tidegate("shop") as own:
        assert_type(await own.send({"name": "a", "data": {}}), list[str])
        assert_type(await own.send_many([Event(name="a", data={"n": 1})], timeout=3), list[str])
    try:
        client.send_sync([Event(name="a", data={})])
    except SendError as error:
        assert_type(error.status, int | None)
        assert_type(error.accepted_ids, tuple[str, ...])
    answer = Handler(client, [thank, count]).answer(AppRequest(method="GET", url="/"))
    assert_type(answer, AppAnswer)
    run = run_function(count, event={"data": {}})
    assert_type(run, FunctionRun[int])
    assert_type(run.result, int | None)
