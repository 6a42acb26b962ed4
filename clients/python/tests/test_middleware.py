"""Middleware around runs, steps and sends, of async and of plain functions."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import date
from typing import Any

import pytest

from support.calls import Caller
from support.played_service import Reply, played_service
from tidegate import (
    ConfigError,
    Context,
    FailureContext,
    FunctionCall,
    Middleware,
    Next,
    NextSync,
    NonRetriableError,
    SendCall,
    StepCall,
    StepError,
    SyncContext,
    Tidegate,
)
from tidegate.testing import run_function

KINDS = ["async", "plain"]


class Recording(Middleware):
    """Writes down what it sees."""

    def __init__(self, label: str, seen: list[Any]) -> None:
        self.label = label
        self.seen = seen

    async def on_run(self, call: FunctionCall, next: Next) -> Any:
        self.seen.append(f"{self.label} begins")
        try:
            output = await next()
            self.seen.append(f"{self.label} returns {output}")
            return output
        except Exception as error:
            self.seen.append(f"{self.label} raises {error}")
            raise
        finally:
            self.seen.append(f"{self.label} ends")

    def on_run_sync(self, call: FunctionCall, next: NextSync) -> Any:
        self.seen.append(f"{self.label} begins")
        try:
            output = next()
            self.seen.append(f"{self.label} returns {output}")
            return output
        except Exception as error:
            self.seen.append(f"{self.label} raises {error}")
            raise
        finally:
            self.seen.append(f"{self.label} ends")

    async def on_step(self, step: StepCall, next: Next) -> Any:
        self.seen.append((self.label, step.id, step.name, step.run_id, step.function_id, step.attempt))
        return await next()

    def on_step_sync(self, step: StepCall, next: NextSync) -> Any:
        self.seen.append((self.label, step.id, step.name, step.run_id, step.function_id, step.attempt))
        return next()


class Tagged(Middleware):
    """Wraps values, to show in which order they were."""

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def encode(self, value: Any, at: str) -> Any:
        return {"data": value} if at == "never" else {self.tag: value, "at": at}

    def decode(self, value: Any, at: str) -> Any:
        if isinstance(value, dict) and self.tag in value:
            assert value["at"] == at
            return value[self.tag]
        return value


def function(client: Tidegate, kind: str, body: Any, *own: Middleware) -> Any:
    """`body` gets the context, and a function that takes one result: awaited in async code, as it is in plain code."""
    create = client.create_function(id="fn", trigger="order/paid", middleware=own)

    async def run(ctx: Context) -> Any:
        generator = body(ctx)
        try:
            called = next(generator)
            while True:
                try:
                    result = await called
                except Exception as error:
                    called = generator.throw(error)
                else:
                    called = generator.send(result)
        except StopIteration as end:
            return end.value

    def run_plain(ctx: SyncContext) -> Any:
        generator = body(Deferred(ctx))
        try:
            called = next(generator)
            while True:
                try:
                    result = called()
                except Exception as error:
                    called = generator.throw(error)
                else:
                    called = generator.send(result)
        except StopIteration as end:
            return end.value

    return create(run if kind == "async" else run_plain)


class Deferred:
    """A plain context whose steps are called a moment later."""

    def __init__(self, ctx: SyncContext) -> None:
        self._ctx = ctx
        self.step = self

    def __getattr__(self, name: str) -> Any:
        if hasattr(self._ctx.step, name):
            return lambda *args, **kwargs: lambda: getattr(self._ctx.step, name)(*args, **kwargs)
        return getattr(self._ctx, name)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_is_the_outermost_and_a_functions_own_are_inside_of_the_clients(kind: str) -> None:
    seen: list[Any] = []
    client = Tidegate("shop", is_dev=True, middleware=[Recording("1", seen), Recording("2", seen)])

    def body(ctx: Any) -> Any:
        seen.append("handler")
        return 3
        yield

    assert Caller(client)(function(client, kind, body, Recording("3", seen))) == (200, 3)
    begun, returned = [f"{n} begins" for n in "123"], [[f"{n} returns 3", f"{n} ends"] for n in "321"]
    assert seen == [*begun, "handler", *[line for lines in returned for line in lines]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_ends_at_a_new_step_runs_only_the_finally_clauses(kind: str) -> None:
    seen: list[Any] = []
    client = Tidegate("shop", is_dev=True, middleware=[Recording("m", seen)])

    def body(ctx: Any) -> Any:
        return (yield ctx.step.run("a", lambda: 1)) + (yield ctx.step.run("a", lambda: 2))

    fn = function(client, kind, body)
    call = Caller(client)
    assert call.ops(fn) == [("StepRun", "a")]
    assert seen == ["m begins", ("m", "a", "a", "01R", "fn", 2), "m ends"]
    seen.clear()
    assert call.ops(fn, {"a": {"data": 1}}) == [("StepRun", "a:1")]
    assert seen == ["m begins", ("m", "a", "a:1", "01R", "fn", 2), "m ends"]
    seen.clear()
    assert call(fn, {"a": {"data": 1}, "a:1": {"data": 2}}) == (200, 3)
    assert seen == ["m begins", "m returns 3", "m ends"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_the_handler_comes_by_and_can_be_replaced(kind: str) -> None:
    seen: list[Any] = []

    class Final(Middleware):
        async def on_run(self, call: FunctionCall, next: Next) -> Any:
            try:
                return await next()
            except OSError as error:
                raise NonRetriableError("for good") from error

        def on_run_sync(self, call: FunctionCall, next: NextSync) -> Any:
            try:
                return next()
            except OSError as error:
                raise NonRetriableError("for good") from error

    client = Tidegate("shop", is_dev=True, middleware=[Final(), Recording("m", seen)])

    def body(ctx: Any) -> Any:
        raise OSError("down")
        yield

    status, answer = Caller(client)(function(client, kind, body))
    assert (status, answer["message"]) == (400, "for good")
    assert seen == ["m begins", "m raises down", "m ends"]


class Database:
    def __init__(self, name: str) -> None:
        self.name = name


class Connecting(Middleware):
    """Changes the event, too."""

    async def on_run(self, call: FunctionCall, next: Next) -> Any:
        await asyncio.sleep(0.01)
        self._prepare(call)
        return {"wrapped": await next()}

    def on_run_sync(self, call: FunctionCall, next: NextSync) -> Any:
        self._prepare(call)
        return {"wrapped": next()}

    def _prepare(self, call: FunctionCall) -> None:
        call.inject(Database, Database(call.function_id))
        call.inject("tenant", call.event.data["total"])
        call.event = dataclasses.replace(call.event, data={"total": 4})


@pytest.mark.parametrize("kind", KINDS)
def test_it_injects_values_and_replaces_the_events_data_and_the_output(kind: str) -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Connecting()])

    def body(ctx: Any) -> Any:
        total = yield ctx.step.run("total", lambda: ctx.event.data["total"])
        return [ctx.deps[Database].name, ctx.deps["tenant"], total, ctx.events[0].data, str in ctx.deps]

    fn = function(client, kind, body)
    whole = {"wrapped": ["fn", 3, 4, {"total": 4}, False]}
    assert Caller(client)(fn, {"total": {"data": 4}}) == (200, whole)
    assert run_function(fn, event={"data": {"total": 3}}).result == whole


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_has_injected_is_named(kind: str) -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Connecting()])

    def body(ctx: Any) -> Any:
        return ctx.deps[Tidegate]
        yield

    status, answer = Caller(client)(function(client, kind, body))
    assert status == 500
    assert "has injected Tidegate" in answer["message"]
    assert "Database, 'tenant'" in answer["message"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_handler_runs_once_in_a_call(kind: str) -> None:
    class Twice(Middleware):
        async def on_run(self, call: FunctionCall, next: Next) -> Any:
            return [await next(), await next()]

        def on_run_sync(self, call: FunctionCall, next: NextSync) -> Any:
            return [next(), next()]

    client = Tidegate("shop", is_dev=True, middleware=[Twice()])

    def body(ctx: Any) -> Any:
        return 1
        yield

    status, answer = Caller(client)(function(client, kind, body))
    assert status == 500
    assert "twice" in answer["message"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_gets_other_arguments_and_gives_another_result(kind: str) -> None:
    class Doubling(Middleware):
        async def on_step(self, step: StepCall, next: Next) -> Any:
            step.args, step.kwargs = (step.args[0] * 2,), {"base": 16}
            return [await next()]

        def on_step_sync(self, step: StepCall, next: NextSync) -> Any:
            step.args, step.kwargs = (step.args[0] * 2,), {"base": 16}
            return [next()]

    client = Tidegate("shop", is_dev=True, middleware=[Doubling()])

    def body(ctx: Any) -> Any:
        return (yield ctx.step.run("a", int, "1", base=8))

    fn = function(client, kind, body)
    assert Caller(client)(fn)[1][0]["data"] == [0x11]
    assert Caller(client)(fn, {"a": {"data": 5}}) == (200, 5)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_hook_of_a_step_raises_fails_the_step(kind: str) -> None:
    class Refusing(Middleware):
        async def on_step(self, step: StepCall, next: Next) -> Any:
            raise NonRetriableError("no")

        def on_step_sync(self, step: StepCall, next: NextSync) -> Any:
            raise NonRetriableError("no")

    client = Tidegate("shop", is_dev=True, middleware=[Refusing()])

    def body(ctx: Any) -> Any:
        return (yield ctx.step.run("a", lambda: 1))

    (op,) = Caller(client)(function(client, kind, body))[1]
    assert (op["op"], op["error"]["message"]) == ("StepFailed", "no")


class Stamping(Middleware):
    """Adds to the events, and keeps where the send was."""

    def __init__(self) -> None:
        self.sends: list[SendCall] = []

    async def on_send(self, send: SendCall, next: Any) -> list[str]:
        self._stamp(send)
        ids: list[str] = await next()
        return [f"got {own}" for own in ids]

    def on_send_sync(self, send: SendCall, next: Any) -> list[str]:
        self._stamp(send)
        ids: list[str] = next()
        return [f"got {own}" for own in ids]

    def _stamp(self, send: SendCall) -> None:
        self.sends.append(send)
        for event in send.events:
            event["data"] = {**event["data"], "by": "me"}
        send.events = [*send.events, {"name": "added", "data": {}}]


@dataclasses.dataclass
class Order:
    id: str


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_of_sends_changes_the_events_and_the_ids(kind: str) -> None:
    stamping = Stamping()
    with played_service(Reply(body={"ids": ["1", "2"]})) as service:
        client = Tidegate("shop", is_dev=True, base_url=service.url, middleware=[stamping])
        events = {"name": "a", "data": Order("7")}

        def body(ctx: Any) -> Any:
            return (yield ctx.step.send_event("tell", events))

        ids = asyncio.run(client.send(events)) if kind == "async" else client.send_sync(events)
        (op,) = Caller(client)(function(client, kind, body))[1]
    assert (ids, op["data"]) == (["got 1", "got 2"], {"ids": ["got 1", "got 2"]})
    sent = [{"name": "a", "data": {"id": "7", "by": "me"}}, {"name": "added", "data": {}}]
    assert [asked.json for asked in service.requests] == [sent, sent]
    names = [(send.function_id, send.run_id, send.step_id) for send in stamping.sends]
    assert names == [(None, None, None), ("fn", "01R", "tell")]
    assert events == {"name": "a", "data": Order("7")}


def test_a_hook_of_sends_that_forgets_the_ids_is_a_mistake() -> None:
    class Forgetful(Middleware):
        def on_send_sync(self, send: SendCall, next: Any) -> Any:
            next()

    with played_service(Reply(body={"ids": ["1"]})) as service:
        client = Tidegate("shop", is_dev=True, base_url=service.url, middleware=[Forgetful()])
        with client, pytest.raises(TypeError, match="must return what next"):
            client.send_sync({"name": "a", "data": {}})


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_middleware_encodes_last_and_decodes_first(kind: str) -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Tagged("outer")])

    def body(ctx: Any) -> Any:
        return [ctx.event.data, (yield ctx.step.run("a", lambda: 1)), (yield ctx.step.run("b", lambda: 2))]

    fn = function(client, kind, body, Tagged("inner"))

    def wrapped(value: Any, at: str) -> Any:
        return {"outer": {"inner": value, "at": at}, "at": at}

    call = Caller(client)
    event = {"name": "order/paid", "data": wrapped({"n": 7}, "event"), "ts": 0}
    assert call(fn, event=event)[1][0]["data"] == wrapped(1, "step")
    memos = {"a": {"data": wrapped("stored", "step")}, "b": {"data": 3}}
    assert call(fn, memos, event=event) == (200, wrapped([{"n": 7}, "stored", 3], "output"))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_step_is_decoded_as_what_it_is(kind: str) -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Tagged("t")])

    def body(ctx: Any) -> Any:
        event = yield ctx.step.wait_for_event("w", event="x", timeout="1d")
        late = yield ctx.step.wait_for_event("l", event="x", timeout="1d")
        output = yield ctx.step.invoke("i", function="shop-other", data=Order("7"))
        return [event.data, event.raw["data"], late, output]

    fn = function(client, kind, body)
    call = Caller(client)
    memos: dict[str, Any] = {"w": {"name": "x", "data": {"t": {"n": 1}, "at": "event"}}, "l": None}
    (op,) = call(fn, memos)[1]
    assert op["opts"]["payload"] == {"data": {"t": {"id": "7"}, "at": "event"}}
    memos["i"] = {"data": {"t": None, "at": "output"}}
    assert call(fn, memos)[1]["t"] == [{"n": 1}, {"n": 1}, None, None]


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_that_cannot_be_decoded_fails_the_call_whatever_the_code_catches(kind: str) -> None:
    class Strict(Middleware):
        def decode(self, value: Any, at: str) -> Any:
            if at == "step":
                raise NonRetriableError("cannot be read")
            return value

    client = Tidegate("shop", is_dev=True, middleware=[Strict()])

    def body(ctx: Any) -> Any:
        try:
            return (yield ctx.step.run("a", lambda: 1))
        except Exception:
            return "caught"

    status, answer = Caller(client)(function(client, kind, body), {"a": {"data": 1}})
    assert (status, answer["message"]) == (400, "cannot be read")


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_or_output_that_fails_in_middleware_fails_the_call(kind: str) -> None:
    class Failing(Middleware):
        def __init__(self, at: str) -> None:
            self.at = at

        def encode(self, value: Any, at: str) -> Any:
            if at == self.at:
                raise OSError(f"cannot encode {at}")
            return value

        def decode(self, value: Any, at: str) -> Any:
            if at == self.at:
                raise NonRetriableError(f"cannot decode {at}")
            return value

    def body(ctx: Any) -> Any:
        return 1
        yield

    for at, status, message in [("event", 400, "cannot decode event"), ("output", 500, "cannot encode output")]:
        client = Tidegate("shop", is_dev=True, middleware=[Failing(at)])
        answer = Caller(client)(function(client, kind, body))
        assert (answer[0], answer[1]["message"]) == (status, message)


@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_may_make_json_of_what_is_none(kind: str) -> None:
    class Dates(Middleware):
        def encode(self, value: Any, at: str) -> Any:
            if isinstance(value, dict):
                return {key: self.encode(item, at) for key, item in value.items()}
            return {"$date": value.isoformat()} if isinstance(value, date) else value

        def decode(self, value: Any, at: str) -> Any:
            if isinstance(value, dict) and "$date" in value:
                return date.fromisoformat(value["$date"])
            return {key: self.decode(item, at) for key, item in value.items()} if isinstance(value, dict) else value

    client = Tidegate("shop", is_dev=True, middleware=[Dates()])

    def body(ctx: Any) -> Any:
        day = yield ctx.step.run("day", lambda: date(2026, 1, 2))
        yield ctx.step.send_event("tell", {"name": "told", "data": {"day": day}})
        return day

    run = run_function(function(client, kind, body))
    assert (run.error, run.result, run.steps[0].data) == (None, date(2026, 1, 2), date(2026, 1, 2))
    assert run.sent == [{"name": "told", "data": {"day": date(2026, 1, 2)}}]


def test_on_failure_has_the_same_middleware_and_the_event_that_failed_is_decoded() -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Tagged("t")])

    async def report(ctx: FailureContext) -> Any:
        return ctx.event.data["event"]["data"]

    @client.create_function(id="fn", trigger="order/paid", on_failure=report)
    def fn(ctx: SyncContext) -> None: ...

    assert fn.on_failure
    inner = {"name": "order/paid", "data": {"t": {"n": 1}, "at": "event"}}
    failed = {"name": "inngest/function.failed", "data": {"event": inner, "error": {"message": "no"}}}
    assert run_function(fn.on_failure, event=failed).result == {"n": 1}


def test_a_function_that_hears_of_ended_runs_gets_their_output_decoded() -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Tagged("t")])

    @client.create_function(id="fn", trigger=["inngest/function.finished", "inngest/function.invoked"])
    def fn(ctx: SyncContext) -> Any:
        return ctx.event.data

    own = {"name": "order/paid", "data": {"t": {"n": 1}, "at": "event"}}
    data = {"events": [own, "odd"], "event": own, "result": {"t": 3, "at": "output"}}
    plain = {"name": "order/paid", "data": {"n": 1}}
    ended = run_function(fn, event={"name": "inngest/function.finished", "data": data})
    assert ended.result == {"events": [plain, "odd"], "event": plain, "result": 3}
    # A test gives events as the function sees them.
    invoked = {"name": "inngest/function.invoked", "data": data}
    assert run_function(fn, event=invoked).result == data


def test_injected_things_are_open_while_steps_run_and_closed_after_each_call() -> None:
    seen: list[str] = []

    class Opening(Middleware):
        async def on_run(self, call: FunctionCall, next: Next) -> Any:
            seen.append("open")
            try:
                return await asyncio.wait_for(next(), 10)
            finally:
                await asyncio.sleep(0)
                seen.append("closed")

        def on_run_sync(self, call: FunctionCall, next: NextSync) -> Any:
            seen.append("open")
            try:
                return next()
            finally:
                seen.append("closed")

    client = Tidegate("shop", is_dev=True, middleware=[Opening()])
    for kind in KINDS:

        def body(ctx: Any) -> Any:
            yield ctx.step.run("a", lambda: seen.append("step"))

        assert run_function(function(client, kind, body)).error is None
        assert seen == [*["open", "closed"], *["open", "step", "closed"], *["open", "closed"]]
        seen.clear()


def test_cancelling_a_call_unwinds_its_middleware() -> None:
    seen: list[Any] = []
    client = Tidegate("shop", is_dev=True, middleware=[Recording("m", seen)])
    reached = asyncio.Event()

    @client.create_function(id="fn", trigger="order/paid")
    async def fn(ctx: Context) -> None:
        async def forever() -> None:
            reached.set()
            await asyncio.Event().wait()

        await ctx.step.run("a", forever)

    async def run() -> None:
        call = asyncio.create_task(Caller(client).async_(fn))
        await reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())
    assert seen == ["m begins", ("m", "a", "a", "01R", "fn", 2), "m ends"]


def test_calls_at_the_same_time_have_dependencies_of_their_own() -> None:
    class PerRun(Middleware):
        async def on_run(self, call: FunctionCall, next: Next) -> Any:
            call.inject("total", call.event.data["total"])
            await asyncio.sleep(0)
            return await next()

    client = Tidegate("shop", is_dev=True)

    @client.create_function(id="fn", trigger="order/paid", middleware=[PerRun()])
    async def fn(ctx: Context) -> Any:
        await asyncio.sleep(0)
        return ctx.deps["total"]

    async def run() -> list[Any]:
        call = Caller(client).async_
        events = [{"name": "order/paid", "data": {"total": n}} for n in range(5)]
        return [body for _, body in await asyncio.gather(*(call(fn, event=event) for event in events))]

    assert asyncio.run(run()) == [0, 1, 2, 3, 4]


def test_a_test_may_have_other_middleware() -> None:
    class Fake(Middleware):
        def on_run_sync(self, call: FunctionCall, next: NextSync) -> Any:
            call.inject(Database, Database("fake"))
            return next()

    client = Tidegate("shop", is_dev=True, middleware=[Connecting()])

    @client.create_function(id="fn", trigger="order/paid")
    def fn(ctx: SyncContext) -> str:
        return ctx.deps[Database].name

    assert run_function(fn, middleware=[Fake()]).result == "fake"


def test_a_hook_only_for_the_other_kind_of_code_is_a_mistake() -> None:
    class AsyncOnly(Middleware):
        async def on_run(self, call: FunctionCall, next: Next) -> Any:
            return await next()

    class PlainSend(Middleware):
        def on_send_sync(self, send: SendCall, next: Any) -> list[str]:
            return next()  # type: ignore[no-any-return]

    client = Tidegate("shop", is_dev=True, middleware=[AsyncOnly()])
    created = client.create_function(id="fn", trigger="a")
    with pytest.raises(
        ConfigError, match='Function "fn" is plain, and the middleware "AsyncOnly" has on_run, but no on'
    ):
        created(lambda ctx: None)
    sending = Tidegate("shop", is_dev=True, middleware=[PlainSend()])
    with pytest.raises(ConfigError, match=r"send\(\) is async, .* has on_send_sync, but no on_send: define"):
        asyncio.run(sending.send({"name": "a", "data": {}}))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Middleware(), "must be a list"),
        ([Middleware], "the class Middleware: call it"),
        ([object()], "subclass of tidegate.Middleware"),
    ],
)
def test_what_is_no_middleware_is_refused(given: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Tidegate("shop", middleware=given)
    with pytest.raises(ConfigError, match=f'Function "fn": .*{words}'):
        Tidegate("shop").create_function(id="fn", trigger="a", middleware=given)


def test_a_sync_hook_that_is_async_is_refused() -> None:
    class Odd(Middleware):
        async def on_run_sync(self, call: FunctionCall, next: NextSync) -> Any:
            return next()

    with pytest.raises(ConfigError, match='on_run_sync of the middleware "Odd" must not be async'):
        Tidegate("shop", middleware=[Odd()])


def test_a_failed_step_comes_by_as_it_was_raised() -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Tagged("t")])

    @client.create_function(id="fn", trigger="a", retries=0)
    def fn(ctx: SyncContext) -> Any:
        def work() -> None:
            raise OSError("down")

        try:
            ctx.step.run("a", work)
        except StepError as error:
            return error.message

    assert run_function(fn).result == "down"
