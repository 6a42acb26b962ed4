"""The state that a service would keep of one run, kept in memory for a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any, Generic, Literal, TypeVar

from .._call import Call
from .._middleware.values import Values
from .._moments import moment_ms
from .._steps.found import Op
from .._steps.memo import Memo
from .._wire_error import WireError
from .stubs import Ending

T = TypeVar("T")

TEST_RUN = "test-run"
"""The ID of the one run."""

TestedKind = Literal[
    "run",
    "sleep",
    "wait_for_event",
    "wait_for_signal",
    "invoke",
    "fetch",
    "infer",
    "send_event",
    "send_signal",
    "publish",
    "transaction",
]

_KINDS: dict[str | None, TestedKind] = {
    "Sleep": "sleep",
    "WaitForEvent": "wait_for_event",
    "WaitForSignal": "wait_for_signal",
    "InvokeFunction": "invoke",
    "Gateway": "fetch",
    "AIGateway": "infer",
    "step.sendEvent": "send_event",
    "step.sendSignal": "send_signal",
    "step.realtime.publish": "publish",
    "step.transaction": "transaction",
}
"""Kind of step: its op, or the type of a step that runs in the app."""


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    id: str
    """The ID in the code; repeats are `id:1`, `id:2`, …"""
    kind: TestedKind
    data: Any = None
    """The result of the step, as JSON."""
    error: WireError | None = None
    attempts: int = 1
    """Attempts that it took."""
    ended_at: datetime
    """When it ended, by the clock of the run: sleeps and timeouts advance it."""


@dataclass(frozen=True, kw_only=True)
class SentSignal:
    signal: str
    data: Any


@dataclass(frozen=True, kw_only=True)
class PublishedMessage:
    channel: str
    topic: str
    data: Any


@dataclass(frozen=True, kw_only=True)
class FunctionRun(Generic[T]):
    result: T | None = None
    """The function's output, as JSON."""
    error: BaseException | None = None
    """The error with which the run failed after its retries."""
    steps: list[StepRecord] = field(default_factory=list[StepRecord])
    """In the order in which they were finished."""
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The events that `step.send_event` would have sent."""
    signals: list[SentSignal] = field(default_factory=list[SentSignal])
    """The signals that `step.send_signal` would have sent."""
    published: list[PublishedMessage] = field(default_factory=list[PublishedMessage])
    """The messages that `step.publish` would have published."""


class RunInMemory:
    def __init__(self, events: Sequence[dict[str, Any]], max_attempts: int, now_ms: float, values: Values) -> None:
        self._values = values
        self.steps: list[StepRecord] = []
        self.sent: list[dict[str, Any]] = []
        self.signals: list[SentSignal] = []
        self.published: list[PublishedMessage] = []
        self._events = events
        self._max_attempts = max_attempts
        self._memos: dict[str, Memo] = {}
        self._ends_ms: dict[str, float] = {}
        """When sleeps and waits end, by hashed step ID."""
        self._now_ms = now_ms

    def call(self, attempt: int) -> Call:
        """A single step is planned too, so that it can be stubbed."""
        return Call(
            event=self._events[0],
            events=self._events,
            run_id=TEST_RUN,
            attempt=attempt,
            max_attempts=self._max_attempts,
            memos=dict(self._memos),
            order=list(self._memos),
            disable_immediate_execution=True,
        )

    def finish(self, op: Op, ending: Ending, attempts: int = 1) -> None:
        self._memos[op.get("id", "")] = self._stored(op, ending).memo_of(op)
        data = self._values.decode_stored(op, ending.data) if ending.encoded else ending.data
        record = StepRecord(
            id=op.get("displayName", ""),
            kind=_kind_of(op),
            data=data,
            error=ending.error,
            attempts=attempts,
            ended_at=datetime.fromtimestamp(self._now_ms / 1_000, timezone.utc),
        )
        self.steps.append(record)

    def ended(self, result: Any = None, error: BaseException | None = None) -> FunctionRun[Any]:
        return FunctionRun(
            result=result,
            error=error,
            steps=self.steps,
            sent=self.sent,
            signals=self.signals,
            published=self.published,
        )

    def finish_first(self, waiting: Sequence[Op]) -> None:
        """Finishes the first of the waiting steps whose time is over, and sets the clock to that time."""
        first = min(waiting, key=self._end_of)
        self._now_ms = max(self._now_ms, self._end_of(first))
        self.finish(first, Ending())

    def keep(self, events: Sequence[dict[str, Any]]) -> list[str]:
        """Keeps events instead of sending them."""
        before = len(self.sent)
        self.sent += [self._values.decode_event(event) for event in events]
        return [f"test-event-{before + n}" for n in range(1, len(events) + 1)]

    def _stored(self, op: Op, ending: Ending) -> Ending:
        if ending.encoded or ending.error is not None:
            return ending
        return replace(ending, data=self._values.encode_stub(op, ending.data))

    def _end_of(self, op: Op) -> float:
        hashed_id, opts = op.get("id", ""), op.get("opts", {})
        if hashed_id not in self._ends_ms:
            self._ends_ms[hashed_id] = moment_ms(opts.get("timeout") or opts["duration"], self._now_ms)
        return self._ends_ms[hashed_id]


def _kind_of(op: Op) -> TestedKind:
    return _KINDS.get(op.get("op")) or _KINDS.get(op.get("opts", {}).get("type"), "run")
