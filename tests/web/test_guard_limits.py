"""How much, how often and how long: what one client can take from the others is bounded."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse, StreamingResponse
from tests.web.guarded_server import exchange, guarded, request, status_of

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.limits import Buckets, client_of
from kiwiresearch.web.guard.requests import BodyCheck
from kiwiresearch.web.server import HttpProtocol
from kiwiresearch.workspace.settings import ServeSettings

BOOKS = request("GET", "/api/books")
WAIT = request("GET", "/api/wait")


class Gate:
    """A route that a thread waits in until the test opens it."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()

    def add_to(self, app: FastAPI) -> None:
        def wait() -> PlainTextResponse:
            self.entered.release()
            assert self.opened.wait(30)
            return PlainTextResponse("through")

        app.add_api_route("/api/wait", wait)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()


@contextlib.contextmanager
def waiting(port: int, gate: Gate) -> Iterator[socket.socket]:
    """A request that is being worked on."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        line.sendall(WAIT)
        assert gate.entered.acquire(timeout=20)
        yield line


def rest(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: line.recv(65_536), b""))


def test_a_crowd_is_asked_to_come_again(context: ServerContext, gate: Gate) -> None:
    """When all places are taken, a client gets the time to try again, and is served once one is free."""
    with guarded(context, ServeSettings(at_once=2), gate.add_to) as port:
        with waiting(port, gate) as first, waiting(port, gate) as second:
            assert status_of(exchange(port, request("GET", "/api/health"))) == 200  # alive all the same
            refused = exchange(port, BOOKS)
            assert (status_of(refused), b"\r\nretry-after: 2\r\n" in refused) == (503, True)
            gate.opened.set()
            assert status_of(rest(first)) == status_of(rest(second)) == 200
        assert status_of(exchange(port, BOOKS)) == 200


def test_a_request_that_takes_too_long_is_ended(context: ServerContext, gate: Gate) -> None:
    """The client is answered in time; the place counts as taken until the work has really ended."""
    with guarded(context, ServeSettings(at_once=1, request_timeout_s=0.2), gate.add_to) as port:
        received = exchange(port, WAIT)
        assert status_of(received) == 503
        assert json.loads(received.partition(b"\r\n\r\n")[2])["title"] == "Took too long"
        assert b'"title": "Busy"' in exchange(port, BOOKS)
        gate.opened.set()
        while status_of(exchange(port, BOOKS)) != 200:
            pass


def _streams(app: FastAPI) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"event: citations\ndata: {}\n\n"
        await asyncio.Event().wait()

    async def broken() -> AsyncIterator[bytes]:
        yield b"event: citations\ndata: {}\n\n"
        raise ModelUnreachable("The model server 'x' breaks off.", remedy="Try again.")

    async def stream(kind: str = "text/event-stream", fails: bool = False) -> StreamingResponse:
        return StreamingResponse(broken() if fails else endless(), media_type=kind)

    for path in ("/api/stream", "/v1/stream"):
        app.add_api_route(path, stream)


def test_a_stream_that_takes_too_long_ends_properly(context: ServerContext) -> None:
    """A stream is closed with an event that says why, each in the form its clients know.

    A part of a document must not pass for the whole: its connection ends without the last chunk.
    """
    wanted = [request("GET", path) for path in ("/api/stream", "/v1/stream", "/api/stream?kind=text/plain")]
    with guarded(context, ServeSettings(request_timeout_s=3.0), _streams) as port, ThreadPoolExecutor(3) as pool:
        ours, theirs, document = pool.map(lambda one: exchange(port, one), wanted)
    assert b"event: error\ndata: {" in ours
    assert ours.endswith(b"\r\n0\r\n\r\n"), "the body is complete"
    assert b'data: {"error": {' in theirs
    assert b"data: [DONE]\n\n" in theirs
    assert status_of(document) == 200
    assert not document.endswith(b"0\r\n\r\n")


def test_a_stream_that_fails_reports_it(context: ServerContext) -> None:
    """An error after the first event becomes the last event."""
    with guarded(context, ServeSettings(), _streams) as port:
        received = exchange(port, request("GET", "/api/stream?fails=true"))
    assert b'"title": "Model unreachable", "status": 502' in received
    assert received.endswith(b"\r\n0\r\n\r\n")


def test_a_client_that_asks_too_often_must_wait(context: ServerContext) -> None:
    """Beyond the limit for a minute, the response says how long to wait."""
    with guarded(context, ServeSettings(requests_a_minute=3)) as port:
        started = time.monotonic()
        assert [status_of(exchange(port, BOOKS)) for _ in range(3)] == [200] * 3
        refused = exchange(port, BOOKS)
        assert status_of(refused) == 429
        (wait_s,) = re.findall(rb"\r\nretry-after: (\d+)\r\n", refused)
        # The next request is allowed 20 seconds after the first, some of which a busy machine has used.
        assert 20 - (time.monotonic() - started) <= int(wait_s) <= 20


def test_a_proxy_of_this_machine_may_name_its_client(context: ServerContext) -> None:
    """Behind a proxy on loopback, each of its clients is counted apart."""
    with guarded(context, ServeSettings(requests_a_minute=1)) as port:
        from_one = request("GET", "/api/health", "X-Forwarded-For: 10.0.0.1")
        from_two = request("GET", "/api/health", "X-Forwarded-For: 10.0.0.2")
        assert [status_of(exchange(port, sent)) for sent in (from_one, from_two, from_one)] == [200, 200, 429]


@given(st.integers(1, 100), st.lists(st.floats(0, 30), max_size=200))
def test_no_client_gets_more_than_its_share(a_minute: int, pauses: list[float]) -> None:
    """However requests are spread, those let through are a minute's worth and what time has brought since."""
    now = 0.0
    buckets = Buckets(a_minute, clock=lambda: now)
    taken = 0
    for pause in pauses:
        now += pause
        taken += buckets.take("one") == 0
        assert taken <= a_minute + now * a_minute / 60 + 1e-6


def test_a_client_that_waits_is_answered() -> None:
    """After the seconds in the response, a client may ask again, and not before."""
    now = 0.0
    buckets = Buckets(60, clock=lambda: now)
    assert [buckets.take("one") for _ in range(61)] == [*[0.0] * 60, 1.0]
    now = 0.5
    assert buckets.take("one") == 0.5
    now = 1.0
    assert buckets.take("one") == 0
    assert buckets.take("two") == 0


def test_clients_without_end_take_no_memory_without_end() -> None:
    """Of more clients than can be remembered, the longest silent are forgotten."""
    buckets = Buckets(1, clock=lambda: 0.0, max_clients=100)
    for number in range(1_000):
        buckets.take(str(number))
    assert len(buckets) == 100
    assert buckets.take("999") > 0
    assert buckets.take("0") == 0


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff::2", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("x" * 1_000, "x" * 64),
        ("10.0.0.1  login  \x9b31m", "10.0.0.1login31m"),
    ],
)
def test_a_client_is_an_address_or_a_network(address: str, client: str) -> None:
    """A network of IPv6 is one client, as each of its machines has addresses without end."""
    assert client_of({"client": (address, 1)}) == client


def test_a_body_that_does_not_come_is_not_waited_for(context: ServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that announces a body and sends none gets an error, and the connection is closed."""
    monkeypatch.setattr(BodyCheck, "timeout_s", 0.1)
    with guarded(context) as port:
        sent = request("POST", "/api/ask", "Content-Type: application/json", "Content-Length: 9")
        assert status_of(exchange(port, sent)) == 408


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_silent_client_is_hung_up_on(context: ServerContext, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    """A connection without a whole request ends after a while."""
    monkeypatch.setattr(HttpProtocol, "timeout_s", 0.1)
    with guarded(context) as port:
        assert exchange(port, sent) == b""
