"""The server process: where it listens, how it starts and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from kiwiresearch.errors import BadSettings, BadUsage, Interrupted, KiwiError
from kiwiresearch.jobs import JobQueue
from kiwiresearch.network import is_loopback
from kiwiresearch.system import limit_memory_arenas
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import DEFAULT_HEADERS, GRACE_S, Shutdown, check_family_owner_setting, check_owners
from kiwiresearch.web.peers import add_peer_endpoint, server_address
from kiwiresearch.web.problems import LAST_SEND_S, SEE_API, Problem
from kiwiresearch.web.runs import make_jobs
from kiwiresearch.workspace import ServeSettings, Workspace
from kiwiresearch.zim import Shelf

HEAD_TIMEOUT_S = 20.0
"""How long a client may take for the head of a request."""

MAX_CONNECTIONS = 512
MAX_IDLE_OF_ADDRESS = 128
"""Connections of one address that wait for a request; a school class behind one address stays below this."""
MAX_HEAD_BYTES = 32 * 1024

NOT_HTTP = Problem(400, "Not HTTP", "The request could not be understood.", SEE_API)


class HttpProtocol(H11Protocol):
    """uvicorn's protocol, but a client must send the head of a request within `timeout_s`."""

    timeout_s = HEAD_TIMEOUT_S
    _timer: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._since = self.loop.time()
        self._make_room()
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        self._update_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update_timer()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (as uvicorn calls it)
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()  # a response has already started
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None:  # the head was understood, so an answer to it is on its way: it is dropped
            cycle.disconnected = True
        answer = NOT_HTTP.response()
        headers = [*answer.raw_headers, *((name.encode(), value.encode()) for name, value in DEFAULT_HEADERS.items())]
        head = h11.Response(status_code=400, headers=[*headers, (b"connection", b"close")], reason=b"Bad Request")
        for event in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def _make_room(self) -> None:
        """Close the idle connection that its address opened first, so that one address cannot use up all of them."""
        address = self.client and self.client[0]
        others: list[HttpProtocol] = [
            other
            for other in self.connections
            if isinstance(other, HttpProtocol) and other is not self and other.client and other.client[0] == address
        ]
        idle = [other for other in others if other._is_idle and not other.transport.is_closing()]
        if len(idle) >= MAX_IDLE_OF_ADDRESS:
            min(idle, key=lambda other: other._since).transport.abort()

    @property
    def _is_idle(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _update_timer(self) -> None:
        if not self._is_idle:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.timeout_s, self._close_if_idle)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_if_idle(self) -> None:
        self._timer = None
        if self._is_idle and not self.transport.is_closing():
            self.transport.close()


MIN_TOKEN_CHARS = 8
CLOSE_TIMEOUT_S = 2.0
"""How long to wait for books to close while a thread is still reading them."""

Mounts = Callable[[ServerContext, JobQueue], Mapping[str, Starlette]]
LOOPBACK = ("127.0.0.1", "::1")


def check_serve_settings(serve: ServeSettings) -> None:
    """Refuse settings that would open the server to other machines without a good token."""
    if serve.token and not (serve.token.isascii() and serve.token.isprintable() and " " not in serve.token):
        raise BadSettings(
            "The token contains characters that cannot be sent in a header.", remedy="Use only letters, digits and '-'."
        )
    check_family_owner_setting(serve)
    if serve.users and serve.token:
        raise BadSettings(
            "'serve.users' and 'serve.token' cannot be used together, because users have their own tokens.",
            remedy="Remove 'serve.token'.",
        )
    if serve.users or is_loopback(serve.host.strip("[]").lower()):
        return
    if not serve.token:
        raise BadSettings(
            f"Listening on {serve.host!r} lets other computers use the server, but no token is set.",
            remedy="Set a token with KIWIRESEARCH_SERVE_TOKEN or --token, or listen on 127.0.0.1.",
        )
    if len(serve.token) < MIN_TOKEN_CHARS:
        raise BadSettings(
            f"A token of {len(serve.token)} characters is too easy to guess.", remedy=f"Use {MIN_TOKEN_CHARS} or more."
        )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes one that is free."""
    bare = host.strip().strip("[]")
    try:
        found = socket.getaddrinfo(bare or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, place = found[0]
        listener = socket.create_server(place[:2], family=family, backlog=128)
    except (OSError, UnicodeError) as problem:
        raise _cannot_listen(host, port, problem) from problem
    # Inherited by connections: otherwise the second part of a reply waits 40 ms for the first to be acknowledged.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _cannot_listen(host: str, port: int, problem: Exception) -> BadUsage:
    code = getattr(problem, "errno", None)
    if code == errno.EADDRINUSE:
        return BadUsage(
            f"Port {port} is already in use, perhaps by another kiwiresearch server.",
            remedy="Open that server in your browser, or choose another port with --port. --port 0 chooses a free one.",
        )
    if code in (errno.EACCES, errno.EPERM):
        return BadUsage(
            f"You do not have permission to use port {port}.", remedy="Choose a port above 1023 with --port."
        )
    return BadUsage(
        f"{host!r} is not an address of this computer.", remedy="Use 127.0.0.1, or 0.0.0.0 for all addresses."
    )


def public_url(serve: ServeSettings, port: int) -> str:
    """Where readers reach the server."""
    return server_address(serve, port, lambda: "::1" if ":" in serve.host else "127.0.0.1")


def serve(
    workspace: Workspace,
    shelf: Shelf,
    *,
    is_partial_shelf: bool = False,
    mounts: Mounts = lambda _context, _jobs: {},
    listening: Callable[[str], None],
    grace_s: float = GRACE_S,
) -> int:
    """Serve a shelf until it is stopped; returns the exit code.

    `mounts` makes further apps over the same context and jobs; `listening` is called with the address once the
    server answers there.
    """
    settings = workspace.settings.serve
    check_serve_settings(settings)
    check_owners(workspace)
    limit_memory_arenas()
    with listen(settings.host, settings.port) as listener:
        url = public_url(settings, listener.getsockname()[1])
        context = ServerContext(workspace, shelf, is_partial_shelf=is_partial_shelf, public_url=url)
        jobs = make_jobs(context)
        shutdown = Shutdown(grace_s=grace_s)
        app = make_app(context, jobs=jobs, mounts=mounts(context, jobs), shutdown=shutdown)
        presence = add_peer_endpoint(app, workspace, shelf, listener.getsockname()[1])

        def on_listening() -> None:
            listening(url)
            context.book_tasks.resume(shelf.books)
            if presence:  # output printed while books are opened may be lost together with libzim's messages
                presence.start()

        def at_end() -> None:
            if presence:
                presence.leave()
            jobs.close()

        server = Server(app, shutdown, on_listening, at_end, proxies=settings.proxies)
        # The library that sends events would cut streams at the first sign of shutdown; we give them a grace period.
        AppStatus.enable_automatic_graceful_drain = False
        server.run([listener])
    if presence:
        presence.close()
    _close(context, server.exit_code)
    return server.exit_code


def _config(app: FastAPI, grace_s: float, proxies: Sequence[str]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=HttpProtocol,
        ws="none",
        loop="asyncio",
        log_config=None,
        log_level="critical",  # errors in requests are logged by FaultCheck
        access_log=False,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=list(proxies),  # proxies that may name the client
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        # After our own grace period and the last event of each stream, so that uvicorn cuts off nothing before.
        timeout_graceful_shutdown=math.ceil(grace_s + LAST_SEND_S),
        lifespan="on",
    )


class Server(uvicorn.Server):
    """uvicorn, with a grace period for streams at the end and an exit code that says why it ended."""

    def __init__(
        self,
        app: FastAPI,
        shutdown: Shutdown,
        listening: Callable[[], None],
        at_end: Callable[[], None] | None = None,
        *,
        proxies: Sequence[str] = LOOPBACK,
    ) -> None:
        super().__init__(_config(app, shutdown.grace_s, proxies))
        self._shutdown = shutdown
        self._listening = listening
        self._at_end = at_end
        self.exit_code = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as problem:
            raise KiwiError("The server could not start.", remedy="The lines above explain why.") from problem
        if self.started:
            self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._shutdown.begin()
        # Jobs are stopped while their streams still run, so that these can report it.
        last_work = asyncio.ensure_future(asyncio.to_thread(self._at_end)) if self._at_end else None
        await super().shutdown(sockets)
        if last_work:
            await last_work

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 (a signal handler)
        """The first signal ends the server gracefully, a second Ctrl-C at once."""
        if self.should_exit and sig == signal.SIGINT:  # pressed twice: do not wait for streams
            exit_now(Interrupted.exit_code)
        if not self.should_exit and sig == signal.SIGINT:
            self.exit_code = Interrupted.exit_code
        self.should_exit = True


def _close(context: ServerContext, exit_code: int) -> None:
    """Close the books; if a thread is still running then, in the books or elsewhere, the process ends without it."""
    closing = threading.Thread(target=context.close, daemon=True)
    closing.start()
    closing.join(CLOSE_TIMEOUT_S)
    others = [item for item in threading.enumerate() if item is not threading.current_thread() and not item.daemon]
    if closing.is_alive() or others:
        exit_now(exit_code)


def exit_now(exit_code: int) -> None:
    """End the process without waiting for threads."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError, RuntimeError):  # nobody may be reading it anymore
                stream.flush()
    os._exit(exit_code)
