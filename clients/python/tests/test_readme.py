"""The README's Python runs as it stands: all its blocks, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

README = Path(__file__).parents[1] / "README.md"


def _blocks() -> list[str]:
    """Without the program that sends an event, which the repository's tests run beside a service."""
    return re.findall(r"(?<!send_event\.py -->\n)```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_its_blocks_run_one_after_the_other() -> None:
    blocks, names = _blocks(), dict[str, Any]()
    for block in blocks:
        exec(compile(block, str(README), "exec", dont_inherit=True), names)
    assert len(blocks) == 9
    assert names["run"].error is None
