"""Why a value was refused. No retry helps."""

from __future__ import annotations

from ..errors import NonRetriableError
from .middleware import Place

_SHOWN = 60
_OR_NOT_STRICT = "or leave strict out until the runs and events from before have ended"


def unknown_key(key_id: str) -> NonRetriableError:
    return NonRetriableError(
        f"A value is encrypted with the key {_shown(key_id)}, which is not among the keys of Encryption(): "
        "put that key into fallback_keys"
    )


def unknown_version(version: int) -> NonRetriableError:
    return NonRetriableError(
        f"A value is encrypted in version {version}, and this client reads versions 1 and 2: upgrade the client"
    )


def does_not_open(key_id: str, place: Place | None) -> NonRetriableError:
    """A value of version 1, without a place."""
    where, why = "", "it has changed since"
    if place is not None:
        where = f" as {_name_of(place)}"
        why = "it was moved here from another place, or has changed since. Re-run the run from its start"
    return NonRetriableError(
        f"A value that the key {key_id} encrypted cannot be decrypted{where}: {why}. "
        "If another text had this key, put that text into fallback_keys"
    )


def without_place() -> NonRetriableError:
    return NonRetriableError(
        "Encryption() in version 2 binds values to their places: "
        "call encode_in_place and decode_in_place, with the place"
    )


def not_encrypted(place: Place) -> NonRetriableError:
    return NonRetriableError(
        f"{_sentence(place)} is not encrypted, which strict Encryption() refuses: "
        f"encrypt it where it is written, by Encryption() with version=2, {_OR_NOT_STRICT}"
    )


def is_version_1(place: Place | None) -> NonRetriableError:
    return NonRetriableError(
        f"{_sentence(place) if place else 'A value'} is encrypted in version 1, which is bound to no place and which "
        f"strict Encryption() refuses: set version=2 where it is written, {_OR_NOT_STRICT}"
    )


def _sentence(place: Place) -> str:
    name = _name_of(place)
    return name[0].upper() + name[1:]


def _name_of(place: Place) -> str:
    kind, name, *rest = (*(_shown(text) for text in place),)
    if kind == "step":
        return f"the result of step {name} of {rest[0]} in run {rest[1]}"
    if kind == "output":
        return f"the output of {name} for {rest[0]}"
    return f'the event "{name}"' + (f" to {rest[0]} from {rest[1]}" if rest else "")


def _shown(text: str) -> str:
    """The text can be anything, of any length."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
