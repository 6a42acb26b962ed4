"""The work of a relay with a connection: the same in a thread and in a task.

lock → claim rows, which records the send in them → send → acknowledged: delete or keep
                                                         → refused: keep, with the error
                                                         → not reached: end the lease, back off
     → rows that were first sent 23 hours ago or earlier: look up whether an earlier send was accepted, first
     → nothing to claim: wait for a notification, at most a second
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._ask import look_up
from .._clock import Clock
from .._effects import Effects, does
from .._seed import new_seed
from .._send import send_events
from .._settings import Settings
from ..errors import SendError
from .connections import Close, Open, RelayConnection, Wait, Wakeup
from .rows import ClaimedRow, claimed_rows
from .sending import SendResult, send_rows
from .sessions import query
from .statements import (
    OUTBOX_ACKNOWLEDGE,
    OUTBOX_CLAIM,
    OUTBOX_DELETE,
    OUTBOX_END,
    OUTBOX_FORGET,
    OUTBOX_RELEASE,
    OUTBOX_STATUS,
    RELAY_LOCK,
    RELAY_TAKE_OVER,
    STEPS_DELETE,
    STEPS_OF_EARLIER_RUNS,
)

_BATCH = 100
_LEASE_SECONDS = 30.0
_SEND_SECONDS = 20.0
"""Less than the lease."""
_POLL_SECONDS = 1.0
_FIRST_BACKOFF_SECONDS = 0.1
_MAX_BACKOFF_SECONDS = 30.0
_CERTAIN_SECONDS = 23 * 3_600.0
"""The service knows deduplication IDs for 24 hours."""
_DAY_SECONDS = 86_400.0
_STATUS_SECONDS = 60.0
_CLEAN_UP_SECONDS = 3_600.0
_PAGE = 1_000
_FORGET_ROWS = 10_000
_LATE_SECONDS = 60.0
_UNCERTAIN = (
    "It was first sent {days:.1f} days ago, and the service does not have it: it may have been accepted, and its "
    "retention be over. Send it again, or drop it: tidegate outbox"
)


@dataclass(frozen=True, kw_only=True)
class RelayOptions:
    keep_days: float
    retention_days: float
    steps_keep_days: float
    one_at_a_time: bool = True
    """Among the instances of an app. The service's relays share the work with it by leases."""


@dataclass(frozen=True, kw_only=True)
class OutboxStatus:
    """The outbox, a minute ago at most."""

    waiting: int
    refused: int
    uncertain: int
    oldest_seconds: float
    """Age of the oldest event that waits."""
    bytes: int
    """Size of the table."""


class RelayWork:
    def __init__(self, settings: Settings, options: RelayOptions, wakeup: Wakeup, open: Open, clock: Clock) -> None:
        self._settings = settings
        self._options = options
        self._wakeup = wakeup
        self._open = open
        self._clock = clock
        self._stopped = False
        self._failures = 0
        self._delay = 0.0
        self._next_status = clock.monotonic()
        self._next_clean_up = clock.monotonic()
        self.status: OutboxStatus | None = None

    def stop(self) -> None:
        """From any thread. `run` ends after the send that is under way."""
        self._stopped = True
        self._wakeup.set()

    def run(self) -> Effects[None]:
        """Until it is stopped. Raises nothing: it logs, and connects anew."""
        failures = 0
        while not self._stopped:
            connection: RelayConnection | None = None
            try:
                connection = yield from does(self._open)
                failures = 0
                yield from self._relay(connection)
            except Exception as error:
                self._settings.logger.warning("The relay of the outbox begins anew, with another connection: %s", error)
            if connection:
                yield from does(Close(connection))
            yield from self._pause(_backoff(failures))
            failures += 1

    def _relay(self, connection: RelayConnection) -> Effects[None]:
        is_locked = not self._options.one_at_a_time
        while not self._stopped:
            self._wakeup.clear()
            if not is_locked:
                (row,) = yield from query(connection.session, RELAY_LOCK)
                is_locked = row["locked"]
                if is_locked:
                    # The one before may have died while it sent: events that it sent count once.
                    yield from query(connection.session, RELAY_TAKE_OVER)
            if not is_locked:
                yield from self._pause(_POLL_SECONDS)
                continue
            count = yield from self._batch(connection)
            yield from self._other_duties(connection)
            if self._failures:
                yield from self._pause(self._delay)
            elif count < _BATCH and not self._stopped:
                yield from does(Wait(self._wakeup, _POLL_SECONDS, connection.readable))

    def _pause(self, seconds: float) -> Effects[None]:
        """Notifications do not end it."""
        ends_at = self._clock.monotonic() + seconds
        while not self._stopped and (left := ends_at - self._clock.monotonic()) > 0:
            yield from does(Wait(self._wakeup, left))
            self._wakeup.clear()

    def _batch(self, connection: RelayConnection) -> Effects[int]:
        """Gives how many rows were claimed."""
        # As long as the service cannot be reached, one row tells: each claim adds to its rows.
        limit = 1 if self._failures else _BATCH
        seed = new_seed(self._clock.now_ms())
        rows = claimed_rows((yield from query(connection.session, OUTBOX_CLAIM, limit, _LEASE_SECONDS, seed)))
        # All sends of the claim together: the lease must outlast them.
        ends_at = self._clock.monotonic() + _SEND_SECONDS
        result = SendResult()
        to_send = yield from self._look_up_earlier_sends(rows, result)
        yield from send_rows(to_send, seed, lambda events, own_seed: self._send(events, own_seed, ends_at), result)
        yield from self._store(connection, result)
        if rows:
            self._note(result)
        return len(rows)

    def _look_up_earlier_sends(self, rows: list[ClaimedRow], result: SendResult) -> Effects[list[ClaimedRow]]:
        """Gives the rows to send. Those that the service does not tell of keep their leases, and so do later rows of
        their keys."""
        unknown = [row for row in rows if row.sent_seconds_ago > _CERTAIN_SECONDS]
        ids = [event_id for row in unknown for event_id in row.earlier_ids]
        try:
            found = (yield from look_up("events", ids, self._settings)) if ids else set[str]()
        except SendError as error:
            self._settings.logger.warning(
                "Events of the outbox wait until the service tells whether it has them: %s", error
            )
            keys = {row.order_key for row in unknown} - {None}
            return [row for row in rows if row not in unknown and row.order_key not in keys]
        to_send = [row for row in rows if row not in unknown]
        for row in unknown:
            accepted = next((event_id for event_id in row.earlier_ids if event_id in found), None)
            if accepted:
                result.accepted.append((row, accepted))
            elif row.sent_seconds_ago > self._options.retention_days * _DAY_SECONDS:
                result.uncertain.append((row, _UNCERTAIN.format(days=row.sent_seconds_ago / _DAY_SECONDS)))
            else:
                to_send.append(row)
        return sorted(to_send, key=lambda row: row.number)

    def _send(self, events: list[dict[str, Any]], seed: str, ends_at: float) -> Effects[list[str]]:
        left = ends_at - self._clock.monotonic()
        return send_events(events, self._settings, self._clock, seed=seed, timeout=left)

    def _store(self, connection: RelayConnection, result: SendResult) -> Effects[None]:
        session = connection.session
        accepted = [row.position for row, _ in result.accepted]
        if accepted and self._options.keep_days > 0:
            yield from query(session, OUTBOX_ACKNOWLEDGE, accepted, [event_id for _, event_id in result.accepted])
        elif accepted:
            yield from query(session, OUTBOX_DELETE, accepted)
        for state, ended in (("refused", result.refused), ("uncertain", result.uncertain)):
            if ended:
                errors = [error for _, error in ended]
                yield from query(session, OUTBOX_END, [row.position for row, _ in ended], state, errors)
                self._settings.logger.error("Events of the outbox are %s, the first one: %s", state, errors[0])
        if result.left:
            yield from query(session, OUTBOX_RELEASE, [row.position for row in result.left])

    def _note(self, result: SendResult) -> None:
        if result.error:
            if not self._failures:
                self._settings.logger.warning("Events of the outbox wait, and are sent again: %s", result.error)
            self._delay = max(_backoff(self._failures), result.error.retry_after_seconds or 0)
            self._failures += 1
        elif self._failures:
            self._failures = 0
            self._settings.logger.info("Events of the outbox are sent again")

    def _other_duties(self, connection: RelayConnection) -> Effects[None]:
        now = self._clock.monotonic()
        if now >= self._next_status:
            self._next_status = now + _STATUS_SECONDS
            if self._options.keep_days > 0:
                yield from query(connection.session, OUTBOX_FORGET, float(self._options.keep_days), _FORGET_ROWS)
            yield from self._read_status(connection)
        if now >= self._next_clean_up and not self._failures:
            self._next_clean_up = now + _CLEAN_UP_SECONDS
            try:
                yield from self._forget_steps(connection)
            except SendError as error:
                self._settings.logger.warning("Steps of earlier runs are kept for another hour: %s", error)

    def _read_status(self, connection: RelayConnection) -> Effects[None]:
        (row,) = yield from query(connection.session, OUTBOX_STATUS)
        status = OutboxStatus(
            waiting=row["waiting"],
            refused=row["refused"],
            uncertain=row["uncertain"],
            oldest_seconds=row["oldest_seconds"],
            bytes=row["bytes"],
        )
        self.status = status
        if status.oldest_seconds > _LATE_SECONDS:
            self._settings.logger.warning(
                "The oldest of %d events that wait in the outbox is %d s old", status.waiting, status.oldest_seconds
            )

    def _forget_steps(self, connection: RelayConnection) -> Effects[None]:
        """Deletes results of steps whose runs the service no longer has. Raises SendError."""
        days, after = float(self._options.steps_keep_days), ""
        while not self._stopped:
            rows = yield from query(connection.session, STEPS_OF_EARLIER_RUNS, days, _PAGE, after)
            runs = [str(row["run_id"]) for row in rows]
            found = (yield from look_up("runs", runs, self._settings)) if runs else set[str]()
            gone = [run for run in runs if run not in found]
            if gone:
                yield from query(connection.session, STEPS_DELETE, gone, days)
            if len(runs) < _PAGE:
                return
            after = runs[-1]


def _backoff(failures: int) -> float:
    return min(_FIRST_BACKOFF_SECONDS * (1 << min(failures, 10)), _MAX_BACKOFF_SECONDS)
