"""A case's client, functions and variables, as this library takes them."""

from __future__ import annotations

import os
import re
from typing import Any, Literal, cast

import pytest

import tidegate
from tidegate import (
    BatchEvents,
    CancelOn,
    Checkpoint,
    Concurrency,
    ConcurrencyOfRunsAndSteps,
    CronTrigger,
    Debounce,
    EventTrigger,
    Order,
    Priority,
    RateLimit,
    Singleton,
    Throttle,
    Tidegate,
    Timeouts,
)
from tidegate.encryption import Encryption

from .cases import only
from .programs import run_program, run_program_sync

Flavour = Literal["async", "plain"]

_OPTIONS = (
    "is_dev",
    "base_url",
    "event_key",
    "signing_key",
    "signing_key_fallback",
    "env",
    "max_bytes",
    "checkpoint",
    "app_version",
    "versioning",
)

_FLOW: dict[str, tuple[str, Any]] = {
    "throttle": ("throttle", Throttle),
    "rateLimit": ("rate_limit", RateLimit),
    "debounce": ("debounce", Debounce),
    "batchEvents": ("batch_events", BatchEvents),
    "priority": ("priority", Priority),
    "singleton": ("singleton", Singleton),
    "order": ("order", Order),
    "timeouts": ("timeouts", Timeouts),
}

_PYTHON_NAMES = {"if": "if_", "maxSize": "max_size", "onStale": "on_stale", "onFailure": "on_failure"}


_FIELD = re.compile(r"\{\{field ([^}]+)\}\}")


def in_python(words: str) -> str:
    """The names of options in the words of a flaw, as this library spells them."""
    return _FIELD.sub(lambda found: _python_name(found[1]), words)


def _python_name(field: str) -> str:
    snake = re.sub(r"[A-Z]", lambda capital: f"_{capital[0].lower()}", field)
    return re.sub(r"\.if$", ".if_", snake).replace("triggers", "trigger")


def client_of(given: dict[str, Any]) -> Tidegate:
    only(given, ("id", "encryption", *_OPTIONS))
    middleware = [encryption_of(given["encryption"])] if "encryption" in given else []
    return Tidegate(given["id"], middleware=middleware, **{name: given[name] for name in _OPTIONS if name in given})


def encryption_of(given: dict[str, Any]) -> Encryption:
    only(given, ("key", "fallback_keys", "event_field", "version", "strict"))
    return Encryption(**given)


def set_environment(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """All the SERVICE_* variables there are."""
    for name in [name for name in os.environ if name.startswith("SERVICE_")]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def function_of(client: Tidegate, given: dict[str, Any], flavour: Flavour) -> tidegate.Function[Any]:
    known = (
        "id",
        "name",
        "description",
        "group",
        "retries",
        "onExhausted",
        "triggers",
        "program",
        "on_failure",
        "cancel",
        "concurrency",
        "idempotency",
        "checkpoint",
        "versioning",
    )
    only(given, (*known, *_FLOW))
    options = {
        name: given[name]
        for name in ("id", "name", "description", "group", "retries", "idempotency", "versioning")
        if name in given
    }
    for wire_name, (name, kind) in _FLOW.items():
        if wire_name in given:
            options[name] = _setting(kind, given[wire_name])
    if "onExhausted" in given:
        options["on_exhausted"] = given["onExhausted"]
    if "concurrency" in given:
        options["concurrency"] = _concurrency(given["concurrency"])
    if "checkpoint" in given:
        options["checkpoint"] = _checkpoint(given["checkpoint"])
    if "cancel" in given:
        options["cancel_on"] = [_setting(CancelOn, event) for event in given["cancel"]]
    if "on_failure" in given:
        options["on_failure"] = _handler(given["on_failure"], flavour)
    triggers = [_trigger(trigger) for trigger in given["triggers"]]
    trigger = triggers[0] if len(triggers) == 1 else triggers
    return client.create_function(trigger=trigger, **options)(_handler(given.get("program", []), flavour))


def _handler(program: list[dict[str, Any]], flavour: Flavour) -> Any:
    async def run(ctx: tidegate.Context) -> Any:
        return await run_program(program, ctx)

    def run_plain(ctx: tidegate.SyncContext) -> Any:
        return run_program_sync(program, ctx)

    return run if flavour == "async" else run_plain


def _trigger(given: dict[str, str]) -> EventTrigger | CronTrigger:
    only(given, ("event", "if") if "event" in given else ("cron", "jitter", "catchUp"))
    if "event" in given:
        return EventTrigger(given["event"], if_=given.get("if"))
    return CronTrigger(given["cron"], jitter=given.get("jitter"), catch_up=cast("Any", given.get("catchUp")))


def _concurrency(given: Any) -> Any:
    if isinstance(given, list):
        return [_setting(Concurrency, limit) for limit in given]
    if isinstance(given, dict) and given.keys() & {"fn", "step"}:
        return ConcurrencyOfRunsAndSteps(**{name: _concurrency(limits) for name, limits in given.items()})
    return given if isinstance(given, int) else _setting(Concurrency, given)


def _checkpoint(given: Any) -> Any:
    return Checkpoint(**given) if isinstance(given, dict) else given


def _setting(kind: Any, given: dict[str, Any]) -> Any:
    return kind(**{_PYTHON_NAMES.get(name, name): value for name, value in given.items()})
