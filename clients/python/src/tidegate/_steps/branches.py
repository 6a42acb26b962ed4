"""Starting the branches of a `parallel` in async code: one after the other, each up to its first wait.

In this order, a branch's own branches before the next one, steps are found as in plain code, and as in other languages;
`asyncio.gather` starts them level by level, which is as good, but another order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar, copy_context
from typing import Any

from .race import racing
from .settling import BranchStart, Settling

_inside_of: ContextVar[BranchStart | None] = ContextVar("_inside_of", default=None)


async def run_branches(branches: Iterable[Callable[[], Awaitable[Any]]], settling: Settling) -> tuple[Any, ...]:
    """Their return values. The first error of a branch is raised at once; the others continue meanwhile, as with
    gather."""
    return tuple(await asyncio.gather(*await _start_all(branches, settling)))


async def race_branches(
    branches: Iterable[Callable[[], Awaitable[Any]]], settling: Settling, losers: set[asyncio.Task[Any]]
) -> Any:
    """The result or error of the first branch to end. Only the end of the call cancels the others."""
    ended: asyncio.Future[asyncio.Task[Any]] = asyncio.get_running_loop().create_future()

    def note_end(task: asyncio.Task[Any]) -> None:
        if not ended.done():
            ended.set_result(task)
        if not task.cancelled():
            # Retrieved, because nothing awaits the error of a loser.
            task.exception()

    outside = racing.set(True)
    try:
        tasks = await _start_all(branches, settling)
    finally:
        racing.reset(outside)
    losers.update(tasks)
    for task in tasks:
        task.add_done_callback(note_end)
    return (await ended).result()


async def _start_all(branches: Iterable[Callable[[], Awaitable[Any]]], settling: Settling) -> list[asyncio.Task[Any]]:
    outer = _inside_of.get()
    tasks: list[asyncio.Task[Any]] = []
    _count_start(settling, outer, 1)
    try:
        for branch in branches:
            start = BranchStart()
            context = copy_context()
            context.run(_inside_of.set, start)
            tasks.append(context.run(asyncio.create_task, _run(branch)))
            settling.note_change()
            await settling.started(start)
    except BaseException:
        for task in tasks:
            task.cancel()
        raise
    finally:
        _count_start(settling, outer, -1)
    return tasks


async def _run(branch: Callable[[], Awaitable[Any]]) -> Any:
    return await branch()


def _count_start(settling: Settling, outer: BranchStart | None, change: int) -> None:
    settling.starting += change
    if outer:
        outer.open_inside += change
