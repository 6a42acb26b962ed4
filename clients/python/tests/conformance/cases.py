"""Reading the cases, so that nothing in one is passed over."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[3] / "conformance"

Case = dict[str, Any]


def read_topics() -> dict[str, list[Case]]:
    """Cases by topic."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CASES.glob("*.json"))]
    return {file["topic"]: file["cases"] for file in files}


def only(given: Mapping[str, Any], fields: Collection[str]) -> None:
    """Fails when there is another field."""
    unread = [field for field in given if field not in fields]
    assert not unread, f"The case has fields that are not read here: {', '.join(unread)}"
