"""Calls over HTTP whose caller hangs up: they are let go, and count until nobody works for them any more."""

from __future__ import annotations

import asyncio
import contextlib

import anyio
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiwiresearch.mcp.threads import Caller

CALLERS = "kiwiresearch.mcp.callers"


def attend(request: object, caller: Caller) -> None:
    """Let the request that a call came with know of its caller; a call over pipes came with none."""
    if isinstance(request, Request):
        request.scope.get(CALLERS, []).append(caller)


class Attended:
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
        arrived, heard = anyio.create_memory_object_stream[Message](MOST_MESSAGES)
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
            await _over(callers)


MOST_MESSAGES = 16
"""Parts of a body that may have arrived before anybody asks for them."""


async def _over(callers: list[Caller]) -> None:
    for caller in callers:
        caller.leave()
    with anyio.CancelScope(shield=True):
        for caller in callers:
            await caller.over.wait()
