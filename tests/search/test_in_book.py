"""The best pages of one book: what boxes say, how much is asked of a server, and what is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

import pytest
from tests.search.shelves import Noting, titles

from kiwiresearch.search.book_search import BookSearch
from kiwiresearch.search.open_book import SERVED_EFFORT, OpenBook, SearchEffort
from kiwiresearch.search.query import Hit, parse_query
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.libzim import LibzimArchive

Ready = Callable[..., OpenBook]

BOX = "<table class='infobox'><tr><td>{}</td></tr></table>"
CATEGORIES = "<div id='catlinks'>{}</div>"


def boxes(hit: Hit) -> float:
    return sum(term.points for term in hit.score.terms if term.signal == "boxes and categories")


@pytest.mark.parametrize("kept_in", [BOX, CATEGORIES], ids=["infobox", "categories"])
def test_boxes_and_categories_count(ready: Ready, kept_in: str) -> None:
    """Of two pages with the same words, the one whose box or categories have them comes first (R260)."""
    pages = {
        "Alpha": "<p>A light among others, one of the comets.</p>",
        "Beta": f"<p>A light among others, one of the</p>{kept_in.format('comets')}",
    }
    beta, alpha = BookSearch(ready(Noting(pages)), parse_query("comets")).by_text(5).hits
    assert (beta.title, alpha.title) == ("Beta", "Alpha")
    assert boxes(beta) > boxes(alpha) == 0


def test_boxes_count_by_the_rarity_of_their_words(ready: Ready) -> None:
    """A box that has all of the query counts fully, one that has its common word counts little (R260)."""
    pages = {
        "Alpha": f"<p>A comet and a light.</p>{BOX.format('comet light')}",
        "Beta": f"<p>A comet and a light.</p>{BOX.format('light')}",
        **{f"Lamp {number}": "<p>A light.</p>" for number in range(20)},
    }
    hits = {hit.title: hit for hit in BookSearch(ready(Noting(pages)), parse_query("comet light")).by_text(9).hits}
    assert boxes(hits["Alpha"]) > 2 * boxes(hits["Beta"]) > 0


def test_a_page_that_is_the_subject_is_shown_from_its_lead(ready: Ready) -> None:
    """If the title is the subject, the first paragraph is shown; another page is shown where the words are."""
    filler = "Another sentence stands here. " * 20
    pages = {
        "Comet": f"<p>A note.</p><p>The first sentence says what the subject is, at some length. {filler} A comet.</p>",
        "Alpha": f"<p>The first sentence says something else, at some length. {filler} Then comes a comet.</p>",
    }
    shown = {hit.title: hit.snippet for hit in BookSearch(ready(Noting(pages)), parse_query("comet")).by_text(5).hits}
    assert shown["Comet"].startswith("The first sentence says what the subject is")
    assert shown["Alpha"].endswith("Then comes a comet.")


def test_less_is_asked_of_a_served_book(
    kiwix_serve: Callable[..., str], a_book: Callable[..., Path], ready: Ready
) -> None:
    """Where each list and page is a request, fewer are asked for; the same book as a file is read further."""
    assert all(few < many for few, many in zip(astuple(SERVED_EFFORT), astuple(SearchEffort()), strict=True))
    file = a_book({f"Comet_{number}": "<p>A comet seen again.</p>" for number in range(60)})
    at_home = ready(LibzimArchive(file))
    with contextlib.closing(KiwixServer(kiwix_serve(file))) as server:
        (served,) = server.catalogue()
        far = ready(ServeArchive(server, served))
        assert (at_home.effort, far.effort) == (SearchEffort(), SERVED_EFFORT)
        assert len(BookSearch(far, parse_query("comet seen")).by_text(100).hits) == SERVED_EFFORT.read
    assert len(BookSearch(at_home, parse_query("comet seen")).by_text(100).hits) == SearchEffort().read


def test_a_page_is_judged_by_its_own_title_where_a_redirect_led_to_it(ready: Ready) -> None:
    """The title of the page is shown, and the name it was found by beside it."""
    book = ready(Noting({"Comet": "<p>A comet.</p>"}, {"Hairy star": "Comet"}))
    (hit,) = BookSearch(book, parse_query("hairy star"), extra_paths=["Hairy_star"]).by_text(5).hits[:1]
    assert (titles((hit,)), hit.alias) == (["Comet"], "Hairy star")


def test_a_search_that_is_asked_for_more_reads_no_page_twice(ready: Ready) -> None:
    """The second, wider look at one query reads only what the first did not, and ranks as if it were the first."""
    pages = {f"Comet {number}": f"<p>A comet, {'bright ' * number}and far.</p>" for number in range(9)}
    archive, other = Noting(pages), Noting(pages)
    search = BookSearch(ready(archive), parse_query("bright comet"))
    search.by_text(9, read=3)
    first = list(archive.pages_read)
    wider = search.by_text(9, read=7)
    assert (len(first), len(archive.pages_read), len(set(archive.pages_read))) == (3, 7, 7)
    at_once = BookSearch(ready(other), parse_query("bright comet")).by_text(9, read=7)
    assert [(hit.title, hit.score) for hit in wider.hits] == [(hit.title, hit.score) for hit in at_once.hits]
