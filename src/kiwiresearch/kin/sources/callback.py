"""Where a source sends the user back to after a sign-in: a port of this machine, open for that one answer."""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from kiwiresearch.errors import BadUsage, SourceRefused
from kiwiresearch.text.hosts import is_loopback

PATIENCE_S = 300.0
READ_S = 10.0
"""How long one request may take; whoever opens a line and says nothing does not keep the user waiting."""
DONE = b"You may close this page and go back to kiwiresearch.\n"


class Callback:
    """Listens at the address that the source was told to send the user to; nobody but this machine reaches it."""

    def __init__(self, redirect_uri: str) -> None:
        parts = urlsplit(redirect_uri)
        if parts.scheme != "http" or not is_loopback(parts.hostname or "") or not parts.port:
            raise BadUsage(f"{redirect_uri!r} is no address of this machine with a port.", remedy="Mend the plugin.")
        try:
            self._server = _Server(("127.0.0.1", parts.port), _Answer)
        except OSError as problem:
            raise BadUsage(
                f"Port {parts.port} is taken, and the sign-in needs it: {problem.strerror}.",
                remedy="End what uses it, then try again.",
            ) from problem
        self._server.path = parts.path or "/"

    def answer(self, state: str, patience_s: float = PATIENCE_S) -> str:
        """The address the user was sent back to, with the state of this sign-in; others are turned away."""
        self._server.state = state
        until = time.monotonic() + patience_s
        while not self._server.answered:
            self._server.timeout = until - time.monotonic()
            if self._server.timeout <= 0:
                raise SourceRefused("Nobody signed in.", step="credentials", remedy="Begin again when you are ready.")
            self._server.handle_request()
        return self._server.answered

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._server.server_close()


class _Server(HTTPServer):
    allow_reuse_address = True
    path = "/"
    state = ""
    answered = ""

    def handle_error(self, request: object, client_address: object) -> None:
        """A request that breaks off is no answer; the next one may be."""


class _Answer(BaseHTTPRequestHandler):
    server: _Server
    timeout = READ_S

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        is_it = parts.path == self.server.path and parse_qs(parts.query).get("state") == [self.server.state]
        if is_it:
            self.server.answered = self.path
        self.send_response(200 if is_it else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(DONE if is_it else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The address holds the code of the sign-in, and is written nowhere."""
