"""Slow work beside the loop, in threads that the end of the process does not wait for."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncIterator, Callable
from typing import TextIO, TypeVar

T = TypeVar("T")


class Caller:
    """Who waits for a piece of work; the thread that does it sees here when nobody does any more."""

    def __init__(self) -> None:
        self.has_left = False
        self.over = asyncio.Event()
        """Whether the thread has come to its end; for the loop."""
        self._news = threading.Event()

    def leave(self) -> None:
        self.has_left = True
        self.wake()

    def wake(self) -> None:
        """Let the thread look up from its waiting; from any thread."""
        self._news.set()

    def wait(self, seconds: float) -> None:
        """Wait in the thread until there is something new, or for so long."""
        self._news.wait(seconds)
        self._news.clear()


async def worked_out(work: Callable[[], T], caller: Caller | None = None) -> T:
    """What a function gives; who no longer waits for it leaves it behind."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    waiting = caller or Caller()

    def settle(result: T | None, problem: BaseException | None) -> None:
        waiting.over.set()
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

    context = contextvars.copy_context()  # links in an answer lead to the address that was asked
    threading.Thread(target=context.run, args=(run,), name="tool", daemon=True).start()
    try:
        return await done
    finally:
        waiting.leave()


async def lines_of(file: TextIO) -> AsyncIterator[str]:
    """The lines of a file as they come; Ctrl-C need not wait for the next one."""
    with contextlib.suppress(OSError):  # a terminal that has gone is an end like any other
        while line := await worked_out(file.readline):
            yield line
