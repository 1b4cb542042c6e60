"""The HTTP client: every way in which a server can misbehave ends in time, with an error that names the cause."""

from __future__ import annotations

import contextvars
import gzip
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.http_servers import (
    DRIPS,
    Failing,
    Handle,
    Request,
    answer,
    badly_packed,
    closed,
    endless,
    half,
    nonsense,
    serving,
    silent,
)

from kiwiresearch.http_client import Deadline, HttpClient, HttpFailure, retried_once

MAX_BYTES = 2**20


@pytest.fixture
def client() -> Iterator[HttpClient]:
    with closing(HttpClient(read_s=5.0, max_connections=4)) as one:
        yield one


def fetched(client: HttpClient, url: str, seconds: float = 20.0, **request: bytes) -> bytes:
    with client.open("POST" if request else "GET", url, Deadline(seconds), **request) as response:  # type: ignore[arg-type]
        return response.read(MAX_BYTES)


def failure_kind(client: HttpClient, url: str, seconds: float = 20.0, **request: bytes) -> str:
    with pytest.raises(HttpFailure) as caught:
        fetched(client, url, seconds, **request)
    return caught.value.kind


@pytest.mark.parametrize("good", [0, 1], ids=["at once", "on a connection that was kept open"])
@pytest.mark.parametrize("drip", DRIPS)
def test_a_server_that_drips_is_left_in_time(client: HttpClient, drip: str, good: int) -> None:
    """A call ends when its time is over, though the server is never silent; the client can be used again."""
    server = Failing(DRIPS[drip], good)
    with serving(server) as address:
        for _ in range(good):
            assert fetched(client, address) == b"host"
        assert failure_kind(client, address, 0.2) == "late"
        for _ in range(1000):
            if server.calls > good:
                break
            time.sleep(0.01)  # the client may have left before the server read the request
        assert server.calls == good + 1
        server.good = good + 2
        assert fetched(client, address) == b"host"


FAULTS: dict[str, tuple[Handle, str]] = {
    "hangs up": (closed, "broken"),
    "half an answer": (half, "broken"),
    "no HTTP": (nonsense, "broken"),
    "gzip that is none": (badly_packed, "garbled"),
    "endless": (endless, "large"),
    "too large when unpacked": (
        lambda request: answer(request, 200, gzip.compress(bytes(MAX_BYTES + 1)), Content_Encoding="gzip"),
        "large",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_kind(client: HttpClient, fault: str) -> None:
    """Callers learn what went wrong without knowing the library below."""
    handle, kind = FAULTS[fault]
    with serving(handle) as address:
        assert failure_kind(client, address) == kind


def test_silence_has_its_own_limit() -> None:
    """A server that takes the question and says nothing is left before the whole time is over."""
    with serving(silent) as address, closing(HttpClient(read_s=0.1)) as client:
        assert failure_kind(client, address) == "silent"
        assert failure_kind(client, address, 0.05) == "late"


def test_nobody_there(client: HttpClient) -> None:
    """A port where nothing listens is a connection that cannot be made."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        assert failure_kind(client, f"http://127.0.0.1:{nobody.getsockname()[1]}") == "connect"


@pytest.mark.parametrize(
    "address",
    ["http://host:abc", "http://ÿ¿.example", f"http://{'a' * 300}", "http://.", "http://a..b", "http://\ud800"],
)
def test_an_invalid_address_is_reported_as_such(client: HttpClient, address: str) -> None:
    """An address that no host can have is a wrong address, not a host that is away."""
    assert failure_kind(client, address) == "address"


def test_a_server_that_does_not_listen_is_left(client: HttpClient) -> None:
    """What is sent has the same limit as what is received."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        assert failure_kind(client, address, 0.2, content=bytes(32 * 2**20)) == "late"


def test_several_calls_can_share_a_time_limit(client: HttpClient) -> None:
    """Calls that share a limit end together, and without a thread for each."""
    server = Failing(closed, good=20)
    with serving(server) as address:
        fetched(client, address)
        threads, limit = set(threading.enumerate()), Deadline(20.0)
        for _ in range(10):
            with client.open("GET", address, limit) as response:
                assert response.read(10) == b"host"
        assert set(threading.enumerate()) <= threads, "one of the calls started a thread"
        limit.seconds = 0.0
        with pytest.raises(HttpFailure) as caught, client.open("GET", address, limit):
            pass
        assert caught.value.kind == "late"
        assert server.calls == 11


def test_a_body_may_be_read_in_another_context(client: HttpClient) -> None:
    """A stream that a web server goes on with in another thread keeps its limit."""
    with serving(DRIPS["parts"]) as address, client.open("GET", address, Deadline(2.0)) as response:
        chunks = response.chunks(MAX_BYTES)
        assert contextvars.Context().run(next, chunks) == b"x"
        with pytest.raises(HttpFailure) as caught:
            contextvars.Context().run(list, chunks)
        assert caught.value.kind == "late"


def test_no_redirect_is_followed_and_no_cookie_sent_back(client: HttpClient) -> None:
    """The program talks only to the hosts the user named, and requests share no cookies."""
    seen: list[str | None] = []

    def leads_on(request: Request) -> None:
        seen.append(request.headers.get("Cookie"))
        answer(request, 302, "", Location="http://127.0.0.1:9/", Set_Cookie="a=b")

    with serving(leads_on) as address:
        for _ in range(2):
            with client.open("GET", address, Deadline(20.0)) as response:
                assert response.is_redirect
                assert response.headers["location"] == "http://127.0.0.1:9/"
    assert seen == [None, None]


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would be a host the user did not name."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(lambda request: answer(request, 200, "host")) as address, closing(HttpClient(read_s=5.0)) as client:
        assert fetched(client, address) == b"host"


@pytest.mark.parametrize(("kept_open", "connections"), [(0, 3), (4, 1)])
def test_connections_are_kept_open_on_request(kept_open: int, connections: int) -> None:
    """A client that is set to keep connections open uses one connection for all requests."""
    peers: set[int] = set()

    def note(request: Request) -> None:
        peers.add(request.client_address[1])
        answer(request, 200, "host")

    with serving(note) as address, closing(HttpClient(read_s=5.0, max_connections=kept_open)) as client:
        for _ in range(3):
            fetched(client, address)
    assert len(peers) == connections


def test_a_failure_of_the_right_kind_is_tried_once_more(client: HttpClient) -> None:
    """A broken connection is tried once more; a second break, or any other failure, is an error."""
    turns: list[Handle] = [closed, lambda request: answer(request, 200, "host"), closed, closed, closed]
    with serving(lambda request: turns.pop(0)(request)) as address:
        assert retried_once(lambda: fetched(client, address), "broken") == b"host"
        with pytest.raises(HttpFailure):
            retried_once(lambda: fetched(client, address), "silent")
        with pytest.raises(HttpFailure):
            retried_once(lambda: fetched(client, address), "broken")
    assert turns == []
