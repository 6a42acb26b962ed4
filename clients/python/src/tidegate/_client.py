"""An app's client: made once, used everywhere."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Sequence
from types import TracebackType

from . import _ask as ask
from ._checkpoint import Checkpoint, check_checkpoint
from ._clock import RealClock
from ._create import FunctionCreator
from ._effects import Effects, drive, drive_async
from ._events import EventOrEvents, EventToSend, events_on_the_wire, fields_of_events
from ._logging import AnyLogger
from ._middleware.calls import SendCall
from ._middleware.check import check_hooks, checked
from ._middleware.middleware import Middleware
from ._middleware.stack import Stack
from ._options import told_of_unknown
from ._send import send_events
from ._settings import Options, Settings
from ._transport import Transport, default_transport
from ._versioning import Versioning, check_versioning
from .errors import ConfigError


class Tidegate(FunctionCreator):
    """Sends events, and defines functions that run on them.

    As a context manager, `with` or `async with`, it closes its connections; it may be used without, too.
    """

    @told_of_unknown("Tidegate")
    def __init__(
        self,
        app_id: str,
        *,
        event_key: str | None = None,
        base_url: str | None = None,
        env: str | None = None,
        is_dev: bool | None = None,
        signing_key: str | None = None,
        signing_key_fallback: str | None = None,
        max_bytes: int | None = None,
        error_source: bool | None = None,
        logs: bool | None = None,
        checkpoint: Checkpoint | bool | None = None,
        app_version: str | None = None,
        versioning: Versioning | None = None,
        middleware: Sequence[Middleware] = (),
        logger: AnyLogger | None = None,
        transport: Transport | None = None,
    ) -> None:
        """Options that are missing here are read from SERVICE_* variables when they are first needed.

        app_id: names the app. Part of the identity of its functions: change it and they are new ones.
        event_key: to send. Not needed in dev mode. Default: SERVICE_EVENT_KEY.
        base_url: address of the service. Default: SERVICE_BASE_URL; in dev mode http://127.0.0.1:8288.
        env: branch environment, by name. Default: SERVICE_ENV.
        is_dev: default: SERVICE_DEV, which is 1, true or the address of a local service.
        signing_key: `signkey-<word>-<hex>`, to host functions outside dev mode. Default: SERVICE_SIGNING_KEY.
        signing_key_fallback: while keys are rotated, the other one of the two: calls signed with it are served too.
            Default: SERVICE_SIGNING_KEY_FALLBACK.
        max_bytes: of a request with events: larger sends are split. Default: 524,288, as the service's.
        error_source: whether errors are sent with the lines of code around the place where they were raised. Default:
            SERVICE_ERROR_SOURCE, or True.
        logs: whether what handlers log with `ctx.logger` is sent to the service. Default: SERVICE_LOGS, or True unless
            a middleware encodes values.
        checkpoint: whether calls of functions continue after a step, once it is stored, instead of ending with it.
            Functions can have their own. Default: True, except on platforms that limit the time of requests, such as
            AWS Lambda.
        app_version: version or build of the app, such as a commit or the ID of a deployment: the service tells versions
            apart by it.
        versioning: whether runs end on the version of the app on which they begin ("pinned"), or go on with the newest
            ("latest"). Functions can have their own. Default: as set in the service, "latest" at first.
        middleware: around all functions and sends; the first is the outermost.
        logger: for `ctx.logger` in handlers. Default: that of the name "tidegate".
        transport: instead of httpx, or of the standard library where that is not installed.
        """
        if not app_id:
            raise ConfigError("A client needs an app_id: the name of its app")
        self.app_id = app_id
        self.middleware = checked("Tidegate()", middleware)
        check_checkpoint("Tidegate()", checkpoint)
        check_versioning("Tidegate()", versioning)
        self.versioning = versioning
        self._options = Options(
            event_key=event_key,
            base_url=base_url,
            env=env,
            is_dev=is_dev,
            signing_key=signing_key,
            signing_key_fallback=signing_key_fallback,
            max_bytes=max_bytes,
            error_source=error_source,
            logs=logs,
            checkpoint=checkpoint,
            app_version=app_version,
        )
        self._logger = logger
        self._transport = transport
        self._lock = threading.Lock()
        self._clock = RealClock()

    async def send(self, events: EventOrEvents, *, seed: str | None = None, timeout: float | None = None) -> list[str]:
        """Sends one event or several, split into as many requests as their size needs, and gives their IDs, in order.

        Await it: a process that ends before may not have sent them. In a function, prefer `step.send_event`.
        `timeout`, in seconds, is for the whole send, its retries included; without it a single try has 30 seconds.
        `seed` is that of a SendError: the same events, sent again under it, are stored once.

        Raises SendError when the service refuses them, cannot be reached, or it takes too long; TypeError when an
        event cannot be JSON; ConfigError; what middleware raises.
        """
        send = SendCall(events=fields_of_events(events))
        if not send.events:
            return []
        check_hooks("send()", self.middleware, "async", ["send"])

        async def transmit() -> list[str]:
            return await drive_async(self._transmission(send, seed, timeout))

        return await Stack(self.middleware).send(send, transmit)

    def send_sync(self, events: EventOrEvents, *, seed: str | None = None, timeout: float | None = None) -> list[str]:
        """As `send`, for code that is not async."""
        send = SendCall(events=fields_of_events(events))
        if not send.events:
            return []
        check_hooks("send_sync()", self.middleware, "plain", ["send"])
        return Stack(self.middleware).send_sync(send, lambda: drive(self._transmission(send, seed, timeout)))

    def _transmission(self, send: SendCall, seed: str | None, timeout: float | None) -> Effects[list[str]]:
        """Sends the events that middleware has left."""
        wire = events_on_the_wire(send.events, Stack(self.middleware).encode_sent)
        return send_events(wire, self.settings(), self._clock, seed=seed, timeout=timeout)

    async def send_many(
        self, events: Sequence[EventToSend], *, seed: str | None = None, timeout: float | None = None
    ) -> list[str]:
        """The same as `send`, of a list."""
        return await self.send(events, seed=seed, timeout=timeout)

    def send_many_sync(
        self, events: Sequence[EventToSend], *, seed: str | None = None, timeout: float | None = None
    ) -> list[str]:
        """The same as `send_sync`, of a list."""
        return self.send_sync(events, seed=seed, timeout=timeout)

    async def send_signal(self, signal: str, data: object = None) -> str | None:
        """Ends the step that waits for the signal. Gives the ID of its run; None when no step waits. In a function,
        prefer `step.send_signal`.

        Raises SendError, TypeError when the data cannot be JSON, ConfigError.
        """
        return await drive_async(ask.send_signal(signal, data, self.settings()))

    def send_signal_sync(self, signal: str, data: object = None) -> str | None:
        """As `send_signal`, for code that is not async."""
        return drive(ask.send_signal(signal, data, self.settings()))

    async def publish(self, channel: str, topic: str, data: object) -> None:
        """Publishes a message to who is subscribed to the topic of the channel now.

        Raises SendError, TypeError when the data cannot be JSON, ConfigError.
        """
        await drive_async(ask.publish(channel, topic, data, self.settings()))

    def publish_sync(self, channel: str, topic: str, data: object) -> None:
        """As `publish`, for code that is not async."""
        drive(ask.publish(channel, topic, data, self.settings()))

    async def subscription_token(self, channel: str, topics: Sequence[str]) -> str:
        """Lets whoever has it subscribe to these topics of the channel, for a short time: hand it to a browser.

        Raises SendError, ConfigError.
        """
        return await drive_async(ask.subscription_token(channel, topics, self.settings()))

    def subscription_token_sync(self, channel: str, topics: Sequence[str]) -> str:
        """As `subscription_token`, for code that is not async."""
        return drive(ask.subscription_token(channel, topics, self.settings()))

    def settings(self) -> Settings:
        """As they are now."""
        with self._lock:
            self._transport = self._transport or default_transport()
        logger = logging.getLogger("tidegate") if self._logger is None else self._logger
        return Settings(self._options, os.environ, logger, self._transport)

    def close(self) -> None:
        """Closes the connections of `send_sync`. Those of `send` belong to an event loop: see `aclose`."""
        if self._transport:
            self._transport.close()

    async def aclose(self) -> None:
        """Closes all connections that belong to this event loop or to none."""
        if self._transport:
            await self._transport.aclose()
        self.close()

    def __enter__(self) -> Tidegate:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Tidegate:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
