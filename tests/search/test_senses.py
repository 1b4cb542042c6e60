"""Namesakes: the senses a book has, one line each, and what decides between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.shelves import ELEMENT, GOD, PLANET, Noting, titles

from kiwiresearch.page.parser import open_page
from kiwiresearch.search.interpretation import MAX_LINE_CHARS, first_line, sense_paths, shortened
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.libzim import LibzimArchive

Ready = Callable[..., OpenBook]

LISTING = """<p><b>Mercury</b> may refer to:</p><ul>
<li><a href="Mercury_(planet)">Mercury (planet)</a>, the closest to the Sun</li>
<li><a href="Mercury_(element)">Mercury (element)</a>, a liquid metal</li>
<li><a href="Freddie_Mercury">Freddie Mercury</a>, a singer</li>
<li><a href="Tin">Tin</a>, a metal of another name</li>
</ul>"""
FAMILY = {
    "Mercury": LISTING,
    "Mercury (planet)": PLANET,
    "Mercury (element)": ELEMENT,
    "Freddie Mercury": "<p>Freddie Mercury sang. Mercury was not the name he was born with.</p>",
    "Tin": "<p>Tin is a metal.</p>",
}


@pytest.fixture(scope="module", params=["indexed", "bare"])
def sample(
    request: pytest.FixtureRequest, sample_zim: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenBook]:
    """The sample book, with and without its title index."""
    archive = LibzimArchive(sample_zim)
    index = None
    if request.param == "indexed":
        file = titles_file(tmp_path_factory.mktemp("titles"), archive.book)
        build_titles(archive, file)
        index = open_titles(file, archive.book)
    yield OpenBook(archive, index)
    if index is not None:
        index.close()
    archive.close()


@pytest.mark.parametrize(
    ("query", "some"),
    [
        ("mercury", {"Mercury (planet)", "Mercury (element)", "Mercury (mythology)", "Freddie Mercury"}),
        ("what is mercury", {"Mercury (planet)", "Mercury (element)", "Mercury (mythology)"}),
        ("tell me about galaxy", {"Galaxy", "Galaxy (chocolate)", "Samsung Galaxy", "LA Galaxy"}),
        ("John Adams", {"John Adams", "John Adams (composer)"}),
        ("Philip Hamilton", {"Philip Hamilton", "Philip Hamilton (the second)"}),
    ],
)
def test_an_ambiguous_name_shows_its_senses(sample: OpenBook, query: str, some: set[str]) -> None:
    """Each comparable sense is shown with a line of its own, also where no model helps (R75, R180)."""
    found = search_books([sample], query)
    assert some <= {sense.title for sense in found.senses}
    lines = [sense.line for sense in found.senses]
    assert all(lines)
    assert len(set(lines)) == len(lines)
    assert all(len(line) <= MAX_LINE_CHARS + len(" …") for line in lines)


@pytest.mark.parametrize("query", ["mercury", "what is mercury", "galaxy", "tell me about galaxy", "John Adams"])
def test_a_page_of_senses_comes_after_them(sample: OpenBook, query: str) -> None:
    """A page that only lists senses is not an answer while there are senses: it ranks behind them (R74)."""
    found = search_books([sample], query, SearchOptions(limit=40))
    name = query.split()[-1].capitalize() if "John" not in query else "John Adams"
    listing = "Mercury" if name == "Mercury" else f"{name} (disambiguation)"
    order = titles(found.hits)
    assert not order[0].endswith("(disambiguation)")
    assert order[0] != "Mercury"
    assert order.index(listing) >= 2
    assert listing not in {sense.title for sense in found.senses}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Galaxy", "Galaxy"),
        ("John Adams", "John Adams"),
        ("Adams family", "Adams political family"),
        ("Tin bronze", "Bronze"),
    ],
)
def test_a_name_leads_to_its_page(sample: OpenBook, query: str, first: str) -> None:
    """The exact title is first for its name, and the target of a redirect for the redirect's name (R74)."""
    assert titles(search_books([sample], query).hits)[0] == first


@pytest.mark.parametrize(
    ("query", "hint", "first"),
    [
        ("galaxy", "chocolate", "Galaxy (chocolate)"),
        ("galaxy", "phone", "Samsung Galaxy"),
        ("galaxy", "stars", "Galaxy"),
        ("John Adams", "composer", "John Adams (composer)"),
        ("John Adams", "president", "John Adams"),
        ("Johann Sebastian Bach", "painter", "Johann Sebastian Bach (painter)"),
    ],
)
def test_a_hint_decides(sample: OpenBook, query: str, hint: str, first: str) -> None:
    """The senses are scored against the name and the user's hint (R76)."""
    found = search_books([sample], query, SearchOptions(focus=hint))
    assert titles(found.hits)[0] == first
    assert "focus" in {term.signal for term in found.hits[0].score.terms}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("mercury planet", "Mercury (planet)"),
        ("mercury roman god", "Mercury (mythology)"),
        ("mercury quicksilver", "Mercury (element)"),
        ("galaxy chocolate", "Galaxy (chocolate)"),
        ("John Adams composer", "John Adams (composer)"),
    ],
)
def test_words_beside_the_name_decide(sample: OpenBook, query: str, first: str) -> None:
    """What a user says besides the name is a hint as well."""
    assert titles(search_books([sample], query).hits)[0] == first


def test_a_page_of_senses_gives_what_it_links_to(ready: Ready) -> None:
    """Its targets come with what it says of them; a link of another name is not a sense (R75)."""
    book = ready(Noting(FAMILY), index=True)
    assert sense_paths(book, parse_query("mercury")) == {
        "Mercury_(planet)": "Mercury (planet), the closest to the Sun",
        "Mercury_(element)": "Mercury (element), a liquid metal",
        "Freddie_Mercury": "Freddie Mercury, a singer",
    }


def test_without_a_page_of_senses_the_titles_are_used(ready: Ready) -> None:
    """Titles of the form 'Name (…)' are senses, and a redirect of that form leads to one."""
    pages = {"Mercury (planet)": PLANET, "Roman god of trade": GOD, "Mercury poisoning": "<p>Mercury is toxic.</p>"}
    book = ready(Noting(pages, {"Mercury (god)": "Roman god of trade"}), index=True)
    assert sorted(sense_paths(book, parse_query("what is mercury"))) == ["Mercury_(planet)", "Roman_god_of_trade"]


@pytest.mark.parametrize("query", ["tin", "zeppelin", "mercury planet closest to the sun", "???"])
def test_other_queries_have_no_senses(ready: Ready, query: str) -> None:
    """A name of one page, of none, and a query that says what it means show no senses."""
    assert search_books([ready(Noting(FAMILY), index=True)], query).senses == ()


def test_senses_far_behind_are_not_shown(ready: Ready) -> None:
    """Senses are shown while they are comparable; a hint leaves those out that it rules out."""
    pages = {
        "Galaxy": f"<p>A galaxy is a system of stars. {'Every galaxy turns. ' * 40}</p>",
        "Galaxy (disambiguation)": '<p>Galaxy may refer to:</p><ul><li><a href="Galaxy">Galaxy</a>, stars</li>'
        '<li><a href="Barge">The barge Galaxy</a>, a boat</li></ul>',
        "Barge": "<p>A barge is a flat boat.</p>",
    }
    found = search_books([ready(Noting(pages), index=True)], "galaxy")
    assert titles(found.hits)[0] == "Galaxy"
    assert found.senses == ()


def test_senses_are_pages_that_exist(ready: Ready) -> None:
    """A page of senses may link to pages that the book does not have: they are left out."""
    pages = {path: html for path, html in FAMILY.items() if path != "Freddie Mercury"}
    book = ready(Noting(pages), index=True)
    shown = {sense.title for sense in search_books([book], "mercury").senses}
    assert shown == {"Mercury (element)", "Mercury (planet)"}


def test_a_damaged_page_of_senses_is_passed_over(ready: Ready) -> None:
    """Links in a circle end nowhere, and nothing is raised."""
    book = ready(Noting(FAMILY, {"Mercury (loop)": "Mercury (pool)", "Mercury (pool)": "Mercury (loop)"}), index=True)
    assert "Mercury_(loop)" not in sense_paths(book, parse_query("mercury"))


def test_fast_shows_no_senses_and_reads_no_page(ready: Ready) -> None:
    """A quick search opens nothing: titles and lists are all it looks at."""
    archive = Noting(FAMILY)
    found = search_books([ready(archive, index=True)], "mercury", SearchOptions(fast=True))
    assert found.hits
    assert found.senses == ()
    assert archive.pages_read == []
    assert {hit.snippet for hit in found.hits} == {""}


def test_the_first_line_names_the_page() -> None:
    """Of the first paragraphs, the sentence that names the page says what it is about."""
    html = "<p>Note: signs.</p><p>A gem.</p><p>A ruby is a red gem of great hardness. Rubies are dear.</p>"
    assert first_line(open_page(Noting({"Ruby (gem)": html}), "Ruby_(gem)")) == "A ruby is a red gem of great hardness."


@pytest.mark.parametrize("html", ["", "<p></p>", "<ul><li>one</li></ul>", "<p>Short.</p>"])
def test_a_page_without_sentences_has_a_line_all_the_same(html: str) -> None:
    """If no sentence names the page, its first words are taken, if it has any."""
    line = first_line(open_page(Noting({"Ruby": html}), "Ruby"))
    assert line in ("", "Short.")


@given(st.text(max_size=400))
def test_a_line_is_never_long(text: str) -> None:
    """A line that is cut ends in a sign that it was, and begins as the line did."""
    line = shortened(text)
    assert len(line) <= MAX_LINE_CHARS + len(" …")
    assert line == text if len(text) <= MAX_LINE_CHARS else line.endswith(" …")
    assert text.startswith(line.removesuffix(" …") if len(text) > MAX_LINE_CHARS else line)
