"""Questions that once went wrong, each in its own way."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from tests.ask.passages import page_passages
from tests.ask.question_books import a_memory_book, asked, weighed
from tests.ask.test_ask_choosing import overlap
from tests.page.pages import a_page

from kiwiresearch.ask.answer_match import short_answer
from kiwiresearch.ask.context import passages_of
from kiwiresearch.ask.page_units import segment_page
from kiwiresearch.ask.question import comparison_in, read_question
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.cli.start import run
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.libzim import LibzimArchive


def test_passages_never_overlap() -> None:
    """Two windows of one section, both grown, do not show a sentence twice."""
    rows = [f"Nobody comes here number {place}." for place in range(300)]
    rows[50], rows[76] = "Grey herons nest in the reeds.", "Grey herons nest in trees."
    found = passages_of(weighed(f"<p>{' '.join(rows)}</p>", "Where do grey herons nest?"), AskSettings(), 6)
    assert not any(overlap(*pair) for pair in combinations(found, 2))


def test_no_window_lies_within_the_one_before() -> None:
    """A long sentence after short ones does not leave a window without anything new."""
    text = f"{'Sheep graze there. ' * 52}{'The ' + 'sheep and ' * 180 + 'goats.'}"
    read = segment_page(a_page(f"<p>{text}</p>"), AskSettings())
    assert all(one.end < other.end for one, other in pairwise(page_passages(read)))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("“How many oxen were sold?”", "number"),
        ("please tell me who carved the sphinx", "person"),
        ("Do you know when the mill burned down?", "date"),
        ("Who was the first keeper of the lighthouse?", "person"),
        ("Who was Einstein's second wife?", "person"),
        ("Who was Albert Einstein?", "definition"),
    ],
)
def test_polite_words_do_not_hide_what_is_asked(text: str, kind: str) -> None:
    """Quotation marks, politeness and 'who was the …' do not hide the kind of answer."""
    assert read_question(text).kind == kind


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("Is the Nile longer than the Amazon?", ("Nile", "Amazon")),
        ("Is Mont Blanc higher than Everest?", ("Mont Blanc", "Everest")),
        ("Is the Louvre older than the Prado?", ("Louvre", "Prado")),
    ],
)
def test_names_of_compared_things_stay_whole(text: str, things: tuple[str, str]) -> None:
    """No word of a name is taken for a part of the comparison."""
    compared = comparison_in(read_question(text))
    assert compared is not None
    assert compared.things == things


def test_three_things_are_not_a_pair() -> None:
    """Rather than leave one of three out, nothing is compared."""
    assert comparison_in(read_question("Which is heavier, a cat, a dog or a horse?")) is None


def test_the_year_behind_the_verb_is_meant() -> None:
    """Of two years the one next to the question's word is marked, counted from the word's end."""
    text = "The canal, begun in 1790, was opened in 1805."
    span = short_answer(text, read_question("When was the canal opened?"))
    assert span is None or text[span.start : span.end] == "1805"


def test_a_page_that_does_not_answer_is_not_grounded() -> None:
    """Also a page that the user named may have no answer, and says so (R235)."""
    book = a_memory_book({"Quinine": "<p>Quinine is a drug. It is bitter.</p>"})
    answer = asked(book, "Who won the curling cup?", page="Quinine")
    assert (answer.grounded, answer.citations) == (False, ())


def test_two_pages_that_do_not_agree_are_both_quoted() -> None:
    """The same sentence with another year on another page is reported as a disagreement."""
    book = a_memory_book(
        {
            "Green Tower": "<p>The Green Tower was built in 1889.</p>",
            "Towers of Kent": "<p>Kent has towers. The Green Tower was built in 1887.</p>",
        }
    )
    answer = asked(book, "When was the Green Tower built?")
    assert len(answer.lines) == 2
    assert {"1889" in conflict.a_quote + conflict.b_quote for conflict in answer.conflicts} == {True}


def test_a_date_is_not_a_place(sample_zim: Path) -> None:
    """Of a box's 'Born' row the line that the question asks for is marked."""
    answer = asked(OpenBook(LibzimArchive(sample_zim)), "Where was Albert Einstein born?")
    assert answer.short == "" or answer.short.startswith("Ulm")


def test_a_batch_of_questions_reads_the_question(
    tmp_path: Path, sample_zim: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that has both a query and a question is asked the question."""
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(tmp_path / "home"))
    (tmp_path / "rows.jsonl").write_text('{"query": "chariot", "question": "When was Einstein born?"}\n')
    run(["ask", "--batch", str(tmp_path / "rows.jsonl"), "-b", str(sample_zim)])
    assert json.loads(capsys.readouterr().out)["question"] == "When was Einstein born?"


def test_a_dose_is_not_quoted_twice() -> None:
    """Quotes that were widened until nothing is missing do not overlap."""
    book = a_memory_book(
        {
            "Quinine": "<p>Quinine is a drug. The dose of quinine for adults is 600 mg every 8 hours. "
            "The dose of quinine for children is 10 mg per kg. It must not be taken with alcohol.</p>"
        }
    )
    quotes = [one.citation.quote for one in asked(book, "What is the dose of quinine?").citations]
    assert quotes
    assert not any(one.start < other.end and other.start < one.end for one, other in combinations(quotes, 2))


@pytest.mark.parametrize("question", ["the", "Who is it?"])
def test_words_that_say_nothing_are_not_answered(question: str) -> None:
    """A question without a word that says what it is about is refused, whatever pages have these words."""
    book = a_memory_book({"Quinine": "<p>Quinine is a drug. The dose is small. It must not be taken with alcohol.</p>"})
    assert not asked(book, question).grounded


def test_two_people_of_one_name_do_not_contradict_each_other(sample_zim: Path) -> None:
    """The painter's dates do not contradict the composer's."""
    answer = asked(OpenBook(LibzimArchive(sample_zim)), "How many children did Johann Sebastian Bach have?")
    assert answer.conflicts == ()


def test_a_capital_that_begins_a_sentence_is_nobody(sample_zim: Path) -> None:
    """'Ancient writers placed …' does not name a founder."""
    assert asked(OpenBook(LibzimArchive(sample_zim)), "Who founded Carthage?").short != "Ancient"


CONTEST = {
    "Song_Contest": "<h1>Song Contest</h1><p>The Song Contest is a yearly contest of songs between countries.</p>"
    "<h2>Origins</h2><p>The Song Contest of 1956 was won by the host nation, Switzerland. "
    "The Song Contest of 2006 was won by Finland. The Song Contest of 2009 will be held in Belgrade.</p>"
}


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("Who won the Song Contest in 2006?", True),
        ("Who won the Song Contest in 2019?", False),
        ("Where will the Song Contest of 2009 be held?", True),
    ],
)
def test_a_year_after_the_book_is_not_answered_from_another_year(question: str, is_answered: bool) -> None:
    """The book cannot know who won later, and the winner of another year does not answer; plans for a year still do."""
    answer = asked([a_memory_book(CONTEST, title="Old book", date="2007-05-01")], question)
    assert answer.grounded is is_answered
    if not is_answered:
        assert "2007" in answer.why
        assert answer.closest


def test_another_page_that_names_a_later_year_does_not_answer_about_it() -> None:
    """What another page expects in that year does not make the winners of other years an answer."""
    later = {"21st_century": "<p>The 21st century is a century. The Song Contest is to move to the Moon in 2019.</p>"}
    book = a_memory_book(CONTEST | later, title="Old book", date="2007-05-01")
    assert "about 2019" in asked([book], "Who won the Song Contest in 2019?").why
