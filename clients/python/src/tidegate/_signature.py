"""The two proofs of the protocol, both made from the signing key `signkey-<word>-<hex>`."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qs

_SIGNING_KEY = re.compile(r"(signkey-[A-Za-z0-9_]+-)((?:[0-9a-f]{2})+)", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_MAX_AGE_SECONDS = 300


def is_signing_key(key: str) -> bool:
    return _SIGNING_KEY.fullmatch(key) is not None


def hashed_key(key: str) -> str:
    """The token with which the app authenticates when it registers."""
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


class Target(NamedTuple):
    """The function and step in a call's URL. The signature covers only these, because proxies change the rest."""

    function_id: str
    step_id: str


def target_of(url: str) -> Target:
    query = parse_qs(url.partition("?")[2])
    return Target(query.get("fnId", [""])[0], query.get("stepId", ["step"])[0])


def sign_url(target: Target, body: bytes, key: str, at_seconds: int) -> str:
    """The signature-url header's value, of a call signed at this time."""
    return _url_digest(target, body, key, str(at_seconds)).hex()


def find_url_flaw(
    url_header: str | None, header: str | None, target: Target, body: bytes, keys: Sequence[str]
) -> str | None:
    """Why the signature-url header does not prove that a call, whose signature is right, was made for this function and
    step; None when it does."""
    if not url_header:
        return "the URL is not signed"
    at = parse_qs(header or "").get("t", [""])[0]
    given = bytes_of_hex(url_header)
    if any(hmac.compare_digest(given, _url_digest(target, body, key, at)) for key in keys):
        return None
    return "the URL's signature is wrong: the call was made for another function or step"


def bytes_of_hex(text: str) -> bytes:
    """None at all when it is not hex."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _digest(body: bytes, key: str, at: str) -> bytes:
    _, digits = _parts_of(key)
    return hmac.digest(digits.encode(), body + at.encode(), "sha256")


def _url_digest(target: Target, body: bytes, key: str, at: str) -> bytes:
    _, digits = _parts_of(key)
    named = f"url\n{target.function_id}\n{target.step_id}\n".encode(errors="replace")
    return hmac.digest(digits.encode(), named + body + at.encode(), "sha256")


def _parts_of(key: str) -> tuple[str, str]:
    found = _SIGNING_KEY.fullmatch(key)
    return (found[1], found[2]) if found else ("", "")
