"""Branches of plain code, which can be halted and resumed: each has a thread, but only one of all runs at any time.

So there are no races: control is handed over at the steps, in an order that depends on nothing but the memos.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any


class CallEnded(BaseException):
    """Unwinds plain code at the end of a call. Not an Exception: `except Exception` in a handler must not catch it."""


class Strand:
    """Made in the context of the code that starts it."""

    def __init__(self, body: Callable[[], Any]) -> None:
        self._body = body
        self._go = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._unwinding = False
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._main,), name="tidegate-branch", daemon=True
        )
        self.started = False
        self.done = False
        self.result: Any = None
        self.error: Exception | None = None
        self.ready: Callable[[], bool] = lambda: False
        """Whether the strand can continue."""

    @property
    def ident(self) -> int | None:
        return self._thread.ident

    def resume(self) -> None:
        """Runs it until it halts or ends."""
        if not self.started:
            self.started = True
            self._thread.start()
        self._go.release()
        self._back.acquire()

    def halt(self, ready: Callable[[], bool]) -> None:
        """Called from inside of it."""
        self.ready = ready
        self._back.release()
        self._go.acquire()
        if self._unwinding:
            raise CallEnded

    def unwind(self) -> None:
        self._unwinding = True
        if not self.started:
            return
        while not self.done:
            self.resume()
        self._thread.join()

    def _main(self) -> None:
        self._go.acquire()
        try:
            self.result = self._body()
        except CallEnded:
            pass
        except Exception as error:
            self.error = error
        finally:
            self.done = True
            self._back.release()
