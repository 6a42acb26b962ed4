"""Steps that a test stubs instead of running them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from .._events import Event, EventToSend, events_to_send
from .._json import as_json
from .._received import FetchResponse
from .._steps.found import Op
from .._steps.memo import Memo
from .._wire_error import WireError, describe_error


@dataclass(frozen=True, kw_only=True)
class Ending:
    """The result of a step: an error or data."""

    data: Any = None
    error: WireError | None = None
    encoded: bool = False
    """The data are as a service would keep them, not as a stub gave them."""

    def memo_of(self, op: Op) -> Memo:
        """The protocol's memo for it."""
        if self.error is not None:
            return {"error": self.error}
        data = as_json(self.data, f'What step "{op.get("displayName")}" came to')
        bare = op.get("op") in ("WaitForEvent", "Sleep") or (op.get("op") == "WaitForSignal" and data is None)
        whole: Memo = data if bare else {"data": data}
        return whole


@dataclass(frozen=True)
class Stub:
    """The effect of asking a stub."""

    op: Op
    stub: Any
    """A value, a function that gives one, or an exception."""

    def perform(self) -> Ending:
        try:
            value = self.stub() if callable(self.stub) else self.stub
            if inspect.iscoroutine(value):
                value.close()
                raise TypeError("An async stub needs an async function, or run_function_async")
        except Exception as error:
            return Ending(error=describe_error(error))
        return self._ending(value)

    async def perform_async(self) -> Ending:
        try:
            value = self.stub() if callable(self.stub) else self.stub
            if inspect.isawaitable(value):
                value = await value
        except Exception as error:
            return Ending(error=describe_error(error))
        return self._ending(value)

    def _ending(self, value: Any) -> Ending:
        if isinstance(value, Exception):
            return Ending(error=describe_error(value))
        code = self.op.get("op")
        if code == "Gateway" and isinstance(value, FetchResponse):
            shown = {"status_code": value.status, "headers": value.headers, "body": value.body, "url": value.url}
            return Ending(data=shown)
        if code != "WaitForEvent" or value is None:
            return Ending(data=value)
        given: EventToSend = value if isinstance(value, Event) else dict(value)
        arrived = events_to_send(given)[0]
        return Ending(data={"name": self.op.get("name"), "data": {}, "id": "test-event", "ts": 0, **arrived})


NEED_STUBS = ("InvokeFunction", "Gateway", "AIGateway")


def needs_stub(op: Op) -> LookupError:
    """There is no service here to run another function, or to make a request."""
    name, opts = op.get("displayName"), op.get("opts", {})
    does = f"asks {opts['url']}" if "url" in opts else f"invokes {opts.get('function_id')}"
    return LookupError(f'Step "{name}" {does}: give its result, as steps={{"{name}": …}}')
