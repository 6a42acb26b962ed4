"""Verifies that a provider sent a webhook (docs/webhooks.md#verify-signatures).

The webhook's transform puts the raw body and the signature into the event's data, as `raw` and `sig`. The function
verifies them before it does anything else.

Each function returns when the webhook is genuine, in constant time as to the signature; otherwise it raises a
WebhookVerificationError, which fails the run for good.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac as hmac_of
import re
import time
from collections.abc import Mapping
from typing import Any, Literal

from ._signature import bytes_of_hex
from .errors import WebhookVerificationError

__all__ = ["github", "hmac", "standard", "stripe"]

_DIGITS = re.compile(r"[0-9]+")
_TOLERANCE_SECONDS = 300.0


def hmac(
    data: Mapping[str, Any],
    secret: str,
    *,
    encoding: Literal["hex", "base64"] = "hex",
    prefix: str = "",
    algorithm: Literal["sha256", "sha1", "sha512"] = "sha256",
) -> None:
    """HMAC of the body: `hmac(ctx.event.data, secret, encoding="base64", prefix="sha256=")`."""
    raw, sig = _texts(data, secret, "raw", "sig")
    if not sig.startswith(prefix):
        raise _flaw(f"the signature does not begin with {prefix}")
    decode = bytes_of_hex if encoding == "hex" else _bytes_of_base64
    expected = hmac_of.digest(_bytes(secret), _bytes(raw), getattr(hashlib, algorithm))
    if not hmac_of.compare_digest(decode(sig[len(prefix) :]), expected):
        raise _flaw("the signature is wrong")


def github(data: Mapping[str, Any], secret: str) -> None:
    """`x-hub-signature-256`: `sha256=<hex>`."""
    hmac(data, secret, prefix="sha256=")


def stripe(
    data: Mapping[str, Any],
    secret: str,
    *,
    received_at_ms: float | None = None,
    tolerance_seconds: float = _TOLERANCE_SECONDS,
) -> None:
    """`stripe-signature`: `t=<seconds>,v1=<hex>`, perhaps with several v1.

    received_at_ms: when it arrived, milliseconds since 1970. Default: now. A function that may start late, or verify
        again in a retry, gives `ctx.event.ts` here, unless its transform has set that.
    tolerance_seconds: between its signing and its receipt, in either direction.
    """
    raw, sig = _texts(data, secret, "raw", "sig")
    fields = [[*field.strip().split("="), ""][:2] for field in sig.split(",")]
    at = next((value for name, value in fields if name == "t"), "")
    expected = hmac_of.digest(_bytes(secret), _bytes(f"{at}.{raw}"), "sha256")
    given = [bytes_of_hex(value) for name, value in fields if name == "v1"]
    if not any(hmac_of.compare_digest(signature, expected) for signature in given):
        raise _flaw("the signature is wrong")
    _check_age(at, received_at_ms, tolerance_seconds)


def standard(
    data: Mapping[str, Any],
    secret: str,
    *,
    received_at_ms: float | None = None,
    tolerance_seconds: float = _TOLERANCE_SECONDS,
) -> None:
    """Standard Webhooks (standardwebhooks.com), as Svix and others send: `v1,<base64>`, perhaps several.

    Its data has the headers `webhook-id` and `webhook-timestamp` (or those of `svix-`) too, as `id` and `timestamp`;
    the secret is `whsec_<base64>`. For the rest see `stripe`.
    """
    raw, sig, message_id, timestamp = _texts(data, secret, "raw", "sig", "id", "timestamp")
    key = _bytes_of_base64(secret.removeprefix("whsec_"))
    if not key:
        raise _flaw("the secret is not whsec_<base64>")
    expected = hmac_of.digest(key, _bytes(f"{message_id}.{timestamp}.{raw}"), "sha256")
    given = [_bytes_of_base64(part[len("v1,") :]) for part in sig.split(" ") if part.startswith("v1,")]
    if not any(hmac_of.compare_digest(signature, expected) for signature in given):
        raise _flaw("the signature is wrong")
    _check_age(timestamp, received_at_ms, tolerance_seconds)


def _texts(data: Mapping[str, Any], secret: str, *names: str) -> list[str]:
    """An empty secret would verify what anybody has signed with it; data of a webhook may lack anything."""
    for name, text in [*((name, data.get(name)) for name in names), ("secret", secret)]:
        if not isinstance(text, str) or (not text and name != "raw"):
            raise _flaw(f"there is no {name}")
    return [data[name] for name in names]


def _check_age(at_seconds: str, received_at_ms: float | None, tolerance_seconds: float) -> None:
    if not _DIGITS.fullmatch(at_seconds):
        raise _flaw("its time cannot be read")
    arrived = time.time() if received_at_ms is None else received_at_ms / 1_000
    age = arrived - int(at_seconds)
    if abs(age) > tolerance_seconds:
        raise _flaw(f"it was signed {round(abs(age))} seconds {'before' if age > 0 else 'after'} it arrived")


def _bytes_of_base64(text: str) -> bytes:
    """None at all when it is not base64. Padding may be missing."""
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")


def _flaw(what: str) -> WebhookVerificationError:
    return WebhookVerificationError(f"The webhook is not genuine: {what}")
