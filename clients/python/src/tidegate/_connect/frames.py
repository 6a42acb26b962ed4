"""Messages of a connection: text frames of JSON (docs/protocol.md#connect)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .. import _headers as headers
from .._json import parse_object, write
from .._run_call import AppAnswer

SUBPROTOCOL = "v1.connect.tidegate"

_STATUS = {200: 1, 206: 0}
"""Status of a reply, by the status of the response. Other statuses are errors."""
_ERROR = 2
_FRAME_MAX_BYTES = 12 * 1_048_576
"""The gateway closes a connection with a longer frame. What is between this and the limit of a response fails the call
there."""


@dataclass(frozen=True)
class Frame:
    kind: str
    payload: dict[str, Any]


def frame_text(kind: str, payload: dict[str, Any]) -> str:
    return write({"kind": kind, "payload": payload})


def read_frame(text: str) -> Frame:
    """Kinds that this client does not know are passed on unchanged."""
    frame = parse_object(text)
    payload = frame.get("payload")
    return Frame(str(frame.get("kind")), cast("dict[str, Any]", payload) if isinstance(payload, dict) else {})


def reply_of(request_id: str, answer: AppAnswer) -> dict[str, Any]:
    reply: dict[str, Any] = {
        "requestId": request_id,
        "status": _STATUS.get(answer.status, _ERROR),
        "body": answer.body,
        "noRetry": answer.headers.get(headers.NO_RETRY) == "true",
        "sdkVersion": headers.SDK,
    }
    if headers.RETRY_AFTER in answer.headers:
        reply["retryAfter"] = answer.headers[headers.RETRY_AFTER]
    is_short = len(answer.body) < _FRAME_MAX_BYTES // 6
    if is_short or len(frame_text("workerReply", reply).encode()) < _FRAME_MAX_BYTES:
        return reply
    message = "the response to the call is too large; store large data elsewhere and return its location"
    error = write({"name": "OutputTooLarge", "message": message})
    return {**reply, "status": _ERROR, "noRetry": True, "body": error}
