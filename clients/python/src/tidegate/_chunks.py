"""Splits a send into requests that are not larger than the service's limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._json import write
from .errors import SendError


@dataclass(frozen=True)
class Chunk:
    index: int
    """Index of its first event in the whole send."""
    body: bytes
    """A JSON array."""


def split_by_bytes(events: Sequence[dict[str, Any]], max_bytes: int) -> list[Chunk]:
    """In order, and as few as that allows. Raises SendError `body_too_large` when one event alone is too large."""
    chunks: list[Chunk] = []
    texts: list[bytes] = []
    size = 1

    def close(before: int) -> None:
        if texts:
            chunks.append(Chunk(before - len(texts), b"[" + b",".join(texts) + b"]"))
            texts.clear()

    for index, event in enumerate(events):
        text = write(event).encode()
        # One byte more: the comma or bracket after it.
        taken = len(text) + 1
        if taken + 1 > max_bytes:
            raise _too_large(event, index, len(text), max_bytes)
        if size + taken > max_bytes:
            close(index)
            size = 1
        texts.append(text)
        size += taken
    close(len(events))
    return chunks


def split_rest(events: Sequence[dict[str, Any]], refused: Chunk, limit_bytes: int | None) -> list[Chunk] | None:
    """Splits the rest of a send, from a chunk on that the service found too large, within the limit that it named.
    None: smaller requests do not help."""
    if limit_bytes is None or limit_bytes >= len(refused.body):
        return None
    try:
        chunks = split_by_bytes(events[refused.index :], limit_bytes)
    except SendError:
        return None
    return [Chunk(refused.index + chunk.index, chunk.body) for chunk in chunks]


def _too_large(event: dict[str, Any], index: int, size: int, max_bytes: int) -> SendError:
    return SendError(
        f'Event {index} ("{event.get("name")}") has {size} bytes as JSON, '
        f"and a request to the service at most {max_bytes}; nothing was sent",
        code="body_too_large",
    )
