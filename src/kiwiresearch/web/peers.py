"""The endpoint through which the other hosts of a shared store read our books."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import socket
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.errors import BookNotFound, KiwiError
from kiwiresearch.network import ip_address_of, is_loopback
from kiwiresearch.web.problems import log
from kiwiresearch.workspace import HostPresence, ServeSettings, Workspace
from kiwiresearch.zim import BUSY_SIGN, MAX_BODY_BYTES, PATH, PING, BadCall, Shelf, pack_replies, unpack_calls

AT_ONCE = 8
"""Calls handled at once, in threads of their own."""

MAX_WAITING = 256
KEEPALIVE_S = 1.0
"""How often a waiting host gets a sign that we are still working."""

PING_TIMEOUT_S = 2.0
"""A ping is answered within this time, with yes or no."""

TIMEOUT_S = 10.0
"""How long a host may take to send its calls."""


class PeerEndpoint:
    """Answers calls of other hosts; everything else is passed on to the app."""

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
        # With a wrong secret the request goes on to the app, which answers as for any address that does not exist.
        kind, _, shown = Headers(scope=scope).get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(_digest(shown.strip()), self._secret)

    async def _answer_ping(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reply with our name if a thread is free and every book can be read; otherwise a call would wait in vain."""
        is_well = False
        with anyio.move_on_after(PING_TIMEOUT_S):
            is_well = await anyio.to_thread.run_sync(
                self._presence.books.all_respond, PING_TIMEOUT_S, limiter=self._limiter
            )
        reply = PlainTextResponse(self._presence.name) if is_well else Response(status_code=503)
        await reply(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with anyio.fail_after(TIMEOUT_S):
                body = await _read_body(receive)
            calls = unpack_calls(body)
        except (BadCall, TimeoutError):
            await Response(status_code=400)(scope, receive, send)
            return
        book = scope["path"].removeprefix(f"{PATH}/")
        work = asyncio.ensure_future(self._work(book, calls))
        try:
            # A call that fails at once gets a status; after the first byte, it is too late for one.
            done, _ = await asyncio.wait({work}, timeout=KEEPALIVE_S)
            if done and (refusal := _refusal(work)):
                await Response(status_code=refusal)(scope, receive, send)
                return
            await _send_reply(work, send)
        finally:
            work.cancel()

    async def _work(self, book: str, calls: Sequence[Sequence[Any]]) -> list[bytes]:
        def replies() -> list[bytes]:
            return list(pack_replies(self._presence.books.answers(book, calls)))

        return await anyio.to_thread.run_sync(replies, limiter=self._limiter)

    @property
    def _limiter(self) -> anyio.CapacityLimiter:
        """Made when first needed, since it belongs to the event loop that serves."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(AT_ONCE)
        return self._threads


def add_peer_endpoint(app: FastAPI, workspace: Workspace, shelf: Shelf, port: int) -> HostPresence | None:
    """Add the endpoint if the settings name a store that hosts share; returns None if not."""
    if not workspace.settings.is_shared_store:
        return None
    presence = HostPresence(workspace, shelf, address_for_hosts(workspace.settings.serve, port))
    app.add_middleware(PeerEndpoint, presence=presence)
    return presence


def address_for_hosts(serve: ServeSettings, port: int) -> str:
    """Where other hosts reach this one."""
    return server_address(serve, port, lambda: own_address() or serve.host)


def server_address(serve: ServeSettings, port: int, fallback: Callable[[], str]) -> str:
    """The address of a server: the public one in the settings, or else the host it listens on.

    One that listens on all addresses goes by its first name in the settings, or by `fallback`.
    """
    if serve.public_url:
        return serve.public_url.rstrip("/")
    address = ip_address_of(serve.host.strip("[]"))
    is_everywhere = address is not None and address.is_unspecified
    host = (next(iter(serve.hosts), "") or fallback() if is_everywhere else serve.host).strip("[]")
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def reader_address(serve: ServeSettings, request: Request) -> str:
    """Where others reach this server: at the address in the settings, or else at the one that this request was sent to.

    A request from this machine names an address that means another machine to others.
    """
    if not (serve.public_url or is_loopback(request.url.hostname or "")):
        return str(request.base_url).rstrip("/")
    if serve.hosts and not serve.public_url and is_loopback(serve.host.strip("[]")):
        return f"http://{serve.hosts[0]}"  # a proxy on this machine answers at that name, at a port of its own
    return address_for_hosts(serve, request.url.port or serve.port)


def address_to_share(serve: ServeSettings, request: Request) -> str:
    """An address to write down for other devices; empty if none is known that they can reach."""
    if is_only_for_this_machine(serve):
        return ""
    address = reader_address(serve, request)
    host = urlsplit(address).hostname or ""
    ip = ip_address_of(host)
    return "" if is_loopback(host) or (ip is not None and ip.is_unspecified) else address


def is_only_for_this_machine(serve: ServeSettings) -> bool:
    """Whether no other machine can reach this server."""
    return is_loopback(serve.host.strip("[]")) and not (serve.public_url or serve.hosts)


def command_for_others(serve: ServeSettings) -> str:
    """The command that starts this server for other machines too; empty if they can reach it already."""
    if not is_only_for_this_machine(serve):
        return ""
    port = "" if serve.port == ServeSettings().port else f" --port {serve.port}"
    return f"kiwiresearch serve --host 0.0.0.0{port}"


def own_address() -> str:
    """The address of this machine in its network; empty if it is in none. Nothing is sent."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("192.0.2.1", 9))  # an address reserved for documentation: only the route to it is looked up
        return str(line.getsockname()[0])
    return ""


async def _send_reply(work: asyncio.Future[list[bytes]], send: Send) -> None:
    """Send the reply, and until it is ready a byte now and then; after an error it ends early."""
    headers = [(b"content-type", b"application/octet-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    while not work.done():
        await send({"type": "http.response.body", "body": BUSY_SIGN, "more_body": True})
        await asyncio.wait({work}, timeout=KEEPALIVE_S)
    if not _refusal(work):
        for part in work.result():
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _refusal(work: asyncio.Future[list[bytes]]) -> int:
    """The status for a call that failed; 0 if it did not."""
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
            log.error("A call from another host failed.", exc_info=problem)
            return 500


async def _read_body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadCall("the other host disconnected")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > MAX_BODY_BYTES:
            raise BadCall("the call is too large")
    return b"".join(parts)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
