"""An encrypted value on the wire. Readers of version 1 refuse version 2, and cannot mistake it for a plain value."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from typing import Any, TypeGuard

from .middleware import Place

SCHEME = "tidegate/aes-256-gcm"
_VERSION = re.compile(r"([1-9][0-9]{0,3})\.")


def is_encrypted(value: object) -> TypeGuard[dict[str, str]]:
    if not is_object(value) or len(value) != 3:
        return False
    return value.get("$encrypted") == SCHEME and all(isinstance(value.get(name), str) for name in ("key", "data"))


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def version_of(encrypted: dict[str, str]) -> int:
    found = _VERSION.match(encrypted["data"])
    return int(found[1]) if found else 1


def bytes_of(encrypted: dict[str, str]) -> bytes | None:
    """Nonce, ciphertext and tag. None: it is not base64, as `encrypted_value` writes it."""
    text = encrypted["data"] if version_of(encrypted) == 1 else _VERSION.sub("", encrypted["data"], count=1)
    try:
        decoded = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if version_of(encrypted) == 1 or b64encode(decoded).decode() == text else None


def encrypted_value(key_id: str, sealed: bytes, place: Place | None) -> dict[str, str]:
    """In version 1 there is no place."""
    prefix = "" if place is None else "2."
    return {"$encrypted": SCHEME, "key": key_id, "data": prefix + b64encode(sealed).decode()}


def associated_data(key_id: str, place: Place | None) -> bytes:
    """The place to which a value is bound: in version 2 as netstrings (`<bytes>:<text>,`), which differ for any two
    places."""
    if place is None:
        return f"{SCHEME} {key_id}".encode()
    texts = (text.encode(errors="replace") for text in (SCHEME, "2", key_id, *place))
    return b"".join(b"%d:%b," % (len(text), text) for text in texts)
