"""Lead pictures of pages in results, answers and the home page, and covers of books."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.runs.illustrated_runs import MAP, an_illustrated_book
from tests.web.desk.owner_servers import OwnerServer, owner_server
from tests.web.desk.page_text import first, plain

from kiwiresearch.web.desk import covers
from kiwiresearch.web.desk.covers import NOTHING, is_blank


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[OwnerServer]:
    """A server with a book that has pictures, and one without."""
    place = tmp_path_factory.mktemp("pictured")
    with owner_server(place / "home", an_illustrated_book(place / "road.zim"), sample_zim) as made:
        yield made


def test_a_result_shows_its_page_s_picture_and_its_book(desk: OwnerServer) -> None:
    """In a place of a fixed size that screen readers and the keyboard pass over; quick results leave it empty."""
    page = desk.page("/find?q=Salt+road")
    thumb = first(page, ".hits .pictured .thumb")
    assert (thumb.attributes["tabindex"], thumb.attributes["aria-hidden"]) == ("-1", "true")
    picture = first(thumb, "img").attributes
    assert (picture["alt"], picture["width"], picture["height"], picture["loading"]) == ("", "96", "96", "lazy")
    reply = desk.browser.get(str(picture["src"]))
    assert (reply.content, reply.headers["content-type"]) == (MAP, "image/png")
    assert "sandbox" in reply.headers["content-security-policy"]
    assert "max-age" in reply.headers["cache-control"]
    assert plain(first(page, ".hits .cover.small").text()) == "RB"
    quick = desk.page("/find/results?q=Salt+road&fast=true")
    assert first(quick, ".pictured .thumb").css_first("img") is None
    only = desk.browser.get("/find", params={"q": "Salt road", "book": desk.context.shelf.books[0].id}).text
    assert "cover small" not in only
    assert "thumb" not in desk.browser.get("/find", params={"q": "Sunset", "book": desk.context.shelf.books[1].id}).text


def test_an_answer_shows_the_picture_of_its_page(desk: OwnerServer) -> None:
    """With its caption and a link to the page; an answer from a page without pictures has none."""
    figure = first(desk.page("/ask?q=How+long+was+the+Salt+road%3F"), ".answer-card .answer-picture")
    assert first(figure, "img").attributes["alt"] == plain(first(figure, "figcaption").text()) == "Salt road"
    assert "/page/" in str(first(figure, "a").attributes["href"])
    assert "answer-picture" not in desk.browser.get("/ask?q=When+was+Einstein+born%3F").text


@pytest.mark.parametrize("path", ["Ostrava", "No_such_page", "I/map.png", "%00"])
def test_a_page_without_a_picture_leaves_its_place_empty(desk: OwnerServer, path: str) -> None:
    """Quickly, and without an error that a console would show."""
    reply = desk.browser.get(f"/picture/{desk.context.shelf.books[0].id}/{path}")
    assert (reply.status_code, reply.content) == (200, NOTHING)
    assert desk.browser.get(f"/picture/no-such-book/{path}").content == NOTHING


def test_a_picture_does_not_wait_for_busy_books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is empty then, is asked for again at the next view, and nothing is remembered of it."""
    monkeypatch.setattr(covers, "TIMEOUT_S", 0.05)
    with owner_server(tmp_path / "home", an_illustrated_book(tmp_path / "road.zim")) as desk:
        place = f"/picture/{desk.context.shelf.books[0].id}/Salt_road"
        with desk.context.locked_finder():
            reply = desk.browser.get(place)
        assert (reply.content, reply.headers["cache-control"]) == (NOTHING, "no-store")
        assert desk.browser.get(place).content == MAP


def test_a_cover_without_size_is_blank_and_costs_nothing() -> None:
    """A header may claim any width; without height there is nothing to see, and nothing is laid out for it."""
    header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">IIBBBBB", 0xFFFFFFFF, 0, 8, 6, 0, 0, 0)
    assert is_blank(header)
