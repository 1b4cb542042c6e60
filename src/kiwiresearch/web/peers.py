"""The endpoint for the other hosts of a shared store."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import socket
from collections.abc import Sequence
from typing import Any

import anyio
import anyio.to_thread
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.errors import BookNotFound, KiwiError
from kiwiresearch.network import ip_address_of
from kiwiresearch.web.problems import log
from kiwiresearch.workspace.hosts import HostPresence, is_shared
from kiwiresearch.workspace.settings import ServeSettings
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim.library import Shelf
from kiwiresearch.zim.peer_protocol import (
    BUSY,
    MAX_BODY_BYTES,
    PATH,
    PING,
    BadCall,
    CallReply,
    pack_replies,
    unpack_calls,
)

AT_ONCE = 8
"""So many hosts' calls are worked on at once, in threads of their own."""

MAX_WAITING = 256
KEEPALIVE_S = 1.0
"""How often a host that waits is told that we are at work."""

PING_TIMEOUT_S = 2.0
"""A host that asks how we are hears within this that we are well, or that we are not."""

TIMEOUT_S = 10.0
"""How long a host may take to send what it asks."""


class PeerEndpoint:
    """Answers calls of other hosts; everything else goes on to the app behind."""

    def __init__(self, app: ASGIApp, *, presence: HostPresence) -> None:
        self._app = app
        self._presence = presence
        self._secret = _digest(presence.secret)
        self._threads: anyio.CapacityLimiter | None = None
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._is_for_us(scope):
            await self._app(scope, receive, send)
            return
        if self._waiting >= MAX_WAITING:
            await Response(status_code=503)(scope, receive, send)
        else:
            self._waiting += 1
            is_ping = scope["path"] == f"{PATH}/{PING}"
            try:
                await (self._answer_ping if is_ping else self._answer)(scope, receive, send)
            finally:
                self._waiting -= 1

    def _is_for_us(self, scope: Scope) -> bool:
        if scope["method"] != "POST" or not scope["path"].startswith(f"{PATH}/"):
            return False
        kind, _, shown = Headers(scope=scope).get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(_digest(shown.strip()), self._secret)

    async def _answer_ping(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say our name, if a thread is free and every book answers: else who asks next would wait in vain."""
        is_well = False
        with anyio.move_on_after(PING_TIMEOUT_S):
            is_well = await anyio.to_thread.run_sync(
                self._presence.books.all_respond, PING_TIMEOUT_S, limiter=self._limiter
            )
        told = PlainTextResponse(self._presence.name) if is_well else Response(status_code=503)
        await told(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with anyio.fail_after(TIMEOUT_S):
                body = await _body(receive)
            calls = unpack_calls(body)
        except (BadCall, TimeoutError):
            await Response(status_code=400)(scope, receive, send)
            return
        book = scope["path"].removeprefix(f"{PATH}/")
        work = asyncio.ensure_future(self._work(book, calls))
        try:
            done, _ = await asyncio.wait({work}, timeout=KEEPALIVE_S)
            if done and (refusal := _refusal(work)):
                await Response(status_code=refusal)(scope, receive, send)
                return
            await _send_reply(work, send)
        finally:
            work.cancel()

    async def _work(self, book: str, calls: Sequence[Sequence[Any]]) -> list[bytes]:
        return await anyio.to_thread.run_sync(self._packed_replies, book, calls, limiter=self._limiter)

    @property
    def _limiter(self) -> anyio.CapacityLimiter:
        """Made when first needed: it belongs to the loop that serves."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(AT_ONCE)
        return self._threads

    def _packed_replies(self, book: str, calls: Sequence[Sequence[Any]]) -> list[bytes]:
        replies: Sequence[CallReply | None] = self._presence.books.answers(book, calls)
        return list(pack_replies(replies))


def add_peer_endpoint(app: FastAPI, workspace: Workspace, shelf: Shelf, port: int) -> HostPresence | None:
    """Put up the door, where the settings name a store in which hosts meet; None where there is none."""
    if not is_shared(workspace):
        return None
    presence = HostPresence(workspace, shelf, address_for_hosts(workspace.settings.serve, port))
    app.add_middleware(PeerEndpoint, presence=presence)
    return presence


def address_for_hosts(serve: ServeSettings, port: int) -> str:
    """Where other hosts reach this one: what the user says, else the address it listens on, or goes out by."""
    if serve.public_url:
        return serve.public_url.rstrip("/")
    host = serve.host.strip("[]")
    address = ip_address_of(host)
    if address is not None and address.is_unspecified:
        host = next(iter(serve.hosts), "").strip("[]") or own_address() or host
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def own_address() -> str:
    """By which address this machine goes out into its network; empty where it is in none. Nothing is sent."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("192.0.2.1", 9))  # kept for examples, so it is nobody's: only the way out is looked up
        return str(line.getsockname()[0])
    return ""


async def _send_reply(work: asyncio.Future[list[bytes]], send: Send) -> None:
    """Send the answer; until it is there, a dot now and then. A fault cuts it off, which the other side sees."""
    headers = [(b"content-type", b"application/octet-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    while not work.done():
        await send({"type": "http.response.body", "body": BUSY, "more_body": True})
        await asyncio.wait({work}, timeout=KEEPALIVE_S)
    if not _refusal(work):
        for part in work.result():
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _refusal(work: asyncio.Future[list[bytes]]) -> int:
    """The status of a call that cannot be answered; 0 where it can."""
    match work.exception():
        case None:
            return 0
        case BookNotFound():
            return 404
        case BadCall():
            return 400
        case KiwiError():
            return 503
        case problem:
            log.error("A call of another host failed.", exc_info=problem)
            return 500


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadCall("the other host has gone")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > MAX_BODY_BYTES:
            raise BadCall("no host of ours asks so much at once")
    return b"".join(parts)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
