"""Apps on a real server on loopback, and what comes out of their streams."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import uvicorn
from fastapi import FastAPI

from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.server import listen
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace

NO_RATE_LIMIT = {"KIWIRESEARCH_SERVE_REQUESTS_A_MINUTE": "1000000"}
"""Settings of a server that many tests ask in a short time."""


class StreamEvent(NamedTuple):
    """An event of a stream."""

    name: str
    data: Any


def stream_events(lines: Iterable[str]) -> Iterator[StreamEvent]:
    """The events in the lines of a stream, comments left out."""
    name, data = "message", ""
    for line in lines:
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip()
        elif field == "data":
            data += value.removeprefix(" ")
        elif not line.strip() and data:
            yield StreamEvent(name, json.loads(data))
            name, data = "message", ""


@contextlib.contextmanager
def server_context(home: Path, *books: str, **environment: str) -> Iterator[ServerContext]:
    """An open shelf of a user who has a home of their own."""
    by_words = {"KIWIRESEARCH_ASK_READER": "false"}  # tests of what reading changes switch it on
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(home), **by_words, **environment})
    with ServerContext(desk, shelf_of(desk, list(books) or ["sample"])) as context:
        yield context


@contextlib.contextmanager
def running_server(context: ServerContext, make: Callable[[ServerContext], FastAPI]) -> Iterator[str]:
    """A server for the context, and its address; it ends with the block."""
    with listen("127.0.0.1", 0) as listener:
        context.public_url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(make(context), log_level="warning", timeout_graceful_shutdown=5))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield context.public_url
        finally:
            server.should_exit = True
            thread.join()


def http_client(address: str) -> httpx2.Client:
    """A client that knows no proxy, and no certificates: reading them takes longer than most requests here."""
    return httpx2.Client(base_url=address, trust_env=False, verify=False, timeout=30)


def browser_client(address: str) -> httpx2.Client:
    """A client that sends what a browser sends from a page of this server: with it, forms are taken."""
    headers = {"Accept": "text/html,application/xhtml+xml", "Origin": address, "Sec-Fetch-Site": "same-origin"}
    return httpx2.Client(base_url=address, trust_env=False, verify=False, timeout=30, headers=headers)
