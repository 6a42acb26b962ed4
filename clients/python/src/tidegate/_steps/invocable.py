"""Functions that a step can invoke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, overload

from ..errors import ConfigError

T = TypeVar("T")
Output_co = TypeVar("Output_co", covariant=True)


class Invocable(Protocol[Output_co]):
    """A function of this or another app, whose output is known to type checkers."""

    @property
    def composite_id(self) -> str: ...

    @property
    def output_type(self) -> type[Output_co] | None:
        """Used only as a type: it is always None."""
        ...


@dataclass(frozen=True, kw_only=True)
class FunctionReference(Generic[Output_co]):
    """A function that is defined elsewhere."""

    app_id: str
    function_id: str

    @property
    def composite_id(self) -> str:
        return f"{self.app_id}-{self.function_id}"

    @property
    def output_type(self) -> type[Output_co] | None:
        return None


@overload
def reference_function(*, app_id: str, function_id: str) -> FunctionReference[Any]: ...
@overload
def reference_function(*, app_id: str, function_id: str, output: type[T]) -> FunctionReference[T]: ...
def reference_function(*, app_id: str, function_id: str, output: type[Any] | None = None) -> FunctionReference[Any]:
    """A function of another app, for `step.invoke`: `reference_function(app_id="billing", function_id="charge")`.

    `output` is what it returns, for type checkers: the step does not check it. Raises ConfigError when an ID is empty.
    """
    if not app_id or not function_id:
        raise ConfigError("A reference to a function needs its app_id and its function_id")
    return FunctionReference(app_id=app_id, function_id=function_id)


def function_id_of(function: Invocable[object] | str) -> str:
    return function if isinstance(function, str) else function.composite_id
