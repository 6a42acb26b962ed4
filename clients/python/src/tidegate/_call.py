"""A call request's body, read. What did not fit into it is fetched from the service (docs/protocol.md#large-calls)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote

from ._effects import Effects
from ._json import parse
from ._service import ask_service
from ._settings import Settings
from ._steps.memo import Memos
from .errors import ServeError


@dataclass(frozen=True, kw_only=True)
class Call:
    event: dict[str, Any]
    events: Sequence[dict[str, Any]]
    run_id: str
    function_uuid: str | None = None
    """Includes the execution's ID, for checkpoints."""
    execution_id: str | None = None
    rerun_of: Sequence[str] = ()
    """For a re-run from a step: the runs whose results it has, latest first."""
    attempt: int
    max_attempts: int | None
    """None when the service does not say."""
    memos: Memos
    order: Sequence[str]
    """Hashed IDs of finished steps, in order of completion."""
    disable_immediate_execution: bool
    takes_logs: bool = False
    """Whether the service accepts the lines that the function logs."""


def read_call(text: bytes, settings: Settings) -> Effects[Call]:
    """Raises ServeError when the body is not one of a call request, or the rest of it cannot be fetched."""
    body = _parse_body(text)
    ctx = _dict(_dict(body).get("ctx"))
    run_id = ctx.get("run_id")
    if not isinstance(run_id, str) or not run_id:
        raise ServeError(400, "The body is not a call request: it lacks ctx.run_id")
    use_api = body.get("use_api")
    if ctx.get("use_api") if use_api is None else use_api:
        events = yield from _fetch_state(run_id, "batch", settings)
        memos = yield from _fetch_state(run_id, "actions", settings)
    else:
        events, memos = body.get("events"), body.get("steps")
    event = body.get("event") or (events or [None])[0]
    if not event:
        raise ServeError(400, "The body is not a call request: it lacks event")
    return Call(
        event=event,
        events=events if events is not None else [event],
        run_id=run_id,
        function_uuid=ctx.get("fn_id"),
        execution_id=ctx.get("qi_id"),
        rerun_of=ctx.get("rerun_of") or (),
        attempt=ctx.get("attempt") or 0,
        max_attempts=ctx.get("max_attempts"),
        memos=_dict(memos),
        order=_dict(ctx.get("stack")).get("stack") or [],
        disable_immediate_execution=bool(ctx.get("disable_immediate_execution")),
        takes_logs=ctx.get("logs") is True,
    )


def _parse_body(text: bytes) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise ServeError(400, "The body is not JSON") from error


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _fetch_state(run_id: str, what: str, settings: Settings) -> Effects[Any]:
    answer = yield from ask_service("GET", f"/v0/runs/{quote(run_id, safe='')}/{what}", settings)
    if not answer.ok:
        raise ServeError(500, f"The state of run {run_id} could not be fetched: the service answered {answer.status}")
    return _parse_body(answer.body)
