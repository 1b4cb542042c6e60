"""Slow work beside the loop, in threads that the end of the process does not wait for."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from typing import TextIO, TypeVar

T = TypeVar("T")


async def worked_out(work: Callable[[], T]) -> T:
    """What a function gives; who no longer waits for it leaves it behind."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, problem: BaseException | None) -> None:
        if done.cancelled():
            return
        if problem is not None:
            done.set_exception(problem)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, problem = None, None
        try:
            result = work()
        except BaseException as raised:
            problem = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=run, name="tool", daemon=True).start()
    return await done


async def lines_of(file: TextIO) -> AsyncIterator[str]:
    """The lines of a file as they come; Ctrl-C need not wait for the next one."""
    with contextlib.suppress(OSError):  # a terminal that has gone is an end like any other
        while line := await worked_out(file.readline):
            yield line
