"""AES-256-GCM under a key that is derived from a text. The only user of `cryptography`, which is an extra."""

from __future__ import annotations

import hashlib
import hmac
import os

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError as error:
    raise ImportError('Encryption needs the package cryptography: pip install "tidegate[encryption]"') from error

from ..errors import ConfigError
from .envelope import associated_data, bytes_of, encrypted_value
from .middleware import Place

_INFO = b"tidegate encryption v1"
_MIN_CHARACTERS = 32
_NONCE_BYTES = 12
_TAG_BYTES = 16
_KEY_ID_DIGITS = 16


class EncryptionKey:
    def __init__(self, option: str, text: object) -> None:
        """`option` begins the message. Raises ConfigError, which does not tell the text."""
        if not isinstance(text, str) or len(text) < _MIN_CHARACTERS:
            raise ConfigError(f"{option} of Encryption() must be a text of at least {_MIN_CHARACTERS} characters")
        derived = _hkdf(text.encode())
        self.id = hashlib.sha256(derived).hexdigest()[:_KEY_ID_DIGITS]
        self._cipher = AESGCM(derived)

    def seal(self, json: str, place: Place | None, nonce: bytes | None = None) -> dict[str, str]:
        """In version 1 there is no place. `nonce` has 12 bytes and is never used twice. Default: random."""
        own = os.urandom(_NONCE_BYTES) if nonce is None else nonce
        sealed = own + self._cipher.encrypt(own, json.encode(), associated_data(self.id, place))
        return encrypted_value(self.id, sealed, place)

    def open(self, encrypted: dict[str, str], place: Place | None) -> bytes | None:
        """Gives the JSON; None when this key did not seal it at this place, or it has changed since."""
        sealed = bytes_of(encrypted)
        if sealed is None or len(sealed) < _NONCE_BYTES + _TAG_BYTES:
            return None
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], associated_data(self.id, place))
        except InvalidTag:
            return None


def _hkdf(text: bytes) -> bytes:
    """RFC 5869 with SHA-256 and no salt; one block is 32 bytes, as many as the key has."""
    extracted = hmac.digest(b"\0" * 32, text, "sha256")
    return hmac.digest(extracted, _INFO + b"\x01", "sha256")
