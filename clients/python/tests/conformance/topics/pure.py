"""Topics that need no server: what goes in comes out."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate import ConfigError, Tidegate, WebhookVerificationError, verify_webhook
from tidegate._canonical import canonical
from tidegate._json import parse
from tidegate._moments import epoch_ms, moment_ms, parse_iso_date, retry_after_ms, time_string
from tidegate._postgres import statements
from tidegate._seed import event_id_under, seed_from, seed_of_step
from tidegate._signature import find_flaw, find_url_flaw, hashed_key, target_of
from tidegate._steps.current import CurrentStep
from tidegate._steps.ids import RepeatNumbers, hash_step_id

from ..cases import Case, only
from ..match import Names
from ..settings import function_of, in_python


def check_canonical_json(case: Case) -> None:
    assert canonical(parse(case["json"])) == case["canonical"]


def check_seeds(case: Case) -> None:
    if case["seed"] is None:
        with pytest.raises(ValueError, match="A seed is"):
            _seed_of(case["of"])
    else:
        assert _seed_of(case["of"]) == case["seed"]
        assert event_id_under(case["seed"], 1) == case["id"]


def _seed_of(of: dict[str, Any]) -> str:
    if "seed" in of:
        only(of, ("seed", "index"))
        return seed_from(of["seed"], of["index"])
    only(of, ("run_id", "hashed_step_id", "event_ts"))
    return seed_of_step(of["run_id"], of["hashed_step_id"], of["event_ts"])


def check_step_ids(case: Case) -> None:
    numbers = RepeatNumbers()
    names = [numbers.name_of(step_id) for step_id in case["ids"]]
    assert names == case["names"]
    assert [hash_step_id(name) for name in names] == case["hashes"]


def check_idempotency_keys(case: Case) -> None:
    step = CurrentStep(id=case["step"], run_id=case["run_id"], hashed_id=hash_step_id(case["step"]))
    assert step.idempotency_key == case["key"]


def check_postgres(case: Case) -> None:
    # The command line prints the tables; the tests of `tidegate.postgres` make them from this case.
    if case["name"] != "schema":
        assert getattr(statements, case["name"].upper()) == case["sql"]


def check_signatures(case: Case) -> None:
    found = find_flaw(case["header"], case["body"].encode(), case["keys"], case["now"])
    if case["flaw"] is None:
        assert found is None
    else:
        Names().check(found, case["flaw"], "the.flaw")
    assert f"Bearer {hashed_key(case['keys'][0])}" == case["bearer"]


def check_definitions(case: Case) -> None:
    client = Tidegate("shop")

    def define() -> None:
        given = dict(case["function"])
        options = given.pop("options", {})
        if options:
            events = [trigger["event"] for trigger in given["triggers"]]
            client.create_function(id=given["id"], trigger=events, **options)(lambda ctx: None)
        else:
            function_of(client, given, "plain")

    if case["flaw"] is None:
        define()
        return
    with pytest.raises((ConfigError, TypeError)) as raised:
        define()
    Names().check(str(raised.value), [in_python(words) for words in case["flaw"]], "the.flaw")


def check_signed_urls(case: Case) -> None:
    found = find_url_flaw(
        case["url_header"], case["header"], target_of(case["url"]), case["body"].encode(), case["keys"]
    )
    if case["flaw"] is None:
        assert found is None
    else:
        Names().check(found, case["flaw"], "the.flaw")


def check_durations(case: Case) -> None:
    value = case["value"] if isinstance(case["value"], str) else case["value"] / 1_000
    if case["wire"] is None:
        with pytest.raises((TypeError, ValueError), match="a length of time"):
            time_string(value)
        return
    assert time_string(value) == case["wire"]
    assert moment_ms(case["wire"], 0) == case["ms"]


def check_retry_after(case: Case) -> None:
    assert retry_after_ms(case["header"], epoch_ms(parse_iso_date(case["now"]))) == case["delay_ms"]


def check_webhooks(case: Case) -> None:
    if case["flaw"] is None:
        _verify(case)
    else:
        with pytest.raises(WebhookVerificationError) as raised:
            _verify(case)
        Names().check(str(raised.value), case["flaw"], "the.flaw")


def _verify(case: Case) -> None:
    options: dict[str, Any] = dict(case.get("options", {}))
    only(options, ("encoding", "prefix", "algorithm", "tolerance_seconds"))
    if "now" in case:
        options["received_at_ms"] = case["now"] * 1_000
    getattr(verify_webhook, case["provider"])(case["data"], case["secret"], **options)
