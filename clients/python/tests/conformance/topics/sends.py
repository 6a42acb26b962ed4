"""How events are sent: by the client's own methods; by what is under them where the case is about time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from support.played_service import played_service
from tidegate import ConfigError, SendError, Tidegate
from tidegate._clock import RealClock
from tidegate._effects import drive, drive_async
from tidegate._events import events_to_send
from tidegate._moments import epoch_ms, parse_iso_date
from tidegate._send import send_events

from ..cases import Case, only
from ..match import Names
from ..settings import Flavour, client_of, set_environment
from ..stages import Stages
from ..wire import SDK, check_requests, replies_of


class _Clock(RealClock):
    """Takes no time, and keeps how long it should have taken."""

    def __init__(self, case: Case) -> None:
        self.delays_ms: list[float] = []
        self._case = case

    def now_ms(self) -> int:
        return epoch_ms(parse_iso_date(self._case["now"])) if "now" in self._case else super().now_ms()

    def random(self) -> float:
        return float(self._case.get("random", 0))

    def sleep(self, seconds: float) -> None:
        self.delays_ms.append(round(seconds * 1_000, 6))

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


def check_sends(raw: Case, flavour: Flavour, _stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    with played_service(*replies_of(raw["replies"])) as service:
        names = Names(service=service.url, sdk=SDK)
        case = names.fill(raw)
        set_environment(case["environment"], monkeypatch)
        clock = _Clock(case)
        outcome = _outcome(client_of(case["client"]), case, clock, flavour)
        check_requests(service.requests, case["requests"], names)
    assert clock.delays_ms == case.get("delays_ms", [])
    if "error" in case:
        only(case["error"], ("kind", "status", "code", "message", "request_id", "accepted_ids", "seed"))
        assert isinstance(outcome, dict), outcome
        names.check({field: outcome[field] for field in case["error"]}, case["error"])
    else:
        assert outcome == case["ids"]


def _outcome(client: Tidegate, case: Case, clock: _Clock, flavour: Flavour) -> list[str] | dict[str, Any]:
    try:
        return asyncio.run(_send_async(client, case, clock)) if flavour == "async" else _send(client, case, clock)
    except ConfigError as error:
        return {"kind": "config", "message": str(error)}
    except SendError as error:
        fields = {name: getattr(error, name) for name in ("status", "code", "request_id", "seed")}
        return {"kind": "send", "message": str(error), "accepted_ids": list(error.accepted_ids), **fields}


async def _send_async(client: Tidegate, case: Case, clock: _Clock) -> list[str]:
    async with client:
        if not _is_about_time(case):
            return await client.send(case["events"], seed=case.get("seed"))
        events = events_to_send(case["events"])
        return await drive_async(send_events(events, client.settings(), clock, seed=case.get("seed")))


def _send(client: Tidegate, case: Case, clock: _Clock) -> list[str]:
    with client:
        if not _is_about_time(case):
            return client.send_sync(case["events"], seed=case.get("seed"))
        events = events_to_send(case["events"])
        return drive(send_events(events, client.settings(), clock, seed=case.get("seed")))


def send_events_of(client: Tidegate, events: Any, flavour: Flavour) -> list[str]:
    async def send() -> list[str]:
        async with client:
            return await client.send(events)

    if flavour == "async":
        return asyncio.run(send())
    with client:
        return client.send_sync(events)


def _is_about_time(case: Case) -> bool:
    return any(field in case for field in ("random", "now", "delays_ms"))
