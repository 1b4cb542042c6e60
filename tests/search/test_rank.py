"""From candidates to scores: one scoring for all of them, and orders that are the same whatever the weights."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.zim.memory import MemoryArchive

from kiwiresearch.search.book_search import BookSearch
from kiwiresearch.search.candidates import SearchCandidate
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Score, parse_query
from kiwiresearch.search.rank import QueryScorer, TextMatch, title_points
from kiwiresearch.search.shelf_search import SearchOptions, search_books

PAGES = {
    "Galaxy": "<p>A galaxy is a system of stars, gas and dust.</p>",
    "Galaxy (chocolate)": "<p>Galaxy is a bar of chocolate.</p>",
    "Andromeda": "<p>The nearest large galaxy to ours.</p>",
    "List of galaxies": "<p>Each galaxy of the sky, by name: Andromeda, and others.</p>",
    "Mercury (planet)": "<p>Mercury is the planet nearest to the sun.</p>",
    "Mercury (element)": "<p>Mercury is a metal, and liquid, an element.</p>",
    "Mercury (disambiguation)": "<p>Mercury may refer to: a planet, a metal.</p>",
    "Empty": "",
}

TABLE = (
    "exact title", "stemmed title", "title starts with word", "title word", "excerpt words", "list page", "list offset",
    "primary book",
)  # fmt: skip


def judge(asked: str) -> QueryScorer:
    return QueryScorer.of(OpenBook(MemoryArchive(PAGES)), parse_query(asked))


def quick(asked: str, title: str, *aliases: str) -> Score:
    """The score of a page that only its names speak for."""
    one = judge(asked)
    candidate = SearchCandidate("x", title, frozenset(aliases))
    return one.quick(candidate, one.match_title(candidate))


def from_table(score: Score) -> list[str]:
    """The lines that the point table gave, as they print."""
    return [text for text in said_by_table(score) if text.rpartition(" ")[0] in TABLE]


def said_by_table(score: Score) -> list[str]:
    return [f"{term.signal} {term.points:+g}" for term in score.terms]


@pytest.mark.parametrize("asked", ["galaxy", "what are galaxies", "list of galaxies", "nearest planet to the sun"])
@pytest.mark.parametrize("fast", [False, True], ids=["read", "fast"])
def test_every_hit_of_a_search_is_scored_by_the_table(
    memory_book: Callable[..., OpenBook], asked: str, fast: bool
) -> None:
    """Whether pages are read or not, each score has the lines of the one point table (R159)."""
    query = parse_query(asked)
    hits = (
        BookSearch(memory_book(PAGES), query).by_titles(10)
        if fast
        else BookSearch(memory_book(PAGES), query).by_text(10)
    ).hits
    assert hits
    for hit in hits:
        assert from_table(hit.score) == said_by_table(title_points(query, hit.title, hit.snippet))


def test_pooled_candidates_are_scored_by_the_query_itself(memory_book: Callable[..., OpenBook]) -> None:
    """A page that another phrase brought in is scored as if the query had found it (R159)."""
    book = memory_book({**PAGES, "Nougat": "<p>A sweet.</p>", "Chocolate galaxy bar": "<p>Sold since 1960.</p>"})
    query = parse_query("chocolates")
    hits = BookSearch(book, query, extra_queries=[parse_query("bar sold since 1960")]).by_text(10).hits
    assert "Chocolate_galaxy_bar" in [hit.ref.path for hit in hits]
    for hit in hits:
        assert from_table(hit.score) == said_by_table(title_points(query, hit.title, hit.snippet))


@pytest.mark.parametrize("fast", [False, True], ids=["read", "fast"])
def test_several_books_are_scored_by_the_same_table(memory_book: Callable[..., OpenBook], fast: bool) -> None:
    """Hits of two books have the lines of the same table; only the first book's have the bonus (R159, R171)."""
    query = parse_query("spiral galaxies")
    first = memory_book({"Spiral galaxy": "<p>A spiral galaxy has arms.</p>", "Arm": "<p>Of a body.</p>"})
    second = memory_book({"Spiral galaxy (barred)": "<p>A spiral galaxy with a bar.</p>"})
    found = search_books([first, second], query.text, SearchOptions(limit=10, fast=fast))
    bonus = {hit.ref.book: "primary book +2" in said_by_table(hit.score) for hit in found.hits}
    assert bonus == {first.book.id: True, second.book.id: False}
    for hit in found.hits:
        given = title_points(query, hit.title, hit.snippet, primary=bonus[hit.ref.book])
        assert from_table(hit.score) == said_by_table(given)


@pytest.mark.parametrize(
    ("asked", "better", "worse"),
    [
        ("galaxy", "Galaxy", "Andromeda Galaxy"),
        ("galaxy", "Galaxy", "Galaxy (chocolate)"),
        ("galaxy chocolate", "Galaxy (chocolate)", "Galaxy"),
        ("mercury planet", "Mercury (planet)", "Mercury (element)"),
        ("planet mercury", "Mercury (planet)", "Planet"),
        ("how far is the andromeda galaxy", "Andromeda Galaxy", "Galaxy"),
        ("galaxies", "Galaxy", "List of galaxies"),
        ("treaty of versailles", "Treaty of Versailles", "Versailles"),
        ("the history of rome", "History of Rome", "History of Roman law in the Middle Ages"),
    ],
)
def test_of_two_titles_the_nearer_one_leads(asked: str, better: str, worse: str) -> None:
    """A title is better the more of the query it has and the less else it says."""
    assert quick(asked, better).total > quick(asked, worse).total


def test_a_page_is_judged_by_the_best_of_its_names() -> None:
    """A redirect that says what was asked speaks for the page, and is remembered."""
    one = judge("island universe")
    candidate = SearchCandidate("x", "Galaxy", frozenset({"Island universe", "Star city"}))
    assert one.match_title(candidate).name == "Island universe"
    assert quick("island universe", "Galaxy", "Island universe").total > quick("island universe", "Galaxy").total


def test_words_in_brackets_cost_a_title_nothing() -> None:
    """'Mercury (planet)' counts as 'Mercury' if the planet is not asked for."""
    one = judge("mercury")
    assert (
        one.match_title(SearchCandidate("x", "Mercury (planet)")).title_share
        == one.match_title(SearchCandidate("x", "Mercury")).title_share
    )


@pytest.mark.parametrize(
    ("asked", "title", "whole"),
    [
        ("galaxy", "Galaxy", 1.0),
        ("what is a galaxy?", "Galaxy", 1.0),
        ("please, history of rome", "History of Rome", 1.0),
        ("galaxy chocolate", "Galaxy (chocolate)", 1.0),
        ("galaxies", "Galaxy", 0.5),
        ("chocolate galaxy", "Galaxy (chocolate)", 0.5),
        ("world war 2", "World War II", 0.5),
        ("galaxy", "Galaxy (chocolate)", 0.0),
        ("galaxy dust", "Galaxy", 0.0),
        ("galaxy", "Andromeda Galaxy", 0.0),
        ("?!", "Galaxy", 0.0),
    ],
)
def test_a_title_that_is_the_query_is_known(asked: str, title: str, whole: float) -> None:
    """The same words are the whole, other forms of them half of it, and any word more or less is neither."""
    assert judge(asked).match_title(SearchCandidate("x", title)).exactness == whole


def test_a_hint_decides_against_the_plain_name() -> None:
    """With a hint the page that is called like the query has no claim of its own."""
    one = QueryScorer.of(OpenBook(MemoryArchive(PAGES)), parse_query("galaxy", focus="chocolate"))
    assert one.match_title(SearchCandidate("x", "Galaxy")).exactness == 0


def test_a_title_with_little_of_the_query_counts_little() -> None:
    """Of two titles without other words, the one that has more of the query counts more."""
    one = judge("andromeda galaxy distance")
    assert (
        one.match_title(SearchCandidate("x", "Andromeda Galaxy")).title_share
        > one.match_title(SearchCandidate("x", "Galaxy")).title_share
        > 0
    )


def test_a_title_named_in_the_query_is_there_word_for_word() -> None:
    """The words of a title scattered over the query do not name it."""
    assert judge("who wrote the art of war").match_title(SearchCandidate("x", "Art of War")).name_share > 0
    assert judge("the war on modern art").match_title(SearchCandidate("x", "Art of War")).name_share == 0


def test_without_words_nothing_is_said_for_any_page() -> None:
    """A query of signs alone gives no page a point but the one that is called so."""
    assert str(quick("?!", "Galaxy")) == "0 (no signal)"
    assert str(quick("!!!", "!!!")) == "110 (exact title +20, title is the query +90)"


def test_lists_and_shared_words_lift_a_page_that_was_not_read() -> None:
    """The place in a word's list and the words found together each have a line of their own."""
    one = judge("galaxy")
    title = one.match_title(SearchCandidate("x", "Andromeda"))
    plain = one.quick(SearchCandidate("x", "Andromeda"), title)
    lifted = one.quick(SearchCandidate("x", "Andromeda", listed=1.0, shared=1.0), title)
    assert {term.signal for term in lifted.terms} - {term.signal for term in plain.terms} == {
        "listed for words",
        "holds words",
    }
    assert lifted.total > plain.total


def test_each_part_of_a_page_has_a_line() -> None:
    """What the passage, the page, the lead, neighbours and boxes contribute is separate."""
    one = judge("galaxy")
    candidate = SearchCandidate("x", "Andromeda")
    score = one.full(
        candidate, one.match_title(candidate), TextMatch(passage=1.0, page=1.0, lead=1.0, together=1.0, boxes=1.0), ""
    )
    assert [term.signal for term in score.terms] == [
        "best passage",
        "whole page",
        "lead",
        "words together",
        "boxes and categories",
    ]


@pytest.mark.parametrize(
    ("hint", "path", "fast", "lines"),
    [
        ("planet", "Mercury_(planet)", False, ["focus in title", "focus"]),
        ("the element", "Mercury_(element)", False, ["focus in title", "focus"]),
        ("sun", "Mercury_(planet)", False, ["focus"]),
        ("liquid metals", "Mercury_(element)", False, ["focus"]),
        ("planets", "Mercury_(planet)", True, ["focus in title"]),
        ("element", "Mercury_(element)", True, ["focus in title"]),
    ],
)
def test_a_hint_decides_between_senses(
    memory_book: Callable[..., OpenBook], hint: str, path: str, fast: bool, lines: list[str]
) -> None:
    """Of two pages of one name the one leads that the hint speaks for, by its title and by what it says."""
    hits = (
        BookSearch(memory_book(PAGES), parse_query("mercury", focus=hint)).by_titles(5)
        if fast
        else BookSearch(memory_book(PAGES), parse_query("mercury", focus=hint)).by_text(5)
    ).hits
    assert hits[0].ref.path == path
    assert [term.signal for term in hits[0].score.terms if term.signal.startswith("focus")] == lines


def test_a_page_that_lists_senses_comes_after_them(memory_book: Callable[..., OpenBook]) -> None:
    """The senses of a name are before the page that only distinguishes them."""
    hits = BookSearch(memory_book(PAGES), parse_query("mercury")).by_text(5).hits
    assert {hit.ref.path for hit in hits[:2]} == {"Mercury_(planet)", "Mercury_(element)"}


def test_a_page_that_lists_senses_is_lost_on_a_hint(memory_book: Callable[..., OpenBook]) -> None:
    """It names every sense, so a hint says nothing for it."""
    hits = BookSearch(memory_book(PAGES), parse_query("mercury", focus="planet")).by_text(9).hits
    lines = {hit.title: {term.signal for term in hit.score.terms} for hit in hits}
    assert "focus" in lines["Mercury (planet)"]
    assert "disambiguation page" in lines["Mercury (disambiguation)"]
    assert "focus" not in lines["Mercury (disambiguation)"]


def test_comparable_senses_are_ordered_by_path(memory_book: Callable[..., OpenBook]) -> None:
    """Nothing but words and structure is known: equal pages tie, and the path decides (R179)."""
    pages = {"Nova (film)": "<p>Nova is a name.</p>", "Nova (star)": "<p>Nova is a name.</p>"}
    one, other = BookSearch(memory_book(pages), parse_query("what is a nova")).by_text(5).hits
    assert str(one.score) == str(other.score)
    assert [one.ref.path, other.ref.path] == ["Nova_(film)", "Nova_(star)"]


def test_an_empty_page_and_one_that_is_gone_do_no_harm(memory_book: Callable[..., OpenBook]) -> None:
    """A page without a word is found by its title; a path that leads nowhere is not a hit."""
    book = memory_book(PAGES)
    hits = BookSearch(book, parse_query("empty"), extra_paths=["Gone"]).by_text(5).hits
    assert [(hit.ref.path, hit.snippet) for hit in hits] == [("Empty", "")]


WORDS = st.sampled_from(
    ["galaxy", "galaxies", "the", "of", "andromeda", "(chocolate)", "mercury", "C++", "é", "東京", "?"]
)
PHRASES = st.lists(WORDS, max_size=6).map(" ".join)


@given(PHRASES, PHRASES, PHRASES)
def test_title_shares_stay_in_bounds(asked: str, title: str, alias: str) -> None:
    """Shares lie between nothing and all, and the name looked at is one of the page's."""
    found = judge(asked).match_title(SearchCandidate("x", title, frozenset({alias})))
    assert all(
        0 <= share <= 1 + 1e-9 for share in (found.query_share, found.title_share, found.name_share, found.exactness)
    )
    assert found.name in (title, alias)
