"""A request to the app, whatever the web framework."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._canonical import canonical
from .errors import ServeError

MAX_BODY_BYTES = 16 * 1_024 * 1_024
"""The service trims a call past 4 MiB, so a much larger body is not a call."""


@dataclass(frozen=True, kw_only=True)
class AppRequest:
    method: str
    url: str
    """Path and query, as the client of the app sent them."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | str | Mapping[str, Any] = b""
    """The raw body, which is better, or the result of a host's parser."""
    secure: bool = False
    """Whether it came in over TLS."""

    @property
    def path(self) -> str:
        return self.url.partition("?")[0]

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers.items() if key.lower() == name), None)

    def raw_body(self) -> bytes:
        """Raises ServeError when it is too large."""
        body = self.body
        if not isinstance(body, bytes):
            body = (body if isinstance(body, str) else canonical(body)).encode(errors="replace")
        check_body_size(len(body))
        return body


def check_body_size(size: int) -> None:
    if size > MAX_BODY_BYTES:
        raise ServeError(413, f"The body is larger than {MAX_BODY_BYTES} bytes")
