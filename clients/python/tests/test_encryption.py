"""Tests beside the conformance cases of encryption: the extra, options, and functions under test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.calls import Caller
from tidegate import ConfigError, Context, FetchResponse, Middleware, NonRetriableError, Place, Tidegate, ValueAt
from tidegate._steps.ids import hash_step_id
from tidegate.encryption import Encryption
from tidegate.testing import run_function

SOURCE = Path(__file__).parents[1] / "src"
OLD, NEW = "an older key of more than 32 characters", "0123456789abcdef0123456789abcdef"


def test_without_the_package_cryptography_the_import_says_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['cryptography'] = None; import tidegate, tidegate.testing; import tidegate.encryption"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=SOURCE)
    assert ended.returncode != 0
    assert 'ImportError: Encryption needs the package cryptography: pip install "tidegate[encryption]"' in ended.stderr


@pytest.mark.parametrize("options", [{"key": OLD[:31]}, {"key": None}, {"key": NEW, "fallback_keys": [7]}])
def test_a_key_that_is_too_short_is_refused_and_not_told(options: Any) -> None:
    with pytest.raises(ConfigError, match="of at least 32 characters") as raised:
        Encryption(**options)
    assert OLD[:10] not in str(raised.value)


def test_one_text_as_fallback_keys_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="a list of texts"):
        Encryption(key=NEW, fallback_keys=OLD)


@pytest.mark.parametrize("options", [{}, {"version": 2}, {"strict": True}])
def test_a_test_of_a_function_sees_what_the_function_sees(options: Any) -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Encryption(key=NEW, **options)])

    @client.create_function(id="fn", trigger="order/paid")
    async def fn(ctx: Context) -> Any:
        card = await ctx.step.run("card", lambda: ctx.event.data["encrypted"]["card"])
        await ctx.step.send_event("tell", {"name": "told", "data": {"n": 1, "encrypted": card}})
        back = await ctx.step.wait_for_event("back", event="order/returned", timeout="1d")
        lead = await ctx.step.invoke("lead", function="crm-enrich")
        response = await ctx.step.fetch("fetch", "https://example.com")
        return [card, back.data if back else None, lead, response.status]

    fetched = FetchResponse(status=204, headers={}, body=None, url="")
    stubs = {"back": {"data": {"encrypted": 1}}, "lead": {"score": 7}, "fetch": fetched}
    run = run_function(fn, event={"data": {"encrypted": {"card": "4242"}}}, steps=stubs)
    assert (run.error, run.result) == (None, ["4242", {"encrypted": 1}, {"score": 7}, 204])
    assert [step.data for step in run.steps][:2] == ["4242", {"ids": ["test-event-1"]}]
    assert run.sent == [{"name": "told", "data": {"n": 1, "encrypted": "4242"}}]


@pytest.mark.parametrize("options", [{}, {"version": 2}, {"strict": True}])
def test_keys_are_rotated_while_a_run_is_under_way(options: Any) -> None:
    def calling(*middleware: Encryption) -> Any:
        client = Tidegate("shop", is_dev=True, middleware=middleware)

        @client.create_function(id="fn", trigger="order/paid")
        async def fn(ctx: Context) -> Any:
            return [await ctx.step.run("a", lambda: "secret"), await ctx.step.run("b", lambda: "other")]

        return lambda steps: Caller(client)(fn, steps)

    _, (first,) = calling(Encryption(key=OLD, **options))({})
    memos = {"a": {"data": first["data"]}}
    rotated = Encryption(key=NEW, fallback_keys=[OLD], **options)
    _, (second,) = calling(rotated)(memos)
    memos["b"] = {"data": second["data"]}
    status, output = calling(rotated)(memos)
    place = ("output", "shop-fn", "01R")
    assert (status, rotated.decode_in_place(output, "output", [place])) == (200, ["secret", "other"])
    assert first["data"]["key"] != second["data"]["key"] == output["key"]
    assert "secret" not in str(first)
    status, failure = calling(Encryption(key=NEW, **options))(memos)
    assert (status, first["data"]["key"] in failure["message"]) == (400, True)


def test_version_2_needs_the_place_and_says_so() -> None:
    encryption = Encryption(key=NEW, version=2)
    encoded = encryption.encode_in_place(1, "step", ("step", "a", "shop-fn", "01R"))
    with pytest.raises(NonRetriableError, match="call encode_in_place and decode_in_place"):
        encryption.encode(1, "step")
    with pytest.raises(NonRetriableError, match="call encode_in_place and decode_in_place"):
        encryption.decode(encoded, "step")


def test_strict_in_another_way_than_true_or_false_is_refused() -> None:
    options: Any = {"key": NEW, "strict": "yes"}
    with pytest.raises(ConfigError, match="must be True or False"):
        Encryption(**options)


def test_other_middleware_is_told_where_each_value_belongs() -> None:
    told: list[Any] = []

    class Noting(Middleware):
        def encode_in_place(self, value: Any, at: ValueAt, place: Place) -> Any:
            told.append(place)
            return value

        def decode_in_place(self, value: Any, at: ValueAt, places: Sequence[Place]) -> Any:
            told.append(list(places))
            return value

    client = Tidegate("shop", is_dev=True, middleware=[Noting()])

    @client.create_function(id="fn", trigger="order/paid")
    async def fn(ctx: Context) -> Any:
        await ctx.step.run("one", lambda: 1)
        return await ctx.step.run("two", lambda: 2)

    Caller(client)(fn, {"one": {"data": 1}})
    one, two = (("step", hash_step_id(name), "shop-fn", "01R") for name in ("one", "two"))
    assert told == [[("event", "order/paid")], [one], two]
