from __future__ import annotations

import functools
import re
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from support.calls import Caller
from tidegate import (
    BatchEvents,
    CancelOn,
    Concurrency,
    ConcurrencyOfRunsAndSteps,
    ConfigError,
    CronTrigger,
    Debounce,
    EventTrigger,
    Handler,
    RetryAfterError,
    SyncContext,
    Throttle,
    Tidegate,
    Timeouts,
    reference_function,
)
from tidegate._flow_wire import flow_on_the_wire
from tidegate._registration import App, payload_of

client = Tidegate("shop", is_dev=True)


def nothing(ctx: SyncContext) -> None: ...


def test_functions_have_four_retries_and_their_id_for_a_name_unless_told_otherwise() -> None:
    fn = client.create_function(id="fn", trigger=["a", EventTrigger("b"), CronTrigger("0 * * * *")])(nothing)
    assert (fn.name, fn.retries, fn.composite_id) == ("fn", 4, "shop-fn")
    wire = [trigger.on_the_wire() for trigger in fn.triggers]
    assert wire == [{"event": "a"}, {"event": "b"}, {"cron": "0 * * * *"}]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"id": ""}, "needs an id"),
        ({"retries": -1}, "retries must be a whole number from 0 to 20, got -1"),
        ({"retries": 1.5}, "retries must be a whole number from 0 to 20, got 1.5"),
        ({"retries": 99}, "retries must be a whole number from 0 to 20, got 99"),
        ({"trigger": CronTrigger("daily")}, 'Function "fn": cron must be a schedule such as "0 9 \\* \\* 1"'),
        ({"retries": True}, "retries must be a whole number from 0 to 20, got True"),
        ({"trigger": ""}, "a trigger is the name of an event"),
        ({"trigger": {"event": "a"}}, "a trigger is the name of an event"),
        ({"trigger": [EventTrigger("")]}, "a trigger is the name of an event"),
        ({"description": 7}, "description must be a text, got 7"),
        ({"group": ["a"]}, "group must be a text"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        client.create_function(**{"id": "fn", "trigger": "a", **options})(nothing)


def test_a_description_and_a_group_are_registered_where_there_are_such() -> None:
    create = functools.partial(client.create_function, trigger="a")
    told = create(id="told", description="Thanks for an order", group="orders", on_failure=nothing)(nothing)
    bare = create(id="bare", description="")(nothing)
    functions = [told, told.on_failure, bare]
    app = App(id="shop", url="https://shop.example", framework="wsgi", functions=[fn for fn in functions if fn])
    wire = [(fn.get("description"), fn.get("group")) for fn in payload_of(app)["functions"]]
    assert wire == [("Thanks for an order", "orders"), (None, None), (None, None)]


def test_a_reference_names_a_function_of_another_app() -> None:
    charge = reference_function(app_id="billing", function_id="charge", output=int)

    @client.create_function(id="fn", trigger="a")
    def fn(ctx: SyncContext) -> int:
        return ctx.step.invoke("charge", function=charge) + 1

    (op,) = Caller(client)(fn)[1]
    assert op["opts"]["function_id"] == "billing-charge"
    assert Caller(client)(fn, {"charge": {"data": 2}}) == (200, 3)
    with pytest.raises(ConfigError, match="needs its app_id"):
        reference_function(app_id="", function_id="charge")


def test_a_client_without_an_id_is_refused() -> None:
    with pytest.raises(ConfigError, match="app_id"):
        Tidegate("")


def test_flow_control_goes_to_the_service_under_its_names() -> None:
    fn = client.create_function(
        id="fn",
        trigger="a",
        concurrency=[Concurrency(limit=2, key="event.data.id", scope="env")],
        debounce=Debounce(period=timedelta(minutes=1), timeout=90.5),
        timeouts=Timeouts(start="1h"),
        cancel_on=[CancelOn(event="b", if_="true")],
        idempotency="event.data.id",
    )(nothing)
    assert flow_on_the_wire(fn.flow) == {
        "concurrency": [{"limit": 2, "key": "event.data.id", "scope": "env"}],
        "debounce": {"period": "60000ms", "timeout": "90500ms"},
        "timeouts": {"start": "1h"},
        "cancel": [{"event": "b", "if": "true"}],
        "idempotency": "event.data.id",
    }
    batched = client.create_function(
        id="batched",
        trigger=CronTrigger("@daily", jitter=timedelta(minutes=1)),
        batch_events=BatchEvents(max_size=10, timeout=5, if_="event.data.small"),
        concurrency=ConcurrencyOfRunsAndSteps(
            fn=Concurrency(limit=1), step=(Concurrency(limit=2), Concurrency(limit=3))
        ),
    )(nothing)
    assert flow_on_the_wire(batched.flow) == {
        "batchEvents": {"maxSize": 10, "timeout": "5000ms", "if": "event.data.small"},
        "concurrency": {"fn": [{"limit": 1}], "step": [{"limit": 2}, {"limit": 3}]},
    }
    assert batched.triggers[0].on_the_wire() == {"cron": "@daily", "jitter": "60000ms"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"throttle": {"limit": 1}}, "throttle must be a Throttle, got {'limit': 1}"),
        (
            {"throttle": Throttle(limit=True, period=60)},
            "throttle.limit must be a whole number of at least 1, got True",
        ),
        ({"throttle": Throttle(limit=1, period=0.5)}, "throttle.period must be a duration from 1s to 7d, got 0.5"),
        ({"debounce": Debounce(period=timedelta(days=8))}, "got datetime.timedelta(days=8)"),
        ({"concurrency": "3"}, 'concurrency must be a whole number of at least 1, got "3"'),
        ({"concurrency": [3]}, "concurrency[0] must be a Concurrency, got 3"),
        ({"cancel_on": CancelOn(event="b")}, "cancel_on must be a list, got CancelOn(event='b'"),
        ({"idempotency": ""}, 'idempotency must be a CEL expression, got ""'),
        ({"trigger": CronTrigger("@daily", jitter=0.5)}, "jitter must be a duration from 1s to 24h, got 0.5"),
    ],
)
def test_flow_control_that_is_not_valid_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        client.create_function(**{"id": "fn", "trigger": "a", **options})(nothing)


def test_async_functions_are_told_by_what_they_are_called_with_too() -> None:
    class Callable:
        async def __call__(self, ctx: Any) -> int:
            return 1

    async def with_more(more: int, ctx: Any) -> int:
        return more

    create = client.create_function(id="fn", trigger="a")
    assert create(Callable()).is_async
    assert create(functools.partial(with_more, 1)).is_async
    assert not create(nothing).is_async


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [(1.2, 2), (-3, 0), (timedelta(milliseconds=1), 1), ("90", 90), (datetime(2020, 1, 1, tzinfo=timezone.utc), 0)],
)
def test_the_delay_of_a_retry_after_error_is_rounded_up_to_whole_seconds(retry_after: Any, seconds: int) -> None:
    assert RetryAfterError("busy", retry_after).retry_after_seconds == seconds


@pytest.mark.parametrize("retry_after", [float("nan"), float("inf"), "5 minutes", datetime(2020, 1, 1)])
def test_a_retry_after_error_whose_delay_means_nothing_is_refused(retry_after: Any) -> None:
    with pytest.raises(ValueError, match=r"retry-after header|time zone"):
        RetryAfterError("busy", retry_after)


def test_an_option_that_is_not_known_is_named_and_the_one_that_was_meant() -> None:
    for options, words in [
        ({"retires": 3}, 'Function "fn" has no option "retires"; did you mean "retries"?'),
        ({"triggers": "a"}, 'Function "fn" has no option "triggers"; did you mean "trigger"?'),
        ({"colour": 1}, 'has no option "colour"; known are id, trigger'),
    ]:
        unknown: dict[str, Any] = {"id": "fn", "trigger": "a", **options}
        with pytest.raises(TypeError, match=re.escape(words)):
            client.create_function(**unknown)
    misspelt: dict[str, Any] = {"evnt_key": "k"}
    with pytest.raises(TypeError, match='Tidegate has no option "evnt_key"; did you mean "event_key"'):
        Tidegate("shop", **misspelt)
    with pytest.raises(TypeError, match='did you mean "serve_origin"'):
        Handler(client, [], **{"serve_orign": "https://shop.example"})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
