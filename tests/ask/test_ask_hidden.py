"""Questions about a page that a policy hides: what other pages say of it is answered with little confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.ask.question_books import asked

from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.policy import Policy, with_policy

PAGES = {
    "Ada_Rowe": "<p>Ada Rowe was a painter. Ada Rowe was born in 1815 in Elm.</p>",
    "Ada_Rowe_(album)": "<p>Ada Rowe is an album by the band Finch. Ada Rowe was released in 1990.</p>",
    "Portrait_of_Ada_Rowe": "<p>The portrait of Ada Rowe is old. The portrait of Ada Rowe was painted in 1850.</p>",
    "The_Gulls": "<p>The Gulls were a band. The Gulls were founded in 1961 by Tom Finch.</p>",
    "Tom_Finch": "<p>Tom Finch was a singer. He founded The Gulls in 1961.</p>",
    "Butterfly": "<p>A butterfly is an insect.</p>",
    "Elm_moth": "<p>The elm moth is an insect. The elm moth lives in old elm trees.</p>",
    "Elm": "<p>Elm is a town. Elm was founded in 1204.</p>",
    "Ant": "<p>The ant is an insect.</p>",
    "Antarium": "<p>Antarium is a town. The ant reached Antarium in 1702.</p>",
    "Beer": "<p>Beer is a drink. Beer was first made in 3500 BC.</p>",
}
SCHOOL = Policy(name="Lycée Pasteur", hidden=("Ada Rowe", "The Gulls", "Butterfly", "Brew", "Ant"))
HIDDEN = "The page {!r} is hidden by the policy of Lycée Pasteur. What other pages say may be about something else."


@pytest.fixture
def books(a_book: Callable[..., Path]) -> Iterator[tuple[OpenBook, OpenBook]]:
    """A book as it is, and as the policy of a school lets it be read."""
    file = a_book(PAGES, {"Elm_butterfly": "Elm_moth", "Brew": "Beer"})
    archives = LibzimArchive(file), LibzimArchive(file)
    yield OpenBook(archives[0]), OpenBook(with_policy(archives[1], SCHOOL))
    for archive in archives:
        archive.close()


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("When was Ada Rowe released?", "Ada Rowe"),
        ("When was ada rowe born?", "Ada Rowe"),
        ("Who founded The Gulls?", "The Gulls"),
        ("When did the ant reach Antarium?", "Ant"),
    ],
)
def test_another_page_is_never_sure_of_a_hidden_one(
    books: tuple[OpenBook, OpenBook], question: str, title: str
) -> None:
    """However well an album or a member fits: the page of that name is reported as hidden, and nothing is marked."""
    answer = asked(books[1], question)
    assert answer.confidence <= 0.3
    assert answer.short == ""
    assert HIDDEN.format(title) in answer.notices


@pytest.mark.parametrize(
    "question",
    [
        "When was the Ada Rowe album released?",
        "When was the portrait of Ada Rowe painted?",
        "When was Elm founded?",
        "Where does the elm butterfly live?",
    ],
)
def test_a_page_that_the_question_names_itself_is_as_sure_as_ever(
    books: tuple[OpenBook, OpenBook], question: str
) -> None:
    """A hidden name that is only part of the name of what answers takes nothing away."""
    before, after = (asked(book, question) for book in books)
    assert (after.text, after.short) == (before.text, before.short)
    assert abs(after.confidence - before.confidence) < 0.1
    assert not any("what other pages say" in notice for notice in after.notices)


@pytest.mark.parametrize("question", ["When was brew first made?", "When was Beer first made?", "What is brew?"])
def test_a_page_behind_a_hidden_name_is_never_said_to_be_hidden(
    books: tuple[OpenBook, OpenBook], question: str
) -> None:
    """Hiding a redirect hides only that name."""
    assert not any("hidden" in notice for notice in asked(books[1], question).notices)


@pytest.mark.parametrize("question", ["__", "_ _", "What is __?", "___ Ada Rowe"])
def test_a_question_of_underscores_is_answered_as_any_other(books: tuple[OpenBook, OpenBook], question: str) -> None:
    """What nobody can look for is nothing that a policy hides."""
    assert asked(books[1], question).question == question
