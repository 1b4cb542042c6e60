"""Searches, hints, shelves and batches that once went wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.llm.scripted import ScriptedModel
from tests.search.shelves import Noting, titles

from kiwiresearch.cli.start import run
from kiwiresearch.search.interpretation import corrected_query
from kiwiresearch.search.model_phrases import PhraseCache, is_ambiguous, phrases_for
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import search_books
from kiwiresearch.zim.archive import Match
from kiwiresearch.zim.libzim import LibzimArchive

Ready = Callable[..., OpenBook]


class Unindexed(Noting):
    """A book whose words cannot be searched."""

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        return ()


def test_words_that_pages_have_are_not_repaired(ready: Ready) -> None:
    """A word that many pages have is right, even if no title has it and one title is similar."""
    pages = {"Heat": "<p>Heat flows.</p>", **{f"Organ {n}": "<p>The heart beats.</p>" for n in range(20)}}
    assert corrected_query(ready(Noting(pages), index=True), parse_query("heart")) is None


def test_common_words_of_a_real_book_are_not_repaired(ready: Ready, shared_data: Path) -> None:
    """Words on hundreds of pages stay as they are."""
    book = ready(LibzimArchive(shared_data / "zims" / "schools-2007.zim"), index=True)
    words = ["heart", "father", "victory", "leader", "native", "person", "future", "method"]
    assert [word for word in words if corrected_query(book, parse_query(word))] == []


@pytest.mark.parametrize("question", ["What’s the deal with mercury?", "what’s up with mercury", "what’s mercury"])
def test_typographic_apostrophes_are_definitional(question: str) -> None:
    """A curly apostrophe, which phones write, asks the same as a straight one (R185)."""
    assert is_ambiguous(parse_query(question), Noting({"Mercury": "<p>M</p>"}).book, ScriptedModel())


@pytest.mark.parametrize("question", ["what is AC/DC", "what is e-mail", "what is 2.0"])
def test_a_name_of_two_words_is_not_one(question: str) -> None:
    """A name with a sign inside is two words to the book, so no model is asked about one of them (R187)."""
    assert not is_ambiguous(parse_query(question), Noting({"Mercury": "<p>M</p>"}).book, ScriptedModel())


@pytest.mark.parametrize(
    ("question", "offered"), [("what is C++", "C++ language"), ("who is O’Brien", "O'Brien actor")]
)
def test_names_with_marks_are_words(question: str, offered: str) -> None:
    """A name that keeps its signs, or loses them, is found in what the model offers (R201)."""
    result = phrases_for(
        parse_query(question), ScriptedModel(json.dumps({"phrases": [offered]})), PhraseCache(lambda: 0.0)
    )
    assert len(result) == 2


def test_a_mistyped_name_is_found_in_any_book_of_the_shelf(ready: Ready) -> None:
    """The quick look at many books corrects typos as well: the only book that has the page is searched."""
    books = [
        ready(Noting({f"Stone {n}": "<p>Stone.</p>", "Rock": "<p>R</p>"}, title=f"Book {n}"), index=True)
        for n in range(4)
    ]
    right = ready(Noting({"Albert Einstein": "<p>Albert Einstein.</p>"}, title="Small", kind="other"), index=True)
    assert titles(search_books([*books, right], "Albrt Einstien").hits)[:1] == ["Albert Einstein"]


def test_a_book_named_in_the_query_is_searched(ready: Ready) -> None:
    """A book without an index of its own is not beaten at the glance by those that have one."""
    page = {"Moderators wanted": "<p>Esperanto moderators.</p>"}
    named = ready(Unindexed(page, title="Esperanto board", kind="stackexchange"), index=True)
    song = "<p>A moderate song in esperanto, with a moderator.</p>"
    crowd = {f"X {number}": "<p>words</p>" for number in range(30)}
    others = [ready(Noting({f"Song {n}": song, **crowd}, title=f"Songs {n}"), index=True) for n in range(3)]
    assert named.book.id in search_books([*others, named], "esperanto moderators").books


def test_a_correction_in_a_book_left_out_is_not_shown(ready: Ready) -> None:
    """A word that another book has is right: the user is not informed of a correction."""
    songs = ready(Noting({"Operator": "<p>An operator sings.</p>", "A": "<p>a</p>"}, title="Songs"), index=True)
    board = ready(Noting({"Moderator": "<p>A moderator elects.</p>"}, title="Board"), index=True)
    found = search_books([songs, board], "moderator")
    assert titles(found.hits)[0] == "Moderator"
    assert found.corrected == ""


def test_the_line_that_is_wrong_is_named_as_an_editor_counts(
    sample_zim: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Empty lines of a batch count, so that the number is that of the file."""
    file = tmp_path / "rows"
    file.write_text('\n\n{"query": "tin"}\nno JSON\n')
    run(["search", "--batch", str(file), "-b", str(sample_zim)])
    assert json.loads(capsys.readouterr().out.splitlines()[1])["error"].startswith("Line 4 ")


def test_a_row_that_is_refused_names_its_query(
    sample_zim: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lines show which row failed."""
    file = tmp_path / "rows"
    file.write_text('{"query": "?!"}\n')
    run(["search", "--batch", str(file), "-b", str(sample_zim)])
    assert json.loads(capsys.readouterr().out)["query"] == "?!"


def test_the_file_of_an_unknown_user_is_an_error(sample_zim: Path, home: Path) -> None:
    """'~nobody/rows' gives a sentence, not a traceback."""
    assert run(["search", "--batch", "~nosuchuser/rows", "-b", str(sample_zim)]) == 2


def test_an_impossible_limit_is_refused_once(
    sample_zim: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A limit that makes no sense is refused before any row."""
    file = tmp_path / "rows"
    file.write_text('{"query": "tin"}\n{"query": "sea"}\n')
    assert run(["search", "--batch", str(file), "-b", str(sample_zim), "-n", "0"]) == 2


def test_a_served_book_does_not_keep_the_others_from_their_index(
    sample_zim: Path,
    a_book: Callable[..., Path],
    home: Path,
    kiwix_serve: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A book on a server is passed over with a word, and the files get their index."""
    address = kiwix_serve(sample_zim)
    assert run(["books", "add", address]) == 0
    assert run(["books", "add", str(a_book({"Stone": "<p>S</p>"}))]) == 0
    capsys.readouterr()
    run(["books", "index", "--json"])
    out = capsys.readouterr().out
    assert "test_en" in [book["name"] for book in json.loads(out)["books"]]


@pytest.mark.parametrize(
    ("text", "content"),
    [("what is AT&T", ("at", "t")), ("tell me about the IT CEO", ("it", "ceo")), ("what is the US GDP", ("us", "gdp"))],
)
def test_a_question_about_capitals_is_not_shouted(text: str, content: tuple[str, ...]) -> None:
    """Whether a query is in capitals is seen from all of it, not from what it asks about."""
    assert parse_query(text).content == content


def test_a_roman_number_is_found_without_a_title_index(ready: Ready) -> None:
    """'louis 14' is tried as titles spell it."""
    assert titles(search_books([ready(Noting({"Louis XIV": "<p>A king.</p>"}))], "louis 14").hits) == ["Louis XIV"]
