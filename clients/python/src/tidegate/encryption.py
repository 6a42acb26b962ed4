"""Middleware that encrypts the stored data of runs: `Tidegate("shop", middleware=[Encryption(key=…)])`.

Needs the package cryptography: `pip install "tidegate[encryption]"`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ._json import parse, write
from ._middleware.encryption_errors import (
    does_not_open,
    is_version_1,
    not_encrypted,
    unknown_key,
    unknown_version,
    without_place,
)
from ._middleware.encryption_key import EncryptionKey
from ._middleware.envelope import is_encrypted, is_object, version_of
from ._middleware.middleware import Middleware, Place, ValueAt
from .errors import ConfigError

__all__ = ["Encryption"]


class Encryption(Middleware):
    """Encrypts step results, outputs, and one field of the data of events.

    Without `strict`, values that are not encrypted are read unchanged, so that encryption can be switched on later.
    A value with an unknown key fails the run permanently.
    """

    name = "encryption"

    def __init__(
        self,
        *,
        key: str,
        fallback_keys: Sequence[str] = (),
        event_field: str | None = "encrypted",
        version: Literal[1, 2] | None = None,
        strict: bool = False,
    ) -> None:
        """Raises ConfigError if a key is too short, or `strict` is combined with version 1.

        key: a secret text of at least 32 characters.
        fallback_keys: former keys, which only decrypt.
        event_field: the field of an event's data that is encrypted; triggers and expressions can read the other fields.
            None: events are not encrypted.
        version: version in which values are written; both are read. Version 2 binds a value to its event, step or
            function, and run. Default: 1, which older clients can read; 2 with `strict`.
        strict: rejects values of version 1, and values that are not encrypted but should be.
        """
        if isinstance(fallback_keys, str):
            raise ConfigError("The fallback_keys of Encryption() must be a list of texts")
        self._key = EncryptionKey("The key", key)
        former = [EncryptionKey("Each of the fallback_keys", text) for text in fallback_keys]
        self._keys = {one.id: one for one in (*former, self._key)}
        self._event_field = event_field
        self._strict = strict
        self._version = _checked_version(version, strict)

    def encode(self, value: Any, at: ValueAt) -> Any:
        return self._encoded(value, at, None)

    def decode(self, value: Any, at: ValueAt) -> Any:
        return self.decode_in_place(value, at, ())

    def encode_in_place(self, value: Any, at: ValueAt, place: Place) -> Any:
        return self._encoded(value, at, place)

    def decode_in_place(self, value: Any, at: ValueAt, places: Sequence[Place]) -> Any:
        def opened(one: Any) -> Any:
            return self._open(one, places)

        return self._in_field(value, opened) if at == "event" else opened(value)

    def _encoded(self, value: Any, at: ValueAt, place: Place | None) -> Any:
        def sealed(one: Any) -> Any:
            return self._seal(one, place)

        return self._in_field(value, sealed) if at == "event" else sealed(value)

    def _in_field(self, data: Any, change: Callable[[Any], Any]) -> Any:
        field = self._event_field
        if field is None or not is_object(data) or field not in data:
            return data
        return {**data, field: change(data[field])}

    def _seal(self, value: Any, place: Place | None) -> dict[str, str]:
        if self._version == 1:
            return self._key.seal(write(value), None)
        if place is None:
            raise without_place()
        return self._key.seal(write(value), place)

    def _open(self, value: Any, places: Sequence[Place]) -> Any:
        place = places[0] if places else None
        if not is_encrypted(value):
            if self._strict and place:
                raise not_encrypted(place)
            return value
        if self._strict and version_of(value) == 1:
            raise is_version_1(place)
        key = self._keys.get(value["key"])
        if not key:
            raise unknown_key(value["key"])
        return parse(_opened(value, key, places))


def _checked_version(version: object, strict: object) -> Literal[1, 2]:
    if not isinstance(strict, bool):
        raise ConfigError("strict of Encryption() must be True or False")
    if version not in (None, 1, 2):
        raise ConfigError(f"version of Encryption() must be 1 or 2, got {version!r}")
    if strict and version == 1:
        raise ConfigError(
            "A strict Encryption() refuses version 1, so it cannot write it: set version=2, or leave it out"
        )
    return 2 if strict or version == 2 else 1


def _opened(value: dict[str, str], key: EncryptionKey, places: Sequence[Place]) -> bytes:
    """The JSON of a value that belongs to one of the places."""
    version = version_of(value)
    if version not in (1, 2):
        raise unknown_version(version)
    if version == 2 and not places:
        raise without_place()
    for place in places if version == 2 else [None]:
        json = key.open(value, place)
        if json is not None:
            return json
    raise does_not_open(key.id, places[0] if version == 2 else None)
