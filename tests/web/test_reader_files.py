"""Files of books in the reader: a film is sent piece by piece, and a part of it costs no more than the part."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.web.servers import NO_RATE_LIMIT, http_client, running_server, server_context
from tests.zim.films import LARGE, SMALL, Counted, a_book_of_films, film

from kiwiresearch.ids import BookId
from kiwiresearch.web.app import make_app
from kiwiresearch.web.book_pages import PIECE_BYTES, UNKNOWN, type_of
from kiwiresearch.zim.archive import EntryInfo, EntryRef

FEW_PIECES = 6 * PIECE_BYTES
"""What a piece on its way takes: in the reader, in the server, on the line and in the client."""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with films."""
    return a_book_of_films(tmp_path_factory.mktemp("films") / "films.zim")


@pytest.fixture(scope="module")
def web(films: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A client of a server with that book, at its pages."""
    with server_context(tmp_path_factory.mktemp("films-room"), str(films), **NO_RATE_LIMIT) as context:
        root = f"/read/{context.shelf.books[0].id}/"
        with running_server(context, make_app) as address, http_client(address + root) as client:
            client.get("Main")  # what is imported and opened once is not counted
            yield client


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """The most memory that was in use at once since the test began, beyond what was before."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    yield lambda: tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()


def test_a_byte_of_a_film_is_read_alone(web: httpx2.Client, peak: Callable[[], int]) -> None:
    """A player that asks for a byte of a large film makes nobody read the film."""
    answer = web.get("large.webm", headers={"Range": f"bytes={LARGE - 9}-{LARGE - 9}"})
    assert (answer.status_code, answer.content) == (206, film(LARGE)[-9:-8])
    assert answer.headers["content-range"] == f"bytes {LARGE - 9}-{LARGE - 9}/{LARGE}"
    assert peak() < PIECE_BYTES


def test_a_head_request_gives_the_size_of_a_file(web: httpx2.Client, peak: Callable[[], int]) -> None:
    """HEAD gives the size of the whole file, whatever range was asked for."""
    answer = web.head("large.webm", headers={"Range": "bytes=0-9"})
    assert (answer.status_code, answer.headers["content-length"]) == (200, str(LARGE))
    assert peak() < PIECE_BYTES


@pytest.mark.parametrize(("asked", "start", "status"), [({}, 0, 200), ({"Range": "bytes=1000000-"}, 1_000_000, 206)])
def test_a_film_is_never_in_memory_whole(
    web: httpx2.Client, peak: Callable[[], int], asked: dict[str, str], start: int, status: int
) -> None:
    """A whole film, or all behind a place, comes in pieces that are read one after the other."""
    wanted = hashlib.sha256(memoryview(film(LARGE))[start:]).hexdigest()
    received = hashlib.sha256()
    with web.stream("GET", "large.webm", headers=asked) as answer:
        for chunk in answer.iter_bytes():
            received.update(chunk)
    assert (answer.status_code, answer.headers["content-length"]) == (status, str(LARGE - start))
    assert received.hexdigest() == wanted
    assert peak() < FEW_PIECES


def test_packed_files_are_whole_and_have_parts(web: httpx2.Client) -> None:
    """What is packed in its book is sent just so."""
    assert web.get("packed.webm").content == film(SMALL)
    assert (
        web.get("packed.webm", headers={"Range": "bytes=2000000-2000004"}).content == film(SMALL)[2_000_000:2_000_005]
    )


def test_a_client_that_leaves_during_a_film_does_no_harm(web: httpx2.Client) -> None:
    """A browser that hangs up after some of a film leaves a server that answers the next."""
    for _ in range(3):
        with web.stream("GET", "large.webm") as answer:
            assert next(answer.iter_bytes())
    assert web.get("small.webm").content == film(SMALL)


def test_a_film_behind_a_kiwix_serve_comes_in_parts(
    films: Path, kiwix_serve: Callable[..., str], tmp_path: Path
) -> None:
    """The part that a player asks for is the part that the other server is asked for."""
    relay = Counted(int(kiwix_serve(films).rpartition(":")[2]))
    with (
        server_context(tmp_path, relay.url) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        root = f"/read/{context.shelf.books[0].id}/"
        client.get(f"{root}Main")
        before = relay.said
        answer = client.get(f"{root}large.webm", headers={"Range": "bytes=5000000-5000009"})
        result = relay.said - before
        whole = client.get(f"{root}small.webm")
    relay.close()
    assert (answer.status_code, answer.content) == (206, film(LARGE)[5_000_000:5_000_010])
    assert result < 10_000
    assert whole.content == film(SMALL)


@pytest.mark.parametrize("named", ["text/плain", "te\u0660t/html", "text/html\r\nX: y", "text", ""])
def test_a_type_that_no_header_can_have_is_sent_as_bytes(named: str) -> None:
    """The type that a book gives for a file is sent to browsers only if it is valid."""
    assert type_of(EntryInfo(EntryRef(BookId("b"), "notes"), named, 5)) == UNKNOWN
