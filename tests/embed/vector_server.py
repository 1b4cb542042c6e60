"""A server on loopback that gives vectors, or whatever else a test wants it to give."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.http_servers import Request, serving
from tests.http_servers import answer as send

Answer = Callable[["Request", dict[str, Any]], None]


@dataclass
class VectorServer:
    """What it was asked, and how it answers."""

    address: str
    answer: Answer
    seen: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


def vector_of(text: str) -> list[float]:
    """A vector that distinguishes texts."""
    return [float(len(text)), float(text.count("a")), 1.0]


def vectors(request: Request, body: dict[str, Any]) -> None:
    """As a good server answers, but in another order: `index` is what counts."""
    items = [{"object": "embedding", "index": i, "embedding": vector_of(t)} for i, t in enumerate(body["input"])]
    reply(request, {"object": "list", "data": items[::-1], "model": body["model"]})


def reply(request: Request, value: object, status: int = 200, **headers: str) -> None:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    send(request, status, content, "application/json", **headers)


@contextlib.contextmanager
def serving_vectors(answer: Answer = vectors) -> Iterator[VectorServer]:
    def handle(request: Request) -> None:
        body = json.loads(request.body)
        shown.seen.append(body)
        shown.headers.append(dict(request.headers))
        shown.paths.append(request.path)
        shown.answer(request, body)

    shown = VectorServer("", answer)
    with serving(handle) as shown.address:
        yield shown
