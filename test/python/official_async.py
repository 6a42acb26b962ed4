"""The functions of test/official/scenarios.ts, as `async def`. Each runs on the event <app>/<function>."""

import asyncio
import datetime
from collections.abc import Callable
from typing import Any

import inngest


def functions(client: inngest.Inngest) -> list[inngest.Function[Any]]:
    app = client.app_id

    hosted: list[inngest.Function[Any]] = []

    def on_event(fn_id: str, **options: Any) -> Callable[[Any], inngest.Function[Any]]:
        trigger = inngest.TriggerEvent(event=f"{app}/{fn_id}")

        def host(handler: Any) -> inngest.Function[Any]:
            hosted.append(client.create_function(fn_id=fn_id, trigger=trigger, **options)(handler))
            return hosted[-1]

        return host

    @on_event("receipt")
    async def receipt(ctx: inngest.Context) -> Any:
        return {"got": dict(ctx.event.data)}

    @on_event("chain")
    async def chain(ctx: inngest.Context) -> Any:
        async def double() -> Any:
            return ctx.event.data["n"] * 2

        async def add(n: int) -> int:
            return n + 1

        doubled = await ctx.step.run("double", double)
        await ctx.step.sleep("nap", datetime.timedelta(milliseconds=100))
        return {"result": await ctx.step.run("add", add, doubled)}

    @on_event("branches")
    async def branches(ctx: inngest.Context) -> Any:
        async def give(n: int) -> int:
            return n

        one, two = await ctx.group.parallel(
            (lambda: ctx.step.run("one", give, 1), lambda: ctx.step.run("two", give, 2))
        )
        return {"sum": await ctx.step.run("sum", give, one + two)}

    @on_event("stumbles", retries=3)
    async def stumbles(ctx: inngest.Context) -> Any:
        if ctx.attempt < 2:
            raise ValueError(f"attempt {ctx.attempt} fails")
        return {"attempt": ctx.attempt}

    @on_event("flaky", retries=3)
    async def flaky(ctx: inngest.Context) -> Any:
        async def third_time_lucky() -> int:
            if ctx.attempt < 2:
                raise ValueError(f"attempt {ctx.attempt} fails")
            return ctx.attempt

        return {"attempt": await ctx.step.run("flaky", third_time_lucky)}

    @on_event("caught", retries=0)
    async def caught(ctx: inngest.Context) -> Any:
        async def fail() -> None:
            raise ValueError("broken")

        try:
            await ctx.step.run("fail", fail)
        except inngest.StepError as error:
            return {"caught": error.message}

    @on_event("sends")
    async def sends(ctx: inngest.Context) -> Any:
        event = inngest.Event(name=f"{app}/receipt", data=ctx.event.data)
        return {"ids": await ctx.step.send_event("send", event)}

    @on_event("relays")
    async def relays(ctx: inngest.Context) -> Any:
        events = [inngest.Event(name=f"{app}/receipt", data={"n": n}) for n in (1, 2)]
        return {"ids": await client.send(events)}

    @on_event("slow")
    async def slow(ctx: inngest.Context) -> Any:
        seconds = ctx.event.data["n"]
        await asyncio.sleep(seconds)
        return {"slept": seconds}

    @on_event("waits")
    async def waits(ctx: inngest.Context) -> Any:
        answer = await ctx.step.wait_for_event(
            "wait",
            event=f"{app}/answer",
            if_exp="event.data.n == async.data.n",
            timeout=datetime.timedelta(minutes=1),
        )
        return {"answer": answer and dict(answer.data)}

    @on_event("waits-in-vain")
    async def waits_in_vain(ctx: inngest.Context) -> Any:
        timeout = datetime.timedelta(seconds=1)
        return {"answer": await ctx.step.wait_for_event("wait", event=f"{app}/never", timeout=timeout)}

    @on_event("invokes")
    async def invokes(ctx: inngest.Context) -> Any:
        return {"invoked": await ctx.step.invoke("invoke", function=receipt, data=ctx.event.data)}

    @on_event("bulky")
    async def bulky(ctx: inngest.Context) -> Any:
        async def many(letter: str) -> str:
            return letter * 2_000_000

        return {"length": sum([len(await ctx.step.run(letter, many, letter)) for letter in "abc"])}

    async def tell(ctx: inngest.Context) -> None:
        data: Any = ctx.event.data
        told = {"message": data["error"]["message"], "data": data["event"]["data"]}
        await client.send(inngest.Event(name=f"{app}/handled", data=told))

    @on_event("hopeless", on_failure=tell)
    async def hopeless(ctx: inngest.Context) -> Any:
        raise inngest.NonRetriableError("hopeless indeed")

    return hosted
