"""A service as a transport: it counts events once per deduplication ID, and gives internal IDs by the seed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from tidegate import HttpRequest, HttpResponse, TransportError
from tidegate._seed import event_id_under

Fault = Callable[[list[dict[str, Any]]], HttpResponse | None]


class CountingService:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        """Events that count, in order."""
        self.requests: list[list[str]] = []
        """The deduplication IDs of each request with events."""
        self.ids: dict[str, str] = {}
        """Internal ID by deduplication ID, within the window of deduplication."""
        self.stored: set[str] = set()
        """Internal IDs."""
        self.runs: set[str] = set()
        self.lookups: list[tuple[str, list[str]]] = []
        self.is_down = False
        self.loses_answers = False
        self.cannot_look_up = False
        self.refused_name = ""
        self.before: Callable[[], None] = lambda: None
        """Called before a request with events is answered."""
        self._changed = threading.Condition()

    def wait_for(self, until: Callable[[CountingService], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: until(self), 15), "The service did not get what was waited for"

    def forget_deduplication(self) -> None:
        """24 hours pass."""
        self.ids.clear()

    def send(self, request: HttpRequest) -> HttpResponse:
        if "/lookup" not in request.url:
            self.before()
        with self._changed:
            try:
                return self._answer(request)
            finally:
                self._changed.notify_all()

    async def send_async(self, request: HttpRequest) -> HttpResponse:
        return self.send(request)

    def close(self) -> None: ...

    async def aclose(self) -> None: ...

    def _answer(self, request: HttpRequest) -> HttpResponse:
        if self.is_down:
            self.requests.append([])
            raise TransportError("down")
        given = json.loads(request.body or b"")
        if "/lookup" in request.url:
            kind = request.url.split("/")[-2]
            if self.cannot_look_up:
                return _response(503, {"error": "archive_unavailable"})
            self.lookups.append((kind, given["ids"]))
            known = self.stored if kind == "events" else self.runs
            return _response(200, {"data": [{"id": one, "found": one in known} for one in given["ids"]]})
        self.requests.append([event["id"] for event in given])
        if any(event["name"] == self.refused_name for event in given):
            return _response(400, {"error": "no such name", "code": "event_invalid"})
        seed = request.headers["x-service-event-id-seed"]
        ids = [self._accept(event, event_id_under(seed, n)) for n, event in enumerate(given, 1)]
        if self.loses_answers:
            raise TransportError("cut")
        return _response(200, {"ids": ids})

    def _accept(self, event: dict[str, Any], internal_id: str) -> str:
        if event["id"] not in self.ids:
            self.ids[event["id"]] = internal_id
            self.stored.add(internal_id)
            self.events.append(event)
        return self.ids[event["id"]]


def _response(status: int, body: object) -> HttpResponse:
    return HttpResponse(status=status, body=json.dumps(body).encode())
