"""Requests by the standard library: each uses a new connection; requests of async code use a separate thread."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import ssl
import threading
import time
import urllib.request
from urllib.error import URLError
from urllib.parse import urlsplit

from ._transport import LATE, HttpRequest, HttpResponse, is_loopback, reason_of
from .errors import TransportError

_CHUNK_BYTES = 64 * 1_024


class UrllibTransport:
    def __init__(self) -> None:
        self._tls = ssl.create_default_context()

    def send(self, request: HttpRequest) -> HttpResponse:
        ends_at = time.monotonic() + request.timeout
        wire = urllib.request.Request(
            request.url, data=request.body, headers=dict(request.headers), method=request.method
        )
        try:
            with self._opener(request.url).open(wire, timeout=request.timeout) as response:
                answer: http.client.HTTPResponse = response
                headers = {name.lower(): value for name, value in answer.headers.items()}
                return HttpResponse(status=answer.status, headers=headers, body=_read(answer, ends_at))
        except URLError as error:
            cause = error.reason if isinstance(error.reason, BaseException) else error
            raise TransportError(reason_of(cause)) from error
        except (OSError, http.client.HTTPException) as error:
            raise TransportError(reason_of(error)) from error

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        """A cancelled request is not waited for: a daemon thread does not keep the process, as an executor's would."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[HttpResponse] = loop.create_future()

        def settle(response: HttpResponse | None, error: Exception | None) -> None:
            if answer.done():
                return
            if error:
                answer.set_exception(error)
            elif response:
                answer.set_result(response)

        def work() -> None:
            response, failure = None, None
            try:
                response = self.send(request)
            except Exception as error:
                failure = error
            # The loop may be gone by now, with whoever waited.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, response, failure)

        threading.Thread(target=work, name="tidegate-request", daemon=True).start()
        try:
            return await asyncio.wait_for(answer, request.timeout)
        except asyncio.TimeoutError as error:
            raise TransportError(LATE) from error

    def close(self) -> None: ...

    async def aclose(self) -> None: ...

    def _opener(self, url: str) -> urllib.request.OpenerDirector:
        """An opener that neither follows redirects nor raises for a status. Proxies come from the environment."""
        direct = is_loopback(urlsplit(url).hostname or "")
        opener = urllib.request.OpenerDirector()
        opener.add_handler(urllib.request.ProxyHandler({} if direct else None))
        opener.add_handler(urllib.request.HTTPHandler())
        opener.add_handler(urllib.request.HTTPSHandler(context=self._tls))
        return opener


def _read(response: http.client.HTTPResponse, ends_at: float) -> bytes:
    chunks: list[bytes] = []
    while chunk := response.read1(_CHUNK_BYTES):
        chunks.append(chunk)
        # The socket's own limit is only for each read.
        if time.monotonic() > ends_at:
            raise TimeoutError
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return b"".join(chunks)
