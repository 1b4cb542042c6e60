"""A server on loopback that gives vectors, or whatever else a test wants it to give."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = BaseHTTPRequestHandler
Answer = Callable[["Request", dict[str, Any]], None]


@dataclass
class VectorServer:
    """What it was asked, and how it answers."""

    address: str
    answer: Answer
    seen: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


def vector_of(text: str) -> list[float]:
    """A vector that tells texts apart."""
    return [float(len(text)), float(text.count("a")), 1.0]


def vectors(request: Request, body: dict[str, Any]) -> None:
    """As a good server answers, but in another order: `index` is what counts."""
    items = [{"object": "embedding", "index": i, "embedding": vector_of(t)} for i, t in enumerate(body["input"])]
    reply(request, {"object": "list", "data": items[::-1], "model": body["model"]})


def reply(request: Request, value: object, status: int = 200, **headers: str) -> None:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(content)))
    for name, text in headers.items():
        request.send_header(name, text)
    request.end_headers()
    request.wfile.write(content)


@contextlib.contextmanager
def serving_vectors(answer: Answer = vectors) -> Iterator[VectorServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            shown.seen.append(body)
            shown.headers.append(dict(self.headers))
            shown.paths.append(self.path)
            with contextlib.suppress(ConnectionError):
                shown.answer(self, body)

        def log_message(self, *_: object) -> None:
            """Say nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        shown = VectorServer(f"http://127.0.0.1:{server.server_address[1]}", answer)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield shown
        finally:
            shown.released.set()
            server.shutdown()
            thread.join()
