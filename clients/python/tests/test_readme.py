"""The README's Python runs as it stands: all its blocks, one after the other, and the first against a real service."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support.hosts import asgi_host, ask, closing
from support.real_service import variable

README = Path(__file__).parents[1] / "README.md"


def _blocks() -> list[str]:
    """Without the copies of files of examples/, which the repository's tests run as programs."""
    return re.findall(r"(?<!-->\n)```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_its_blocks_run_one_after_the_other() -> None:
    blocks, names = _blocks(), dict[str, Any]()
    for block in blocks:
        exec(compile(block, str(README), "exec", dont_inherit=True), names)
    assert len(blocks) == 9
    assert names["run"].error is None


def test_its_first_block_hosts_a_function_and_sends_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_DEV", variable("TEST_DEV_SERVICE"))
    names: dict[str, Any] = {}
    exec(compile(_blocks()[0], str(README), "exec", dont_inherit=True), names)
    with asgi_host(closing(names["app"], names["client"])) as origin:
        assert ask(origin, "PUT", "/api/service")[0] == 200
        status, _, body = ask(origin, "POST", "/orders")
        assert status == 200
        assert re.fullmatch(rb'\["[0-9A-Z]{26}"\]', body)
