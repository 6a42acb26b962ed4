"""How requests to the service travel. Any object with these methods will do, in a test for instance."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class HttpRequest:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    timeout: float
    """Seconds, for all of it: connecting, sending, and reading the response."""


@dataclass(frozen=True, kw_only=True)
class HttpResponse:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers by lower-case name."""
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")


class Transport(Protocol):
    """Redirects are not followed: the address of the service holds a key."""

    def send(self, request: HttpRequest) -> HttpResponse:
        """Raises TransportError when no response came."""
        ...

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """Raises TransportError when no response came."""
        ...

    def close(self) -> None:
        """Closes the connections that `send` has kept."""
        ...

    async def aclose(self) -> None:
        """Closes the connections that `send_async` has kept in this event loop."""
        ...


@dataclass(frozen=True)
class RoundTrip:
    """The effect of one request."""

    request: HttpRequest
    transport: Transport

    def perform(self) -> HttpResponse:
        return self.transport.send(self.request)

    async def perform_async(self) -> HttpResponse:
        return await self.transport.send_async(self.request)


def default_transport() -> Transport:
    """Uses httpx if it is installed, because it keeps connections open; otherwise the standard library."""
    if find_spec("httpx"):
        from ._transport_httpx import HttpxTransport

        return HttpxTransport()
    from ._transport_urllib import UrllibTransport

    return UrllibTransport()


def is_loopback(host: str) -> bool:
    """A service on this machine is never reached through a proxy."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


LATE = "it did not answer in time"


def reason_of(error: BaseException) -> str:
    """Why there was no response."""
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return LATE
    return str(error) or type(error).__name__
