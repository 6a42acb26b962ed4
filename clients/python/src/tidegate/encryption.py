"""Middleware that encrypts what the service stores of a run: `Tidegate("shop", middleware=[Encryption(key=…)])`.

Needs the package cryptography: `pip install "tidegate[encryption]"`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from ._json import parse, write
from ._middleware.encryption_key import SCHEME, EncryptionKey
from ._middleware.middleware import Middleware, ValueAt
from .errors import ConfigError, NonRetriableError

__all__ = ["Encryption"]


class Encryption(Middleware):
    """Encrypts step results, outputs, and one field of the data of events.

    Values that are not encrypted are read as they are, so that it can be switched on at any time. A value whose key is
    not known fails the run for good.
    """

    name = "encryption"

    def __init__(self, *, key: str, fallback_keys: Sequence[str] = (), event_field: str | None = "encrypted") -> None:
        """Raises ConfigError when a key is too short.

        key: a secret text of at least 32 characters.
        fallback_keys: former keys: they decrypt, and encrypt nothing.
        event_field: the field of an event's data that is encrypted; triggers and expressions read the others. None:
            events are left alone.
        """
        if isinstance(fallback_keys, str):
            raise ConfigError("The fallback_keys of Encryption() must be a list of texts")
        self._key = EncryptionKey("The key", key)
        former = [EncryptionKey("Each of the fallback_keys", text) for text in fallback_keys]
        self._keys = {one.id: one for one in (*former, self._key)}
        self._event_field = event_field

    def encode(self, value: Any, at: ValueAt) -> Any:
        return self._in_field(value, self._seal) if at == "event" else self._seal(value)

    def decode(self, value: Any, at: ValueAt) -> Any:
        return self._in_field(value, self._open) if at == "event" else self._open(value)

    def _in_field(self, data: Any, change: Callable[[Any], Any]) -> Any:
        field = self._event_field
        if field is None or not _is_object(data) or field not in data:
            return data
        return {**data, field: change(data[field])}

    def _seal(self, value: Any) -> dict[str, str]:
        return self._key.seal(write(value))

    def _open(self, value: Any) -> Any:
        if not _is_encrypted(value):
            return value
        key = self._keys.get(value["key"])
        if not key:
            raise NonRetriableError(
                f"A value is encrypted with the key {value['key']}, which is not among the keys of Encryption(): "
                "put that key into fallback_keys"
            )
        return parse(key.open(value))


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_encrypted(value: object) -> TypeGuard[dict[str, str]]:
    if not _is_object(value) or len(value) != 3:
        return False
    return value.get("$encrypted") == SCHEME and all(isinstance(value.get(name), str) for name in ("key", "data"))
