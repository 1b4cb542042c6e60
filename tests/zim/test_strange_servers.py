"""Servers that are not kiwix-serve, or broken ones: one clear sentence, never a traceback."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from tests.http_servers import (
    DRIPS,
    Handle,
    Request,
    answer,
    badly_packed,
    closed,
    endless,
    nonsense,
    serving,
    silent,
)
from tests.zim.newer_serve import ENTRY, FEED, UUID, NewerServe

from kiwiresearch.errors import BookUnreachable
from kiwiresearch.zim import kiwix_serve
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.sources import parse_xml, serve_root


def _answer(status: int, body: str, kind: str = "text/html") -> Callable[[Request], None]:
    return lambda request: answer(request, status, body, kind)


DOCTYPE = (
    '<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY a "aaaa">]>' + FEED.format(total=1, entries="&a;").partition("?>")[2]
)

STRANGE: dict[str, Callable[[Request], None]] = {
    "a web page": _answer(200, "<!DOCTYPE html><html><body>Welcome to my router</body></html>"),
    "a web page without document type": _answer(200, "<html><body><br>Hello</body></html>"),
    "an error of its own": _answer(500, "<html>Internal Server Error</html>"),
    "a catalogue that wants a password": _answer(401, "<feed/>"),
    "a redirect elsewhere": _answer(302, ""),
    "an older kiwix-serve without this catalogue": _answer(404, "Not found"),
    "nothing": _answer(200, ""),
    "JSON": _answer(200, json.dumps({"books": []}), "application/json"),
    "XML with a document type": _answer(200, DOCTYPE, "application/atom+xml"),
    "XML cut short": _answer(200, FEED[:120], "application/atom+xml"),
}


@dataclass
class Stage:
    """A server on which the tests put on one strange answer after the other."""

    server: KiwixServer
    handle: Callable[[Request], None]


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    def play(request: Request) -> None:
        shown.handle(request)

    with serving(play) as address:
        shown = Stage(KiwixServer(address), closed)
        yield shown
        shown.server.close()


@pytest.mark.parametrize("kind", STRANGE)
def test_strange_server_is_unreachable(stage: Stage, kind: str) -> None:
    """Whatever answers at an address, if it is not a kiwix-serve a sentence says so."""
    stage.handle = STRANGE[kind]
    with pytest.raises(BookUnreachable) as caught:
        stage.server.catalogue()
    assert repr(stage.server.root) in caught.value.message
    assert caught.value.remedy


FAULTS: dict[str, tuple[Handle, str]] = {
    "hangs up": (closed, "is not responding: "),
    "no HTTP": (nonsense, "is not responding: "),
    "silent": (silent, "is not responding: "),
    "gzip that is none": (badly_packed, "sent an invalid reply: "),
    "drips": (DRIPS["headers"], r"did not finish its reply within 0\.6 s"),
    "endless": (endless, "is larger than 3 MiB"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_misbehaves_is_left_with_a_sentence(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is silent, drips, breaks off or never stops is not waited for without end."""
    monkeypatch.setattr(kiwix_serve, "MAX_BYTES", 3 * 2**20)
    handle, words = FAULTS[fault]
    timeout_s = 0.2 if handle in (silent, DRIPS["headers"]) else 20.0
    with serving(handle) as address, contextlib.closing(KiwixServer(address, timeout_s=timeout_s)) as server:
        with pytest.raises(BookUnreachable, match=words) as caught:
            server.catalogue()
        assert caught.value.remedy


def test_a_broken_line_is_tried_once_more() -> None:
    """A connection lost once is not an error: the question is asked a second time."""
    newer = NewerServe({"Sky": "<p>blue</p>"})
    lost: list[str] = []

    def unlucky(request: Request) -> None:
        if request.path not in lost:
            lost.append(request.path)
            closed(request)
        else:
            newer(request)

    with serving(unlucky) as address:
        server = KiwixServer(f"{address}/kiwix")
        archive = ServeArchive(server, server.catalogue()[0])
        assert archive.read("Sky").content == b"<p>blue</p>"
        archive.close()
    assert len(lost) == 2


def test_server_with_many_books_is_asked_page_by_page() -> None:
    """A catalogue longer than one answer is read to its end, each book once."""
    books = [f"book_{number:03}" for number in range(230)]

    def many(request: Request) -> None:
        start = int(request.path.partition("start=")[2].partition("&")[0])
        count = int(request.path.partition("count=")[2].partition("&")[0])
        entries = "".join(
            ENTRY.format(uuid=f"{UUID[:-3]}{name[-3:]}", title=name, name=name, root="", listed="", articles=1)
            for name in books[start : start + count]
        )
        answer(request, 200, FEED.format(total=len(books), entries=entries))

    with serving(many) as address:
        server = KiwixServer(address)
        assert [served.name for served in server.catalogue()] == books
        server.close()


def test_strange_suggestions_are_none() -> None:
    """Suggestions in another form than kiwix-serve's are not suggestions."""
    newer = NewerServe({"Sky": "<p>blue</p>"})
    answers = ["[]", "{}", "null", "<", '[1, "a", {"kind": "path"}, {"kind": "path", "path": 3, "value": "x"}]']
    waiting = list(answers)

    def other(request: Request) -> None:
        if "/suggest" in request.path:
            answer(request, 200, waiting.pop(0), "application/json")
        else:
            newer(request)

    with serving(other) as address:
        server = KiwixServer(f"{address}/kiwix")
        archive = ServeArchive(server, server.catalogue()[0])
        assert [archive.suggest("Sky", 5) for _ in answers] == [()] * len(answers)
        archive.close()
    assert waiting == []


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("http://host:8080", "http://host:8080"),
        ("http://host:8080/", "http://host:8080"),
        ("host:8080", "http://host:8080"),
        ("https://wiki.example/kiwix/", "https://wiki.example/kiwix"),
        ("http://host/kiwix/viewer#book/A/Page", "http://host/kiwix"),
        ("http://host/content/book/Page", "http://host"),
        ("http://host/kiwix/catalog/v2/entries?count=5", "http://host/kiwix"),
        ("http://host/search?pattern=x", "http://host"),
    ],
)
def test_root_of_a_copied_address(given: str, root: str) -> None:
    """The server's own address is found in any address of its pages."""
    assert serve_root(given) == root


@pytest.mark.parametrize("given", ["ftp://host", "http://", "file:///books/library.xml", "://x"])
def test_an_invalid_address_is_reported(given: str) -> None:
    """An address that no kiwix-serve can have is reported with an example of a good one."""
    with pytest.raises(BookUnreachable, match="is not the address of a kiwix-serve") as caught:
        serve_root(given)
    assert "http://host:8080" in caught.value.remedy


@pytest.mark.parametrize("bad", [b"<a>", b"", b"<!DOCTYPE a><a/>", b'<a><!ENTITY x "y"></a>'])
def test_parse_xml_refuses_with_one_error(bad: bytes) -> None:
    """XML that is broken, or that declares types or entities, is a ValueError."""
    with pytest.raises(ValueError, match=r"\w"):
        parse_xml(bad)
