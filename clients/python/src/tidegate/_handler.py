"""Responses of an app at its one URL, whatever the web framework: GET introspects, PUT registers, POST runs a function.

A framework's adapter turns its request into an AppRequest and sends the AppAnswer; nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from . import _headers as headers
from . import _hints as hints
from ._address import url_of
from ._app_calls import AppCalls, InThread, refusal
from ._app_request import AppRequest
from ._client import Tidegate
from ._effects import Effects, drive, drive_async
from ._functions import Function
from ._json import write
from ._options import told_of_unknown
from ._registration import App, register
from ._run_call import AppAnswer
from ._settings import Settings
from ._signature import find_flaw, find_url_flaw, target_of
from .errors import ServeError

_PASSED_ON = ("modified", "functions", "unsupported")
"""Fields of the service's response to a registration, including parts that do not work or have no effect."""


class Handler:
    """For hosts of any kind: `answer = handler.answer(AppRequest(method="POST", url=…, headers=…, body=…))`."""

    @told_of_unknown("Handler")
    def __init__(
        self,
        client: Tidegate,
        functions: Sequence[Function[Any]],
        *,
        path: str | None = None,
        serve_origin: str | None = None,
        framework: str = "python",
        in_thread: InThread = asyncio.to_thread,
    ) -> None:
        """Raises ConfigError when two functions share an id, or one is another app's.

        path: answer at this path only. Default: every path that reaches the handler.
        serve_origin: address under which the service reaches this app, such as `https://shop.example`. Default:
            SERVICE_SERVE_ORIGIN; in dev mode that of the request that asks the app to register.
        framework: informative.
        in_thread: how `answer_async` calls a plain function.
        """
        self._client = client
        self._calls = AppCalls(client, functions, framework, in_thread)
        self._path = path
        self._serve_origin = serve_origin
        self._framework = framework

    def answer(self, request: AppRequest) -> AppAnswer:
        """Blocks; an async function gets an event loop of its own. Raises nothing."""
        try:
            return self._complete(drive(self._answer(request)))
        except Exception as error:
            return self.refusal(error)

    async def answer_async(self, request: AppRequest) -> AppAnswer:
        """A plain function is called in a thread. Raises nothing but its own cancellation."""
        try:
            return self._complete(await drive_async(self._answer(request)))
        except Exception as error:
            return self.refusal(error)

    async def aclose(self) -> None:
        """Closes the client's connections that belong to this event loop or to no event loop."""
        await self._client.aclose()

    def serves(self, path: str) -> bool:
        """Whether the handler answers at this path."""
        return self._path is None or path == self._path

    def refusal(self, error: Exception) -> AppAnswer:
        """The response to a request that reached no function. Retrying may help, because the app may be fixed
        meanwhile."""
        return self._complete(refusal(error))

    def _complete(self, answer: AppAnswer) -> AppAnswer:
        always = {
            "content-type": "application/json",
            headers.SDK_HEADER: headers.SDK,
            headers.REQ_VERSION_HEADER: headers.REQ_VERSION,
            headers.FRAMEWORK: self._framework,
        }
        return AppAnswer(status=answer.status, headers={**always, **answer.headers}, body=answer.body)

    def _answer(self, request: AppRequest) -> Effects[AppAnswer]:
        settings = self._client.settings()
        # Read first: a SERVICE_DEV that makes no sense is said whatever the request is.
        mode = settings.mode
        if not self.serves(request.path):
            return _json(404, {"message": "There is nothing at this path"})
        if request.method == "GET":
            return _json(
                200, {"function_count": len(self._calls.functions), "mode": mode, "framework": self._framework}
            )
        if request.method == "PUT":
            return (yield from self._register(request, settings))
        if request.method == "POST":
            body = _authentic_body(request, settings)
            return (yield from self._calls.run(body, target_of(request.url), settings))
        return _json(405, {"message": "Only GET, PUT and POST are answered here"}, {"allow": "GET, PUT, POST"})

    def _register(self, request: AppRequest, settings: Settings) -> Effects[AppAnswer]:
        url = url_of(request, self._path, self._serve_origin, settings)
        app = App(
            id=self._client.app_id,
            url=url,
            framework=self._framework,
            functions=self._calls.functions,
            what_if=request.header(headers.WHAT_IF),
        )
        answer = yield from register(app, settings)
        told = {name: answer[name] for name in _PASSED_ON if name in answer}
        return _json(200, {"message": answer.get("message", "Registered"), **told})


def _authentic_body(request: AppRequest, settings: Settings) -> bytes:
    """The body of a request that is verified as the service's; dev mode verifies nothing. Raises ServeError 401."""
    raw = request.raw_body()
    if settings.mode == "cloud":
        keys = [key for key in (settings.signing_key, settings.signing_key_fallback) if key is not None]
        header, url_header = request.header(headers.SIGNATURE), request.header(headers.SIGNATURE_URL)
        flaw = find_flaw(header, raw, keys, time.time()) or find_url_flaw(
            url_header, header, target_of(request.url), raw, keys
        )
        if flaw:
            raise ServeError(401, hints.not_from_the_service(flaw, header))
    return raw


def _json(status: int, body: dict[str, Any], fields: dict[str, str] | None = None) -> AppAnswer:
    return AppAnswer(status=status, headers=fields or {}, body=write(body))
