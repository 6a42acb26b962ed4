"""Requests by httpx, which keeps connections: one pool for plain code, and one for each event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from weakref import WeakKeyDictionary

import httpx

from ._transport import LATE, HttpRequest, HttpResponse, reason_of
from .errors import TransportError

_DIRECT: dict[str, None] = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}
"""A service on this machine is never reached through a proxy."""


class HttpxTransport:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._async_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    def send(self, request: HttpRequest) -> HttpResponse:
        ends_at = time.monotonic() + request.timeout
        body = bytearray()
        try:
            with self._plain().stream(
                request.method,
                request.url,
                headers=request.headers,
                content=request.body,
                timeout=request.timeout,
            ) as response:
                for chunk in response.iter_bytes():
                    body += chunk
                    # httpx limits each read, not all reads together.
                    if time.monotonic() > ends_at:
                        raise TransportError(LATE)
                return _response(response, bytes(body))
        except httpx.TimeoutException as error:
            raise TransportError(LATE) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise TransportError(reason_of(error)) from error

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        pending = self._of_loop().request(
            request.method, request.url, headers=request.headers, content=request.body, timeout=None
        )
        try:
            response = await asyncio.wait_for(pending, request.timeout)
        except asyncio.TimeoutError as error:
            raise TransportError(LATE) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise TransportError(reason_of(error)) from error
        return _response(response, response.content)

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client:
            client.close()

    async def aclose(self) -> None:
        with self._lock:
            client = self._async_clients.pop(asyncio.get_running_loop(), None)
        if client:
            await client.aclose()

    def _plain(self) -> httpx.Client:
        with self._lock:
            self._client = self._client or httpx.Client(mounts=_DIRECT)
            return self._client

    def _of_loop(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._async_clients:
                self._async_clients[loop] = httpx.AsyncClient(mounts=_DIRECT)
            return self._async_clients[loop]


def _response(response: httpx.Response, body: bytes) -> HttpResponse:
    return HttpResponse(status=response.status_code, headers=dict(response.headers), body=body)
