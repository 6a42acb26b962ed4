"""What a step can invoke."""

from __future__ import annotations

from typing import Protocol, TypeVar

Output_co = TypeVar("Output_co", covariant=True)


class Invocable(Protocol[Output_co]):
    """A function of this or another app, whose output is known to type checkers."""

    @property
    def composite_id(self) -> str: ...

    @property
    def output_type(self) -> type[Output_co] | None:
        """Only a type: it is always None."""
        ...


def function_id_of(function: Invocable[object] | str) -> str:
    return function if isinstance(function, str) else function.composite_id
