"""Values that middleware gives to handlers."""

from __future__ import annotations

from typing import Any, TypeVar, overload

T = TypeVar("T")


class Dependencies:
    """Values that middleware has injected into a call: by class, as in `ctx.deps[Database]`, which type checkers know
    to be a Database; or by name, as in `ctx.deps["db"]`."""

    def __init__(self) -> None:
        self._values: dict[object, Any] = {}

    @overload
    def __getitem__(self, key: type[T]) -> T: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    def __getitem__(self, key: type[Any] | str) -> Any:
        """Raises KeyError when nothing was injected under this key."""
        if key in self._values:
            return self._values[key]
        known = ", ".join(map(_shown, self._values)) or "nothing"
        raise KeyError(f"No middleware has injected {_shown(key)} into this call; injected is {known}")

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def put(self, key: type[Any] | str, value: object) -> None:
        """Middleware uses `call.inject`, which type checkers understand."""
        self._values[key] = value


def _shown(key: object) -> str:
    return key.__name__ if isinstance(key, type) else repr(key)
