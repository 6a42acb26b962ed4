"""One logical send: one seed, and as many requests, one after the other, as its size needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._chunks import split_by_bytes, split_rest
from ._clock import Clock
from ._effects import Effects
from ._moments import retry_after_ms
from ._post import Failure, PostRequest, post_events
from ._seed import new_seed, seed_from
from ._settings import Settings
from .errors import SendError


def send_events(
    events: Sequence[dict[str, Any]],
    settings: Settings,
    clock: Clock,
    *,
    seed: str | None = None,
    timeout: float | None = None,
) -> Effects[list[str]]:
    """Comes to one ID per event, in order. Raises SendError, ConfigError; ValueError when the seed is not one."""
    seed = new_seed(clock.now_ms()) if seed is None else seed
    ends_at = None if timeout is None else clock.monotonic() + timeout
    ids: list[str] = []
    chunks = split_by_bytes(events, settings.max_bytes)
    while chunks:
        chunk = chunks.pop(0)
        request = PostRequest(body=chunk.body, seed=seed_from(seed, chunk.index), ends_at=ends_at)
        outcome = yield from post_events(request, settings, clock)
        if isinstance(outcome, Failure):
            # The limit of the event key or environment is smaller than the client's.
            smaller = split_rest(events, chunk, outcome.limit_bytes)
            if smaller:
                chunks = smaller
                continue
            raise _error_of(outcome, ids, len(events), seed, clock.now_ms()) from outcome.cause
        ids += outcome
    return ids


def _error_of(failure: Failure, accepted_ids: list[str], count: int, seed: str, now_ms: int) -> SendError:
    partly = f". The first {len(accepted_ids)} of {count} events were accepted" if accepted_ids else ""
    retry_after = retry_after_ms(failure.retry_after, now_ms)
    return SendError(
        failure.message + partly,
        retry_after_seconds=None if retry_after is None else retry_after / 1_000,
        status=failure.status,
        code=failure.code,
        request_id=failure.request_id,
        accepted_ids=accepted_ids,
        seed=seed,
    )
