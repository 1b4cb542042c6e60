"""Servers in trouble, odd answers and odd paths: a kiwix-serve never takes the program down or leads it astray."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import BookMaker
from tests.http_servers import Handle, Request, answer, serving
from tests.zim.newer_serve import ENTRY, FEED, UUID, NewerServe

from kiwiresearch.errors import BookNotFound, BookUnreachable, PageNotFound
from kiwiresearch.zim.integrity import FileChecks
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.shelf import Opener
from kiwiresearch.zim.sources import BookLocation

PAGES = {"Sky": "<p>blue</p>"}


@contextlib.contextmanager
def only_book(address: str) -> Iterator[ServeArchive]:
    """The one book of a server, closed at the end."""
    with contextlib.closing(KiwixServer(address)) as server:
        (served,) = server.catalogue()
        yield ServeArchive(server, served)


def all_but_the_catalogue(reply: Handle) -> Handle:
    """A server that lists its book as it should and answers all else with `reply`."""
    newer = NewerServe(PAGES, root="")

    def handle(request: Request) -> None:
        if request.path.startswith("/catalog/"):
            newer(request)
        else:
            reply(request)

    return handle


def an_entry(name: str, *, root: str = "") -> str:
    return ENTRY.format(uuid=UUID, title=name, name=name, root=root, listed="", articles=1)


def test_catalogue_that_cannot_be_decoded_is_reported() -> None:
    """A catalogue in an unknown encoding is a server that cannot be used, named by its address."""
    catalogue = '<?xml version="1.0" encoding="foo"?><feed/>'
    with (
        serving(lambda request: answer(request, 200, catalogue, "application/atom+xml")) as address,
        contextlib.closing(KiwixServer(address)) as server,
    ):
        with pytest.raises(BookUnreachable) as caught:
            server.catalogue()
        assert repr(address) in caught.value.message
        assert caught.value.remedy


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        (an_entry("lost", root="http://["), []),
        (an_entry("lost", root="http://[") + an_entry("found"), ["found"]),
    ],
    ids=["alone", "beside a good one"],
)
def test_an_entry_whose_link_is_not_an_address_is_left_out(entries: str, names: list[str]) -> None:
    """A book whose pages cannot be addressed is not on offer, and the others still are."""
    with (
        serving(lambda request: answer(request, 200, FEED.format(total=1, entries=entries))) as address,
        contextlib.closing(KiwixServer(address)) as server,
    ):
        assert [served.name for served in server.catalogue()] == names


def test_address_that_cannot_be_asked_is_reported() -> None:
    """An address that no host can have is reported in a sentence that repeats it."""
    with contextlib.closing(KiwixServer("http://host:abc")) as server:
        with pytest.raises(BookUnreachable, match="cannot be reached: ") as caught:
            server.catalogue()
        assert "'http://host:abc'" in caught.value.message


@pytest.mark.parametrize(
    ("total", "first", "later", "names"),
    [
        (5, "<entry><id>urn:uuid:1</id></entry>", "<entry><id>urn:uuid:1</id></entry>", []),
        (10**12, an_entry("same"), an_entry("same"), ["same"]),
        (10**12, an_entry("only"), "", ["only"]),
    ],
    ids=["entries without a link", "the same entry again and again", "nothing more"],
)
def test_catalogue_that_promises_too_much_ends(total: int, first: str, later: str, names: list[str]) -> None:
    """A catalogue that claims more books than it lists is read until it says nothing new, and no longer."""
    asked: list[str] = []

    def promising(request: Request) -> None:
        asked.append(request.path)
        if len(asked) > 20:  # enough is known: let the reader fail instead of asking for ever
            answer(request, 500, "")
        else:
            answer(request, 200, FEED.format(total=total, entries=later if len(asked) > 1 else first))

    with serving(promising) as address, contextlib.closing(KiwixServer(address)) as server:
        assert [served.name for served in server.catalogue()] == names
    assert len(asked) <= 3


CALLS: dict[str, Callable[[ServeArchive], object]] = {
    "read": lambda archive: archive.read("Sky"),
    "resolve": lambda archive: archive.resolve("Sky"),
    "by_title": lambda archive: archive.by_title("Sky"),
    "search": lambda archive: archive.search("Sky", 5),
    "estimate": lambda archive: archive.estimate("Sky"),
    "suggest": lambda archive: archive.suggest("Sky", 5),
}


@pytest.mark.parametrize("status", [500, 503])
@pytest.mark.parametrize("call", CALLS)
def test_server_in_trouble_is_not_a_missing_page(call: str, status: int) -> None:
    """An error of the server is reported as one, never taken for a page or a hit that the book lacks."""
    busy = all_but_the_catalogue(lambda request: answer(request, status, "busy"))
    with (
        serving(busy) as address,
        only_book(address) as archive,
        pytest.raises(BookUnreachable, match=rf"returned an error \({status}\)"),
    ):
        CALLS[call](archive)


def test_a_redirect_to_something_else_than_an_address_is_not_a_page() -> None:
    """A page that redirects to an invalid address is a page the book does not have."""
    lost = all_but_the_catalogue(lambda request: answer(request, 302, "", Location="http://["))
    with serving(lost) as address, only_book(address) as archive:
        assert archive.resolve("Sky") is None
        with pytest.raises(PageNotFound, match="has no page at 'Sky'"):
            archive.read("Sky")


def test_path_that_cannot_be_encoded_is_not_in_the_book() -> None:
    """Half a surrogate pair, which no address can carry, finds nothing and breaks nothing."""
    with serving(NewerServe(PAGES, root="")) as address, only_book(address) as archive:
        assert archive.resolve("\ud800") is None
        assert archive.suggest("\ud800", 3) == ()
        assert archive.search("\ud800", 3) == ()
        with pytest.raises(PageNotFound):
            archive.read("\ud800")


def test_question_mark_in_a_redirect_belongs_to_the_path(a_book: BookMaker, kiwix_serve: Callable[[Path], str]) -> None:
    """A redirect to a path that ends in '?', which kiwix-serve does not encode, leads to that page (R31)."""
    with only_book(kiwix_serve(a_book({"What?": "<p>q</p>"}, {"Huh": "What?"}))) as archive:
        assert archive.resolve("Huh") == "What?"
        assert archive.read("Huh").content == b"<p>q</p>"


def test_letter_before_a_path_is_another_path(a_book: BookMaker, kiwix_serve: Callable[[Path], str]) -> None:
    """A server answers to any 'L/PATH' of a new book; only the path itself names the page."""
    with only_book(kiwix_serve(a_book({"Home": "<p>x</p>"}))) as archive:
        assert {path: archive.resolve(path) for path in ("Home", "A/Home", "Z/Home")} == {
            "Home": "Home",
            "A/Home": None,
            "Z/Home": None,
        }


def test_connection_is_closed_when_the_book_is_gone(tmp_path: Path) -> None:
    """Opening a book that its server has no more leaves no connection behind."""
    newer = NewerServe(PAGES)
    lines: list[socket.socket] = []

    def watched(request: Request) -> None:
        lines.append(request.connection.dup())
        newer(request)

    with serving(watched) as address:
        # The error keeps all it came through alive, so nothing is closed by being forgotten.
        with pytest.raises(BookNotFound, match="no longer has the book 'older_book'") as caught:
            Opener(FileChecks(tmp_path)).open(BookLocation(f"{address}/kiwix", "older_book"))
        (line,) = lines
        with line:
            ended, _, _ = select.select([line], [], [], 5)
            assert ended == [line], f"still connected after: {caught.value}"
            assert line.recv(1) == b""


def test_a_path_that_cannot_be_encoded_is_not_another_page() -> None:
    """Half a surrogate pair is not another letter: 'Why' and one is not the page 'Why?'."""
    with serving(NewerServe({"Why?": "<p>x</p>"}, root="")) as address, only_book(address) as archive:
        assert archive.resolve("Why\ud800") is None
        assert archive.suggest("Why\ud800", 3) == ()
        with pytest.raises(PageNotFound):
            archive.read("Why\ud800")


def test_a_server_is_asked_once_for_all_its_books(tmp_path: Path) -> None:
    """Opening several books of one server asks for its catalogue once."""
    newer = NewerServe({"Sky": "<p>x</p>"}, root="")
    asked: list[str] = []

    def handle(request: Request) -> None:
        asked.append(request.path)
        newer(request)

    with serving(handle) as address:
        opener = Opener(FileChecks(tmp_path))
        ((_, source),) = opener.look_up(address)
        asked.clear()
        for _ in range(3):
            opener.open(source).close()
    assert sum("/catalog/" in path for path in asked) == 1
