"""Nothing goes on for ever: not one request, and none when the server ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.replies import Reply
from kiwiresearch.web.problems import Problem

GRACE_S = 5.0
"""How long requests may go on when the server ends."""

TOO_LONG = Problem(
    503,
    "Took too long",
    "The answer was not ready in time.",
    "Ask for less; 'request_timeout_s' below [serve] in the settings gives more time.",
)
CLOSING = Problem(
    503, "Server closing", "The server is being stopped.", "Ask again when it is back.", (("Retry-After", "5"),)
)


class Ending:
    """The end of the server, which running requests are told of."""

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self.grace_s = grace_s
        self._has_begun = False
        self._listeners: set[asyncio.Future[None]] = set()

    def begin(self) -> None:
        """Tell all; must be called in the loop that runs the requests."""
        self._has_begun = True
        for listener in tuple(self._listeners):
            if not listener.done():
                listener.set_result(None)

    @contextlib.contextmanager
    def heard(self) -> Iterator[asyncio.Future[None]]:
        """A future that is done as soon as the end has begun."""
        listener: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._has_begun:
            listener.set_result(None)
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)


class Deadline:
    """Ends what takes too long; at the end of the server, what is not done within its grace.

    The client gets a proper end at once. The request counts as running until the thread
    that works for it, if there is one, has noticed.
    """

    def __init__(self, app: ASGIApp, *, seconds: float, ending: Ending) -> None:
        self._app = app
        self._seconds = seconds
        self._ending = ending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reply = Reply(scope, receive, send)
        limit = anyio.CancelScope()

        async def work() -> None:
            with limit:
                await self._app(scope, receive, reply.send)

        task = asyncio.ensure_future(work())
        try:
            problem = await self._overdue(task, grace_s=0 if _is_idle(scope) else self._ending.grace_s)
            if problem:
                await reply.cut(problem)
                limit.cancel()
            await asyncio.wait({task})
        finally:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            task.result()

    async def _overdue(self, task: asyncio.Task[None], *, grace_s: float) -> Problem | None:
        """Waits for the work; the reason why it must end now if it has not."""
        with self._ending.heard() as end:
            await asyncio.wait({task, end}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return None
            if not end.done():
                return TOO_LONG
        await asyncio.wait({task}, timeout=grace_s)
        return None if task.done() else CLOSING


def _is_idle(scope: Scope) -> bool:
    """A client of MCP keeps a stream open only to hear of what may come."""
    return bool(scope["method"] == "GET" and scope["path"].startswith("/mcp"))
