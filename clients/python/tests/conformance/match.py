"""Comparing with what a case expects: placeholders, errors with a stack and source, lists of words."""

from __future__ import annotations

import re
from typing import Any

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_PATTERNS = {"any": ".+", "seed": r"[0-9]{1,15},[A-Za-z0-9+/]{14}=="}


class Names:
    """The values of the placeholders of one case."""

    def __init__(self, **known: str) -> None:
        self.known = known

    def fill(self, value: Any) -> Any:
        """The placeholders in its texts replaced, as far as they are known."""
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda found: self.known.get(found[1], found[0]), value)
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        return value

    def check(self, actual: Any, expected: Any, at: str = "it") -> None:
        if expected == "{{timing}}":
            assert set(actual) == {"a", "b"}, _differs(at, actual, expected)
            assert all(type(value) is int and value >= 0 for value in actual.values()), _differs(at, actual, expected)
        elif isinstance(expected, str):
            assert isinstance(actual, str) and self._is_text(actual, expected), _differs(at, actual, expected)
        elif isinstance(expected, list) and at.endswith((".message", ".flaw")) and isinstance(actual, str):
            missing = [word for word in self.fill(expected) if word not in actual]
            assert not missing, f"{at}: {actual!r} does not hold {missing}"
        elif isinstance(expected, list):
            assert isinstance(actual, list) and len(actual) == len(expected), _differs(at, actual, expected)
            for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
                self.check(one, other, f"{at}[{index}]")
        elif isinstance(expected, dict):
            self._check_object(actual, expected, at)
        else:
            # True is 1 to Python.
            same = actual == expected and isinstance(actual, bool) == isinstance(expected, bool)
            assert same, _differs(at, actual, expected)

    def _check_object(self, actual: Any, expected: dict[str, Any], at: str) -> None:
        assert isinstance(actual, dict), _differs(at, actual, expected)
        free = {"stack", "source"} if "message" in expected and isinstance(actual.get("stack", ""), str) else set()
        keys = set(actual) - (free - set(expected))
        assert keys == set(expected), _differs(at, actual, expected)
        for key, value in expected.items():
            self.check(actual[key], value, f"{at}.{key}")

    def _is_text(self, actual: str, expected: str) -> bool:
        parts = _PLACEHOLDER.split(self.fill(expected))
        pattern = "".join(
            re.escape(part) if index % 2 == 0 else f"(?P<{part}>{_PATTERNS[part]})" for index, part in enumerate(parts)
        )
        found = re.fullmatch(pattern, actual, re.DOTALL)
        if found and "seed" in found.groupdict():
            self.known["seed"] = found["seed"]
        return found is not None


def _differs(at: str, actual: Any, expected: Any) -> str:
    return f"{at} is {actual!r}, not {expected!r}"
