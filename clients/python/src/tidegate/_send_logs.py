"""Sends what a function has logged in a call, or up to a checkpoint of it, beside the response to it: neither waits
for the other."""

from __future__ import annotations

import os
import threading
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import quote

from ._call import Call
from ._effects import drive
from ._json import write
from ._log_collector import LogCollector
from ._service import ask_service
from ._settings import Settings

_TRIES = 2
_TRY_TIMEOUT_SECONDS = 2.0
_ANSWER_WAITS_SECONDS = 1.0
"""On platforms where nothing runs after a response."""
_SENDERS = 4
_MAX_WAITING = 1_000
"""Batches; more are left out."""


class LogSender:
    """A few threads, which begin with the first batch."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = 0
        self._executor: tuple[int, ThreadPoolExecutor] | None = None
        """Stored with the ID of its process: a fork does not have the threads of its parent."""

    def send(self, call: Call, collector: LogCollector, settings: Settings) -> None:
        """Raises no errors: the lines are in the app's own log, too."""
        batch = collector.take_batch()
        if not batch:
            return
        path = f"/v0/runs/{quote(call.run_id, safe='')}/logs"
        body = write({"batch": uuid.uuid4().hex, "attempt": call.attempt, **batch}).encode()
        # It raises where too many wait, the interpreter shuts down, or the response should wait no longer.
        with suppress(Exception):
            sent = self._submit(path, body, settings)
            if os.environ.get("AWS_LAMBDA_FUNCTION_NAME"):
                sent.result(_ANSWER_WAITS_SECONDS)

    def _submit(self, path: str, body: bytes, settings: Settings) -> Future[None]:
        with self._lock:
            if not self._executor or self._executor[0] != os.getpid():
                self._executor = (os.getpid(), ThreadPoolExecutor(_SENDERS, "tidegate-logs"))
                self._waiting = 0
            if self._waiting >= _MAX_WAITING:
                raise RuntimeError("Too many logs wait to be sent")
            sent = self._executor[1].submit(_post, path, body, settings)
            self._waiting += 1
        sent.add_done_callback(self._done)
        return sent

    def _done(self, _: Future[None]) -> None:
        with self._lock:
            self._waiting -= 1


def _post(path: str, body: bytes, settings: Settings) -> None:
    """A batch that is repeated is stored once."""
    fields = {"content-type": "application/json"}
    for _ in range(_TRIES):
        with suppress(Exception):
            asked = ask_service("POST", path, settings, fields=fields, body=body, timeout=_TRY_TIMEOUT_SECONDS)
            if drive(asked).status < 500:
                return


SENDER = LogSender()
"""The sender for all clients."""
