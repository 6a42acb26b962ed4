"""Topics of an app behind a real server: registering, serving, replaying."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate._steps.ids import hash_step_id

from ..cases import Case, only
from ..settings import Flavour
from ..stages import Stages
from ..wire import PATH, app_of, ask_app, check_answer, check_requests

_EVENT = {"name": "order/paid", "data": {"total": 3}, "id": "evt-1", "ts": 1_767_225_600_000}
CLIENT = {"id": "shop", "is_dev": True, "base_url": "{{service}}"}


def check_registration(case: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    with app_of(case, flavour, stages, monkeypatch) as (origin, service, names):
        answer = ask_app(origin, case["request"])
        check_requests(service.requests, case["requests"], names)
        check_answer(answer, case["answer"], names)


def check_serving(case: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    with app_of(case, flavour, stages, monkeypatch) as (origin, service, names):
        check_answer(ask_app(origin, case["request"]), case["answer"], names)
        assert service.requests == []


def check_replay(case: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"checkpoint": case["checkpoint"]} if "checkpoint" in case else {}
    fn = {"id": "fn", "triggers": [{"event": "order/paid"}], "program": case["program"], **own}
    replies = {"replies": case["replies"]} if "replies" in case else {}
    client = {**CLIENT, **({"checkpoint": case["client_checkpoint"]} if "client_checkpoint" in case else {})}
    app = {"client": client, "environment": case.get("environment", {}), "functions": [fn], **replies}
    with app_of(app, flavour, stages, monkeypatch) as (origin, service, names):
        check_answer(ask_app(origin, call_request(case["call"])), case["answer"], names)
        check_requests(service.requests, case.get("requests", []), names)


def call_request(call: dict[str, Any]) -> dict[str, Any]:
    own = ("attempt", "max_attempts", "run_id", "rerun_of", "disable_immediate_execution", "qi_id", "fn_id", "logs")
    only(call, ("event", "steps", "stack", "step_id", *own))
    event, steps = call.get("event", _EVENT), call.get("steps", {})
    stack = [hash_step_id(name) for name in call.get("stack", steps)]
    step_id = hash_step_id(call["step_id"]) if "step_id" in call else "step"
    ctx = {
        "run_id": "01HQZX8K2D3F4G5H6J7K8M9N0P",
        "attempt": 0,
        "max_attempts": 5,
        "disable_immediate_execution": False,
        **{name: call[name] for name in own if name in call},
        "stack": {"stack": stack, "current": len(stack)},
        "step_id": step_id,
        "use_api": False,
    }
    memos = {hash_step_id(name): memo for name, memo in steps.items()}
    body = {"event": event, "events": [event], "steps": memos, "ctx": ctx, "use_api": False, "version": -1}
    path = f"{PATH}?fnId=shop-fn&stepId={step_id}"
    return {"method": "POST", "path": path, "headers": {"content-type": "application/json"}, "body": body}
