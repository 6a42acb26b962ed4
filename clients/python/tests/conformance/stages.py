"""Two real servers for all cases, one of ASGI and one of WSGI, each showing the app of the current case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .settings import Flavour


class Stages:
    def __init__(self) -> None:
        self.origins: dict[Flavour, str] = {}
        self._shown: dict[Flavour, Any] = {}

    def show(self, flavour: Flavour, app: Any) -> str:
        """Gives the address."""
        self._shown[flavour] = app
        return self.origins[flavour]

    async def asgi(self, scope: Any, receive: Any, send: Any) -> None:
        await self._shown["async"](scope, receive, send)

    def wsgi(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        answer: Iterable[bytes] = self._shown["plain"](environ, start_response)
        return answer
