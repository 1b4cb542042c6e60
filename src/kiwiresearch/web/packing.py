"""Text goes out packed to whoever takes it so: over a school's wireless network a brief is a seventh of its size."""

from __future__ import annotations

import gzip

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_BYTES = 1000
"""Less than this fits into one packet anyway."""
LEVEL = 5
"""Beyond it pages become hardly smaller and take much longer."""
TEXTS = ("text/html", "text/css", "text/javascript", "text/plain", "application/json", "image/svg+xml")


class Packing:
    """Packs answers of text that come in one piece; what comes bit by bit goes out as it comes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not takes_packed(Headers(scope=scope).get("accept-encoding", "")):
            await self._app(scope, receive, send)
            return
        held: Message | None = None

        async def send_packed(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and _is_text(message):
                held = message  # goes out with the first of its content, which decides
                return
            if held is not None:
                start, held = held, None
                if not message.get("more_body", False) and len(message.get("body", b"")) >= LEAST_BYTES:
                    message = await _pack(start, message)
                await send(start)
            await send(message)

        await self._app(scope, receive, send_packed)


def takes_packed(accepted: str) -> bool:
    """Whether a header of what a client takes names gzip, and not as something it refuses."""
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _is_text(start: Message) -> bool:
    """Whether an answer is text and whole; a part of a file is told by its place in the file as it is."""
    headers = Headers(raw=start["headers"])
    is_plain = "content-encoding" not in headers and start["status"] != 206
    return is_plain and headers.get("content-type", "").startswith(TEXTS)


async def _pack(start: Message, content: Message) -> Message:
    """The content packed; what tells of it in the head of the answer is changed with it."""
    body = await anyio.to_thread.run_sync(_packed, content["body"])
    headers = MutableHeaders(raw=start["headers"])
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    headers.add_vary_header("Accept-Encoding")
    # Other bytes for the same content: a strong mark would say that they are the same.
    if (mark := headers.get("etag")) and not mark.startswith("W/"):
        headers["ETag"] = f"W/{mark}"
    start["headers"] = headers.raw
    return {**content, "body": body}


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)
