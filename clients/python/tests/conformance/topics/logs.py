"""Logs of a function, and the part of them that the service gets."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from support.played_service import PlayedService
from tidegate._steps.ids import hash_step_id

from ..cases import Case, only
from ..settings import Flavour
from ..stages import Stages
from ..wire import app_of, ask_app, check_answer
from .served import CLIENT, call_request

_PATH = "/v0/runs/01HQZX8K2D3F4G5H6J7K8M9N0P/logs"
_SHORTER_MAX = 100
"""A message that is shortened may lack so many characters."""


def check_logs(case: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    fn = {"id": "fn", "triggers": [{"event": "order/paid"}], "program": case["program"]}
    replies = {"replies": case["replies"]} if "replies" in case else {}
    app = {"client": CLIENT, "environment": case.get("environment", {}), "functions": [fn], **replies}
    begins_at = int(time.time() * 1_000)
    with _all_levels(), app_of(app, flavour, stages, monkeypatch) as (origin, service, names):
        check_answer(ask_app(origin, call_request({"logs": True, **case["call"]})), case["answer"], names)
        bodies = _bodies(service, case.get("tries", 1) if case["batch"] else 0)
    if bodies:
        assert set(bodies) == {bodies[0]}
        _check_batch(json.loads(bodies[0]), case["batch"], begins_at)


@contextmanager
def _all_levels() -> Iterator[None]:
    logger = logging.getLogger("tidegate")
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.setLevel(level)


def _bodies(service: PlayedService, count: int) -> list[bytes]:
    ends_at = time.monotonic() + 20
    while len(service.requests) < count:
        assert time.monotonic() < ends_at, "the lines did not arrive"
        time.sleep(0.01)
    assert [(asked.method, asked.path) for asked in service.requests] == [("POST", _PATH)] * count
    return [asked.body for asked in service.requests]


def _check_batch(batch: dict[str, Any], expected: dict[str, Any], begins_at: int) -> None:
    only(batch, ("batch", "attempt", "lines", "dropped"))
    assert re.fullmatch(r"[\w-]{1,40}", batch["batch"])
    assert (batch["attempt"], batch["dropped"]) == (expected["attempt"], expected["dropped"])
    lines = [line for whole in expected["lines"] for line in [_line(whole)] * whole.get("times", 1)]
    assert len(batch["lines"]) == len(lines)
    for actual, wanted in zip(batch["lines"], lines, strict=True):
        assert begins_at <= actual["at"] <= time.time() * 1_000
        message = wanted["message"]
        shown = (
            message if isinstance(message, dict) and _is_shortened(actual["message"], message) else actual["message"]
        )
        assert {**actual, "message": shown} == {**wanted, "at": actual["at"]}


def _line(given: dict[str, Any]) -> dict[str, Any]:
    only(given, ("level", "message", "fields", "step", "times"))
    line = {name: value for name, value in given.items() if name != "times"}
    return {**line, "step": hash_step_id(line["step"])} if "step" in line else line


def _is_shortened(message: str, given: dict[str, Any]) -> bool:
    text = message.removesuffix("…")
    longest = given["at_most"]
    return len(message) <= longest and longest - _SHORTER_MAX <= len(text) and text == given["of"] * len(text)
