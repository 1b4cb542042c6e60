"""The routes for other hosts: only requests with the secret are answered; to others the routes do not exist."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.hosts.running_hosts import Host, a_host
from tests.web.servers import http_client

from kiwiresearch.errors import HostUnreachable
from kiwiresearch.ids import BookId
from kiwiresearch.web import peers
from kiwiresearch.web.peers import address_for_hosts, own_address
from kiwiresearch.workspace import workspace
from kiwiresearch.workspace.settings import ServeSettings
from kiwiresearch.zim import peer_client
from kiwiresearch.zim.peer import PeerArchive
from kiwiresearch.zim.peer_client import PeerClient
from kiwiresearch.zim.peer_protocol import BUSY_SIGN, MAX_BODY_BYTES, MAX_CALLS, TOGETHER_BYTES, Call, unpack_replies

TOKEN = "a-token-of-readers"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[Host]:
    """A host whose readers need a token."""
    folder = tmp_path_factory.mktemp("door")
    store = f"sqlite:///{folder / 'store.sqlite'}"
    with a_host(folder / "home", store, "door", sample_zim, KIWIRESEARCH_SERVE_TOKEN=TOKEN) as host:
        yield host
    workspace.close_stores()


@pytest.fixture
def other(host: Host) -> Iterator[httpx2.Client]:
    """Another host, which has the secret of the store and no token."""
    with http_client(host.url) as client:
        client.headers["Authorization"] = f"Bearer {host.presence.secret}"
        yield client


@pytest.fixture(scope="module")
def book(host: Host) -> str:
    return str(host.context.shelf.books[0].id)


def _calls(*calls: list[Any]) -> bytes:
    return json.dumps({"calls": calls}).encode()


def test_a_host_is_answered(other: httpx2.Client, book: str) -> None:
    """Calls with the secret are answered, several at once, in their order."""
    response = other.post(f"/api/peer/{book}", content=_calls(["title", "Sunset"], ["read", "Nowhere"]))
    first, second = unpack_replies(response.content, 2)
    assert first is not None
    assert second is not None
    assert first.value == "Sunset"
    assert type(second.error).__name__ == "PageNotFound"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}"},
        {"Authorization": "Basic SECRET"},
        {"Authorization": "SECRET"},
        {"Cookie": "kiwiresearch_token=SECRET"},
    ],
)
def test_requests_without_the_secret_get_not_found(host: Host, book: str, headers: dict[str, str]) -> None:
    """Without the secret, the routes look like any address that does not exist, also to readers with a token."""
    shown = {name: value.replace("SECRET", host.presence.secret) for name, value in headers.items()}
    with http_client(host.url) as client:
        for place in (f"/api/peer/{book}", "/api/peer/ping"):
            there = client.post(place, content=_calls(["title", "Sunset"]), headers=shown)
            nowhere = client.post(place.replace("peer", "nowhere"), content=_calls(["title", "Sunset"]), headers=shown)
            assert (there.status_code, there.text) == (nowhere.status_code, nowhere.text)
            assert there.status_code in (401, 404, 415)


def test_the_secret_gives_access_to_nothing_else(other: httpx2.Client) -> None:
    """Hosts may only ask about books; everything else needs a token."""
    assert other.get("/api/search", params={"q": "sky"}).status_code == 401
    assert other.get("/api/peer/ping").status_code == 401


def test_the_secret_is_shown_nowhere(host: Host) -> None:
    """Neither the OpenAPI description nor the health of the server shows that there is a secret."""
    with http_client(host.url) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        for place in ("/openapi.json", "/api/health", "/api/books"):
            text = client.get(place).text
            assert host.presence.secret not in text
            assert "/api/peer" not in text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{}", 400),
        (b"\xff\xfe", 400),
        (b'{"calls": []}', 400),
        (_calls(["close"]), 400),
        (_calls(["read", 5]), 400),
        (_calls(["titles.by_words", [[1, "x"]], 5]), 400),
        (_calls(["titles.by_words", [["sky", 10**400]], 5]), 400),
        (_calls(*[["title", "x"]] * (MAX_CALLS + 1)), 400),
        (b" " * (MAX_BODY_BYTES + 1), 400),
    ],
)
def test_nonsense_is_refused(other: httpx2.Client, book: str, body: bytes, status: int) -> None:
    """Requests that no kiwiresearch host makes are refused without harm."""
    assert other.post(f"/api/peer/{book}", content=body).status_code == status
    assert other.post("/api/peer/ping").text == "door"


@pytest.mark.parametrize("name", ["00000000-0000-0000-0000-000000000000", "..", "x/../y", "%2e%2e"])
def test_a_book_that_this_host_does_not_have_is_an_error(other: httpx2.Client, name: str) -> None:
    """Hosts can only ask about the books of this host, by their UUIDs."""
    assert other.post(f"/api/peer/{name}", content=_calls(["title", "x"])).status_code in (401, 404)


def test_a_slow_answer_starts_with_dots(
    other: httpx2.Client, host: Host, book: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a host at work is not taken for one that is gone."""
    monkeypatch.setattr(peers, "KEEPALIVE_S", 0.02)
    held = host.presence.books._opened()[book].read_lock
    held.acquire()
    try:
        with other.stream("POST", f"/api/peer/{book}", content=_calls(["title", "Sunset"])) as response:
            parts = response.iter_raw()
            first = next(parts)
            held.release()
            body = first + b"".join(parts)
    finally:
        if held.locked():
            held.release()
    assert body.startswith(BUSY_SIGN)
    (reply,) = unpack_replies(body, 1)
    assert reply is not None
    assert reply.value == "Sunset"


def test_a_host_that_gets_nowhere_is_not_waited_for(host: Host, book: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that only says that it is working is given up after a while, until its books answer again."""
    monkeypatch.setattr(peers, "KEEPALIVE_S", 0.02)
    monkeypatch.setattr(peers, "PING_TIMEOUT_S", 0.05)
    monkeypatch.setattr(peer_client, "MAX_WORK_S", 0.2)
    line = PeerClient("door", host.url, host.presence.secret)
    held = host.presence.books._opened()[book].read_lock
    with held:
        with pytest.raises(HostUnreachable, match="took too long to reply"):
            line.ask(BookId(book), [Call("title", ("Sunset",), lambda value, _: value)])
        with pytest.raises(HostUnreachable, match="503"):
            line.ping()
    line.ping()
    line.close()


def test_long_answers_are_given_in_portions(host: Host, book: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit into one answer is asked for again, and nothing of it is lost."""
    monkeypatch.setattr("kiwiresearch.workspace.shared_books.TOGETHER_BYTES", 3_000)
    assert TOGETHER_BYTES > 3_000
    line = PeerClient("door", host.url, host.presence.secret)
    sent: list[int] = []

    class Neighbours:
        def ask(self, which: BookId, calls: list[Call[Any]]) -> Any:
            sent.append(len(calls))
            return line.ask(which, calls)

        def release(self) -> None:
            line.close()

    far = PeerArchive(host.context.shelf.open(host.context.shelf.books[0]).book, Neighbours())  # type: ignore[arg-type]
    home = host.context.shelf.open(host.context.shelf.books[0])
    paths = ["Sunset", "Galaxy", "Milky_Way", "Sky"]
    far.prefetch_simple("read", paths)
    assert [far.read(path).content for path in paths[:2]] == [home.read(path).content for path in paths[:2]]
    assert far.read(paths[2]) == home.read(paths[2])
    assert sent[0] == len(paths)
    assert len(sent) > 1
    far.close()


def test_a_line_knows_whom_it_speaks_to(host: Host) -> None:
    """A host of another name at the same address, or one that does not know us, is not the one we want."""
    for name, secret in (("somebody", host.presence.secret), ("door", "wrong")):
        line = PeerClient(name, host.url, secret)
        with pytest.raises(HostUnreachable, match=repr(name)):
            line.ping()
        line.close()


def test_two_hosts_may_ask_each_other_at_once(host: Host, other: httpx2.Client, book: str) -> None:
    """Calls are answered while a search of our own uses the books; otherwise two hosts could wait for each other."""
    with host.context.locked_finder():
        done = threading.Event()

        def ask() -> None:
            other.post(f"/api/peer/{book}", content=_calls(["title", "Sunset"]))
            done.set()

        thread = threading.Thread(target=ask)
        thread.start()
        assert done.wait(20)
        thread.join()


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        (ServeSettings(public_url="https://desk.school.lan/"), "https://desk.school.lan"),
        (ServeSettings(host="127.0.0.2"), "http://127.0.0.2:5"),
        (ServeSettings(host="::1"), "http://[::1]:5"),
        (ServeSettings(host="0.0.0.0", hosts=("desk.lan",)), "http://desk.lan:5"),
    ],
)
def test_the_address_that_others_use(settings: ServeSettings, address: str) -> None:
    """A host announces what its user says, else the address it listens on."""
    assert address_for_hosts(settings, 5) == address


def test_a_host_on_all_addresses_announces_the_one_it_goes_out_by() -> None:
    """'0.0.0.0' leads nowhere, so the machine's own address is announced where it has one."""
    assert address_for_hosts(ServeSettings(host="0.0.0.0"), 5) == f"http://{own_address() or '0.0.0.0'}:5"
