"""Calls of an app's functions, however they reach the app."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from . import _headers as headers
from ._call import Call, read_call
from ._checkpoints import Checkpoints, SendCheckpoint
from ._client import Tidegate
from ._clock import RealClock
from ._effects import Effects, does
from ._functions import Function
from ._json import write
from ._log_collector import LogCollector
from ._middleware.stack import Stack
from ._outside import AsyncServiceOutside, ServiceOutside
from ._run_call import AppAnswer, CallDeps, RunCall, outcome_of
from ._send_logs import SENDER
from ._settings import Settings
from ._steps.moves import Progress
from .errors import ConfigError, ServeError

_STEP_ITSELF = "step"

InThread = Callable[[Callable[[], Progress]], Awaitable[Progress]]
"""How async code calls a plain function that may block."""


class AppCalls:
    """Runs the calls of an app, which is hosted at a URL or over a connection."""

    def __init__(
        self,
        client: Tidegate,
        functions: Sequence[Function[Any]],
        framework: str,
        in_thread: InThread = asyncio.to_thread,
    ) -> None:
        """Raises ConfigError when two functions share an id, or one is another app's."""
        self.functions = [fn for given in functions for fn in (given, given.on_failure) if fn]
        """Includes functions that handle failures."""
        self._by_id = _index_by_id(client, self.functions)
        self._checkpoints = Checkpoints(framework)
        self._in_thread = in_thread

    def run(
        self,
        body: bytes,
        target: tuple[str, str],
        settings: Settings,
        send_checkpoint: SendCheckpoint | None = None,
    ) -> Effects[AppAnswer]:
        """`target` names a function, and perhaps the one step of it to run. Raises ServeError when the call reaches no
        function."""
        call = yield from read_call(body, settings)
        fn, step = self._requested(target)
        logs = LogCollector() if _takes_logs(call, fn, settings) else None

        def send_logs() -> None:
            if logs:
                SENDER.send(call, logs, settings)

        checkpoints = self._checkpoints.of(call, step, fn, settings, on_stored=send_logs, send=send_checkpoint)
        run = RunCall(
            fn=fn,
            call=call,
            requested_step=step,
            deps=_call_deps(settings),
            in_thread=self._in_thread,
            logs=logs,
            checkpoints=checkpoints,
        )
        progress = yield from does(run)
        unstored = checkpoints.unstored if checkpoints else ()
        answer = outcome_of(progress, error_source=settings.error_source, unstored=unstored)
        send_logs()
        return answer

    def _requested(self, target: tuple[str, str]) -> tuple[Function[Any], str | None]:
        function_id, step = target
        fn = self._by_id.get(function_id)
        if not fn:
            raise ServeError(500, f'The app has no function "{function_id}"; register it again')
        return fn, None if step == _STEP_ITSELF else step


def refusal(error: Exception) -> AppAnswer:
    """The response to a call that reached no function. Retrying may help, because the app may be fixed meanwhile."""
    status = error.status if isinstance(error, ServeError) else 500
    body = write({"name": type(error).__name__, "message": str(error)})
    return AppAnswer(status=status, headers={headers.NO_RETRY: "false"}, body=body)


def _call_deps(settings: Settings) -> CallDeps:
    clock = RealClock()
    return CallDeps(
        logger=settings.logger,
        outside=lambda call: ServiceOutside(settings, call, clock),
        outside_async=lambda call: AsyncServiceOutside(settings, call, clock),
        release=settings.transport.aclose,
    )


def _takes_logs(call: Call, fn: Function[Any], settings: Settings) -> bool:
    """Unless the app says otherwise, what it logs stays with it where a middleware changes what the service stores: the
    values may be secret."""
    told = settings.logs
    return call.takes_logs and (not Stack(fn.middleware).encodes if told is None else told)


def _index_by_id(client: Tidegate, functions: Sequence[Function[Any]]) -> dict[str, Function[Any]]:
    for fn in functions:
        if fn.app_id != client.app_id:
            raise ConfigError(f'Function "{fn.id}" is of the app "{fn.app_id}", not "{client.app_id}"')
    by_id = {fn.composite_id: fn for fn in functions}
    if len(by_id) < len(functions):
        raise ConfigError("Two functions of the app have the same id")
    return by_id
