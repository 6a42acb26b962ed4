"""Checks middleware when it is given: what would be passed over in silence is a mistake."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Literal, cast

from ..errors import ConfigError
from .middleware import Middleware

Kind = Literal["async", "plain"]

_PAIRS = {"run": ("on_run", "on_run_sync"), "step": ("on_step", "on_step_sync"), "send": ("on_send", "on_send_sync")}


def checked(what: str, given: object) -> tuple[Middleware, ...]:
    """Raises ConfigError when it is no list of middleware. `what` begins the message."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ConfigError(f"{what}: middleware must be a list, got {given!r}")
    middleware = cast("Sequence[object]", given)
    for one in middleware:
        if isinstance(one, type) and issubclass(one, Middleware):
            raise ConfigError(f"{what}: middleware must be objects; got the class {one.__name__}: call it")
        if not isinstance(one, Middleware):
            raise ConfigError(f"{what}: a middleware is an object of a subclass of tidegate.Middleware, got {one!r}")
        for _, sync_hook in _PAIRS.values():
            if inspect.iscoroutinefunction(getattr(one, sync_hook)):
                raise ConfigError(f'{what}: {sync_hook} of the middleware "{one.name}" must not be async')
    return tuple(one for one in middleware if isinstance(one, Middleware))


def check_hooks(what: str, middleware: Sequence[Middleware], kind: Kind, hooks: Sequence[str] = tuple(_PAIRS)) -> None:
    """Raises ConfigError when a middleware has a hook only for code of the other kind."""
    for one in middleware:
        for hook in hooks:
            needed, other = _PAIRS[hook] if kind == "async" else reversed(_PAIRS[hook])
            if _overrides(one, other) and not _overrides(one, needed):
                raise ConfigError(
                    f'{what} is {kind}, and the middleware "{one.name}" has {other}, but no {needed}: define that too'
                )


def _overrides(middleware: Middleware, hook: str) -> bool:
    return getattr(type(middleware), hook) is not getattr(Middleware, hook)
