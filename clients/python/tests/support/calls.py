"""Calls of functions as the service makes them, straight to a handler."""

from __future__ import annotations

import json
from typing import Any

from tidegate import AppAnswer, AppRequest, Function, Handler, Tidegate
from tidegate._steps.ids import hash_step_id

EVENT = {"name": "order/paid", "data": {"total": 3}, "id": "01E", "ts": 1_700_000_000_000}


def call_request(
    fn: Function[Any],
    steps: dict[str, Any] | None = None,
    *,
    order: list[str] | None = None,
    step: str | None = None,
    plan_all: bool = False,
    event: dict[str, Any] = EVENT,
) -> AppRequest:
    """Steps go by their names here."""
    memos = steps or {}
    names = list(memos) if order is None else order
    body = {
        "event": event,
        "events": [event],
        "steps": {hash_step_id(name): memo for name, memo in memos.items()},
        "ctx": {
            "run_id": "01R",
            "attempt": 2,
            "disable_immediate_execution": plan_all,
            "stack": {"stack": [hash_step_id(name) for name in names], "current": len(names)},
        },
    }
    step_id = "step" if step is None else hash_step_id(step)
    return AppRequest(method="POST", url=f"/api/service?fnId={fn.composite_id}&stepId={step_id}", body=body)


class Caller:
    """Calls of one client's functions. A response is its status, and its body as JSON."""

    def __init__(self, client: Tidegate) -> None:
        self._client = client

    def __call__(self, fn: Function[Any], *args: Any, **kwargs: Any) -> tuple[int, Any]:
        return _read(Handler(self._client, [fn]).answer(call_request(fn, *args, **kwargs)))

    async def async_(self, fn: Function[Any], *args: Any, **kwargs: Any) -> tuple[int, Any]:
        return _read(await Handler(self._client, [fn]).answer_async(call_request(fn, *args, **kwargs)))

    def ops(self, fn: Function[Any], *args: Any, **kwargs: Any) -> list[tuple[str, str]]:
        """Code and name of each op of a response that is under way."""
        status, ops = self(fn, *args, **kwargs)
        assert status == 206, ops
        return [(op["op"], op["displayName"]) for op in ops]


def _read(answer: AppAnswer) -> tuple[int, Any]:
    return answer.status, json.loads(answer.body)
