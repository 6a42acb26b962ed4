"""The functions of test/official/features.ts, written with the official Python SDK."""

import asyncio
import datetime
import time
from collections.abc import Callable
from typing import Any

import inngest
import official_feature_ends
from inngest.experimental import ai, realtime

MINUTE = datetime.timedelta(minutes=1)
KEY = "event.data.n"


def functions(client: inngest.Inngest) -> list[inngest.Function[Any]]:
    app = client.app_id

    hosted: list[inngest.Function[Any]] = []

    def on_event(fn_id: str, event: str = "", if_exp: str | None = None, **options: Any) -> Callable[[Any], None]:
        trigger = inngest.TriggerEvent(event=f"{app}/{event or fn_id}", expression=if_exp)
        options = {"retries": 0, **options}

        def host(handler: Any) -> None:
            hosted.append(client.create_function(fn_id=fn_id, trigger=trigger, **options)(handler))

        return host

    async def hold(ctx: inngest.Context) -> Any:
        async def wait() -> Any:
            begin = time.time()
            ms: Any = ctx.event.data["ms"]
            await asyncio.sleep(ms / 1000)
            return {"from": begin * 1000, "to": time.time() * 1000, "events": len(ctx.events)}

        return await ctx.step.run("hold", wait)

    on_event("concurrency", concurrency=[inngest.Concurrency(limit=1, key=KEY)])(hold)
    on_event("throttle", throttle=inngest.Throttle(limit=1, period=MINUTE, key=KEY))(hold)
    on_event("ratelimit", rate_limit=inngest.RateLimit(limit=1, period=MINUTE, key=KEY))(hold)
    on_event("debounce", debounce=inngest.Debounce(period=MINUTE, key=KEY))(hold)
    on_event("batchevents", batch_events=inngest.Batch(max_size=2, timeout=MINUTE))(hold)
    on_event("priority", priority=inngest.Priority(run=KEY), concurrency=[inngest.Concurrency(limit=1)])(hold)
    on_event("singleton", singleton=inngest.Singleton(mode="skip", key=KEY))(hold)
    on_event("idempotency", idempotency=KEY)(hold)
    on_event("timeouts", timeouts=inngest.Timeouts(finish=datetime.timedelta(seconds=1)))(hold)

    async def done(_ctx: inngest.Context) -> str:
        return "done"

    hosted.append(client.create_function(fn_id="cron", trigger=inngest.TriggerCron(cron="* * * * *"))(done))
    on_event("if-of-triggers", if_exp="event.data.n > 10")(done)
    on_event("wildcard-triggers", "wild/*")(done)

    @on_event("cancelon", cancel=[inngest.Cancel(event=f"{app}/cancel", if_exp="async.data.n == event.data.n")])
    async def cancel_on(ctx: inngest.Context) -> None:
        await ctx.step.sleep("nap", datetime.timedelta(hours=1))

    @on_event("step-sleepuntil")
    async def sleep_until(ctx: inngest.Context) -> None:
        await ctx.step.sleep_until("nap", datetime.datetime.fromisoformat(str(ctx.event.data["until"])))

    @on_event("retryaftererror", retries=1)
    async def retry_after(ctx: inngest.Context) -> int:
        if ctx.attempt == 0:
            raise inngest.RetryAfterError("soon", datetime.timedelta(seconds=1))
        return ctx.attempt

    @on_event("step-ai-infer")
    async def infer(ctx: inngest.Context) -> Any:
        provider = str(ctx.event.data["provider"])
        adapter = ai.openai.Adapter(auth_key="a-key", base_url=provider, model="a-model")
        messages: Any = [{"role": "user", "content": "hello"}]
        return await ctx.step.ai.infer("ask", adapter=adapter, body={"messages": messages})

    @on_event("realtime-publish-and-subscribe")
    async def publish(ctx: inngest.Context) -> None:
        await realtime.publish(client, app, "numbers", {"n": ctx.event.data["n"]})

    official_feature_ends.add(client, hosted, on_event)
    return hosted
