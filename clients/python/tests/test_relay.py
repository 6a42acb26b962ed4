"""Relays of the outbox, on a real Postgres."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import logging
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from typing import Any

import asyncpg
import psycopg
import pytest

from support.counting_service import CountingService
from support.postgres import AppDatabase, wait_until
from tidegate import Event, HttpRequest, HttpResponse, Middleware, Tidegate
from tidegate._clock import RealClock
from tidegate._postgres.connections import Open, SyncWakeup, Wait
from tidegate._postgres.relay_work import RelayOptions, RelayWork
from tidegate._postgres.rows import claimed_rows
from tidegate.postgres import Relay, outbox_sync


@pytest.fixture
def service() -> CountingService:
    return CountingService()


@pytest.fixture
def client(service: CountingService) -> Tidegate:
    return Tidegate("shop", is_dev=True, transport=service)


WRITER = Tidegate("shop", is_dev=True)
KINDS = ["thread", "task on asyncpg", "task on psycopg"]


@contextmanager
def relay_of(client: Tidegate, database: AppDatabase, kind: str = "thread", **options: Any) -> Iterator[Relay]:
    """A task has an event loop in a thread of its own."""
    if kind == "thread":
        with Relay(client, lambda: psycopg.connect(database.url), **options) as relay:
            yield relay
        return

    def connect() -> Any:
        return (asyncpg.connect if "asyncpg" in kind else psycopg.AsyncConnection.connect)(database.url)

    relay, started, ends = Relay(client, connect, **options), threading.Event(), list[Callable[[], Any]]()

    async def run() -> None:
        end, loop = asyncio.Event(), asyncio.get_running_loop()
        ends.append(lambda: loop.call_soon_threadsafe(end.set))
        async with relay:
            started.set()
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert started.wait(10)
    try:
        yield relay
    finally:
        ends[0]()
        thread.join()


def add(database: AppDatabase, *ids: str, name: str = "order/paid", key: str | None = None) -> None:
    with psycopg.connect(database.url) as connection:
        outbox_sync(connection, WRITER, [Event(name=name, data={}, id=one) for one in ids], order_key=key)


def sent(service: CountingService) -> list[str]:
    return [event["id"] for event in service.events]


def until_empty(database: AppDatabase) -> None:
    wait_until(lambda: all(row["state"] != "waiting" for row in database.outbox))


@pytest.mark.parametrize("kind", KINDS)
def test_events_are_sent_after_the_commit_and_their_rows_deleted(
    kind: str, client: Tidegate, service: CountingService, database: AppDatabase
) -> None:
    add(database, "before")
    with relay_of(client, database, kind):
        service.wait_for(lambda own: sent(own) == ["before"])
        add(database, "a", "b")
        service.wait_for(lambda own: sent(own) == ["before", "a", "b"])
        until_empty(database)
        assert database.outbox == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_wakes_the_relay_before_the_next_poll(
    kind: str, client: Tidegate, service: CountingService, database: AppDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate._postgres.relay_work._POLL_SECONDS", 3_600.0)
    with relay_of(client, database, kind) as relay:
        # The first round has ended, but for the wait.
        wait_until(lambda: relay.status is not None)
        for number in range(5):
            add(database, str(number))
            service.wait_for(lambda own, count=number + 1: len(own.events) == count)
    assert database.outbox == []


def test_more_events_than_a_batch_are_sent_at_once(
    client: Tidegate, service: CountingService, database: AppDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate._postgres.relay_work._POLL_SECONDS", 3_600.0)
    ids = [str(number) for number in range(250)]
    add(database, *ids)
    with relay_of(client, database):
        service.wait_for(lambda own: sent(own) == ids)
    assert [len(request) for request in service.requests] == [100, 100, 50]


def test_rows_are_kept_for_as_long_as_they_shall_be(
    client: Tidegate, service: CountingService, database: AppDatabase
) -> None:
    add(database, "old", "new")
    with relay_of(client, database, keep_days=2):
        until_empty(database)
    assert [(row["state"], row["event_id"]) for row in database.outbox] == [
        ("acknowledged", service.ids["old"]),
        ("acknowledged", service.ids["new"]),
    ]
    database.sql("update tidegate_outbox set ended_at = now() - interval '49 hours' where position = 1")
    with relay_of(client, database, keep_days=2):
        wait_until(lambda: len(database.outbox) == 1)


def test_a_refused_event_is_kept_with_its_error_and_the_others_are_sent(
    client: Tidegate, service: CountingService, database: AppDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    service.refused_name = "bad"
    add(database, "a", key="k")
    add(database, "b", name="bad", key="k")
    add(database, "c", "d", key="k")
    with relay_of(client, database):
        until_empty(database)
    assert sent(service) == ["a", "c", "d"]
    (row,) = database.outbox
    assert (row["event"]["id"], row["state"], row["event_id"]) == ("b", "refused", None)
    assert "no such name" in row["error"]
    assert row["ended_at"] is not None
    assert "refused" in caplog.text


def test_each_event_has_the_internal_id_that_its_row_told(
    client: Tidegate, service: CountingService, database: AppDatabase
) -> None:
    """Also after others of its claim were refused."""
    service.refused_name = "bad"
    add(database, "a")
    add(database, "b", name="bad")
    add(database, "c")
    with relay_of(client, database, keep_days=1):
        until_empty(database)
    rows = database.sql(
        "select position, event::text as event, order_key, sends, 0.0::float8 as sent_seconds_ago from tidegate_outbox"
    )
    # As if each send was an earlier one.
    told = {row.event["id"]: row.earlier_ids for row in claimed_rows([{**r, "sends": [*r["sends"], ""]} for r in rows])}
    assert told["a"] == [service.ids["a"]]
    assert told["c"] == [service.ids["c"]]


def test_events_wait_while_the_service_cannot_be_reached(
    client: Tidegate, service: CountingService, database: AppDatabase, caplog: pytest.LogCaptureFixture, quick: None
) -> None:
    caplog.set_level(logging.INFO)
    service.is_down = True
    add(database, "a", "b")
    with relay_of(client, database):
        service.wait_for(lambda own: len(own.requests) > 12)
        assert [row["state"] for row in database.outbox] == ["waiting", "waiting"]
        service.is_down = False
        service.wait_for(lambda own: sent(own) == ["a", "b"])
        until_empty(database)
    assert caplog.text.count("Events of the outbox wait") == 1
    assert caplog.text.count("Events of the outbox are sent again") == 1


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-offs are short."""
    monkeypatch.setattr("tidegate._postgres.relay_work._MAX_BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr("tidegate._post._FIRST_BACKOFF_MS", 1)


def test_the_service_decides_when_it_is_asked_again(database: AppDatabase, caplog: pytest.LogCaptureFixture) -> None:
    class Busy(CountingService):
        def send(self, request: HttpRequest) -> HttpResponse:
            return HttpResponse(status=429, headers={"retry-after": "25"}, body=b"{}")

    add(database, "a")
    with actions_of(Tidegate("shop", is_dev=True, transport=Busy()), database) as actions:
        waits = (action.seconds for action in actions if isinstance(action, Wait))
        assert next(seconds for seconds in waits if seconds > 1) == pytest.approx(25, abs=1)
    assert [row["leased_until"] for row in database.outbox] == [None]


def test_an_event_whose_acknowledgement_was_lost_counts_once(
    client: Tidegate, service: CountingService, database: AppDatabase, quick: None
) -> None:
    service.loses_answers = True
    add(database, "a")
    with relay_of(client, database):
        service.wait_for(lambda own: len(own.requests) > 12)
        service.loses_answers = False
        until_empty(database)
    assert sent(service) == ["a"]


def accepted_without_answer(
    client: Tidegate,
    service: CountingService,
    database: AppDatabase,
    days_ago: float,
    *ids: str,
    key: str | None = None,
) -> None:
    """The relay was down since then."""
    service.loses_answers = True
    add(database, *ids, key=key)
    with relay_of(client, database):
        service.wait_for(lambda own: len(own.events) == len(ids))
    service.loses_answers = False
    database.sql("update tidegate_outbox set sent_at = now() - %s * interval '1 day'", days_ago)
    service.forget_deduplication()
    service.requests.clear()


@pytest.mark.parametrize("keep_days", [0, 1])
def test_a_relay_that_was_down_for_25_hours_makes_no_duplicate(
    client: Tidegate, service: CountingService, database: AppDatabase, quick: None, keep_days: int
) -> None:
    accepted_without_answer(client, service, database, 25 / 24, "a", "b")
    add(database, "c")
    with relay_of(client, database, keep_days=keep_days):
        until_empty(database)
    assert sent(service) == ["a", "b", "c"]
    assert service.requests == [["c"]]
    assert service.lookups[0][0] == "events"
    assert {row["event_id"] for row in database.outbox if row["event"]["id"] != "c"} <= service.stored


def test_what_the_service_never_got_is_sent_25_hours_later(
    client: Tidegate, service: CountingService, database: AppDatabase, quick: None
) -> None:
    accepted_without_answer(client, service, database, 25 / 24, "a")
    service.events.clear()
    service.stored.clear()
    with relay_of(client, database):
        until_empty(database)
    assert sent(service) == ["a"]
    assert database.outbox == []


def test_after_the_retention_a_person_decides(
    client: Tidegate, service: CountingService, database: AppDatabase, quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    accepted_without_answer(client, service, database, 8, "a")
    service.stored.clear()
    add(database, "b")
    with relay_of(client, database):
        until_empty(database)
    assert sent(service) == ["a", "b"]
    (row,) = database.outbox
    assert row["state"] == "uncertain"
    assert "8.0 days ago" in row["error"]
    assert "uncertain" in caplog.text


def test_nothing_of_a_key_is_sent_until_the_look_up_of_an_earlier_event_is_answered(
    client: Tidegate, service: CountingService, database: AppDatabase, quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    accepted_without_answer(client, service, database, 2, "a", key="k")
    add(database, "b", key="k")
    add(database, "c")
    service.cannot_look_up = True
    with relay_of(client, database):
        service.wait_for(lambda own: sent(own) == ["a", "c"])
        add(database, "d", key="k")
        add(database, "e")
        service.wait_for(lambda own: sent(own) == ["a", "c", "e"])
        assert "until the service tells" in caplog.text
        service.cannot_look_up = False
        # The leases end.
        database.sql("update tidegate_outbox set leased_until = now() - interval '1 second'")
        database.sql("notify tidegate_outbox")
        until_empty(database)
    assert sent(service) == ["a", "c", "e", "b", "d"]
    assert sum(len(request) for request in service.requests) == 4


def test_rows_that_another_relay_sends_are_left_to_it_until_its_lease_is_over(
    client: Tidegate, service: CountingService, database: AppDatabase
) -> None:
    add(database, "taken over")
    database.sql("update tidegate_outbox set leased_until = now() + interval '1 hour'")
    with relay_of(client, database):
        service.wait_for(lambda own: sent(own) == ["taken over"])
        # From now on, a relay without the lock leases the rows.
        database.sql("alter table tidegate_outbox alter leased_until set default now() + interval '1 hour'")
        add(database, "leased", key="k")
        add(database, "later", key="k")
        add(database, "other")
        database.sql("update tidegate_outbox set leased_until = null where event->>'id' <> 'leased'")
        database.sql("notify tidegate_outbox")
        service.wait_for(lambda own: sent(own) == ["taken over", "other"])
        database.sql("update tidegate_outbox set leased_until = now() - interval '1 second'")
        database.sql("notify tidegate_outbox")
        service.wait_for(lambda own: sent(own) == ["taken over", "other", "leased", "later"])
        database.sql("alter table tidegate_outbox alter leased_until drop default")


def test_one_relay_of_an_app_works_at_a_time_and_another_takes_over(
    client: Tidegate, service: CountingService, database: AppDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate._postgres.relay_work._POLL_SECONDS", 0.01)
    with relay_of(client, database) as first:
        wait_until(lambda: first.status is not None)
        with relay_of(client, database, "task on asyncpg") as second:
            add(database, "a")
            service.wait_for(lambda own: sent(own) == ["a"])
            assert second.status is None
            first.close()
            add(database, "b")
            service.wait_for(lambda own: sent(own) == ["a", "b"])
            wait_until(lambda: second.status is not None)


def test_relays_that_work_at_the_same_time_send_each_event_once_and_keys_in_order(
    client: Tidegate, service: CountingService, database: AppDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate._postgres.relay_work._BATCH", 3)
    monkeypatch.setattr("tidegate._postgres.relay_work._POLL_SECONDS", 0.01)
    keys = "abc"
    for number in range(20):
        for key in keys:
            add(database, f"{key}{number}", key=key)

    def relay() -> Relay:
        made = Relay(client, lambda: psycopg.connect(database.url))
        made._options = dataclasses.replace(made._options, one_at_a_time=False)
        return made

    with relay(), relay(), relay():
        service.wait_for(lambda own: len(own.events) == 60)
        until_empty(database)
    assert sum(len(request) for request in service.requests) == 60
    for key in keys:
        assert [one for one in sent(service) if one[0] == key] == [f"{key}{number}" for number in range(20)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_relay_connects_anew_when_its_connection_breaks(
    kind: str, client: Tidegate, service: CountingService, database: AppDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    with relay_of(client, database, kind) as relay:
        wait_until(lambda: relay.status is not None)
        database.sql(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()"
        )
        add(database, "a")
        service.wait_for(lambda own: sent(own) == ["a"])
        until_empty(database)
    assert "begins anew" in caplog.text


def test_closing_waits_for_the_send_that_is_under_way(
    client: Tidegate, service: CountingService, database: AppDatabase
) -> None:
    sending, may_end = threading.Event(), threading.Event()

    def before() -> None:
        sending.set()
        assert may_end.wait(10)

    service.before = before
    add(database, "a")
    with relay_of(client, database) as relay:
        assert sending.wait(10)
        closer = threading.Thread(target=relay.close)
        closer.start()
        may_end.set()
        closer.join()
        assert (sent(service), database.outbox) == (["a"], [])


def test_a_relay_that_cannot_connect_says_so_and_tries_again(
    client: Tidegate, service: CountingService, database: AppDatabase, caplog: pytest.LogCaptureFixture, quick: None
) -> None:
    tries = itertools.count()

    def connect() -> Any:
        return "none" if next(tries) == 0 else psycopg.connect(database.url)

    add(database, "a")
    with Relay(client, connect):
        service.wait_for(lambda own: sent(own) == ["a"])
    assert "needs a connection of psycopg 3; connect gave 'none'" in caplog.text


def test_middleware_does_not_encode_a_second_time_what_is_in_the_outbox(
    service: CountingService, database: AppDatabase
) -> None:
    class Reversing(Middleware):
        def encode(self, value: Any, at: str) -> Any:
            return {"reversed": value["text"][::-1]}

    event = {"name": "a", "data": {"text": "abc"}, "id": "1"}
    client = Tidegate("shop", is_dev=True, transport=service, middleware=[Reversing()])
    with psycopg.connect(database.url) as connection:
        outbox_sync(connection, client, event)
    with relay_of(client, database):
        service.wait_for(lambda own: own.events == [{**event, "data": {"reversed": "cba"}}])


def test_steps_are_forgotten_once_the_service_has_forgotten_their_run(
    client: Tidegate, service: CountingService, database: AppDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate._postgres.relay_work._PAGE", 2)
    for run, days in (("gone1", 31), ("gone2", 31), ("gone3", 31), ("kept", 31), ("young", 29)):
        database.sql("insert into tidegate_steps values (%s, 'step', '1', now() - %s * interval '1 day')", run, days)
    service.runs = {"kept"}
    with relay_of(client, database):
        wait_until(lambda: len(database.sql("select run_id from tidegate_steps")) == 2)
    rows = database.sql("select run_id from tidegate_steps order by run_id")
    assert [row["run_id"] for row in rows] == ["kept", "young"]


def test_no_step_is_forgotten_when_the_look_up_fails(
    client: Tidegate, service: CountingService, database: AppDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    database.sql("insert into tidegate_steps values ('run', 'step', '1', now() - interval '31 days')")
    service.cannot_look_up = True
    with relay_of(client, database):
        wait_until(lambda: "kept for another hour" in caplog.text)
    assert len(database.sql("select run_id from tidegate_steps")) == 1


def test_a_relay_that_dies_after_any_of_its_actions_loses_and_doubles_nothing(
    client: Tidegate, database: AppDatabase, quick: None
) -> None:
    ids = [f"{key}{number}" for number in range(3) for key in "ab"]
    for dies_after in itertools.count():
        service = CountingService()
        own = Tidegate("shop", is_dev=True, transport=service)
        service.refused_name = "bad"
        for one in ids:
            add(database, one, key=one[0])
        add(database, "refused", name="bad", key="a")
        died = run_work(own, database, lambda count, dies_after=dies_after: count == dies_after)
        # Its leases end.
        database.sql(
            "update tidegate_outbox set leased_until = now() - interval '1 second' where leased_until is not null"
        )
        run_work(own, database, lambda _: all(row["state"] != "waiting" for row in database.outbox))
        assert sorted(sent(service)) == sorted(ids), f"after {dies_after} actions"
        for key in "ab":
            assert [one for one in sent(service) if one[0] == key] == [one for one in ids if one[0] == key]
        assert [row["state"] for row in database.outbox] == ["refused"]
        database.sql("truncate tidegate_outbox restart identity")
        if not died:
            assert dies_after > 5
            return


def run_work(client: Tidegate, database: AppDatabase, is_over: Callable[[int], bool]) -> bool:
    """Performs the relay's actions one by one, until it is over: from then on it does nothing, as a dead process. Gives
    whether it was over before all rows had ended."""
    with actions_of(client, database) as actions:
        for count in itertools.count():
            if is_over(count):
                return any(row["state"] == "waiting" for row in database.outbox)
            next(actions)
    raise AssertionError


@contextmanager
def actions_of(
    client: Tidegate, database: AppDatabase, one_at_a_time: bool = True, retention_days: float = 7
) -> Iterator[Iterator[Any]]:
    """The actions of a relay. Each but the last one has been performed; the last one is before the next is taken."""
    wakeup = SyncWakeup()
    with closing(wakeup), psycopg.connect(database.url) as connection:
        options = RelayOptions(
            keep_days=0, retention_days=retention_days, steps_keep_days=30, one_at_a_time=one_at_a_time
        )
        opening = Open(lambda: connection, wakeup)
        work = RelayWork(client.settings(), options, wakeup, opening, RealClock())

        def perform() -> Iterator[Any]:
            effects = work.run()
            action = next(effects)
            while True:
                yield action
                try:
                    result = action.perform()
                except Exception as error:
                    action = effects.throw(error)
                else:
                    action = effects.send(result)

        with closing(perform()) as actions:
            yield actions


class ClockedService(CountingService):
    """It knows deduplication IDs for 24 hours of a clock of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._hours = 0.0
        self._accepted: dict[str, float] = {}

    def pass_hours(self, hours: float) -> None:
        self._hours += hours
        for one, at in self._accepted.items():
            if self._hours - at >= 24:
                self.ids.pop(one, None)

    def _accept(self, event: dict[str, Any], internal_id: str) -> str:
        if event["id"] not in self.ids:
            self._accepted[event["id"]] = self._hours
        return super()._accept(event, internal_id)


class Scenario:
    """Commits, rollbacks, relays that die, faults and time, in an order that the seed decides."""

    def __init__(self, seed: int, database: AppDatabase) -> None:
        self._random = random.Random(seed)
        self._database = database
        self._service = ClockedService()
        # Few events fit into a request.
        self._client = Tidegate("shop", is_dev=True, transport=self._service, max_bytes=120)
        self._committed: list[tuple[str | None, str]] = []
        """Keys and IDs."""

    def run(self) -> None:
        acts = [self._commit, self._commit, self._roll_back, self._relay, self._relay, self._pass]
        for _ in range(self._random.randint(1, 14)):
            self._random.choice(acts)()
        self._repair()
        while any(row["state"] == "waiting" for row in self._database.outbox):
            self._pass_hours(0.01)
            with self._actions(True) as actions:
                _perform(actions, 1_000)

    def check(self) -> None:
        assert sorted(sent(self._service)) == sorted(one for _, one in self._committed)
        for key in ("k", "l"):
            own = [one for of, one in self._committed if of == key]
            assert [one for one in sent(self._service) if one in own] == own
        assert self._database.outbox == []

    def _commit(self) -> None:
        key = self._random.choice([None, "k", "l"])
        ids = [f"e{len(self._committed) + n}" for n in range(self._random.randint(1, 3))]
        self._committed += [(key, one) for one in ids]
        add(self._database, *ids, key=key)

    def _roll_back(self) -> None:
        with psycopg.connect(self._database.url) as connection:
            outbox_sync(connection, WRITER, Event(name="order/paid", data={}, id="rolled back"))
            connection.rollback()

    def _relay(self) -> None:
        """One, or two that share the rows, until they wait or die."""
        self._fail()
        count = self._random.choice([1, 1, 2])
        with ExitStack() as stack:
            relays = [stack.enter_context(self._actions(count == 1)) for _ in range(count)]
            lives = {relay: self._random.randint(1, 25) for relay in relays}
            while lives:
                relay = self._random.choice(list(lives))
                lives[relay] -= 1
                if not _perform(relay, 1) or lives[relay] == 0:
                    del lives[relay]
        self._repair()

    def _actions(self, one_at_a_time: bool) -> AbstractContextManager[Iterator[Any]]:
        return actions_of(self._client, self._database, one_at_a_time, retention_days=10_000)

    def _fail(self) -> None:
        fault = self._random.choice(["none", "down", "answers lost", "goes down"])
        self._service.is_down = fault == "down"
        self._service.loses_answers = fault == "answers lost"
        requests = itertools.count()

        def go_down() -> None:
            self._service.is_down = next(requests) > 0

        if fault == "goes down":
            self._service.before = go_down

    def _repair(self) -> None:
        self._service.is_down = self._service.loses_answers = False
        self._service.before = lambda: None

    def _pass(self) -> None:
        self._pass_hours(self._random.choice([0.01, 1, 22, 25]))

    def _pass_hours(self, hours: float) -> None:
        self._service.pass_hours(hours)
        columns = ("created_at", "sent_at", "leased_until")
        moved = ", ".join(f"{column} = {column} - interval '{hours} hours'" for column in columns)
        self._database.sql(f"update tidegate_outbox set {moved}")


def _perform(actions: Iterator[Any], count: int) -> bool:
    """Gives whether it has more to do than to wait."""
    return not any(isinstance(next(actions), Wait) for _ in range(count))


def test_each_committed_event_counts_once_in_any_order_of_commits_deaths_faults_and_time(
    database: AppDatabase, quick: None
) -> None:
    for seed in range(40):
        scenario = Scenario(seed, database)
        try:
            scenario.run()
            scenario.check()
        except BaseException as error:
            error.add_note(f"Scenario {seed}")
            raise
        database.sql("truncate tidegate_outbox restart identity")
