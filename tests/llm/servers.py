"""Model servers on loopback that behave as a test sets, well or badly."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.http_servers import Request, answer
from tests.http_servers import serving as serving_http

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
        answer(self.request, status, content, kind, **headers)

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
class ModelServer:
    """A running server and what it was asked."""

    address: str
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The requests for a reply."""
        return [body for path, body in self.asked if path.endswith("/chat/completions")]


@contextlib.contextmanager
def serving(
    chat: Handle, others: Mapping[str, Any] | None = None, *, closed: Collection[str] = ()
) -> Iterator[ModelServer]:
    """A server whose replies are made by `chat`; other paths answer with JSON, are closed, or are not there."""
    known = {"/v1/models": {"data": [{"id": "tiny"}]}, **(others or {})}
    gone = threading.Event()
    result = ModelServer("")

    def handle(request: Request) -> None:
        body = json.loads(request.body or b"{}")
        result.asked.append((request.path, body))
        talk = Talk(request, body, gone)
        request.close_connection = True
        if request.path.endswith("/chat/completions"):
            chat(talk)
        elif request.path in known:
            talk.send(200, json.dumps(known[request.path]))
        else:
            talk.send(403 if request.path in closed else 404, '{"error":{"message":"File Not Found"}}')

    with serving_http(handle) as result.address:
        try:
            yield result
        finally:
            gone.set()
