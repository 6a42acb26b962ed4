"""Functions of test/official/features.ts about errors, the ends of runs and race mode."""

import asyncio
from collections.abc import Callable
from typing import Any

import inngest

# How long the long step waits for the last of the short ones.
LONG_SECONDS = 10


def add(client: inngest.Inngest, hosted: list[inngest.Function[Any]], on_event: Callable[..., Any]) -> None:
    app = client.app_id
    add_race(on_event)

    async def done(_ctx: inngest.Context) -> str:
        return "done"

    @on_event("output-of-a-failed-run")
    async def fail(_ctx: inngest.Context) -> None:
        raise ValueError("broken")

    @on_event("step-invoke-of-an-unknown-function")
    async def invoke(ctx: inngest.Context) -> Any:
        try:
            return await ctx.step.invoke_by_id("invoke", app_id=app, function_id="unknown")
        except inngest.StepError as error:
            return error.message

    absent = 'event.data.missing == null && event.data.missing != "x"'
    on_event("missing-fields-in-expressions", if_exp=absent)(done)

    ended = inngest.TriggerEvent(
        event="inngest/function.finished", expression=f'event.data.function_id == "{app}-wildcard-triggers"'
    )

    async def tell(ctx: inngest.Context) -> Any:
        return ctx.event.data["run_id"]

    hosted.append(client.create_function(fn_id="events-on-the-end-of-runs", trigger=ended)(tell))
    hosted.append(client.create_function(fn_id="functions-without-triggers", trigger=[])(done))


def add_race(on_event: Callable[..., Any]) -> None:
    orders: dict[str, list[str]] = {}

    @on_event("race-mode")
    async def race(ctx: inngest.Context) -> Any:
        order = orders.setdefault(ctx.run_id, [])

        async def put(step_id: str, until: str | None = None) -> None:
            async def work() -> None:
                for _ in range(LONG_SECONDS * 20):
                    if until is None or until in order:
                        break
                    await asyncio.sleep(0.05)
                order.append(step_id)

            await ctx.step.run(step_id, work)

        async def branch() -> None:
            await put("one")
            await put("two")

        branches = (branch, lambda: put("long", until="two"))
        await ctx.group.parallel(branches, parallel_mode=inngest.ParallelMode.RACE)
        return {"order": order}
