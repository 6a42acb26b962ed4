"""Each step tool's description of its step, the same for async and plain code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal

from .._json import plain
from .._moments import Duration, iso_date, time_string, timeout_string
from .found import FoundStep, StepDescription


def run(id: str, execute: Callable[[FoundStep], Any]) -> StepDescription:
    return StepDescription(kind="run", id=_check_id(id), run=execute)


def transaction(id: str, execute: Callable[[FoundStep], Any]) -> StepDescription:
    return StepDescription(kind="run", id=_check_id(id), opts={"type": "step.transaction"}, run=execute)


def sleep(id: str, duration: Duration) -> StepDescription:
    return _sleep(id, time_string(duration))


def sleep_until(id: str, moment: datetime | str) -> StepDescription:
    return _sleep(id, iso_date(moment))


def _sleep(id: str, on_the_wire: str) -> StepDescription:
    return StepDescription(kind="sleep", id=_check_id(id), name=on_the_wire, opts={"duration": on_the_wire})


def send_event(id: str, send: Callable[[FoundStep], Any]) -> StepDescription:
    """`send` returns the memo of the step: `{"ids": […]}`."""
    return StepDescription(
        kind="run",
        id=_check_id(id),
        name="sendEvent",
        opts={"type": "step.sendEvent"},
        run=send,
    )


def send_signal(id: str, send: Callable[[], Any]) -> StepDescription:
    opts = {"type": "step.sendSignal"}
    return StepDescription(kind="run", id=_check_id(id), name="sendSignal", opts=opts, run=lambda _step: send())


def publish(id: str, send: Callable[[], Any]) -> StepDescription:
    opts = {"type": "step.realtime.publish"}
    return StepDescription(kind="run", id=_check_id(id), opts=opts, run=lambda _step: send())


def wait_for_signal(
    id: str, signal: str, timeout: Duration | datetime, conflict: Literal["fail", "replace"] | None
) -> StepDescription:
    opts = {"signal": signal, "timeout": timeout_string(timeout), **({"conflict": conflict} if conflict else {})}
    return StepDescription(kind="signal", id=_check_id(id), name=signal, opts=opts)


def wait_for_event(id: str, event: str, timeout: Duration | datetime, if_: str | None) -> StepDescription:
    opts = {"event": event, "timeout": timeout_string(timeout), **({"if": if_} if if_ else {})}
    return StepDescription(kind="wait", id=_check_id(id), name=event, opts=opts)


def invoke(
    id: str,
    function_id: str,
    data: object,
    user: Mapping[str, Any] | None,
    v: str | None,
    timeout: Duration | datetime | None,
) -> StepDescription:
    payload: dict[str, Any] = {
        "data": {} if data is None else data,
        **({"user": plain(user, "user")} if user else {}),
        **({"v": v} if v else {}),
    }
    limit = {} if timeout is None else {"timeout": timeout_string(timeout)}
    opts: dict[str, Any] = {"function_id": function_id, "payload": payload, **limit}
    return StepDescription(kind="invoke", id=_check_id(id), opts=opts)


def fetch(id: str, url: str, method: str | None, headers: Mapping[str, str] | None, body: object) -> StepDescription:
    opts: dict[str, Any] = {
        "url": url,
        **({"method": method} if method else {}),
        **({"headers": dict(headers)} if headers else {}),
        **({} if body is None else {"body": plain(body, "body")}),
    }
    return StepDescription(kind="fetch", id=_check_id(id), opts=opts)


def infer(
    id: str, url: str, format: str, body: object, headers: Mapping[str, str] | None, auth_key: str | None
) -> StepDescription:
    opts: dict[str, Any] = {
        "type": "step.ai.infer",
        "url": url,
        "format": format,
        **({"auth_key": auth_key} if auth_key else {}),
        **({"headers": dict(headers)} if headers else {}),
        "body": plain(body, "body"),
    }
    return StepDescription(kind="infer", id=_check_id(id), opts=opts)


def _check_id(id: object) -> str:
    if isinstance(id, str) and id:
        return id
    raise TypeError(f"A step needs an ID, a string that is its own in the function; got {id!r}")
