"""What a request has been answered so far, and how an answer is ended that cannot go on."""

from __future__ import annotations

import json

import anyio
from starlette.types import Message, Receive, Scope, Send

from kiwiresearch.web.problems import Problem, openai_error, told

LAST_WORDS_S = 2.0
"""A client that does not read is not waited for any longer."""


async def refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request with a problem, and with nothing else."""
    await told(problem, scope)(scope, receive, send)


class Reply:
    """The answer to one request, watched on its way out."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._is_stream = False
        self._is_cut = False
        self.has_begun = False
        self.has_ended = False

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on; after a cut, nobody hears it."""
        if self._is_cut:
            return
        if message["type"] == "http.response.start":
            self.has_begun = True
            kinds = [value for name, value in message["headers"] if name.lower() == b"content-type"]
            self._is_stream = any(kind.startswith(b"text/event-stream") for kind in kinds)
        elif message["type"] == "http.response.body":
            self.has_ended = not message.get("more_body", False)
        await self._send(message)

    async def cut(self, problem: Problem) -> None:
        """End the answer now: with the problem where none has begun, with a last event where events are sent.

        Anything else is left incomplete, so that nobody takes a part for the whole.
        """
        if self._is_cut or self.has_ended:
            return
        self._is_cut = True
        with anyio.move_on_after(LAST_WORDS_S):
            if not self.has_begun:
                await refuse(problem, self._scope, self._receive, self._send)
            elif self._is_stream:
                body = _last_event(problem, self._scope["path"])
                await self._send({"type": "http.response.body", "body": body, "more_body": False})


def _last_event(problem: Problem, path: str) -> bytes:
    if path.startswith("/v1/"):
        return f"data: {json.dumps(openai_error(problem))}\n\ndata: [DONE]\n\n".encode()
    return f"event: error\ndata: {json.dumps(problem.record())}\n\n".encode()
