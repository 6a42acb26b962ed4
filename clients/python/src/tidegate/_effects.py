"""The protocol between app and service, implemented once as generators for synchronous and asynchronous code.

A generator yields an effect (a request, a pause, a call of a function) and receives its result; `drive` executes
effects by blocking, `drive_async` by awaiting.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)


class Effect(Protocol[R_co]):
    def perform(self) -> R_co: ...

    async def perform_async(self) -> R_co: ...


Effects = Generator[Effect[Any], Any, T]
"""Comes to a T in the end."""


def does(effect: Effect[T]) -> Effects[T]:
    """`result = yield from does(effect)` keeps the type of the result."""
    result: T = yield effect
    return result


def drive(effects: Effects[T]) -> T:
    try:
        effect = next(effects)
        while True:
            try:
                result = effect.perform()
            except Exception as error:
                effect = effects.throw(error)
            else:
                effect = effects.send(result)
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        effects.close()


async def drive_async(effects: Effects[T]) -> T:
    """Stops at once when it is cancelled."""
    try:
        effect = next(effects)
        while True:
            try:
                result = await effect.perform_async()
            except Exception as error:
                effect = effects.throw(error)
            else:
                effect = effects.send(result)
    except StopIteration as end:
        value: T = end.value
        return value
    finally:
        effects.close()
