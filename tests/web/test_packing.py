"""Text is packed for those who take it so, and for nobody else."""

from __future__ import annotations

import gzip

import httpx2
import pytest
from starlette.testclient import TestClient

from kiwiresearch.web.app import make_app
from kiwiresearch.web.desk.files import address_of
from kiwiresearch.web.packing import takes_packed
from kiwiresearch.web.room import Room

HERE = "http://127.0.0.1"
PACKED = {"Accept-Encoding": "br, gzip"}
BARE = {"Accept-Encoding": "identity"}


@pytest.fixture(scope="module")
def client(room: Room) -> TestClient:
    return TestClient(make_app(room), base_url=HERE)


def _sent(client: TestClient, address: str, **headers: str) -> tuple[httpx2.Response, bytes]:
    """An answer and the bytes that travelled."""
    with client.stream("GET", address, headers=headers) as answer:
        return answer, b"".join(answer.iter_raw())


@pytest.mark.parametrize("address", ["/", "/find?q=Einstein", "/api/search?q=Einstein", "/read/{book}/Albert_Einstein"])
def test_text_is_packed_for_those_who_take_it(client: TestClient, room: Room, address: str) -> None:
    """Pages, replies and pages of books travel in less than half of their size, and say so."""
    address = address.format(book=room.shelf.books[0].id)
    answer, packed = _sent(client, address, **PACKED)
    bare, content = _sent(client, address, **BARE)
    assert answer.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in answer.headers["vary"].lower()
    assert int(answer.headers["content-length"]) == len(packed) < len(content) / 2
    assert "content-encoding" not in bare.headers
    assert len(gzip.decompress(packed)) == pytest.approx(len(content), abs=200)  # times that a search took differ


def test_packed_files_are_kept_by_browsers_as_others_are(client: TestClient) -> None:
    """The mark of a packed file is a weak one, and is known again."""
    address = address_of("css/base.css")
    answer, packed = _sent(client, address, **PACKED)
    bare, content = _sent(client, address, **BARE)
    assert gzip.decompress(packed) == content
    assert answer.headers["etag"] == f"W/{bare.headers['etag']}"
    for mark in (answer.headers["etag"], bare.headers["etag"]):
        assert client.get(address, headers={"If-None-Match": mark}).status_code == 304


def test_streams_small_answers_and_pictures_go_as_they_are(client: TestClient) -> None:
    """What comes bit by bit is not held back, and what would not shrink is left alone."""
    asked = {"question": "When was Einstein born?"}
    with client.stream("POST", "/api/chat", json=asked, headers=PACKED) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers
        assert "event: " in answer.read().decode()
    for address in ("/nothing-here-for-anybody.png", "/api/books/nothing"):
        small, _ = _sent(client, address, **PACKED)
        assert "content-encoding" not in small.headers, address


@pytest.mark.parametrize(
    ("accepted", "is_taken"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0", False),
        ("br", False),
        ("", False),
        ("x-gzipped", False),
    ],
)
def test_what_a_client_takes_is_read_with_care(accepted: str, is_taken: bool) -> None:
    """A client that refuses packed answers gets none."""
    assert takes_packed(accepted) is is_taken
