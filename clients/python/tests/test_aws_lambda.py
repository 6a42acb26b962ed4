"""The adapter of AWS Lambda, with the events that AWS documents for each kind of front."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

import tidegate.aws_lambda
from support.calls import EVENT, call_request
from support.played_service import Reply, played_service
from tidegate import Context, SyncContext, Tidegate, _send_logs

client = Tidegate("shop", is_dev=True)
STAGED = "/prod/api/service"


@client.create_function(id="plain", trigger="order/paid")
def plain(ctx: SyncContext) -> Any:
    return {"plain": ctx.event.data["total"]}


@client.create_function(id="async", trigger="order/paid")
async def run_async(ctx: Context) -> Any:
    return [await ctx.step.run("a", lambda: 1), ctx.event.data["name"]]


def function_url(method: str, body: str | None, query: dict[str, str], *, encoded: bool = False) -> dict[str, Any]:
    """Payload 2.0: a function URL's event."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": STAGED,
        "rawQueryString": "&".join(f"{name}={quote(value)}" for name, value in query.items()),
        "cookies": ["cookie1", "cookie2"],
        "headers": {
            "host": "abcdefg.lambda-url.us-west-2.on.aws",
            "content-type": "application/json",
            "x-forwarded-proto": "https",
            "x-forwarded-port": "443",
        },
        "queryStringParameters": query,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abcdefg",
            "domainName": "abcdefg.lambda-url.us-west-2.on.aws",
            "domainPrefix": "abcdefg",
            "http": {
                "method": method,
                "path": STAGED,
                "protocol": "HTTP/1.1",
                "sourceIp": "123.123.123.123",
                "userAgent": "agent",
            },
            "requestId": "id",
            "routeKey": "$default",
            "stage": "$default",
            "time": "12/Mar/2020:19:03:58 +0000",
            "timeEpoch": 1583348638390,
        },
        "body": body,
        "pathParameters": None,
        "isBase64Encoded": encoded,
        "stageVariables": None,
    }


def http_api(method: str, body: str | None, query: dict[str, str], *, encoded: bool = False) -> dict[str, Any]:
    """Payload 2.0: that of an HTTP API with a stage."""
    event = function_url(method, body, query, encoded=encoded)
    event["routeKey"] = f"{method} /api/service"
    event["requestContext"] = {**event["requestContext"], "stage": "prod", "routeKey": event["routeKey"]}
    return event


def rest_api(method: str, body: str | None, query: dict[str, str], *, encoded: bool = False) -> dict[str, Any]:
    """Payload 1.0."""
    headers = {"Host": "70ixmpl4fl.execute-api.us-east-2.amazonaws.com", "X-Forwarded-Proto": "https"}
    return {
        "version": "1.0",
        "resource": "/{proxy+}",
        "path": "/api/service",
        "httpMethod": method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": query or None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} or None,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "id",
            "domainName": "70ixmpl4fl.execute-api.us-east-2.amazonaws.com",
            "httpMethod": method,
            "identity": {"sourceIp": "192.0.2.1"},
            "path": STAGED,
            "protocol": "HTTP/1.1",
            "requestId": "id=",
            "resourceId": None,
            "resourcePath": "/{proxy+}",
            "stage": "prod",
        },
        "pathParameters": {"proxy": "api/service"},
        "stageVariables": None,
        "body": body,
        "isBase64Encoded": encoded,
    }


def load_balancer(method: str, body: str | None, query: dict[str, str], *, encoded: bool = False) -> dict[str, Any]:
    """Its query is as it came, not decoded."""
    group = "arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/lambda/49e9d65c45c6791a"
    return {
        "requestContext": {"elb": {"targetGroupArn": group}},
        "httpMethod": method,
        "path": STAGED,
        "queryStringParameters": {name: quote(value, safe="") for name, value in query.items()},
        "headers": {"host": "lambda-846800462.us-east-2.elb.amazonaws.com", "x-forwarded-proto": "https"},
        "body": body or "",
        "isBase64Encoded": encoded,
    }


def load_balancer_of_many(method: str, body: str | None, query: dict[str, str], *, encoded: bool = False) -> Any:
    """With multi-value headers switched on."""
    event = load_balancer(method, body, query, encoded=encoded)
    headers, parameters = event.pop("headers"), event.pop("queryStringParameters")
    event["multiValueHeaders"] = {name: [value] for name, value in headers.items()}
    event["multiValueQueryStringParameters"] = {name: [value] for name, value in parameters.items()}
    return event


FRONTS = [function_url, http_api, rest_api, load_balancer, load_balancer_of_many]
Front = Callable[..., dict[str, Any]]


def _ask(handler: Any, event: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
    """Through JSON, as Lambda does. Status, headers, body."""
    response = json.loads(json.dumps(handler(json.loads(json.dumps(event)), None)))
    several = {name: ",".join(values) for name, values in response.get("multiValueHeaders", {}).items()}
    assert response["isBase64Encoded"] is False
    return response["statusCode"], response.get("headers", several), json.loads(response["body"])


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("front", FRONTS)
def test_a_call_is_run(front: Front, encoded: bool) -> None:
    handler = tidegate.aws_lambda.serve(client, [plain, run_async])
    event = {**EVENT, "data": {"total": 3, "name": "café"}}

    def body_of(steps: dict[str, Any]) -> str:
        text = json.dumps(call_request(run_async, steps, event=event).body, ensure_ascii=False)
        return b64encode(text.encode()).decode() if encoded else text

    ask = lambda fn, steps: _ask(  # noqa: E731
        handler, front("POST", body_of(steps), {"fnId": f"shop-{fn}", "stepId": "step"}, encoded=encoded)
    )
    status, headers, body = ask("plain", {})
    assert (status, body) == (200, {"plain": 3})
    assert (headers["content-type"], headers["x-service-framework"]) == ("application/json", "aws-lambda")
    status, _, ops = ask("async", {})
    assert (status, [(op["op"], op["data"]) for op in ops]) == (206, [("StepRun", 1)])
    assert ask("async", {"a": {"data": 1}})[::2] == (200, [1, "café"])


@pytest.mark.parametrize("front", FRONTS)
def test_names_in_the_query_are_decoded_once(front: Front) -> None:
    handler = tidegate.aws_lambda.serve(client, [plain])
    body = json.dumps(call_request(plain).body)
    status, _, answer = _ask(handler, front("POST", body, {"fnId": "shop-a&b c%41", "stepId": "step"}))
    assert status == 500
    assert '"shop-a&b c%41"' in answer["message"]


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("is_async", [False, True])
def test_what_is_logged_has_arrived_when_the_handler_returns(
    front: Front, is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "fn")
    # The response waits for a second at most, which a busy machine may take for nothing.
    monkeypatch.setattr(_send_logs, "_ANSWER_WAITS_SECONDS", 60.0)
    with played_service(Reply()) as service, Tidegate("shop", is_dev=True, base_url=service.url) as own:

        def log(ctx: SyncContext) -> str:
            ctx.logger.info("one")
            return "done"

        async def log_async(ctx: Context) -> str:
            ctx.logger.info("one")
            return "done"

        fn = own.create_function(id="fn", trigger="a")(log_async if is_async else log)
        request: Any = call_request(fn)
        request.body["ctx"]["logs"] = True
        event = front("POST", json.dumps(request.body), {"fnId": "shop-fn", "stepId": "step"})
        assert _ask(tidegate.aws_lambda.serve(own, [fn]), event)[::2] == (200, "done")
        # From here on nothing of the app runs.
        arrived = list(service.requests)
    assert [line["message"] for line in arrived[0].json["lines"]] == ["one"]


@pytest.mark.parametrize("front", FRONTS)
def test_it_registers_under_the_address_that_was_asked(front: Front) -> None:
    with played_service(Reply(body={"ok": True, "modified": True})) as service:
        own = Tidegate("shop", is_dev=True, base_url=service.url)
        fn = own.create_function(id="fn", trigger="a")(lambda ctx: None)
        event = front("PUT", None, {})
        with own:
            assert _ask(tidegate.aws_lambda.serve(own, [fn]), event)[0] == 200
            origin = "https://shop.example"
            assert _ask(tidegate.aws_lambda.serve(own, [fn], serve_origin=origin), event)[0] == 200
    fields = {**event.get("headers", {}), **{k: v[0] for k, v in event.get("multiValueHeaders", {}).items()}}
    host = fields.get("host") or fields.get("Host")
    assert [asked.json["url"] for asked in service.requests] == [f"https://{host}{STAGED}", f"{origin}{STAGED}"]


@pytest.mark.parametrize("front", FRONTS)
def test_it_answers_get_and_other_methods_and_paths(front: Front) -> None:
    handler = tidegate.aws_lambda.serve(client, [plain, run_async], path=STAGED)
    assert _ask(handler, front("GET", None, {}))[2]["function_count"] == 2
    assert _ask(handler, front("DELETE", None, {}))[0] == 405
    assert _ask(tidegate.aws_lambda.serve(client, [plain], path="/other"), front("GET", None, {}))[0] == 404


def test_a_body_that_is_not_base64_is_refused() -> None:
    handler = tidegate.aws_lambda.serve(client, [plain])
    status, _, answer = _ask(handler, rest_api("POST", "%%%", {"fnId": "shop-plain"}, encoded=True))
    assert (status, "base64" in answer["message"]) == (400, True)


def test_an_event_that_is_no_request_is_named() -> None:
    with pytest.raises(ValueError, match="no HTTP request"):
        tidegate.aws_lambda.serve(client, [plain])({"source": "aws.events", "detail": {}}, None)
