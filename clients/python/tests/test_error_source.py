"""The lines of code that an error is sent with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.calls import Caller
from tidegate import SyncContext, Tidegate
from tidegate._error_source import source_of


def refuse() -> None:
    raise ValueError("card refused")


def failing(client: Tidegate, *, in_step: bool) -> Any:
    @client.create_function(id="fn", trigger="order/paid")
    def fn(ctx: SyncContext) -> None:
        if in_step:
            ctx.step.run("charge", refuse)
        json.loads("{")

    return fn


def test_the_error_of_a_step_has_the_line_that_raised_it_with_its_neighbors() -> None:
    client = Tidegate("shop", is_dev=True)
    _, ops = Caller(client)(failing(client, in_step=True))
    source = ops[0]["error"]["source"]
    assert Path(source["file"]).name == "test_error_source.py"
    texts = [line["text"] for line in source["lines"]]
    assert texts == ["", "def refuse() -> None:", '    raise ValueError("card refused")', "", ""]
    assert source["lines"][2]["line"] == source["line"]


def test_a_step_that_failed_for_good_fails_the_run_with_its_own_stack_and_source() -> None:
    client = Tidegate("shop", is_dev=True)
    fn = failing(client, in_step=True)
    _, ops = Caller(client)(fn)
    error = ops[0]["error"]
    status, failed = Caller(client)(fn, {"charge": {"error": {**error, "source": None}}})
    assert status == 400
    assert failed["stack"] == error["stack"]
    assert failed["source"] == error["source"]


def test_the_source_is_the_app_s_own_code_and_not_the_standard_library() -> None:
    client = Tidegate("shop", is_dev=True)
    status, error = Caller(client)(failing(client, in_step=False))
    assert status == 500
    assert error["source"]["lines"][2]["text"].strip() == 'json.loads("{")'


def test_no_source_is_sent_when_the_client_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Tidegate("shop", is_dev=True, error_source=False)
    assert "source" not in Caller(client)(failing(client, in_step=False))[1]
    monkeypatch.setenv("SERVICE_ERROR_SOURCE", "0")
    client = Tidegate("shop", is_dev=True)
    assert "source" not in Caller(client)(failing(client, in_step=False))[1]


@pytest.mark.parametrize("stack", [None, "", "ValueError: no", '  File "/nowhere.py", line 1, in f', 7])
def test_a_stack_without_a_readable_file_has_no_source(stack: object) -> None:
    assert source_of(stack) is None
    assert source_of(f'  File "{__file__}", line 99999, in f') is None
