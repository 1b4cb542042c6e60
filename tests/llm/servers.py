"""Model servers on loopback that behave as they are told, and badly if they are told to."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = BaseHTTPRequestHandler
Handle = Callable[["Talk"], None]


@dataclass
class Talk:
    """One request and the means to answer it in any way, right or wrong."""

    request: Request
    body: dict[str, Any]
    gone: threading.Event
    """Set when the test is over: a server that hangs waits for it."""

    @property
    def path(self) -> str:
        return self.request.path

    def send(self, status: int, content: str | bytes, kind: str = "application/json", **headers: str) -> None:
        """A whole answer."""
        data = content.encode() if isinstance(content, str) else content
        self.request.send_response(status)
        self.request.send_header("Content-Type", kind)
        self.request.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.request.send_header(name.replace("_", "-"), value)
        self.request.end_headers()
        self.write(data)

    def begin(self, kind: str = "text/event-stream") -> None:
        """The head of an answer that ends when the connection does."""
        self.request.send_response(200)
        self.request.send_header("Content-Type", kind)
        self.request.send_header("Connection", "close")
        self.request.end_headers()

    def write(self, data: bytes) -> None:
        self.request.wfile.write(data)
        self.request.wfile.flush()

    def say(self, *words: str, finish: str = "stop", **delta: Any) -> None:
        """A well-behaved stream of these words."""
        self.begin()
        for word in words:
            self.write(event({"content": word}))
        if delta:
            self.write(event(delta))
        self.write(event({}, finish))
        self.write(b"data: [DONE]\n\n")

    def hang(self) -> None:
        self.gone.wait(60)


def event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}\n\n".encode()


def whole(text: str, finish: str = "stop") -> str:
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]})


@dataclass
class Told:
    """A running server and what it was asked."""

    address: str
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The requests for a reply."""
        return [body for path, body in self.asked if path.endswith("/chat/completions")]


@contextlib.contextmanager
def serving(chat: Handle, others: Mapping[str, Any] | None = None, *, closed: Collection[str] = ()) -> Iterator[Told]:
    """A server whose replies are made by `chat`; other paths answer with JSON, are closed, or are not there."""
    known = {"/v1/models": {"data": [{"id": "tiny"}]}, **(others or {})}
    gone = threading.Event()
    told = Told("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self._answer(json.loads(content))

        def _answer(self, body: dict[str, Any]) -> None:
            told.asked.append((self.path, body))
            talk = Talk(self, body, gone)
            with contextlib.suppress(ConnectionError):
                if self.path.endswith("/chat/completions"):
                    chat(talk)
                elif self.path in known:
                    talk.send(200, json.dumps(known[self.path]))
                else:
                    talk.send(403 if self.path in closed else 404, '{"error":{"message":"File Not Found"}}')
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        told.address = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield told
        finally:
            gone.set()
            server.shutdown()
            thread.join()
