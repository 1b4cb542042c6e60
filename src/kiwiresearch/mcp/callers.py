"""Tool calls in threads of their own, let go when their caller hangs up."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncIterator, Callable
from typing import TextIO, TypeVar

import anyio
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


async def run_in_daemon_thread(work: Callable[[], T], caller: Caller | None = None) -> T:
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
        while line := await run_in_daemon_thread(file.readline):
            yield line


CALLERS = "kiwiresearch.mcp.callers"


def register_caller(request: object, caller: Caller) -> None:
    """Let the request that a call came with know of its caller; a call over pipes came with none."""
    if isinstance(request, Request):
        request.scope.get(CALLERS, []).append(caller)


class DisconnectWatch:
    """Ends a request when its client has gone, which the SDK only notices when it answers.

    The request is over when the threads that work for it are: those that wait for something are told
    to stop waiting, and the others come to their end. So clients that come and go leave no crowd behind.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        callers: list[Caller] = []
        arrived, heard = anyio.create_memory_object_stream[Message](MAX_MESSAGES)
        limit = anyio.CancelScope()
        is_answered = False

        async def listen() -> None:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody asks any more
                while (message := await receive())["type"] != "http.disconnect":
                    await arrived.send(message)
            if not is_answered:  # a server also says so when it has passed on the answer
                limit.cancel()

        async def tell(message: Message) -> None:
            nonlocal is_answered
            is_answered |= message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        listening = asyncio.ensure_future(listen())
        try:
            with arrived, heard, limit:
                await self._app({**scope, CALLERS: callers}, heard.receive, tell)
        finally:
            listening.cancel()
            await _wait_for_threads(callers)


MAX_MESSAGES = 16
"""Parts of a body that may have arrived before anybody asks for them."""


async def _wait_for_threads(callers: list[Caller]) -> None:
    for caller in callers:
        caller.leave()
    with anyio.CancelScope(shield=True):
        for caller in callers:
            await caller.over.wait()
