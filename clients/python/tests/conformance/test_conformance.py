"""Every case of every topic; those with code of functions twice, for async and for plain ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from .cases import Case, only, read_topics
from .settings import Flavour
from .stages import Stages
from .topics import pure
from .topics.checkpoint_groups import check_checkpoint_groups
from .topics.connect import FIELDS as CONNECT_FIELDS
from .topics.connect import check_connect
from .topics.encryption import FIELDS, check_encryption
from .topics.logs import check_logs
from .topics.sends import check_sends
from .topics.served import check_registration, check_replay, check_serving
from .topics.validation import check_validation

_APP = ("client", "environment", "functions", "serve", "request", "answer")


@dataclass(frozen=True)
class Adapter:
    check: Callable[..., None]
    reads: tuple[str, ...]
    both: bool = False
    """In both flavours."""
    passes_over: tuple[str, ...] = ()
    """Fields that only the service's own runner has a use for."""


ADAPTERS = {
    "canonical-json": Adapter(pure.check_canonical_json, ("json", "canonical")),
    "seeds": Adapter(pure.check_seeds, ("of", "seed", "id")),
    "idempotency-keys": Adapter(pure.check_idempotency_keys, ("run_id", "step", "key")),
    "postgres": Adapter(pure.check_postgres, ("name", "sql"), passes_over=("parameters",)),
    "step-ids": Adapter(pure.check_step_ids, ("ids", "names", "hashes")),
    "signatures": Adapter(pure.check_signatures, ("body", "header", "now", "keys", "flaw", "bearer")),
    "definitions": Adapter(pure.check_definitions, ("function", "flaw"), passes_over=("untyped",)),
    "signed-urls": Adapter(pure.check_signed_urls, ("url", "body", "header", "url_header", "keys", "flaw")),
    "durations": Adapter(pure.check_durations, ("value", "wire", "ms")),
    "retry-after": Adapter(pure.check_retry_after, ("header", "now", "delay_ms")),
    "webhooks": Adapter(pure.check_webhooks, ("provider", "data", "secret", "options", "now", "flaw")),
    "sends": Adapter(
        check_sends,
        (
            *("client", "environment", "events", "seed", "replies", "random", "now"),
            *("requests", "delays_ms", "ids", "error"),
        ),
        both=True,
    ),
    "validation": Adapter(check_validation, ("events", "untyped", "ids", "error", "stored")),
    "registration": Adapter(check_registration, (*_APP, "replies", "requests"), both=True),
    "serving": Adapter(check_serving, _APP, both=True, passes_over=("meaning",)),
    "replay": Adapter(
        check_replay, ("program", "call", "replies", "requests", "answer"), both=True, passes_over=("meaning",)
    ),
    "checkpoints": Adapter(
        check_replay,
        ("program", "checkpoint", "client_checkpoint", "environment", "call", "replies", "requests", "answer"),
        both=True,
        passes_over=("meaning",),
    ),
    "checkpoint-groups": Adapter(
        check_checkpoint_groups, ("stored", "result_length", "shared_status", "shares", "answers"), both=True
    ),
    "logs": Adapter(check_logs, ("program", "call", "environment", "replies", "answer", "batch", "tries"), both=True),
    "connect": Adapter(check_connect, CONNECT_FIELDS, both=True),
    "encryption": Adapter(check_encryption, FIELDS, both=True, passes_over=("meaning",)),
}

TOPICS = read_topics()


def test_each_topic_has_an_adapter_and_each_adapter_a_topic() -> None:
    assert set(TOPICS) == set(ADAPTERS)


def _parameters() -> list[Any]:
    return [
        pytest.param(topic, case, flavour, id=f"{topic}-{case['title']}{suffix}")
        for topic, cases in TOPICS.items()
        for case in cases
        for flavour, suffix in _flavours(topic)
    ]


def _flavours(topic: str) -> list[tuple[Flavour, str]]:
    if topic in ADAPTERS and ADAPTERS[topic].both:
        return [("async", ", async"), ("plain", ", plain")]
    return [("plain", "")]


@pytest.mark.parametrize(("topic", "case", "flavour"), _parameters())
def test_python_conforms(
    topic: str, case: Case, flavour: Flavour, stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = ADAPTERS[topic]
    only(case, ("title", *adapter.reads, *adapter.passes_over))
    if adapter.both:
        adapter.check(case, flavour, stages, monkeypatch)
    else:
        adapter.check(case)
