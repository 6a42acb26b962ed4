"""Results of steps that are more than JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._json import parse


@dataclass(frozen=True, kw_only=True)
class ReceivedSignal:
    """The signal for which `step.wait_for_signal` waited."""

    signal: str
    data: Any = None


@dataclass(frozen=True, kw_only=True)
class FetchResponse:
    """The response to `step.fetch`, whatever its status."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Their names as in `Content-Type`."""
    body: str | None = None
    """None for a status without a body."""
    url: str = ""
    """The URL after redirects, without its query."""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The body, parsed. Raises ValueError if it is not JSON."""
        return parse(self.body or "")


def received_signal(memo: Any) -> ReceivedSignal | None:
    return None if memo is None else ReceivedSignal(signal=memo["signal"], data=memo.get("data"))


def fetch_response(memo: Any) -> FetchResponse:
    return FetchResponse(
        status=memo["status_code"],
        headers=memo.get("headers") or {},
        body=memo.get("body"),
        url=memo.get("url") or "",
    )
