"""Events that the real service accepts, and the messages with which it rejects others."""

from __future__ import annotations

import os
import uuid
from typing import Any

import httpx
import pytest

from support.real_service import wait_for
from tidegate import SendError, Tidegate

from ..cases import Case, only
from ..match import Names


def check_validation(raw: Case) -> None:
    service = os.environ.get("TEST_DEV_SERVICE")
    if not service:
        pytest.skip("TEST_DEV_SERVICE is not set: there is no real service")
    names = Names(unique=str(uuid.uuid4()))
    case = names.fill(raw)
    with httpx.Client(base_url=service) as http:
        outcome = _post(http, case["events"]) if case.get("untyped") else _send(service, case["events"])
        if "error" in case:
            only(case["error"], ("status", "code", "message"))
            names.check(outcome, case["error"])
            return
        assert isinstance(outcome, list), outcome
        assert len(outcome) == case["ids"]
        for event_id, expected in zip(outcome, case.get("stored", []), strict=False):
            _check_stored(http, event_id, expected, names)


def _send(service: str, events: Any) -> list[str] | dict[str, Any]:
    try:
        with Tidegate("shop", is_dev=True, base_url=service) as client:
            return client.send_sync(events)
    except SendError as error:
        return {"status": error.status, "code": error.code, "message": str(error)}


def _post(http: httpx.Client, events: Any) -> list[str] | dict[str, Any]:
    """Events that the client itself rejects."""
    response = http.post("/e/dev", json=events)
    answer: dict[str, Any] = response.json()
    if response.is_success:
        ids: list[str] = answer["ids"]
        return ids
    return {"status": response.status_code, "code": answer["code"], "message": answer["error"]}


def _check_stored(http: httpx.Client, event_id: str, expected: dict[str, Any], names: Names) -> None:
    stored = wait_for(http, f"/v1/events/{event_id}", lambda answer: answer.status_code == 200).json()["data"]
    names.check({field: stored.get(field) for field in expected}, expected)
