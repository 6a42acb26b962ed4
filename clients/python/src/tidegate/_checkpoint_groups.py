"""Checkpoints of calls that store steps at the same time share a request, which costs app and service a fraction of one
request each. While requests are in flight, the next group collects; a checkpoint that comes alone waits for none.

Calls are of threads and of event loops, so there is no thread or task that sends: the call whose turn it is sends its
group. If it is cancelled meanwhile, another one of the group sends the rest.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as WaitedTooLong
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import quote

from ._effects import Effects, does
from ._service import ask_service
from ._settings import Settings
from ._transport import LATE, HttpResponse
from .errors import ServeError

_IN_FLIGHT = 2
"""Maximum number of requests in flight. One would leave the service idle meanwhile; more would make smaller groups."""
_GROUP_MAX = 50
_LENGTH_MAX = 1_048_576
"""Maximum of the checkpoints in a request, in characters; a single longer one has a request of its own."""
_TIMEOUT_SECONDS = 10.0
_FIELDS = {"content-type": "application/json"}


class _Task(Enum):
    """The task of a call that waits."""

    SEND_GROUP = "send the group"
    SEND_ALONE = "send its own checkpoint"


@dataclass(frozen=True, eq=False)
class _Waiting:
    """A checkpoint; the effect of waiting for the status of its response, or for something to do."""

    run_id: str
    body: str
    """JSON."""
    settings: Settings
    destination: tuple[str, str | None]
    """Service and environment."""
    outcome: Future[int | _Task] = field(default_factory=Future[int | _Task])

    def perform(self) -> int | _Task:
        try:
            return self.outcome.result(_TIMEOUT_SECONDS)
        except WaitedTooLong as error:
            raise ServeError(504, LATE) from error

    async def perform_async(self) -> int | _Task:
        if self.outcome.done():
            return self.outcome.result()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(self.outcome), _TIMEOUT_SECONDS)
        except asyncio.TimeoutError as error:
            raise ServeError(504, LATE) from error

    def settle(self, outcome: int | _Task | Exception) -> bool:
        """False: it no longer waits."""
        try:
            if isinstance(outcome, Exception):
                self.outcome.set_exception(outcome)
            else:
                self.outcome.set_result(outcome)
        except InvalidStateError:
            return False
        return True


class CheckpointGroups:
    """The groups of checkpoints of an app."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        """Empty unless as many requests as possible are in flight."""
        self._in_flight = 0
        self._lock = threading.RLock()
        """Reentrant, because a call that is garbage ends wherever it is collected."""
        self._is_unknown = False
        """The service is older than groups."""

    def send(self, run_id: str, body: str, settings: Settings) -> Effects[int]:
        """Comes to the status of the response for this checkpoint. Raises ServeError, ConfigError."""
        own = _Waiting(run_id, body, settings, (settings.base_url, settings.env))
        if self._is_unknown:
            return (yield from _send_alone(own))
        self._enter(own)
        others: list[_Waiting] = []
        try:
            outcome = yield from does(own)
            if isinstance(outcome, int):
                return outcome
            if outcome is _Task.SEND_GROUP:
                others = self._take_others(own)
                status = yield from self._send_group([own, *others])
                if status is not None:
                    return status
            return (yield from _send_alone(own))
        except Exception as error:
            for other in others:
                other.settle(error)
            raise
        finally:
            self._leave(own, others)

    def _send_group(self, group: Sequence[_Waiting]) -> Effects[int | None]:
        """Comes to the status of the first one; None: it is to be sent alone."""
        if len(group) == 1:
            return None
        if not self._is_unknown:
            body = f'{{"checkpoints":[{",".join(one.body for one in group)}]}}'
            answer = yield from _post("/v1/checkpoints", body, group[0].settings)
            if answer.status not in (404, 405):
                statuses = _statuses_in(answer, len(group))
                for one, status in zip(group[1:], statuses[1:], strict=True):
                    one.settle(status)
                return statuses[0]
            self._is_unknown = True
        for one in group[1:]:
            one.settle(_Task.SEND_ALONE)
        return None

    def _enter(self, own: _Waiting) -> None:
        with self._lock:
            if self._in_flight < _IN_FLIGHT:
                self._in_flight += 1
                own.settle(_Task.SEND_GROUP)
            else:
                self._waiting.append(own)

    def _take_others(self, own: _Waiting) -> list[_Waiting]:
        """Takes the calls for the same service and environment that have waited longest."""
        with self._lock:
            length = len(own.body)
            taken: list[_Waiting] = []
            for one in self._waiting[: _GROUP_MAX - 1]:
                length += len(one.body)
                if length > _LENGTH_MAX or one.destination != own.destination:
                    break
                taken.append(one)
            del self._waiting[: len(taken)]
            return taken

    def _leave(self, own: _Waiting, others: Sequence[_Waiting]) -> None:
        with self._lock:
            if own.outcome.cancel() or own.outcome.cancelled():
                self._waiting = [one for one in self._waiting if one is not own]
            elif own.outcome.exception() is None and own.outcome.result() is _Task.SEND_GROUP:
                # Without an outcome after a cancellation only.
                self._waiting[:0] = [one for one in others if not one.outcome.done()]
                self._pass_turn()

    def _pass_turn(self) -> None:
        while self._waiting:
            if self._waiting.pop(0).settle(_Task.SEND_GROUP):
                return
        self._in_flight -= 1


def _send_alone(one: _Waiting) -> Effects[int]:
    answer = yield from _post(f"/v1/checkpoint/{quote(one.run_id, safe='')}/async", one.body, one.settings)
    return answer.status


def _post(path: str, body: str, settings: Settings) -> Effects[HttpResponse]:
    return ask_service("POST", path, settings, fields=_FIELDS, body=body.encode(), timeout=_TIMEOUT_SECONDS)


def _statuses_in(answer: HttpResponse, count: int) -> list[int]:
    """Each checkpoint has a status of its own in the response; if there is none, that of the response."""
    if answer.status != 200:
        return [answer.status] * count
    try:
        statuses = [int(result["status"]) for result in json.loads(answer.text)["results"]]
    except (ValueError, TypeError, KeyError):
        statuses = []
    return [*statuses, *[0] * count][:count]
