"""What the conformance cases of encryption leave out: the extra, options, and functions under test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.calls import Caller
from tidegate import ConfigError, Context, Tidegate
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


def test_a_test_of_a_function_sees_what_the_function_sees() -> None:
    client = Tidegate("shop", is_dev=True, middleware=[Encryption(key=NEW)])

    @client.create_function(id="fn", trigger="order/paid")
    async def fn(ctx: Context) -> Any:
        card = await ctx.step.run("card", lambda: ctx.event.data["encrypted"]["card"])
        await ctx.step.send_event("tell", {"name": "told", "data": {"n": 1, "encrypted": card}})
        back = await ctx.step.wait_for_event("back", event="order/returned", timeout="1d")
        return [card, back.data if back else None]

    run = run_function(fn, event={"data": {"encrypted": {"card": "4242"}}}, steps={"back": {"data": {"encrypted": 1}}})
    assert (run.error, run.result) == (None, ["4242", {"encrypted": 1}])
    assert [step.data for step in run.steps][:2] == ["4242", {"ids": ["test-event-1"]}]
    assert run.sent == [{"name": "told", "data": {"n": 1, "encrypted": "4242"}}]


def test_keys_are_rotated_while_a_run_is_under_way() -> None:
    def calling(*middleware: Encryption) -> Any:
        client = Tidegate("shop", is_dev=True, middleware=middleware)

        @client.create_function(id="fn", trigger="order/paid")
        async def fn(ctx: Context) -> Any:
            return [await ctx.step.run("a", lambda: "secret"), await ctx.step.run("b", lambda: "other")]

        return lambda steps: Caller(client)(fn, steps)

    _, (first,) = calling(Encryption(key=OLD))({})
    memos = {"a": {"data": first["data"]}}
    rotated = Encryption(key=NEW, fallback_keys=[OLD])
    _, (second,) = calling(rotated)(memos)
    memos["b"] = {"data": second["data"]}
    status, output = calling(rotated)(memos)
    assert (status, rotated.decode(output, "output")) == (200, ["secret", "other"])
    assert first["data"]["key"] != second["data"]["key"] == output["key"]
    assert "secret" not in str(first)
    status, failure = calling(Encryption(key=NEW))(memos)
    assert (status, first["data"]["key"] in failure["message"]) == (400, True)
