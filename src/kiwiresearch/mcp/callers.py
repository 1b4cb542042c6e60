"""Tool calls in threads of their own, which end when their caller disconnects."""

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
    """The caller of a tool; the thread that works for it checks here whether it has left."""

    def __init__(self) -> None:
        self.has_left = False
        self.over = asyncio.Event()
        """Set when the thread has ended; for the event loop."""
        self._news = threading.Event()

    def leave(self) -> None:
        self.has_left = True
        self.wake()

    def wake(self) -> None:
        """End the current `wait`; may be called from any thread."""
        self._news.set()

    def wait(self, seconds: float) -> None:
        """Wait, in the working thread, until `wake` is called or the time is up."""
        self._news.wait(seconds)
        self._news.clear()


async def run_in_daemon_thread(work: Callable[[], T], caller: Caller | None = None) -> T:
    """The result of a function that runs in a thread; if the wait is cancelled, the thread ends by itself."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    waiter = caller or Caller()

    def settle(result: T | None, problem: BaseException | None) -> None:
        waiter.over.set()
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

    context = contextvars.copy_context()  # links in an answer use the address of the request
    threading.Thread(target=context.run, args=(run,), name="tool", daemon=True).start()
    try:
        return await done
    finally:
        waiter.leave()


async def lines_of(file: TextIO) -> AsyncIterator[str]:
    """The lines of a file as they arrive; Ctrl-C does not have to wait for the next one."""
    with contextlib.suppress(OSError):  # a closed terminal is a normal end of input
        while line := await run_in_daemon_thread(file.readline):
            yield line


CALLERS = "kiwiresearch.mcp.callers"


def register_caller(request: object, caller: Caller) -> None:
    """Attach the caller to the HTTP request of its call; a call over pipes has no request."""
    if isinstance(request, Request):
        request.scope.get(CALLERS, []).append(caller)


class DisconnectWatch:
    """Ends a request when its client has disconnected, which the SDK only notices when it replies.

    The request ends when its threads have: waiting ones are woken, and the others finish. This prevents clients that
    connect and leave from piling up threads.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        callers: list[Caller] = []
        arrived, incoming = anyio.create_memory_object_stream[Message](MAX_MESSAGES)
        limit = anyio.CancelScope()
        is_answered = False

        async def listen() -> None:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the app has ended
                while (message := await receive())["type"] != "http.disconnect":
                    await arrived.send(message)
            if not is_answered:  # servers also send this after the reply
                limit.cancel()

        async def watch_reply(message: Message) -> None:
            nonlocal is_answered
            is_answered |= message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        listening = asyncio.ensure_future(listen())
        try:
            with arrived, incoming, limit:
                await self._app({**scope, CALLERS: callers}, incoming.receive, watch_reply)
        finally:
            listening.cancel()
            await _wait_for_threads(callers)


MAX_MESSAGES = 16
"""How many messages may arrive before the app reads them."""


async def _wait_for_threads(callers: list[Caller]) -> None:
    for caller in callers:
        caller.leave()
    with anyio.CancelScope(shield=True):
        for caller in callers:
            await caller.over.wait()
