"""Steps that the service does for the app, and what steps and clients ask of it: signals, requests, realtime."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from support.calls import Caller
from support.played_service import PlayedService, Reply, played_service
from tidegate import Context, FetchResponse, ReceivedSignal, SendError, SyncContext, Tidegate
from tidegate.testing import run_function

client = Tidegate("shop", is_dev=True)
call = Caller(client)
created = client.create_function(id="fn", trigger="order/paid", retries=0)


@created
async def fn_async(ctx: Context) -> Any:
    step = ctx.step
    signal = await step.wait_for_signal("approval", signal="approve/7", timeout="3d", conflict="replace")
    fetched = await step.fetch("rates", "https://a.example/rates", method="POST", headers={"x-own": "1"}, body={"n": 1})
    answer = await step.infer(
        "ask", "https://b.example/v1", format="openai-chat", body={"model": "m"}, headers={"x": "y"}, auth_key="sk"
    )
    return [signal and signal.data, fetched.ok, fetched.json(), answer]


@created
def fn_plain(ctx: SyncContext) -> Any:
    step = ctx.step
    signal = step.wait_for_signal("approval", signal="approve/7", timeout="3d", conflict="replace")
    fetched = step.fetch("rates", "https://a.example/rates", method="POST", headers={"x-own": "1"}, body={"n": 1})
    answer = step.infer(
        "ask", "https://b.example/v1", format="openai-chat", body={"model": "m"}, headers={"x": "y"}, auth_key="sk"
    )
    return [signal and signal.data, fetched.ok, fetched.json(), answer]


SIGNAL = {"data": {"signal": "approve/7", "data": {"by": "Ada"}}}
FETCHED = {"data": {"status_code": 404, "headers": {"X-A": "b"}, "body": "[1]", "url": "https://a.example/rates"}}


@pytest.mark.parametrize("fn", [fn_async, fn_plain])
def test_signals_fetches_and_inferences_are_reported_and_read(fn: Any) -> None:
    def op(*steps: Any) -> Any:
        (only,) = call(fn, dict(steps))[1]
        return only["op"], only["displayName"], only["opts"]

    signal, fetched = ("approval", SIGNAL), ("rates", FETCHED)
    assert op() == ("WaitForSignal", "approval", {"signal": "approve/7", "timeout": "3d", "conflict": "replace"})
    request = {"url": "https://a.example/rates", "method": "POST", "headers": {"x-own": "1"}, "body": {"n": 1}}
    assert op(signal) == ("Gateway", "rates", request)
    assert op(signal, fetched) == (
        "AIGateway",
        "ask",
        {
            "type": "step.ai.infer",
            "url": "https://b.example/v1",
            "format": "openai-chat",
            "auth_key": "sk",
            "headers": {"x": "y"},
            "body": {"model": "m"},
        },
    )
    memos = {"approval": SIGNAL, "rates": FETCHED, "ask": {"data": {"text": "hi"}}}
    assert call(fn, memos) == (200, [{"by": "Ada"}, False, [1], {"text": "hi"}])
    assert call(fn, {**memos, "approval": None})[1][0] is None


def test_tests_stub_them() -> None:
    stubs = {"rates": FetchResponse(status=200, body="[2]"), "ask": {"text": "hi"}}
    run = run_function(fn_plain, steps={**stubs, "approval": ReceivedSignal(signal="approve/7", data=3)})
    assert run.result == [3, True, [2], {"text": "hi"}]
    assert [step.kind for step in run.steps] == ["wait_for_signal", "fetch", "infer"]
    assert run_function(fn_async, steps=stubs).result[0] is None
    with pytest.raises(LookupError, match=r'Step "rates" asks https://a\.example/rates'):
        run_function(fn_plain)


@created
async def tell_async(ctx: Context) -> Any:
    await ctx.step.publish("show", "thread:7", "status", {"at": "search"})
    return await ctx.step.send_signal("approve", "approve/7", {"by": "Ada"})


@created
def tell_plain(ctx: SyncContext) -> Any:
    ctx.step.publish("show", "thread:7", "status", {"at": "search"})
    return ctx.step.send_signal("approve", "approve/7", {"by": "Ada"})


@pytest.fixture
def service() -> Iterator[PlayedService]:
    with played_service(Reply(body={"data": {"run_id": "01R2"}})) as played:
        yield played


@pytest.mark.parametrize("fn", [tell_async, tell_plain])
def test_a_step_publishes_and_sends_signals(fn: Any, service: PlayedService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_DEV", service.url)
    assert call.ops(fn) == [("StepRun", "show")]
    op = call(fn, {"show": {"data": None}})[1][0]
    assert (op["op"], op["name"], op["data"]) == ("StepRun", "sendSignal", "01R2")
    assert [(asked.path, asked.json) for asked in service.requests] == [
        ("/v1/realtime/publish?channel=thread%3A7&topic=status&run_id=01R", {"at": "search"}),
        ("/v1/signals", {"signal": "approve/7", "data": {"by": "Ada"}}),
    ]
    run = run_function(fn)
    assert run.error is None
    assert [step.kind for step in run.steps] == ["publish", "send_signal"]


def test_a_client_sends_signals_publishes_and_gives_tokens_with_its_proof(service: PlayedService) -> None:
    own = Tidegate("shop", is_dev=False, base_url=service.url, signing_key="signkey-test-00ff", env="branch")

    async def use() -> str:
        async with own:
            await own.publish("thread:7", "status", "done")
            return await own.send_signal("approve/7", {"by": "Ada"})

    assert asyncio.run(use()) == own.send_signal_sync("approve/7") == "01R2"
    own.publish_sync("thread:7", "status", None)
    asked = service.requests
    assert {one.headers["x-service-env"] for one in asked} == {"branch"}
    assert all(one.headers["authorization"].startswith("Bearer signkey-test-") for one in asked)
    assert [one.json for one in asked] == [
        "done",
        {"signal": "approve/7", "data": {"by": "Ada"}},
        {"signal": "approve/7", "data": None},
        None,
    ]


def test_a_token_names_its_topics() -> None:
    with played_service(Reply(body={"jwt": "a.b.c"})) as service:
        own = Tidegate("shop", is_dev=True, base_url=service.url)
        assert own.subscription_token_sync("thread:7", ["status", "done"]) == "a.b.c"
        assert asyncio.run(own.subscription_token("thread:7", ["status"])) == "a.b.c"
        assert service.requests[0].json == [
            {"channel": "thread:7", "name": "status", "kind": "run"},
            {"channel": "thread:7", "name": "done", "kind": "run"},
        ]
        with pytest.raises(TypeError, match="a list of names"):
            own.subscription_token_sync("thread:7", "status")


def test_nobody_waits_for_a_signal_and_other_refusals() -> None:
    def refusing(*reply: Any) -> Any:
        with played_service(Reply(*reply)) as service:
            return Tidegate("shop", is_dev=True, base_url=service.url).send_signal_sync("approve/7")

    assert refusing(404, {"error": "no step waits", "code": "not_found"}) is None
    with pytest.raises(SendError, match="too many") as raised:
        refusing(429, {"error": "too many", "code": "rate_exceeded"}, {"x-request-id": "q"})
    assert (raised.value.status, raised.value.code, raised.value.request_id) == (429, "rate_exceeded", "q")
    with pytest.raises(SendError, match="could not be reached"):
        Tidegate("shop", is_dev=True, base_url="http://127.0.0.1:1").publish_sync("thread:7", "status", 1)
