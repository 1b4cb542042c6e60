"""A book on another host answers as it does at home, and what another host says is not taken on trust."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.zim.remote_books import Wire

from kiwiresearch.errors import KiwiError, NotOffered, PageNotFound, RedirectLoop
from kiwiresearch.ids import BookId
from kiwiresearch.search.open_book import OpenBook, peer_titles
from kiwiresearch.search.title_index_builder import build_titles
from kiwiresearch.search.titles import TitleIndex, open_titles
from kiwiresearch.zim import peer
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.peer import PeerArchive
from kiwiresearch.zim.peer_protocol import (
    BOOK_CALLS,
    LENGTH,
    MAX_CALLS,
    MAX_ERROR_CHARS,
    READY_SIGN,
    BadCall,
    BadCallReply,
    Call,
    CallReply,
    announcement_of,
    answer_call,
    pack_replies,
    peer_book,
    unpack_calls,
    unpack_replies,
)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with redirects, odd paths and pages that share words."""
    pages = {
        "Sun": "<title>Sun</title><p>The Sun is a star. <a href='Star'>star</a></p>",
        "Star": "<title>Star</title><p>A star is a ball of gas. The Sun is a star.</p>",
        "Ünïcode/päth?": "<title>Ünïcode/päth?</title><p>Odd letters of a star.</p>",
        "Open_AI": "<title>Open AI</title><p>Letters together.</p>",
    }
    target = tmp_path_factory.mktemp("far") / "test.zim"
    write_book(
        target,
        [NewPage(path, path.replace("_", " "), html.encode()) for path, html in pages.items()],
        [NewRedirect("Sol", "Sol", "Sun"), NewRedirect("The_Sun", "The Sun", "Sol")],
        metadata={"Name": "test_en", "Title": "Test book", "Language": "eng", "Date": "2026-01-01"},
        main_path="Sun",
    )
    return target


@pytest.fixture(scope="module")
def both(book: Path) -> tuple[LibzimArchive, PeerArchive, TitleIndex]:
    """The book at home, the same from afar, and its titles at home."""
    home = LibzimArchive(book)
    file = book.with_name("titles.sqlite")
    build_titles(home, file)
    titles = open_titles(file, home.book)
    assert titles is not None
    far = peer_book(announcement_of(home.book, (titles.rows, titles.complete)))
    return home, PeerArchive(far.book, Wire(home, titles), far.titles), titles


ASKED: list[tuple[str, Callable[[Any], Any]]] = [
    ("a page", lambda archive: archive.read("Sun")),
    ("a page behind two redirects", lambda archive: archive.read("The_Sun")),
    ("odd letters", lambda archive: archive.read("Ünïcode/päth?")),
    ("what is not there", lambda archive: archive.read("Nowhere")),
    ("a look", lambda archive: archive.info("Sol")),
    ("a part", lambda archive: archive.part("Sun", 3, 20)),
    ("a part behind the end", lambda archive: archive.part("Sun", 10_000, 20_000)),
    ("a part of nothing", lambda archive: archive.part("Nowhere", 0, 1)),
    ("where a path leads", lambda archive: archive.resolve("The_Sun")),
    ("where none leads", lambda archive: archive.resolve("Nowhere")),
    ("a title", lambda archive: archive.by_title("Open AI")),
    ("no title", lambda archive: archive.by_title("open ai")),
    ("full text", lambda archive: archive.search("star", 10)),
    ("full text, two", lambda archive: archive.search("star", 2)),
    ("pages", lambda archive: archive.paths_with("star sun", 5)),
    ("no words", lambda archive: archive.paths_with("", 5)),
    ("the title of a page", lambda archive: archive.title("Sol")),
    ("the title of nothing", lambda archive: archive.title("Nowhere")),
    ("how many", lambda archive: archive.estimate("star")),
    ("suggestions", lambda archive: archive.suggest("s", 5)),
    ("an address", lambda archive: archive.url("Sun")),
    ("half a letter", lambda archive: archive.resolve("\ud800")),
    ("a long path", lambda archive: archive.resolve("x" * 5_000)),
    ("a path without end", lambda archive: archive.resolve("x" * 500_000)),
    ("a title without end", lambda archive: archive.by_title("x" * 500_000)),
    ("suggestions without end", lambda archive: archive.suggest("x" * 500_000, 5)),
]


def _outcome(ask: Callable[[Any], Any], archive: Any) -> Any:
    try:
        return ask(archive)
    except KiwiError as problem:
        return type(problem), problem.message, problem.remedy


@pytest.mark.parametrize(("what", "ask"), ASKED, ids=[what for what, _ in ASKED])
def test_a_far_book_answers_as_at_home(
    both: tuple[LibzimArchive, PeerArchive, TitleIndex], what: str, ask: Callable[[Any], Any]
) -> None:
    """Whatever is asked of a book on another host gives what it gives at home, errors included."""
    home, far, _ = both
    assert _outcome(ask, far) == _outcome(ask, home)


TITLES: list[Callable[[Any], Any]] = [
    lambda titles: titles.exact("sun"),
    lambda titles: titles.ignoring_spaces("openai"),
    lambda titles: titles.prefix("s", 3),
    lambda titles: titles.prefix("s", 0),
    lambda titles: titles.by_words({"star": 1.0, "sun": 1 / 3}, 5),
    lambda titles: titles.by_words(["star", "the", "the", "sun"], 5),
    lambda titles: titles.correct("stra"),
    lambda titles: titles.correct("stat", 1),
    lambda titles: titles.frequency("sun"),
    lambda titles: (titles.rows, titles.complete),
]


@pytest.mark.parametrize("ask", TITLES)
def test_a_far_title_index_answers_as_at_home(
    both: tuple[LibzimArchive, PeerArchive, TitleIndex], ask: Callable[[Any], Any]
) -> None:
    """Titles are looked up on the host that has them, and come out in the same order."""
    _, far, titles = both
    there = peer_titles(far)
    assert there is not None
    assert ask(there) == ask(titles)


def test_the_data_sheet_travels_but_for_the_place(both: tuple[LibzimArchive, PeerArchive, TitleIndex]) -> None:
    """A book of another host knows all about itself except its path, of which only the file name is given."""
    home, far, _ = both
    assert replace(far.book, source="") == replace(home.book, source="")
    assert far.book.source == f"peer://{home.book.id}/test.zim"
    assert str(home.book.source) not in json.dumps(announcement_of(home.book, None))


def test_whole_lists_of_a_book_are_for_its_own_host(both: tuple[LibzimArchive, PeerArchive, TitleIndex]) -> None:
    """A request for all articles is refused with the name of their host."""
    _, far, _ = both
    with pytest.raises(NotOffered, match="another host"):
        far.articles()
    with pytest.raises(NotOffered):
        far.titles()


def test_announced_requests_are_sent_at_once(book: Path) -> None:
    """Many pages, titles and paths take one request each kind, and each page is sent once."""
    home = LibzimArchive(book)
    wire = Wire(home)
    opened = OpenBook(PeerArchive(peer_book(announcement_of(home.book, None)).book, wire))
    paths = ["Sun", "Star", "Open_AI"]
    opened.prefetch_texts(paths)
    opened.prefetch_titles(paths)
    opened.prefetch_targets([*paths, "Nowhere"])
    assert [len(request) for request in wire.requests] == [3, 3, 4]
    assert [opened.text(path) for path in paths] == [OpenBook(home).text(path) for path in paths]
    assert [opened.title(path) for path in paths] == ["Sun", "Star", "Open AI"]
    assert opened.resolve("Nowhere") is None
    opened.prefetch_texts(paths)
    opened.prefetch_titles(paths)
    assert len(wire.requests) == 3


def test_pages_that_nobody_comes_for_are_dropped(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sent ahead takes no more room than it may, and every page is there all the same."""
    monkeypatch.setattr(peer, "MAX_PREFETCHED_BYTES", 100)
    monkeypatch.setattr(peer, "MAX_CALLS_AT_ONCE", 1)
    home = LibzimArchive(book)
    wire = Wire(home)
    far = PeerArchive(peer_book(announcement_of(home.book, None)).book, wire)
    paths = ["Sun", "Star", "Open_AI"]
    longest = max(len(home.read(path).content) for path in paths)
    for _ in range(3):
        far.prefetch_simple("read", paths)
        assert far._prefetched_bytes <= 100 + longest
        assert far._prefetched_bytes == sum(len(reply.value.content) for reply in far._prefetched.values())
    assert [far.read(path).content for path in paths] == [home.read(path).content for path in paths]
    assert (far._prefetched, far._prefetched_bytes) == ({}, 0)


def test_long_links_are_sent_in_portions(book: Path) -> None:
    """A page with thousands of long links makes several requests, none of which is refused."""
    home = LibzimArchive(book)
    wire = Wire(home)
    opened = OpenBook(PeerArchive(peer_book(announcement_of(home.book, None)).book, wire))
    paths = [f"{number}{'ü' * 60_000}" for number in range(9)] + ["x" * 100_000] + [f"p{n}" for n in range(600)]
    opened.prefetch_targets(paths)
    assert sum(map(len, wire.requests)) == len(paths) - 1
    assert all(opened.resolve(path) is None for path in paths)
    assert 5 <= len(wire.requests) <= 8


def test_a_redirect_loop_is_reported_as_one() -> None:
    """The error of a far book is the same kind as at home."""
    problem = RedirectLoop("The page 'A' redirects in a loop.", remedy="Choose another.")
    packed = b"".join(pack_replies([CallReply(error=problem), None, CallReply(["x"], b"abc")]))
    first, later, last = unpack_replies(packed, 3)
    assert first is not None
    assert isinstance(first.error, RedirectLoop)
    assert (first.error.message, first.error.remedy) == (problem.message, problem.remedy)
    assert later is None
    assert last == CallReply(["x"], b"abc")


def test_an_error_is_shortened() -> None:
    """Of a very long error, the start is shown."""
    (reply,) = unpack_replies(_framed({"replies": [["error", "PageNotFound", "x" * 10**6, "y" * 10**6]]}), 1)
    assert reply is not None
    assert reply.error is not None
    assert (len(reply.error.message), len(reply.error.remedy)) == (MAX_ERROR_CHARS, MAX_ERROR_CHARS)


def _framed(head: Any, rest: bytes = b"") -> bytes:
    result = json.dumps(head).encode()
    return READY_SIGN + LENGTH.pack(len(result)) + result + rest


BROKEN = [
    b"",
    b"...",
    b"!",
    b"<html>Sign in</html>",
    READY_SIGN + LENGTH.pack(2**32 - 1) + b"{}",
    _framed([]),
    _framed({"replies": []}),
    _framed({"replies": [["ok"]]}),
    _framed({"replies": [["ok", 1, 5]]}, b"abc"),
    _framed({"replies": [["ok", 1, -1]]}),
    _framed({"replies": [["ok", 1, True]]}, b"a"),
    _framed({"replies": [["ok", 1, 0]]}, b"more than it says"),
    _framed({"replies": [["error", "KeyboardInterrupt", "", ""]]}),
    _framed({"replies": [["error", "PageNotFound"]]}),
    _framed({"replies": [None]}),
    _framed({"replies": [["ok", 1, 0], ["ok", 1, 0]]}),
]


@pytest.mark.parametrize("body", BROKEN)
def test_an_invalid_reply_is_refused(body: bytes) -> None:
    """Bytes that no kiwiresearch host would send are an error that names the fault, never an answer."""
    with pytest.raises(BadCallReply):
        unpack_replies(body, 1)


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(body: bytes) -> None:
    """Whatever comes, it is a reply or it is refused."""
    for beginning in (b"", READY_SIGN, READY_SIGN + LENGTH.pack(len(body))):
        with pytest.raises(BadCallReply):
            unpack_replies(beginning + body, 1)


LIES: list[tuple[str, Any, bytes, Callable[[PeerArchive], Any]]] = [
    ("a page that is a number", 5, b"", lambda far: far.read("Sun")),
    ("a page with a hundred redirects", ["Sun", "Sun", "text/html", ["x"] * 100], b"", lambda far: far.read("Sun")),
    ("more pages than were asked for", ["Sun"] * 6, b"", lambda far: far.paths_with("sun", 5)),
    ("a title that is none", None, b"", lambda far: far.title("Sun")),
    ("less than no pages", -1, b"", lambda far: far.estimate("sun")),
    ("a yes for a number", True, b"", lambda far: far.estimate("sun")),
    ("more pages than can be counted", 10**400, b"", lambda far: far.estimate("sun")),
    ("a title without end", "x" * 100_000, b"", lambda far: far.title("Sun")),
    ("a path without end", "x" * 100_000, b"", lambda far: far.resolve("Sun")),
    ("more bytes than were asked for", None, b"x" * 20, lambda far: far.part("Sun", 0, 10)),
    ("matches without titles", [["Sun"]], b"", lambda far: far.suggest("s", 5)),
    ("a size below nothing", ["Sun", "text/html", -5, [], False], b"", lambda far: far.info("Sun")),
]


@pytest.mark.parametrize(("what", "value", "content", "ask"), LIES, ids=[lie[0] for lie in LIES])
def test_lies_are_noticed(
    both: tuple[LibzimArchive, PeerArchive, TitleIndex],
    what: str,
    value: Any,
    content: bytes,
    ask: Callable[[PeerArchive], Any],
) -> None:
    """A value of the wrong kind or size is not passed on as an answer."""

    class Liar:
        def release(self) -> None:
            pass

        def ask(self, _: BookId, calls: Sequence[Call[Any]]) -> list[CallReply | None]:
            return [CallReply(calls[0].read(value, content))]

    with pytest.raises((ValueError, TypeError)):
        ask(PeerArchive(both[0].book, Liar()))


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"calls": []}', b'{"calls": ["read"]}', b'{"calls": 5}', b"\xff", b"[" * 50_000],
)
def test_requests_that_no_host_makes_are_refused(body: bytes) -> None:
    """A request without calls, or with something else, is a ValueError."""
    with pytest.raises(BadCall):
        unpack_calls(body)


def test_a_request_has_an_end() -> None:
    """Nobody asks for more than so many things at once."""
    with pytest.raises(BadCall, match="1 to"):
        unpack_calls(json.dumps({"calls": [["title", "x"]] * (MAX_CALLS + 1)}).encode())


@pytest.mark.parametrize(
    "call",
    [
        [],
        ["close"],
        ["__class__"],
        [["read"]],
        ["read"],
        ["read", 5],
        ["read", "Sun", "Sun"],
        ["holding", "sun", "5"],
        ["holding", "sun", True],
        ["read", "x" * 100_000],
        ["search", "sun", 10**9],
        ["search", "sun", -1],
        ["part", "Sun", 0, 2**70],
    ],
)
def test_calls_that_no_host_makes_are_refused(book: Path, call: list[Any]) -> None:
    """Only what is on the list can be asked of a book, with values of the right kind."""
    with pytest.raises(BadCall):
        answer_call(BOOK_CALLS, LibzimArchive(book), call)


def test_errors_of_the_book_are_answers(book: Path) -> None:
    """That a page is not there is what the book says, and no fault of the host."""
    reply = answer_call(BOOK_CALLS, LibzimArchive(book), ["read", "Nowhere"])
    assert isinstance(reply.error, PageNotFound)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../../etc"},
        {"id": 5},
        {"title": None},
        {"title": "x" * 10_000},
        {"articles": -1},
        {"articles": "many"},
        {"articles": 10**400},
        {"titles": [10**400, True]},
        {"kind": "virus"},
        {"languages": 5},
        {"languages": [5]},
        {"indexes": None},
        {"old_namespaces": "no"},
        {"titles": [1]},
        {"titles": ["many", True]},
    ],
)
def test_announcements_are_checked(both: tuple[LibzimArchive, PeerArchive, TitleIndex], change: dict[str, Any]) -> None:
    """A data sheet with something else in it is none."""
    sheet = asdict(both[0].book) | {"titles": None} | change
    with pytest.raises((ValueError, TypeError)):
        peer_book(sheet)
