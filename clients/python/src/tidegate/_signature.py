"""The two proofs of the protocol, both made from the signing key `signkey-<word>-<hex>`."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from urllib.parse import parse_qs

_SIGNING_KEY = re.compile(r"(signkey-[A-Za-z0-9_]+-)((?:[0-9a-f]{2})+)", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_MAX_AGE_SECONDS = 300


def is_signing_key(key: str) -> bool:
    return _SIGNING_KEY.fullmatch(key) is not None


def hashed_key(key: str) -> str:
    """What the app shows to the service when it registers."""
    prefix, digits = _parts_of(key)
    return prefix + hashlib.sha256(bytes.fromhex(digits)).hexdigest()


def sign(body: bytes, key: str, at_seconds: int) -> str:
    """The signature header's value for a body sent at this time."""
    return f"t={at_seconds}&s={_digest(body, key, str(at_seconds)).hex()}"


def find_flaw(header: str | None, body: bytes, keys: Sequence[str], now_seconds: float) -> str | None:
    """Why a signature header does not prove that the service sent this body; None when it does. Any key will do."""
    if not header:
        return "the request is not signed"
    fields = parse_qs(header)
    at, signature = fields.get("t", [""])[0], fields.get("s", [""])[0]
    if not _DIGITS.fullmatch(at):
        return "the signature cannot be read"
    given = bytes_of_hex(signature)
    if not any(hmac.compare_digest(given, _digest(body, key, at)) for key in keys):
        return "the signature is wrong"
    if now_seconds - int(at) > _MAX_AGE_SECONDS:
        return "the signature is older than 5 minutes"
    return None


def bytes_of_hex(text: str) -> bytes:
    """None at all when it is not hex."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _digest(body: bytes, key: str, at: str) -> bytes:
    _, digits = _parts_of(key)
    return hmac.digest(digits.encode(), body + at.encode(), "sha256")


def _parts_of(key: str) -> tuple[str, str]:
    found = _SIGNING_KEY.fullmatch(key)
    return (found[1], found[2]) if found else ("", "")
