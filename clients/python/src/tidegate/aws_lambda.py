"""Functions in AWS Lambda: `handler = tidegate.aws_lambda.serve(client, [thank])`.

Behind a function URL, an API Gateway (a REST API or an HTTP API, payload 1.0 or 2.0) or an Application Load Balancer.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from ._app_request import AppRequest
from ._client import Tidegate
from ._functions import Function
from ._handler import Handler
from ._run_call import AppAnswer
from .errors import ServeError

LambdaHandler = Callable[[Mapping[str, Any], object], dict[str, Any]]
"""Called with an event and the context of Lambda."""


def serve(
    client: Tidegate,
    functions: Sequence[Function[Any]],
    *,
    path: str | None = None,
    serve_origin: str | None = None,
) -> LambdaHandler:
    """The handler of a Lambda function. If `path` (the whole path, with the stage of the API) is set, requests to other
    paths get a 404.

    It raises ValueError for an event that is not an HTTP request.
    """
    own = Handler(client, functions, path=path, serve_origin=serve_origin, framework="aws-lambda")

    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
        try:
            answer = own.answer(_request(event))
        except ServeError as error:
            answer = own.refusal(error)
        return _response(answer, event)

    return handler


def _request(event: Mapping[str, Any]) -> AppRequest:
    http: Mapping[str, Any] = _context(event).get("http") or {}
    method = http.get("method") or event.get("httpMethod")
    if not isinstance(method, str):
        raise ValueError(
            "This event of Lambda is no HTTP request: tidegate.aws_lambda takes those of function URLs, API Gateways "
            "and Application Load Balancers"
        )
    headers = _headers(event)
    return AppRequest(
        method=method,
        url=_url(event),
        headers=headers,
        body=_body(event),
        secure=headers.get("x-forwarded-proto") != "http",
    )


def _context(event: Mapping[str, Any]) -> Mapping[str, Any]:
    context: Mapping[str, Any] = event.get("requestContext") or {}
    return context


def _headers(event: Mapping[str, Any]) -> dict[str, str]:
    single: Mapping[str, str] = event.get("headers") or {}
    several: Mapping[str, Sequence[str]] = event.get("multiValueHeaders") or {}
    return {
        **{name.lower(): ",".join(values) for name, values in several.items()},
        **{name.lower(): value for name, value in single.items()},
    }


def _url(event: Mapping[str, Any]) -> str:
    """The path as the client sent it, with the stage of the API."""
    if "rawPath" in event:
        path, query = event["rawPath"], event.get("rawQueryString") or ""
    else:
        path, query = _context(event).get("path") or event.get("path") or "/", _query(event)
    return f"{path}?{query}" if query else path


def _query(event: Mapping[str, Any]) -> str:
    single: Mapping[str, str] = event.get("queryStringParameters") or {}
    several: Mapping[str, Sequence[str]] = event.get("multiValueQueryStringParameters") or {}
    pairs = [(name, value) for name, values in several.items() for value in values] or list(single.items())
    # A load balancer leaves them encoded, an API Gateway does not.
    return "&".join(f"{name}={value}" for name, value in pairs) if "elb" in _context(event) else urlencode(pairs)


def _body(event: Mapping[str, Any]) -> bytes:
    """Raises ServeError if the body is not encoded as the event says."""
    body: str = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return body.encode(errors="replace")
    try:
        return b64decode(body, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ServeError(400, "The body is not base64, as the event of Lambda says") from error


def _response(answer: AppAnswer, event: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"headers": answer.headers}
    if "multiValueHeaders" in event and "headers" not in event:
        # A load balancer that has been told to hand them on so wants them back so.
        fields = {"multiValueHeaders": {name: [value] for name, value in answer.headers.items()}}
    return {"statusCode": answer.status, **fields, "body": answer.body, "isBase64Encoded": False}
