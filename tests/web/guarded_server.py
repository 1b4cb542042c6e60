"""The whole server on loopback, walls and wire and all, with settings and routes of a test's own."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

from fastapi import FastAPI

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.limits import Shutdown
from kiwiresearch.web.server import Server, listen
from kiwiresearch.workspace.settings import ServeSettings

TOKEN = "long-and-secret"


def room_with(context: ServerContext, serve: ServeSettings) -> ServerContext:
    """The same open shelf under other settings; the caller of this function must close it."""
    desk = replace(context.workspace, settings=replace(context.workspace.settings, serve=serve))
    return ServerContext(desk, context.shelf)


@contextlib.contextmanager
def guarded(
    context: ServerContext, serve: ServeSettings | None = None, also: Callable[[FastAPI], None] | None = None
) -> Iterator[int]:
    """A server with these settings and these further routes; its port."""
    with listen("127.0.0.1", 0) as listener:
        shutdown = Shutdown(grace_s=0.2)
        app = make_app(room_with(context, serve or ServeSettings()), shutdown=shutdown)
        if also:
            also(app)
        up = threading.Event()
        server = Server(app, shutdown, up.set)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        assert up.wait(30)
        try:
            yield int(listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()


def exchange(port: int, sent: bytes, *, close: bool = False) -> bytes:
    """Everything the server says to these bytes until it hangs up; `close` says that nothing more will be sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(sent)
            if close:
                line.shutdown(socket.SHUT_WR)
        received = b""
        with contextlib.suppress(ConnectionError):
            while part := line.recv(65_536):
                received += part
        return received


def request(method: str, target: str, *headers: str, body: bytes = b"", host: str = "127.0.0.1") -> bytes:
    """A request as it goes over the wire; the server is asked to hang up after it."""
    lines = [f"{method} {target} HTTP/1.1", *([f"Host: {host}"] if host else []), "Connection: close", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def status_of(answer: bytes) -> int:
    """The status of an answer; 0 where there is none."""
    words = answer.split(b" ", 2)
    return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") else 0
