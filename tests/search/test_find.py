"""A search over one book and several: what is asked, what is read, what is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.search.shelves import Noting, titles

from kiwiresearch.search.book_search import BookSearch, is_disambiguation_text
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit, parse_query
from kiwiresearch.search.shelf_search import MAX_BOOKS, SearchOptions, search_books
from kiwiresearch.zim.libzim import LibzimArchive

Ready = Callable[..., OpenBook]

MOON = {"Moon": "<p>The moon goes round the Earth.</p>", "Tide": "<p>The moon makes the tide.</p>"}
SUN = {"Sun": "<p>The sun shines on the moon.</p>", "Star": "<p>A star shines.</p>"}


def signals(hit: Hit) -> dict[str, float]:
    return {term.signal: term.points for term in hit.score.terms}


def test_one_book_has_no_primary(ready: Ready) -> None:
    """The bonus of the book chosen first is for a choice of books (R171)."""
    found = search_books([ready(Noting(MOON))], "moon")
    assert all("primary book" not in signals(hit) for hit in found.hits)


def test_the_book_chosen_first_has_a_bonus(ready: Ready) -> None:
    """Pages of the likeliest book have two points more, those of the others none (R171)."""
    first = ready(Noting(MOON, title="Moon book"))
    second = ready(Noting({"Moon rock": "<p>Rock of the moon.</p>", "Sun": "<p>A star.</p>"}, title="Other"))
    found = search_books([second, first], "moon book")
    bonus = {hit.title: signals(hit).get("primary book", 0) for hit in found.hits}
    assert bonus == {"Moon": 2, "Tide": 2, "Moon rock": 0}


def test_the_book_chosen_first_need_not_win(ready: Ready) -> None:
    """What another book has is shown first if it scores higher (R178)."""
    first = ready(Noting({"Notes": "<p>Of a moon once, and of other matters.</p>"}, title="Named moon book"))
    second = ready(Noting(MOON, title="Other"))
    found = search_books([first, second], "moon")
    assert titles(found.hits)[0] == "Moon"


def test_a_book_far_behind_is_left_out(ready: Ready) -> None:
    """A book whose best page has less than half of the overall best adds nothing (R177)."""
    far = ready(Noting({"Cheese": f"<p>{'Cheese is good. ' * 80} The moon is none.</p>"}, title="Far"))
    near = ready(Noting(MOON, title="Near"))
    assert BookSearch(far, parse_query("moon")).by_text(1).hits
    found = search_books([far, near], "moon")
    assert set(found.books) == {near.book.id}
    assert titles(found.hits) == ["Moon", "Tide"]


def test_books_of_all_languages_and_kinds_are_merged(ready: Ready) -> None:
    """An English encyclopaedia, a German one and a question board answer together."""
    books = [
        ready(Noting({"Berlin": "<p>Berlin is a city in Germany.</p>"}, title="English")),
        ready(Noting({"Berlin": "<p>Berlin ist eine Stadt.</p>"}, title="Deutsch", language="deu")),
        ready(Noting({"Where is Berlin?": "<p>Berlin is in Germany.</p>"}, title="Board", kind="stackexchange")),
    ]
    found = search_books(books, "Berlin", SearchOptions(max_books=3))
    assert {hit.ref.book for hit in found.hits} == {book.id for book in books}
    assert found.order == "ranks"


def test_an_article_in_two_books_is_shown_once(ready: Ready) -> None:
    """Two editions of an encyclopaedia have one Moon, and the second is named with the first."""
    old, new = ready(Noting(MOON, title="Old")), ready(Noting({**MOON, "Crater": "<p>Of the moon.</p>"}, title="New"))
    found = search_books([old, new], "moon")
    assert titles(found.hits).count("Moon") == 1
    moon = found.hits[titles(found.hits).index("Moon")]
    assert {moon.ref.book, *(ref.book for ref in moon.copies)} == {old.book.id, new.book.id}


def test_of_many_books_the_best_at_a_glance_are_read(ready: Ready) -> None:
    """All books are asked quickly, pages are read in two only, and the right book is one of them."""
    shelf = [Noting({f"Stone {n}": f"<p>A stone of kind {n}.</p>"}, title=f"Stones {n}") for n in range(5)]
    archives = [*shelf, Noting(MOON, title="Moon")]
    found = search_books([ready(archive) for archive in archives], "what is the moon")
    assert titles(found.hits)[0] == "Moon"
    assert all(archive.searched for archive in archives)
    assert sum(bool(archive.pages_read) for archive in archives) <= MAX_BOOKS == 2


def test_the_order_of_the_shelf_does_not_matter(ready: Ready) -> None:
    """The same books give the same list, whichever was added first."""
    books = [ready(Noting(MOON, title="A")), ready(Noting(SUN, title="B")), ready(Noting(MOON | SUN, title="C"))]
    expected = search_books(books, "moon")
    assert search_books(books[::-1], "moon") == expected
    assert search_books([books[1], books[0], books[2]], "moon") == expected


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_no_more_is_shown_than_was_asked_for(ready: Ready, limit: int) -> None:
    """The limit is one for all books together, and a longer list begins like a shorter one."""
    books = [ready(Noting(MOON, title="A")), ready(Noting(SUN, title="B"))]
    assert search_books(books, "moon", SearchOptions(limit=limit)).hits == search_books(books, "moon").hits[:limit]


@pytest.mark.parametrize("index", [False, True])
def test_a_quick_search_reads_no_page(ready: Ready, index: bool) -> None:
    """Titles, suggestions and the book's own lists are enough for it."""
    archive = Noting(MOON)
    found = search_books([ready(archive, index=index)], "what is the moon", SearchOptions(fast=True))
    assert titles(found.hits)[0] == "Moon"
    assert archive.pages_read == []


def test_a_search_reads_the_most_promising_pages_only(ready: Ready) -> None:
    """However many pages have the words, a limited number is read, each once."""
    archive = Noting({f"Page {n}": "<p>The moon again.</p>" for n in range(150)})
    search_books([ready(archive)], "moon", SearchOptions(limit=100))
    assert 0 < len(archive.pages_read) == len(set(archive.pages_read)) < 100


@pytest.mark.parametrize("index", [False, True])
def test_a_search_works_with_and_without_a_title_index(ready: Ready, index: bool) -> None:
    """The index is recommended, not needed (R247)."""
    book = ready(Noting({**MOON, "OpenAI": "<p>A laboratory.</p>"}, {"Luna": "Moon"}), index=index)
    assert titles(search_books([book], "what is the moon").hits)[0] == "Moon"
    assert titles(search_books([book], "Luna").hits)[0] == "Moon"
    assert titles(search_books([book], "openai").hits)[0] == "OpenAI"


def test_the_title_index_finds_what_the_book_alone_does_not(ready: Ready) -> None:
    """Words of a title are looked up one or the other, so that a question in prose finds it (R218, R232)."""
    pages = {"Orange sky at sunset": "<p>Light.</p>", "Cake": "<p>Flour.</p>"}
    question = "orange clouds sunset why"
    assert search_books([ready(Noting(pages))], question, SearchOptions(fast=True)).hits == ()
    assert titles(search_books([ready(Noting(pages), index=True)], question, SearchOptions(fast=True)).hits) == [
        "Orange sky at sunset"
    ]


def test_the_beginning_of_a_title_is_enough(ready: Ready) -> None:
    """The book's own suggestions complete a title, without an index of ours and without the word on any page (R219)."""
    book = ready(Noting({"Photosynthesis": "<p>Leaves make sugar.</p>", "Cake": "<p>Flour.</p>"}))
    assert titles(search_books([book], "photosynth").hits) == ["Photosynthesis"]


def test_a_page_that_many_sources_name_is_one_candidate(ready: Ready) -> None:
    """Title, redirects, suggestions and full text lead to one row for the page (R220)."""
    book = ready(Noting(MOON, {"Moons": "Moon", "The Moon": "Moon", "Earth's moon": "Moon"}), index=True)
    refs = [hit.ref for hit in search_books([book], "moon").hits]
    assert len(refs) == len(set(refs)) == 2


def test_the_name_that_led_to_a_page_is_reported(ready: Ready) -> None:
    """A page found by a redirect says by which."""
    found = search_books([ready(Noting(MOON, {"Luna": "Moon"}), index=True)], "luna")
    assert (found.hits[0].title, found.hits[0].alias) == ("Moon", "Luna")


def test_points_add_up_to_the_score(ready: Ready) -> None:
    """Every score is the sum of its lines."""
    for hit in search_books(
        [ready(Noting(MOON)), ready(Noting(SUN))], "why does the moon make a tide", SearchOptions(focus="sun")
    ).hits:
        assert hit.score.total == round(sum(term.points for term in hit.score.terms), 2)


def test_books_are_named_that_gave_something(ready: Ready) -> None:
    """A book that was asked and had nothing is not among the books of the findings."""
    moon, sun = ready(Noting(MOON, title="A")), ready(Noting({"Cheese": "<p>Cheese.</p>"}, title="B"))
    assert search_books([sun, moon], "moon").books == (moon.book.id,)
    assert search_books([sun, moon], "zeppelin").books == ()


@pytest.mark.parametrize(("focus", "shown"), [("", 2), ("god", 0)])
def test_a_hint_ends_the_question_which_sense_is_meant(ready: Ready, focus: str, shown: int) -> None:
    """Senses are offered to one who has not said which, and to no other."""
    book = ready(Noting({"Nova (god)": "<p>Nova is a god.</p>", "Nova (star)": "<p>Nova is a star.</p>"}))
    assert len(search_books([book], "nova", SearchOptions(focus=focus)).senses) == shown


def test_nothing_is_an_empty_list(ready: Ready) -> None:
    """Words no book has give no hits, and no error."""
    assert search_books([ready(Noting(MOON)), ready(Noting(SUN))], "zeppelin quasar").hits == ()
    assert search_books([], "moon").hits == ()


@pytest.mark.parametrize(
    ("title", "text", "is_one"),
    [
        ("Mercury", "Mercury may refer to: a planet, a god", True),
        ("Mercury (disambiguation)", "Mercury is a name.", True),
        ("Mercury (planet)", "Mercury is the smallest planet.", False),
        ("May", f"May is a month. {'Words. ' * 100} It may refer to a name.", False),
        ("Might", "Might may refer to strength in general.", False),
        ("Might", "Might may mean : strength", True),
        ("Long", f"Long may refer to: {'many things, ' * 1200}", False),
    ],
)
def test_a_page_that_lists_senses_is_known(ready: Ready, title: str, text: str, is_one: bool) -> None:
    """It says so at once or by its title, and it is short."""
    page = ready(Noting({title: f"<p>{text}</p>"})).text(title.replace(" ", "_"))
    assert page
    assert is_disambiguation_text(page, "eng") is is_one


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("why is the sky orange at sunset", "Sunset"),
        ("when was Einstein born", "Albert Einstein"),
        ("who was the wife of John Adams", "Abigail Adams"),
        ("what happened in 1177 BC", "1177 BC"),
        ("which ship sank at Uluburun", "Uluburun shipwreck"),
    ],
)
def test_questions_find_their_page_in_the_sample_book(sample_zim: Path, question: str, title: str) -> None:
    """A question in prose finds the page that answers it among the first three, without any index of ours (R247)."""
    archive = LibzimArchive(sample_zim)
    assert title in titles(search_books([OpenBook(archive)], question).hits[:3])
    archive.close()
