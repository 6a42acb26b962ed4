"""Connections beside the cases of clients/conformance/connect.json."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.real_service import variable, wait_for
from tidegate import ConfigError, Context, Event, SyncContext, Tidegate
from tidegate._connect.frames import reply_of
from tidegate._run_call import AppAnswer
from tidegate.connect import connect

SRC = Path(__file__).parents[1] / "src"


def ended(client: Tidegate, event_id: str) -> Any:
    """The one run of the event, once it has ended."""
    settings = client.settings()
    headers = {} if settings.mode == "dev" else {"authorization": f"Bearer {variable('TEST_API_KEY')}"}
    with httpx.Client(base_url=settings.base_url, headers=headers) as http:
        answer = wait_for(
            http, f"/v1/events/{event_id}/runs", lambda answer: any(run["ended_at"] for run in answer.json()["data"])
        )
    return answer.json()["data"][0]


def test_functions_of_both_kinds_run_over_a_connection(client: Tidegate) -> None:
    name = f"py/{uuid.uuid4()}"
    threads: list[int] = []

    @client.create_function(id="plain", trigger=f"{name}/plain")
    def plain(ctx: SyncContext) -> Any:
        a = ctx.step.run("a", lambda: threads.append(threading.get_ident()) or "ä")
        ctx.step.sleep("nap", 0.001)
        return [a, *ctx.step.parallel((lambda: ctx.step.run("b", lambda: 1), lambda: ctx.step.run("c", lambda: 2)))]

    @client.create_function(id="waits", trigger=name, retries=1)
    async def waits(ctx: Context) -> Any:
        ids = await ctx.step.send_event("tell", Event(name=f"{name}/plain", data={}))
        if ctx.attempt == 0:
            raise OSError("the first attempt fails")
        return await ctx.step.run("both", lambda: len(ids))

    states: list[str] = []

    async def use() -> list[Any]:
        async with client, await connect(client, [plain, waits], on_state=states.append) as connection:
            assert connection.state == "ready"
            ids = await client.send([Event(name=f"{name}/plain", data={}), Event(name=name, data={})])
            return await asyncio.gather(*(asyncio.to_thread(ended, client, event_id) for event_id in ids))

    one, other = asyncio.run(use())
    assert (one["status"], one["output"]) == ("Completed", ["ä", 1, 2])
    assert (other["status"], other["output"]) == ("Completed", 1)
    assert threads and threading.get_ident() not in threads
    assert states == ["connecting", "ready", "closing", "closed"]


def test_plain_functions_run_beside_each_other_however_many_there_are() -> None:
    client = Tidegate(f"py-{uuid.uuid4()}", is_dev=True, base_url=variable("TEST_DEV_SERVICE"))
    count = (os.cpu_count() or 1) + 8
    together = threading.Barrier(count, timeout=20)

    @client.create_function(id="fn", trigger=client.app_id, retries=0)
    def fn(ctx: SyncContext) -> None:
        together.wait()

    async def use() -> list[Any]:
        async with client, await connect(client, [fn]):
            ids = await client.send([Event(name=client.app_id, data={}) for _ in range(count)])
            return await asyncio.gather(*(asyncio.to_thread(ended, client, event_id) for event_id in ids))

    assert {run["status"] for run in asyncio.run(use())} == {"Completed"}


PROGRAM = """
import os, sys
from tidegate import SyncContext, Tidegate
from tidegate.connect import run

client = Tidegate(os.environ["APP"])

@client.create_function(id="fn", trigger=client.app_id, retries=0)
def fn(ctx: SyncContext) -> str:
    print("called", flush=True)
    return sys.stdin.readline()

run(client, [fn], on_state=lambda state: print(state, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_that_is_told_to_stop_finishes_its_calls(number: signal.Signals) -> None:
    service, app = variable("TEST_DEV_SERVICE"), f"py-{uuid.uuid4()}"
    with program(APP=app, SERVICE_DEV=service) as process, Tidegate(app, is_dev=True, base_url=service) as client:
        assert lines(process, 2) == ["connecting", "ready"]
        (event_id,) = client.send_sync(Event(name=app, data={}))
        assert lines(process, 1) == ["called"]
        process.send_signal(number)
        assert lines(process, 1) == ["closing"]
        rest, _ = process.communicate("finished", timeout=20)
        assert (rest.split(), process.returncode) == (["closed"], 0)
        run = ended(client, event_id)
        assert (run["status"], run["output"]) == ("Completed", "finished")


def test_a_program_that_is_told_to_stop_before_it_is_connected_ends_at_once() -> None:
    with program(APP="shop", SERVICE_DEV="http://127.0.0.1:1") as process:
        assert lines(process, 1) == ["connecting"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


@contextmanager
def program(**environment: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(SRC), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout
    return [process.stdout.readline().strip() for _ in range(count)]


def test_a_response_that_is_too_large_for_a_frame_fails_the_call() -> None:
    reply = reply_of("c1", AppAnswer(status=200, headers={}, body=json.dumps("x" * 12 * 1_048_576)))
    assert (reply["status"], reply["noRetry"]) == (2, True)
    assert json.loads(reply["body"])["name"] == "OutputTooLarge"
    assert reply_of("c1", AppAnswer(status=200, headers={}, body="x" * 4 * 1_048_576))["status"] == 1


def test_options_that_make_no_sense_are_refused() -> None:
    client = Tidegate("shop", is_dev=True)
    for wrong in (0, True, "3"):
        with pytest.raises(ConfigError, match="max_concurrency must be a whole number from 1, got"):
            asyncio.run(connect(client, [], max_concurrency=wrong))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match='connect has no option "concurrency"; did you mean "max_concurrency"'):
        connect(client, [], concurrency=3)  # type: ignore[call-arg]


def test_what_on_state_raises_is_logged_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: str) -> None:
        raise ValueError("a bug")

    async def use() -> None:
        client = Tidegate(f"py-{uuid.uuid4()}", is_dev=True, base_url=variable("TEST_DEV_SERVICE"))
        async with client, await connect(client, [], on_state=fails) as connection:
            assert connection.state == "ready"

    asyncio.run(use())
    assert "on_state has failed" in caplog.text
