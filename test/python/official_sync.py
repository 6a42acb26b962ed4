"""The functions of test/official/scenarios.ts, as plain `def`. Each runs on the event <app>/<function>."""

import datetime
import time
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
    def receipt(ctx: inngest.ContextSync) -> Any:
        return {"got": dict(ctx.event.data)}

    @on_event("chain")
    def chain(ctx: inngest.ContextSync) -> Any:
        n: Any = ctx.event.data["n"]
        doubled = ctx.step.run("double", lambda: n * 2)
        ctx.step.sleep("nap", datetime.timedelta(milliseconds=100))
        return {"result": ctx.step.run("add", lambda: doubled + 1)}

    @on_event("branches")
    def branches(ctx: inngest.ContextSync) -> Any:
        one, two = ctx.group.parallel((lambda: ctx.step.run("one", lambda: 1), lambda: ctx.step.run("two", lambda: 2)))
        return {"sum": ctx.step.run("sum", lambda: one + two)}

    @on_event("stumbles", retries=3)
    def stumbles(ctx: inngest.ContextSync) -> Any:
        if ctx.attempt < 2:
            raise ValueError(f"attempt {ctx.attempt} fails")
        return {"attempt": ctx.attempt}

    @on_event("flaky", retries=3)
    def flaky(ctx: inngest.ContextSync) -> Any:
        def third_time_lucky() -> int:
            if ctx.attempt < 2:
                raise ValueError(f"attempt {ctx.attempt} fails")
            return ctx.attempt

        return {"attempt": ctx.step.run("flaky", third_time_lucky)}

    @on_event("caught", retries=0)
    def caught(ctx: inngest.ContextSync) -> Any:
        def fail() -> None:
            raise ValueError("broken")

        try:
            ctx.step.run("fail", fail)
        except inngest.StepError as error:
            return {"caught": error.message}

    @on_event("sends")
    def sends(ctx: inngest.ContextSync) -> Any:
        event = inngest.Event(name=f"{app}/receipt", data=ctx.event.data)
        return {"ids": ctx.step.send_event("send", event)}

    @on_event("relays")
    def relays(ctx: inngest.ContextSync) -> Any:
        events = [inngest.Event(name=f"{app}/receipt", data={"n": n}) for n in (1, 2)]
        return {"ids": client.send_sync(events)}

    @on_event("slow")
    def slow(ctx: inngest.ContextSync) -> Any:
        seconds = ctx.event.data["n"]
        time.sleep(seconds)
        return {"slept": seconds}

    @on_event("waits")
    def waits(ctx: inngest.ContextSync) -> Any:
        answer = ctx.step.wait_for_event(
            "wait",
            event=f"{app}/answer",
            if_exp="event.data.n == async.data.n",
            timeout=datetime.timedelta(minutes=1),
        )
        return {"answer": answer and dict(answer.data)}

    @on_event("waits-in-vain")
    def waits_in_vain(ctx: inngest.ContextSync) -> Any:
        timeout = datetime.timedelta(seconds=1)
        return {"answer": ctx.step.wait_for_event("wait", event=f"{app}/never", timeout=timeout)}

    @on_event("invokes")
    def invokes(ctx: inngest.ContextSync) -> Any:
        return {"invoked": ctx.step.invoke("invoke", function=receipt, data=ctx.event.data)}

    @on_event("bulky")
    def bulky(ctx: inngest.ContextSync) -> Any:
        def many(letter: str) -> str:
            return letter * 2_000_000

        return {"length": sum(len(ctx.step.run(letter, many, letter)) for letter in "abc")}

    def tell(ctx: inngest.ContextSync) -> None:
        data: Any = ctx.event.data
        told = {"message": data["error"]["message"], "data": data["event"]["data"]}
        client.send_sync(inngest.Event(name=f"{app}/handled", data=told))

    @on_event("hopeless", on_failure=tell)
    def hopeless(ctx: inngest.ContextSync) -> Any:
        raise inngest.NonRetriableError("hopeless indeed")

    return hosted
