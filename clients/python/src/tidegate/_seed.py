"""A send's seed: `<unix ms>,<base64 of 10 bytes>`.

The service derives the events' IDs from it (the nth adds n to the last 4 bytes), so events that are sent again under
the same seed are stored once.
"""

from __future__ import annotations

import hashlib
import os
import re
from base64 import b64decode, b64encode

_SEED = re.compile(r"([0-9]{1,15}),([A-Za-z0-9+/]{14}==)")
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def new_seed(now_ms: int) -> str:
    return _seed(now_ms, os.urandom(10))


def seed_of_step(run_id: str, hashed_step_id: str, time_ms: float) -> str:
    """The same in every attempt of a step, and no other step's.

    `time_ms` is for a run ID that does not tell the time of its making, as a ULID does.
    """
    entropy = hashlib.sha256(f"{run_id}:{hashed_step_id}".encode(errors="replace")).digest()[:10]
    ulid_ms = _ulid_time_ms(run_id)
    return _seed(max(0, int(time_ms)) if ulid_ms is None else ulid_ms, entropy)


def seed_from(seed: str, index: int) -> str:
    """For the events from the one at this index on: they get the IDs that they would have in one request.

    Raises ValueError when the seed is not one.
    """
    found = _SEED.fullmatch(seed)
    if not found:
        raise ValueError(f"A seed is <unix ms>,<base64 of 10 bytes>; got {seed!r}")
    entropy = b64decode(found[2])
    last = (int.from_bytes(entropy[6:], "big") + index) % 2**32
    return f"{found[1]},{b64encode(entropy[:6] + last.to_bytes(4, 'big')).decode()}"


def event_id_under(seed: str, number: int) -> str:
    """The internal ID of the nth event, from 1, of a send under this seed: a ULID.

    Raises ValueError when the seed is not one.
    """
    time_ms, _, entropy = seed_from(seed, number).partition(",")
    value = (int(time_ms) << 80) + int.from_bytes(b64decode(entropy), "big")
    return "".join(_CROCKFORD[value >> shift & 31] for shift in range(125, -1, -5))


def _seed(time_ms: int, entropy: bytes) -> str:
    return f"{time_ms},{b64encode(entropy).decode()}"


def _ulid_time_ms(id: str) -> int | None:
    if not _ULID.fullmatch(id):
        return None
    time_ms = 0
    for digit in id[:10]:
        time_ms = time_ms * 32 + _CROCKFORD.index(digit)
    return time_ms
