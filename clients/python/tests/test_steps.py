"""Steps of async and of plain code, where Python differs: the conformance cases test the rest."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from support.calls import Caller
from tidegate import Context, NonRetriableError, StepError, SyncContext, Tidegate, current_step
from tidegate._steps.ids import hash_step_id

client = Tidegate("shop", is_dev=True)
call = Caller(client)
created = client.create_function(id="fn", trigger="order/paid")


def test_any_function_can_be_a_step_with_its_arguments() -> None:
    async def double(n: int, *, plus: int = 0) -> int:
        return 2 * n + plus

    @created
    async def fn(ctx: Context) -> Any:
        return await ctx.step.run("double", double, 3, plus=1)

    @created
    def plain(ctx: SyncContext) -> Any:
        return ctx.step.run("double", max, [3, 7])

    assert call(fn)[1][0]["data"] == 7
    assert call(plain)[1][0]["data"] == 7


def test_a_blocking_step_of_async_code_runs_in_a_thread_when_it_is_told_to() -> None:
    @created
    async def fn(ctx: Context) -> Any:
        here = threading.get_ident()
        return await ctx.step.run("work", lambda: asyncio.to_thread(lambda: threading.get_ident() != here))

    assert call(fn)[1][0]["data"] is True


def test_the_code_of_a_step_has_an_idempotency_key_that_is_its_own_and_that_of_no_other_step_or_code() -> None:
    def key() -> str:
        return current_step().idempotency_key

    @created
    async def fn(ctx: Context) -> Any:
        with pytest.raises(RuntimeError, match="outside of a step"):
            current_step()
        keys = await asyncio.gather(ctx.step.run("a", key), ctx.step.run("a", lambda: asyncio.to_thread(key)))
        with pytest.raises(RuntimeError, match="outside of a step"):
            current_step()
        return keys

    @created
    def plain(ctx: SyncContext) -> Any:
        keys = ctx.step.parallel([lambda: ctx.step.run("a", key), lambda: ctx.step.run("a", key)])
        with pytest.raises(RuntimeError, match="outside of a step"):
            current_step()
        return keys

    for one in (fn, plain):
        keys = [call(one, step=name)[1][0]["data"] for name in ("a", "a:1")]
        assert keys == [f"01R-{hash_step_id('a')}", f"01R-{hash_step_id('a:1')}"]
        assert [call(one, step="a")[1][0]["data"]] == keys[:1]
        memos = {"a": {"data": keys[0]}, "a:1": {"data": keys[1]}}
        assert call(one, memos) == (200, keys)


def test_a_step_sees_the_context_variables_of_the_code_around_it() -> None:
    tenant = contextvars.ContextVar("tenant", default="none")

    @created
    async def fn(ctx: Context) -> Any:
        tenant.set("async")
        return await ctx.step.run("who", tenant.get)

    @created
    def plain(ctx: SyncContext) -> Any:
        tenant.set("plain")
        return ctx.step.run("who", tenant.get)

    assert [call(fn)[1][0]["data"], call(plain)[1][0]["data"]] == ["async", "plain"]
    assert tenant.get() == "none"


def test_gather_and_tasks_plan_steps_side_by_side() -> None:
    @created
    async def fn(ctx: Context) -> Any:
        task = asyncio.create_task(ctx.step.run("b", lambda: 2))
        return [*await asyncio.gather(ctx.step.run("a", lambda: 1), ctx.step.sleep("s", 1)), await task]

    assert call.ops(fn) == [("StepPlanned", "b"), ("StepPlanned", "a"), ("Sleep", "s")]
    assert call(fn, step="a")[1][0]["data"] == 1
    assert call(fn, {"s": None, "b": {"data": 2}, "a": {"data": 1}}) == (200, [1, None, 2])


@pytest.mark.skipif(sys.version_info < (3, 11), reason="task groups are of Python 3.11")
class TestATaskGroup:
    def test_plans_steps_side_by_side(self) -> None:
        @created
        async def fn(ctx: Context) -> Any:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(ctx.step.run(name, lambda: 1)) for name in "ab"]
            return [task.result() for task in tasks]

        assert call.ops(fn) == [("StepPlanned", "a"), ("StepPlanned", "b")]
        assert call(fn, {"b": {"data": 2}, "a": {"data": 1}}) == (200, [1, 2])

    def test_whose_step_has_failed_for_good_fails_the_run_with_that_error(self) -> None:
        @created
        async def fn(ctx: Context) -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(ctx.step.run("a", lambda: 1))
                group.create_task(ctx.step.run("b", lambda: 2))

        status, body = call(fn, {"a": {"error": {"name": "Boom", "message": "bad"}}})
        assert (status, body["name"], body["message"]) == (400, "Boom", "bad")

    def test_forgets_the_steps_that_it_has_cancelled(self) -> None:
        @created
        async def fn(ctx: Context) -> None:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(ctx.step.run("a", lambda: 1))
                    group.create_task(ctx.step.run("b", lambda: 2))
            except Exception as error:
                assert type(error).__name__ == "ExceptionGroup"
            await ctx.step.run("c", lambda: 3)

        assert call.ops(fn, {"a": {"error": {"name": "E", "message": "bad"}}}) == [("StepRun", "c")]


def test_a_race_has_the_winner_that_was_first_in_every_replay() -> None:
    async def branch(ctx: Context, name: str, rounds: int) -> str:
        await ctx.step.run(name, lambda: 1)
        for _ in range(rounds):
            await asyncio.sleep(0)
        return name

    @created
    async def fn(ctx: Context) -> str:
        racers = [asyncio.create_task(branch(ctx, name, rounds)) for name, rounds in [("a", 0), ("b", 20)]]
        done, _ = await asyncio.wait(racers, return_when=asyncio.FIRST_COMPLETED)
        return " and ".join(task.result() for task in done)

    memos = {"a": {"data": 1}, "b": {"data": 1}}
    assert call(fn, memos, order=["b", "a"]) == (200, "b")
    assert call(fn, memos, order=["a", "b"]) == (200, "a")


def test_steps_behind_something_of_the_code_s_own_are_found() -> None:
    @created
    async def fn(ctx: Context) -> Any:
        await asyncio.sleep(0.01)
        return await ctx.step.run("late", lambda: 1)

    assert call.ops(fn) == [("StepRun", "late")]
    assert call(fn, {"late": {"data": 1}}) == (200, 1)


def test_branches_with_one_id_keep_their_steps_apart_in_async_and_plain_code() -> None:
    async def branch(ctx: Context) -> list[Any]:
        return [await ctx.step.run("x", lambda: 1), await ctx.step.run("x", lambda: 1)]

    @created
    async def fn(ctx: Context) -> Any:
        return await ctx.step.parallel([lambda: branch(ctx), lambda: branch(ctx)])

    @created
    def plain(ctx: SyncContext) -> Any:
        def branch() -> list[Any]:
            return [ctx.step.run("x", lambda: 1), ctx.step.run("x", lambda: 1)]

        return ctx.step.parallel([branch, branch])

    memos = {name: {"data": name} for name in ("x", "x:1", "x:2", "x:3")}
    for one in (fn, plain):
        assert call(one, memos, order=["x:1", "x", "x:2", "x:3"]) == (200, [["x", "x:3"], ["x:1", "x:2"]])


@pytest.mark.filterwarnings("error")
def test_nothing_is_left_of_a_call_that_ends_at_a_step(caplog: pytest.LogCaptureFixture) -> None:
    unwound: list[str] = []
    extras: list[asyncio.Task[None]] = []

    async def branch(ctx: Context, name: str) -> None:
        try:
            await ctx.step.run(name, lambda: 1)
        except Exception:
            unwound.append("caught by mistake")
        finally:
            unwound.append(name)

    @created
    async def fn(ctx: Context) -> None:
        extras.append(asyncio.create_task(branch(ctx, "extra")))
        await asyncio.gather(branch(ctx, "a"), branch(ctx, "b"))

    async def run() -> int:
        await call.async_(fn)
        return len(asyncio.all_tasks())

    with caplog.at_level(logging.WARNING, "asyncio"):
        assert asyncio.run(run()) == 1
        gc.collect()
    assert sorted(unwound) == ["a", "b", "extra"]
    assert not caplog.records


def test_plain_code_is_unwound_past_except_exception_and_leaves_no_thread() -> None:
    unwound: list[str] = []

    @created
    def fn(ctx: SyncContext) -> None:
        def branch(name: str) -> Callable[[], None]:
            def run() -> None:
                try:
                    ctx.step.run(name, lambda: 1)
                except Exception:
                    unwound.append("caught by mistake")
                finally:
                    unwound.append(name)

            return run

        ctx.step.parallel([branch("a"), branch("b")])

    before = threading.active_count()
    assert call.ops(fn) == [("StepPlanned", "a"), ("StepPlanned", "b")]
    assert sorted(unwound) == ["a", "b"]
    assert threading.active_count() == before


def test_a_handler_that_swallows_the_end_of_its_call_does_not_take_it_back() -> None:
    @created
    def fn(ctx: SyncContext) -> str:
        try:
            ctx.step.run("a", lambda: 1)
        except BaseException:
            return "swallowed"
        return "done"

    @created
    async def fn_async(ctx: Context) -> str:
        try:
            await ctx.step.run("a", lambda: 1)
        except BaseException:
            return "swallowed"
        return "done"

    assert call.ops(fn) == call.ops(fn_async) == [("StepRun", "a")]


def test_a_plain_step_runs_in_the_thread_of_its_call() -> None:
    @created
    def fn(ctx: SyncContext) -> Any:
        return ctx.step.parallel([lambda: ctx.step.run("a", threading.get_ident), lambda: ctx.step.sleep("s", 1)])

    assert call(fn, step="a")[1][0]["data"] == threading.get_ident()


def test_the_first_branch_to_fail_fails_a_parallel_and_the_others_stay_planned() -> None:
    @created
    def fn(ctx: SyncContext) -> Any:
        try:
            ctx.step.parallel([lambda: ctx.step.run("a", int), lambda: ctx.step.run("b", int)])
        except StepError as error:
            message = error.message
        return ctx.step.run("c", str, message)

    failed = {"b": {"error": {"name": "E", "message": "bad"}}}
    assert call.ops(fn, failed) == [("StepPlanned", "a"), ("StepPlanned", "c")]
    assert call(fn, {**failed, "c": {"data": "bad"}}) == (200, "bad")


def test_steps_in_a_thread_of_the_handler_s_own_are_refused() -> None:
    @created
    def fn(ctx: SyncContext) -> str:
        refusals: list[str] = []

        def work() -> None:
            try:
                ctx.step.run("a", lambda: 1)
            except RuntimeError as error:
                refusals.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return refusals[0]

    assert "step.parallel" in call(fn)[1]


def test_steps_do_not_nest() -> None:
    @created
    async def fn(ctx: Context) -> None:
        async def outer() -> None:
            await ctx.step.run("inner", lambda: 1)

        await ctx.step.run("outer", outer)

    @created
    def plain(ctx: SyncContext) -> None:
        ctx.step.run("outer", lambda: ctx.step.run("inner", lambda: 1))

    for one in (fn, plain):
        op = call(one)[1][0]
        assert (op["op"], op["error"]["name"]) == ("StepFailed", "NonRetriableError")
        assert '"inner" is inside of step "outer"' in op["error"]["message"]


def test_an_async_step_of_plain_code_is_refused() -> None:
    async def later() -> int:
        return 1

    @created
    def fn(ctx: SyncContext) -> Any:
        return ctx.step.run("a", later)

    op = call(fn)[1][0]
    assert (op["op"], op["error"]["name"]) == ("StepError", "TypeError")


def test_a_result_that_is_no_json_fails_the_step_and_says_where() -> None:
    @created
    def fn(ctx: SyncContext) -> Any:
        return ctx.step.run("a", lambda: {"tags": [{1, 2}]})

    assert call(fn)[1][0]["error"]["message"] == (
        'The result of step "a".tags[0] is of the type set, which is not JSON'
    )


def test_what_a_step_cancels_itself_is_an_error_of_the_step() -> None:
    @created
    async def fn(ctx: Context) -> None:
        async def give_up() -> None:
            raise asyncio.CancelledError

        await ctx.step.run("a", give_up)

    op = call(fn)[1][0]
    assert (op["op"], op["error"]["name"]) == ("StepError", "CancelledError")


def test_cancelling_the_call_cancels_its_step_and_its_handler() -> None:
    ended: list[str] = []

    async def run() -> None:
        started = asyncio.Event()

        @created
        async def fn(ctx: Context) -> None:
            async def work() -> None:
                started.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    ended.append("step")

            try:
                await ctx.step.run("a", work)
            finally:
                ended.append("handler")

        task = asyncio.create_task(call.async_(fn))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert sorted(ended) == ["handler", "step"]


def test_the_logger_says_each_line_once(caplog: pytest.LogCaptureFixture) -> None:
    @created
    async def fn(ctx: Context) -> None:
        ctx.logger.info("start")
        await ctx.step.run("one", lambda: ctx.logger.info("in one"))
        ctx.logger.info("between %s", 7, extra={"order": 7})
        await ctx.step.run("two", lambda: None)
        ctx.logger.info("end")

    memos: dict[str, Any] = {}
    with caplog.at_level(logging.INFO, "tidegate"):
        for name in ("one", "two", "none"):
            call(fn, dict(memos))
            memos[name] = {"data": None}
    assert [record.getMessage() for record in caplog.records] == ["start", "in one", "between 7", "end"]
    assert {record.filename for record in caplog.records} == {"test_steps.py"}


def test_a_run_of_a_thousand_steps_is_replayed_in_a_moment() -> None:
    @created
    async def fn(ctx: Context) -> int:
        return sum([await ctx.step.run("x", lambda: 1) for _ in range(1_000)])

    memos = {"x" if n == 0 else f"x:{n}": {"data": 1} for n in range(1_000)}
    assert call(fn, memos) == (200, 1_000)


def test_on_failure_gets_the_error_in_both_flavours() -> None:
    def report(ctx: Any) -> list[str]:
        return [ctx.error.name, str(ctx.error), ctx.error.stack]

    async def report_async(ctx: Any) -> list[str]:
        return report(ctx)

    handlers: list[Callable[[Any], Any] | Callable[[Any], Awaitable[Any]]] = [report, report_async]
    for handler in handlers:
        fn = client.create_function(id="pay", trigger="order/paid", on_failure=handler)(lambda ctx: None)
        failure = fn.on_failure
        assert failure
        assert failure.triggers[0].on_the_wire()["expression"] == "event.data.function_id == 'shop-pay'"
        error = {"name": "Boom", "message": "bad", "stack": "at line 7"}
        event = {"name": "inngest/function.failed", "data": {"error": error}, "id": "1", "ts": 1}
        assert call(failure, event=event) == (200, ["Boom", "bad", "at line 7"])


def test_a_non_retriable_error_in_a_handler_is_final() -> None:
    @created
    def fn(ctx: SyncContext) -> None:
        raise NonRetriableError("no use")

    status, body = call(fn)
    assert (status, body["name"], body["message"]) == (400, "NonRetriableError", "no use")
    assert "test_steps.py" in body["stack"]


def test_a_race_goes_on_with_its_first_branch_and_leaves_no_task() -> None:
    left: list[str] = []

    async def slow(ctx: Context) -> str:
        try:
            await asyncio.sleep(60)
            return await ctx.step.run("never", lambda: "never")
        finally:
            left.append("slow")

    @created
    async def fn(ctx: Context) -> Any:
        first = await ctx.step.race([lambda: ctx.step.run("a", lambda: 1), lambda: slow(ctx)])
        return [first, await ctx.step.run("b", lambda: 2)]

    assert [op["opts"] for op in call(fn)[1]] == [{"parallelMode": "race"}]
    assert call(fn, {"a": {"data": 1}, "b": {"data": 2}}) == (200, [1, 2])
    assert left == ["slow", "slow"]


def test_a_loser_s_error_is_nobody_s() -> None:
    @created
    async def fn(ctx: Context) -> Any:
        return await ctx.step.race([lambda: ctx.step.run("a", int), lambda: ctx.step.run("b", int)])

    @created
    def plain(ctx: SyncContext) -> Any:
        return ctx.step.race([lambda: ctx.step.run("a", int), lambda: ctx.step.run("b", int)])

    failed: dict[str, Any] = {"error": {"name": "E", "message": "bad"}}
    for one in (fn, plain):
        assert call(one, {"a": {"data": 1}, "b": failed}) == (200, 1)
        status, body = call(one, {"b": failed, "a": {"data": 1}})
        assert (status, body["message"]) == (400, "bad")


def test_a_race_needs_a_branch() -> None:
    @created
    def fn(ctx: SyncContext) -> Any:
        return ctx.step.race([])

    assert call(fn)[1]["message"].startswith("A race needs a branch")


def test_errors_keep_cause_data_and_code_through_a_step() -> None:
    def fail() -> None:
        try:
            raise OSError(7, "no disk")
        except OSError as error:
            raise NonRetriableError("no use", data={"disk": 1}, code="E_DISK") from error

    @created
    def fn(ctx: SyncContext) -> Any:
        try:
            ctx.step.run("a", fail)
        except StepError as error:
            assert error.cause
            inner = error.cause.cause
            return [error.data, error.code, inner.name, inner.message, error.cause.__cause__ is inner]
        return None

    op = call(fn)[1][0]
    assert (op["error"]["data"], op["error"]["code"], op["error"]["cause"]["name"]) == (
        {"disk": 1},
        "E_DISK",
        "OSError",
    )
    assert "no disk" in op["error"]["cause"]["stack"]
    memo = {"a": {"error": op["error"]}}
    assert call(fn, memo) == (200, [{"disk": 1}, "E_DISK", "OSError", "[Errno 7] no disk", True])


def test_what_is_no_json_or_too_large_is_left_out_of_an_error() -> None:
    class OddError(Exception):
        data = frozenset({1, 2})
        code = True

    class LargeError(Exception):
        data = "x" * 20_000

    for kind in (OddError, LargeError):

        @created
        def fn(ctx: SyncContext, kind: type[Exception] = kind) -> None:
            error = kind("odd")
            error.__cause__ = error
            raise error

        body = call(fn)[1]
        causes = 0
        while body:
            assert set(body) <= {"name", "message", "stack", "cause", "source"}
            body, causes = body.get("cause"), causes + 1
        assert causes == 6
