"""Runs a function's body that a case gives in JSON (its README: programs), with this library's public step tools.

Written once, for async code; the plain twin runs the same on tools that are finished when they are called.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import reduce
from typing import Any, Protocol, cast

from tidegate import (
    Context,
    FailureContext,
    FetchResponse,
    NonRetriableError,
    ReceivedEvent,
    ReceivedSignal,
    RetryAfterError,
    StepError,
    SyncContext,
    reference_function,
)
from tidegate import SyncFailureContext as SyncFailure
from tidegate.errors import RemoteError

from .cases import only

Program = list[dict[str, Any]]
Variables = dict[str, Any]


class _Tools(Protocol):
    """Steps, and a parallel that takes branches of an interpreter."""

    step: Any
    logger: Any

    async def parallel(self, branches: list[Callable[[], Coroutine[Any, Any, Any]]]) -> Any: ...

    async def race(self, branches: list[Callable[[], Coroutine[Any, Any, Any]]]) -> Any: ...

    async def result(self, called: Any) -> Any: ...


class _AsyncTools:
    def __init__(self, ctx: Context) -> None:
        self.step, self.logger = ctx.step, ctx.logger

    async def parallel(self, branches: list[Callable[[], Coroutine[Any, Any, Any]]]) -> Any:
        return await self.step.parallel(branches)

    async def race(self, branches: list[Callable[[], Coroutine[Any, Any, Any]]]) -> Any:
        return await self.step.race(branches)

    async def result(self, called: Any) -> Any:
        return await cast("Awaitable[Any]", called)


class _PlainTools:
    def __init__(self, ctx: SyncContext) -> None:
        self.step, self.logger = ctx.step, ctx.logger

    async def parallel(self, branches: list[Callable[[], Coroutine[Any, Any, Any]]]) -> Any:
        return self.step.parallel([lambda branch=branch: _finish(branch()) for branch in branches])

    async def race(self, branches: list[Callable[[], Coroutine[Any, Any, Any]]]) -> Any:
        return self.step.race([lambda branch=branch: _finish(branch()) for branch in branches])

    async def result(self, called: Any) -> Any:
        return called


def _finish(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Finishes a coroutine that never really waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("A program of a plain function has waited")


@dataclasses.dataclass(frozen=True)
class _Return:
    value: Any


async def run_program(program: Program, ctx: Context) -> Any:
    return await _start(program, ctx, _AsyncTools(ctx))


def run_program_sync(program: Program, ctx: SyncContext) -> Any:
    return _finish(_start(program, ctx, _PlainTools(ctx)))


async def _start(program: Program, ctx: Context | SyncContext, tools: _Tools) -> Any:
    variables: Variables = {
        "event": _as_json(ctx.event),
        "attempt": ctx.attempt,
        "max_attempts": ctx.max_attempts,
        "run_id": ctx.run_id,
    }
    if isinstance(ctx, FailureContext | SyncFailure):
        variables["error"] = _describe(ctx.error)
    end = await _run(program, variables, tools)
    return end.value if end else None


async def _run(program: Program, variables: Variables, tools: _Tools) -> _Return | None:
    for statement in program:
        end = await _execute(statement, variables, tools)
        if end:
            return end
    return None


async def _execute(statement: dict[str, Any], variables: Variables, tools: _Tools) -> _Return | None:
    match next(iter(statement)):
        case "return":
            only(statement, ("return",))
            return _Return(_resolve(statement["return"], variables))
        case "throw":
            only(statement, ("throw",))
            raise _error_of(statement["throw"])
        case "try":
            only(statement, ("try", "catch"))
            try:
                return await _run(statement["try"], variables, tools)
            except Exception as error:
                variables["error"] = _describe(error)
            return await _run(statement["catch"], variables, tools)
        case "when":
            only(statement, ("when", "then", "else"))
            chosen = "else" if _look_up(statement["when"], variables) is None else "then"
            return await _run(statement.get(chosen, []), variables, tools)
        case "log":
            _log(statement, tools.logger)
            return None
        case "parallel":
            only(statement, ("parallel", "as"))
            branches = [_branch(branch, variables, tools) for branch in statement["parallel"]]
            result = list(await tools.parallel(branches))
        case "race":
            only(statement, ("race", "as"))
            result = await tools.race([_branch(branch, variables, tools) for branch in statement["race"]])
        case _:
            result = _as_json(await tools.result(_call(statement, variables, tools)))
            if "send_event" in statement:
                result = {"ids": result}
    if "as" in statement:
        variables[statement["as"]] = result
    return None


def _branch(program: Program, variables: Variables, tools: _Tools) -> Callable[[], Coroutine[Any, Any, Any]]:
    async def run() -> Any:
        end = await _run(program, dict(variables), tools)
        return end.value if end else None

    return run


def _call(statement: dict[str, Any], variables: Variables, tools: _Tools) -> Any:
    kind, step_id = next(iter(statement.items()))
    step = tools.step

    def reads(*fields: str) -> None:
        only(statement, (kind, *fields, "as"))

    match kind:
        case "run":
            reads("gives", "throws", "logs")
            return step.run(step_id, _body, statement, variables, tools.logger)
        case "sleep":
            reads("for")
            return step.sleep(step_id, _length(statement["for"]))
        case "sleep_until":
            reads("until")
            return step.sleep_until(step_id, statement["until"])
        case "send_event":
            reads("events")
            return step.send_event(step_id, _resolve(statement["events"], variables))
        case "wait_for_event":
            reads("event", "timeout", "if")
            event, timeout = statement["event"], _length(statement["timeout"])
            return step.wait_for_event(step_id, event=event, timeout=timeout, if_=statement.get("if"))
        case "wait_for_signal":
            reads("signal", "timeout", "conflict")
            signal, timeout = statement["signal"], _length(statement["timeout"])
            return step.wait_for_signal(step_id, signal=signal, timeout=timeout, conflict=statement.get("conflict"))
        case "send_signal":
            reads("signal", "data")
            return step.send_signal(step_id, statement["signal"], _resolve(statement.get("data"), variables))
        case "fetch":
            reads("url", "method", "headers", "body")
            return step.fetch(step_id, **_options(statement, ("url", "method", "headers", "body"), variables))
        case "infer":
            reads("url", "format", "auth_key", "headers", "body")
            fields = ("url", "format", "auth_key", "headers", "body")
            return step.infer(step_id, **_options(statement, fields, variables))
        case "invoke":
            reads("function", "data", "timeout")
            data, timeout = _resolve(statement.get("data"), variables), _length(statement.get("timeout"))
            return step.invoke(step_id, function=_invoked(statement["function"]), data=data, timeout=timeout)
        case _:
            raise AssertionError(f"A program has a statement that is not known here: {kind}")


def _invoked(given: Any) -> Any:
    if isinstance(given, str):
        return given
    only(given, ("app", "id"))
    return reference_function(app_id=given["app"], function_id=given["id"])


def _options(statement: dict[str, Any], fields: tuple[str, ...], variables: Variables) -> dict[str, Any]:
    return {field: _resolve(statement[field], variables) for field in fields if field in statement}


def _length(given: Any) -> Any:
    """In a case numbers are milliseconds; in Python seconds."""
    return given / 1_000 if isinstance(given, int | float) else given


def _log(statement: dict[str, Any], logger: Any) -> None:
    only(statement, ("log", "message", "fields", "times"))
    level = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
    message, fields = _with_long_texts(statement["message"]), _with_long_texts(statement.get("fields"))
    for _ in range(statement.get("times", 1)):
        logger.log(level[statement["log"]], message, extra=fields)


def _with_long_texts(given: Any) -> Any:
    """`{"of": "x", "length": 10000}`, wherever it stands."""
    if isinstance(given, list):
        return [_with_long_texts(item) for item in given]
    if not isinstance(given, dict):
        return given
    if "of" in given:
        return given["of"] * given["length"]
    return {key: _with_long_texts(item) for key, item in given.items()}


def _body(statement: dict[str, Any], variables: Variables, logger: Any) -> Any:
    for line in statement.get("logs", []):
        _log(line, logger)
    if "throws" in statement:
        raise _error_of(statement["throws"])
    return _resolve(statement.get("gives"), variables)


def _resolve(given: Any, variables: Variables) -> Any:
    """`{"$": "x.data.total"}`, wherever it stands, is what the variable has there."""
    if isinstance(given, list):
        return [_resolve(item, variables) for item in given]
    if not isinstance(given, dict):
        return given
    if "$" in given:
        return _look_up(given["$"], variables)
    return {key: _resolve(item, variables) for key, item in given.items()}


def _look_up(path: str, variables: Variables) -> Any:
    def field(value: Any, key: str) -> Any:
        if isinstance(value, list) and key.isdigit():
            return value[int(key)] if int(key) < len(value) else None
        return value.get(key) if isinstance(value, dict) else None

    return reduce(field, path.split("."), variables)


def _as_json(value: Any) -> Any:
    """An event as it came."""
    if isinstance(value, ReceivedSignal | FetchResponse):
        return dataclasses.asdict(value)
    return value.raw if isinstance(value, ReceivedEvent) else value


def _error_of(given: dict[str, Any]) -> Exception:
    only(given, ("kind", "message", "after_ms", "cause", "data", "code"))
    error: Any = _bare_error(given)
    for name in ("data", "code"):
        if name in given:
            setattr(error, name, given[name])
    if "cause" in given:
        error.__cause__ = _error_of(given["cause"])
    return error


def _bare_error(given: dict[str, Any]) -> Exception:
    match given["kind"]:
        case "plain":
            return Exception(given["message"])
        case "non-retriable":
            return NonRetriableError(given["message"])
        case "retry-after":
            return RetryAfterError(given["message"], given.get("after_ms", 0) / 1_000)
        case kind:
            raise AssertionError(f"A program throws an error of a kind that is not known here: {kind}")


def _describe(error: BaseException) -> dict[str, Any]:
    name = error.name if isinstance(error, StepError | RemoteError) else type(error).__name__
    described = error.cause if isinstance(error, StepError) and error.cause else error
    cause = described.cause if isinstance(described, RemoteError) else described.__cause__
    fields = {
        "cause": _describe(cause) if isinstance(cause, BaseException) else cause,
        "data": getattr(error, "data", None),
        "code": getattr(error, "code", None),
    }
    return {"name": name, "message": str(error), **{key: value for key, value in fields.items() if value is not None}}
