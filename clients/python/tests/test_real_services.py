"""Against real services, which test/support/with-services.ts starts: in dev mode, and in production mode."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import psycopg
import pytest

import tidegate.asgi
import tidegate.wsgi
from support.hosts import asgi_host, ask, closing, wsgi_host
from support.played_service import Reply, played_service
from support.postgres import AppDatabase, wait_until
from support.real_service import variable, wait_for
from tidegate import Context, Event, NonRetriableError, SendError, StepError, SyncContext, Tidegate, current_step
from tidegate.encryption import Encryption
from tidegate.postgres import Relay, outbox_sync


@pytest.mark.parametrize("way", ["async on ASGI", "plain on WSGI"])
def test_a_run_goes_through_all_kinds_of_steps(client: Tidegate, way: str) -> None:
    name = f"py/{uuid.uuid4()}"
    tried = threading.Semaphore(1)

    def flaky() -> int:
        if tried.acquire(blocking=False):
            raise OSError("the first try fails")
        return 2

    @client.create_function(id="double", trigger=f"{name}/never")
    def double(ctx: SyncContext) -> int:
        return int(ctx.event.data["n"]) * 2

    @client.create_function(id="main", trigger=name)
    async def main(ctx: Context) -> Any:
        both = await ctx.step.parallel((lambda: ctx.step.run("a", lambda: 1), lambda: ctx.step.run("b", flaky)))
        await ctx.step.sleep("rest", 0.05)
        four = await ctx.step.invoke("four", function=double, data={"n": both[1]})
        ids = await ctx.step.send_event("tell", Event(name=f"{name}/told", data={}))
        none = await ctx.step.wait_for_event("none", event=f"{name}/never-sent", timeout=0.05)
        return [*both, four, len(ids), none]

    @client.create_function(id="main", trigger=name)
    def main_plain(ctx: SyncContext) -> Any:
        both = ctx.step.parallel((lambda: ctx.step.run("a", lambda: 1), lambda: ctx.step.run("b", flaky)))
        ctx.step.sleep("rest", 0.05)
        four = ctx.step.invoke("four", function=double, data={"n": both[1]})
        ids = ctx.step.send_event("tell", Event(name=f"{name}/told", data={}))
        none = ctx.step.wait_for_event("none", event=f"{name}/never-sent", timeout=0.05)
        return [*both, four, len(ids), none]

    run = _run(client, way, [main if way.startswith("async") else main_plain, double], Event(name=name, data={}))
    assert (run["status"], run["output"]) == ("Completed", [1, 2, 4, 1, None])


def test_a_failure_for_good_runs_the_handler_of_failures(client: Tidegate) -> None:
    name = f"py/{uuid.uuid4()}"
    seen: list[str] = []
    reported = threading.Event()

    def report(ctx: Any) -> None:
        seen.append(f"{ctx.error.name}: {ctx.error}")
        reported.set()

    @client.create_function(id="fails", trigger=name, retries=1, on_failure=report)
    async def fails(ctx: Context) -> None:
        raise OSError("down for good")

    run = _run(client, "async on ASGI", [fails], Event(name=name, data={}), until=reported)
    assert run["status"] == "Failed"
    assert seen == ["OSError: down for good"]


def test_events_that_are_sent_again_under_the_same_seed_get_the_same_ids(client: Tidegate) -> None:
    events = [Event(name="py/again", data={"n": n}) for n in range(3)]
    seed = "1767225600000,ABEiM0RVZneImQ=="
    ids = client.send_sync(events, seed=seed)
    assert client.send_sync(events, seed=seed) == ids
    assert len(set(ids)) == 3


def test_a_refusal_is_told_in_the_words_of_the_service(client: Tidegate) -> None:
    with pytest.raises(SendError) as raised:
        client.send_sync({"name": "", "data": {}})
    assert raised.value.status == 400
    assert raised.value.code and raised.value.request_id


@pytest.mark.parametrize("way", ["async on ASGI", "plain on WSGI"])
def test_the_service_stores_only_encrypted_values_of_an_app_that_encrypts(way: str) -> None:
    service, name, secret = variable("TEST_DEV_SERVICE"), f"py/{uuid.uuid4()}", f"secret-{uuid.uuid4()}"
    encryption = Encryption(key="0123456789abcdef0123456789abcdef")
    client = Tidegate(f"py-{uuid.uuid4()}", is_dev=True, base_url=service, middleware=[encryption])
    seen: list[Any] = []
    reported = threading.Event()

    @client.create_function(id="other", trigger=f"{name}/never")
    def other(ctx: SyncContext) -> Any:
        return [ctx.event.data["encrypted"], ctx.event.data["n"]]

    def report(ctx: Any) -> None:
        seen.append(ctx.event.data["event"]["data"])
        reported.set()

    @client.create_function(id="main", trigger=name, retries=0, on_failure=report)
    async def main(ctx: Context) -> Any:
        own = await ctx.step.run("own", lambda: ctx.event.data["encrypted"])
        told = Event(name=f"{name}/told", data={"n": 2, "encrypted": own})
        arrived, _ = await ctx.step.parallel(
            (
                lambda: ctx.step.wait_for_event("told", event=f"{name}/told", timeout="1m", if_="async.data.n == 2"),
                lambda: ctx.step.send_event("tell", told),
            )
        )
        invoked = await ctx.step.invoke("other", function=other, data={"n": 3, "encrypted": own})
        seen.extend([arrived and arrived.data, invoked])
        raise NonRetriableError("enough")

    @client.create_function(id="main", trigger=name, retries=0, on_failure=report)
    def main_plain(ctx: SyncContext) -> Any:
        own = ctx.step.run("own", lambda: ctx.event.data["encrypted"])
        told = Event(name=f"{name}/told", data={"n": 2, "encrypted": own})
        arrived, _ = ctx.step.parallel(
            (
                lambda: ctx.step.wait_for_event("told", event=f"{name}/told", timeout="1m", if_="async.data.n == 2"),
                lambda: ctx.step.send_event("tell", told),
            )
        )
        invoked = ctx.step.invoke("other", function=other, data={"n": 3, "encrypted": own})
        seen.extend([arrived and arrived.data, invoked])
        raise NonRetriableError("enough")

    functions = [main if way.startswith("async") else main_plain, other]
    with client, httpx.Client(base_url=service) as http:
        run = _run(client, way, functions, Event(name=name, data={"n": 1, "encrypted": secret}), until=reported)
        paths = (f"/v1/runs/{run['run_id']}", f"/v0/runs/{run['run_id']}/actions", f"/v0/runs/{run['run_id']}/batch")
        kept = [http.get(path).text for path in paths]
    assert run["status"] == "Failed"
    assert seen == [{"n": 2, "encrypted": secret}, [secret, 3], {"n": 1, "encrypted": secret}]
    assert secret not in "".join(kept)
    assert all("$encrypted" in text for text in kept[1:])


def test_an_order_and_its_booking_happen_once(client: Tidegate, database: AppDatabase) -> None:
    name = f"py/{uuid.uuid4()}"
    tried = threading.Semaphore(1)

    @client.create_function(id="book", trigger=name)
    def book(ctx: SyncContext) -> Any:
        def insert(tx: Any) -> str:
            tx.execute("insert into orders (id) values ('booking')")
            return current_step().idempotency_key

        with psycopg.connect(database.url) as connection:
            key = ctx.step.transaction("book", connection, insert)
        if tried.acquire(blocking=False):
            raise OSError("after the commit")
        return key

    def send(event: Event) -> str:
        with psycopg.connect(database.url) as connection:
            connection.execute("insert into orders (id) values ('order')")
            outbox_sync(connection, client, event)
        with Relay(client, lambda: psycopg.connect(database.url), keep_days=1):
            wait_until(lambda: database.outbox[0]["state"] == "acknowledged")
        event_id: str = database.outbox[0]["event_id"]
        return event_id

    run = _run(client, "plain on WSGI", [book], Event(name=name, data={}), send=send)
    (step,) = database.sql("select * from tidegate_steps")
    assert (run["status"], run["output"]) == ("Completed", f"{step['run_id']}-{step['step_id']}")
    assert {row["id"] for row in database.sql("select id from orders")} == {"order", "booking"}

    # Whether the service has the event is a question 25 hours later, which it answers.
    (before,) = database.outbox
    database.sql("update tidegate_outbox set state = 'waiting', event_id = null, sent_at = now() - interval '25 hours'")
    with Relay(client, lambda: psycopg.connect(database.url), keep_days=1):
        wait_until(lambda: database.outbox[0]["state"] == "acknowledged")
    assert database.outbox[0]["event_id"] == before["event_id"]
    assert len(database.outbox[0]["sends"]) == 2


def _run(
    client: Tidegate,
    way: str,
    functions: Any,
    event: Event,
    until: threading.Event | None = None,
    send: Callable[[Event], str] | None = None,
) -> Any:
    """Hosts the functions, registers them, sends the event, and gives the one run that came of it."""
    path = "/api/service"
    module, host = (tidegate.asgi, asgi_host) if way.startswith("async") else (tidegate.wsgi, wsgi_host)
    settings = client.settings()
    headers = {} if settings.mode == "dev" else {"authorization": f"Bearer {variable('TEST_API_KEY')}"}
    apps: list[Any] = []

    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        await apps[0](scope, receive, send)

    def wsgi(environ: Any, start_response: Any) -> Any:
        return apps[0](environ, start_response)

    with (
        host(closing(asgi, client) if way.startswith("async") else wsgi) as origin,
        httpx.Client(base_url=settings.base_url, headers=headers) as http,
    ):
        apps.append(module.serve(client, functions, path=path, serve_origin=origin))
        status, _, text = ask(origin, "PUT", path)
        assert status == 200, text
        event_id = send(event) if send else client.send_sync(event)[0]
        runs = wait_for(http, f"/v1/events/{event_id}/runs", lambda answer: _ended(answer.json().get("data")))
        if until:
            assert until.wait(10)
        return runs.json()["data"][0]


def _ended(runs: Any) -> bool:
    return bool(runs) and all(run["status"] in ("Completed", "Failed", "Cancelled") for run in runs)


def test_signals_requests_and_realtime_go_through_the_service(client: Tidegate) -> None:
    name = f"py/{uuid.uuid4()}"

    @client.create_function(id="waits", trigger=name)
    def waits(ctx: SyncContext) -> Any:
        ctx.step.publish("show", name, "status", {"at": "start"})
        ctx.step.send_event("next", Event(name=f"{name}/next", data={}))
        signal = ctx.step.wait_for_signal("approval", signal=name, timeout="1m")
        return signal and [signal.signal, signal.data]

    @client.create_function(id="sends", trigger=f"{name}/next")
    async def sends(ctx: Context) -> None:
        while not await ctx.step.send_signal("approve", name, {"by": "Ada"}):
            await ctx.step.sleep("until the other run waits", 0.05)

    run = _run(client, "async on ASGI", [waits, sends], Event(name=name, data={}))
    assert (run["status"], run["output"]) == ("Completed", [name, {"by": "Ada"}])
    assert client.subscription_token_sync(name, ["status"]).count(".") == 2
    assert client.send_signal_sync(name) is None


def test_the_service_makes_a_request_for_a_step(client: Tidegate) -> None:
    name = f"py/{uuid.uuid4()}"
    with played_service(Reply(418, {"short": True})) as other:

        @client.create_function(id="fetches", trigger=name)
        def fetches(ctx: SyncContext) -> Any:
            fetched = ctx.step.fetch("fetch", f"{other.url}/pot?a=1", method="POST", body={"n": 1})
            return [fetched.status, fetched.json(), fetched.url]

        run = _run(client, "plain on WSGI", [fetches], Event(name=name, data={}))
        assert (run["status"], run["output"]) == ("Completed", [418, {"short": True}, f"{other.url}/pot"])
        assert other.requests[0].json == {"n": 1}


def test_a_race_ends_with_its_first_step_and_errors_keep_what_they_have(client: Tidegate) -> None:
    name = f"py/{uuid.uuid4()}"

    def refuse() -> None:
        error = NonRetriableError("card refused", data={"card": 7}, code="E_CARD")
        raise error from OSError("no money")

    @client.create_function(id="races", trigger=name)
    async def races(ctx: Context) -> Any:
        first = await ctx.step.race([lambda: ctx.step.run("a", lambda: 1), lambda: ctx.step.sleep("s", "1h")])
        try:
            await ctx.step.run("charge", refuse)
        except StepError as error:
            assert error.cause
            return [first, error.data, error.code, error.cause.cause.name, error.cause.cause.message]

    run = _run(client, "async on ASGI", [races], Event(name=name, data={}))
    assert (run["status"], run["output"]) == ("Completed", [1, {"card": 7}, "E_CARD", "OSError", "no money"])
