"""HTTP servers on loopback for tests: a frame for any handler, and the ways in which servers misbehave."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class Request(BaseHTTPRequestHandler):
    """A request with its body; the means to answer it are those of the standard library."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    body: bytes = b""

    def log_message(self, *_: object) -> None:
        """Say nothing on the terminal."""


Handle = Callable[[Request], None]


@contextlib.contextmanager
def serving(handle: Handle, host: str = "127.0.0.1") -> Iterator[str]:
    """The address of a server that answers every request with `handle`."""

    class Handler(Request):
        def do_GET(self) -> None:
            with contextlib.suppress(ConnectionError):
                self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                handle(self)

        do_HEAD = do_POST = do_GET  # noqa: N815

    with ThreadingHTTPServer((host, 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def answer(request: Request, status: int, body: str | bytes, kind: str = "text/html", **headers: str) -> None:
    content = body.encode() if isinstance(body, str) else body
    request.send_response(status)
    values = {"Content_Type": kind, "Content_Length": str(len(content))} | headers
    for name, value in values.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(content)


def closed(request: Request) -> None:
    """Hangs up without a word."""
    request.close_connection = True
    request.connection.close()


def half(request: Request) -> None:
    """Promises more than it sends."""
    request.wfile.write(OK + b"Content-Length: 1000\r\n\r\n<feed>")
    request.close_connection = True


def nonsense(request: Request) -> None:
    """Speaks another protocol."""
    request.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    request.close_connection = True


def silent(request: Request) -> None:
    """Says nothing until the client has gone."""
    while request.connection.recv(65_536):
        pass
    request.close_connection = True


def badly_packed(request: Request) -> None:
    """Calls gzip what is none."""
    answer(request, 200, "garbage", Content_Encoding="gzip")


def endless(request: Request) -> None:
    """Sends and sends."""
    request.close_connection = True
    request.wfile.write(OK + b"Connection: close\r\n\r\n")
    while True:
        request.wfile.write(b" " * 65_536)


def dripping(begins: bytes, drop: bytes) -> Handle:
    """Each byte comes in time, and the last one never."""

    def drip(request: Request) -> None:
        request.close_connection = True
        request.wfile.write(begins)
        while True:
            request.wfile.write(drop)
            time.sleep(0.02)

    return drip


DRIPS: dict[str, Handle] = {
    "headers": dripping(OK + b"X: ", b"x"),
    "promises": dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "parts": dripping(CHUNKED, b"1\r\nx\r\n"),
    "the size of a part": dripping(CHUNKED + b"1;", b"x"),
    "bytes": dripping(OK + b"Content-Length: 1000000\r\n\r\n", b"x"),
}


@dataclass
class Failing:
    """Answers "host" so many times, and then misbehaves."""

    fault: Handle
    good: int = 0
    calls: int = 0

    def __call__(self, request: Request) -> None:
        self.calls += 1
        if self.calls <= self.good:
            answer(request, 200, "host")
        else:
            self.fault(request)
