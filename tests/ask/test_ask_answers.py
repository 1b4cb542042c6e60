"""Answers by rule beyond the single question: comparisons, conversations, conflicts, dangers, one page."""

from __future__ import annotations

import pytest
from evals.asked import answer_by_rule
from tests.ask.question_books import ALWAYS, NEVER, a_desk, a_memory_book, after, asked, settings, titles

from kiwiresearch.ask.settings import AskOptions, ConversationTurn
from kiwiresearch.search.open_book import OpenBook

MILLS = {
    "Blue Mill": "<p>The Blue Mill is a windmill in Kent. It was built in 1811.</p>",
    "Red Mill": "<p>The Red Mill is a watermill. It was built in 1764 by monks.</p>",
    "Mount Ada": "<table class='infobox'><tr><th>Height</th><td>2,310 m</td></tr></table><p>Mount Ada is steep.</p>",
    "Mount Eve": "<p>Mount Eve is a mountain. Its height is 1,900 m.</p>",
}
PEOPLE = {
    "Otto Frisch": "<p>Otto Frisch was a painter. He was born in Bergen in 1820. His wife was Ann Dole, a singer.</p>",
    "Ann Dole": "<p>Ann Dole was a singer. She was born in Lund in 1825.</p>",
}
LOW = settings(enough=0.2)


@pytest.mark.parametrize(
    ("question", "pages", "lines"),
    [
        (
            "Which is older, the Blue Mill or the Red Mill?",
            ["Blue Mill", "Red Mill"],
            ["It was built in 1811.", "It was built in 1764 by monks."],
        ),
        (
            "Which is older, the Red Mill or the Blue Mill?",
            ["Red Mill", "Blue Mill"],
            ["It was built in 1764 by monks.", "It was built in 1811."],
        ),
        (
            "Which mountain is higher, Mount Ada or Mount Eve?",
            ["Mount Ada", "Mount Eve"],
            ["Height\t2,310 m", "Its height is 1,900 m."],
        ),
    ],
)
def test_things_that_are_compared_are_looked_up_one_by_one(question: str, pages: list[str], lines: list[str]) -> None:
    """'Which is older, A or B?' shows one line for A and one for B, each from its own page."""
    answer = asked(a_memory_book(MILLS), question, LOW)
    assert (answer.route, answer.grounded, answer.short) == ("title", True, "")
    assert titles(answer) == pages
    assert [cited.citation.title for cited in answer.citations] == pages
    assert [line.text for line in answer.lines] == lines
    assert all(title in answer.why for title in pages)


def test_a_comparison_with_something_unknown_is_asked_as_one_question() -> None:
    """If one of the two has no page, no other page is used in its place."""
    answer = asked(
        a_memory_book(MILLS), "Which is older, the Blue Mill or the Green Windmill?", settings(exit_at=NEVER)
    )
    assert "compared" not in answer.why
    assert titles(asked(a_memory_book(MILLS), "Which is older, the Blue Mill or the Blue Mill?"))[0] == "Blue Mill"


@pytest.mark.parametrize(
    ("question", "before", "meant", "line"),
    [
        ("Where was he born?", "Who was Otto Frisch?", "Otto Frisch", "He was born in Bergen in 1820."),
        ("and his wife?", "When was Otto Frisch born?", "Otto Frisch", "His wife was Ann Dole, a singer."),
        ("And Ann Dole?", "When was Otto Frisch born?", "Ann Dole", "She was born in Lund in 1825."),
    ],
)
def test_a_question_goes_on_from_the_one_before(question: str, before: str, meant: str, line: str) -> None:
    """What a follow-up leaves out is put in from the conversation, and the answer says what was asked."""
    answer = asked(a_memory_book(PEOPLE), question, LOW, after(before))
    assert answer.question == question
    assert answer.asked != question
    assert meant in answer.asked
    assert answer.subject == meant
    assert answer.lines[0].text == line


def test_the_subject_of_an_answer_serves_the_next_question() -> None:
    """Subject and answer of a turn are enough to go on from, also over several turns."""
    book = a_memory_book(PEOPLE)
    turns: tuple[ConversationTurn, ...] = ()
    for question in ("Who was Otto Frisch?", "Where was he born?", "When was he born?"):
        answer = asked(book, question, LOW, AskOptions(turns=turns))
        turns = (*turns, ConversationTurn(question, answer.subject, answer.text))
    assert answer.asked == "When was Otto Frisch born?"
    assert answer.short == "1820"


def test_without_a_conversation_a_question_is_left_alone() -> None:
    """Nothing is put into the first question."""
    answer = asked(a_memory_book(PEOPLE), "Where was he born?")
    assert answer.asked == answer.question == "Where was he born?"


TOWER = "<p>The Green Tower is a tower in Kent. The Green Tower was built in {}.</p><h2>History</h2><p>{}</p>"


def test_sources_that_do_not_agree_are_shown_with_both_quotes() -> None:
    """Two years for one thing: both sentences are in the answer's conflicts, with what each says."""
    html = TOWER.format(1889, "The Green Tower was built in 1887.")
    answer = asked(a_memory_book({"Green Tower": html}), "When was the Green Tower built?")
    (conflict,) = answer.conflicts
    quotes = {conflict.a_quote, conflict.b_quote}
    assert quotes == {"The Green Tower was built in 1889.", "The Green Tower was built in 1887."}
    assert "1889" in conflict.words
    assert "1887" in conflict.words
    assert conflict.a_key in {cited.key for cited in answer.citations}


@pytest.mark.parametrize(
    "other", ["The Green Tower was built in 1889.", "The Red Tower was built in 1887.", "It is tall."]
)
def test_sources_that_agree_are_not_a_conflict(other: str) -> None:
    """The same year again, another tower's year, and something else are not a contradiction."""
    html = TOWER.format(1889, other)
    assert asked(a_memory_book({"Green Tower": html}), "When was the Green Tower built?").conflicts == ()


QUININE = (
    "<p>Quinine is a drug. The dose of quinine for adults is 600 mg every 8 hours. "
    "It must not be taken with alcohol.</p><h2>Trade</h2><p>Quinine was sold in 1850.</p>"
)
DOSE = "What is the dose of quinine for adults?"


def test_a_number_that_can_hurt_is_quoted_with_what_it_depends_on() -> None:
    """A dose is shown verbatim, with unit and warning, and a notice beside it."""
    ruled = answer_by_rule(a_desk([a_memory_book({"Quinine": QUININE})]), DOSE, AskOptions())
    answer = ruled.answer
    assert ruled.danger is not None
    assert ruled.danger.kind == "dose"
    assert "600 mg every 8 hours" in answer.lines[0].text
    assert "must not be taken with alcohol" in answer.lines[0].text
    assert answer.lines[0].text == answer.citations[0].citation.quote.text
    assert answer.notices


def test_the_care_with_dangers_can_be_switched_off() -> None:
    """With `verbatim_dangers` off such a question is one like any other."""
    book = a_memory_book({"Quinine": QUININE})
    ruled = answer_by_rule(a_desk([book], settings(verbatim_dangers=False)), DOSE, AskOptions())
    assert (ruled.danger, ruled.answer.notices) == (None, ())


@pytest.fixture
def two_pages() -> OpenBook:
    return a_memory_book({"Heron": "<p>Herons nest in reeds.</p>", "Gull": "<p>Gulls nest on cliffs.</p>"})


def test_one_page_answers_alone(two_pages: OpenBook) -> None:
    """Whatever other pages say, only the page that was named is quoted (R235)."""
    for page, line in (("Heron", "Herons nest in reeds."), ("Gull", "Gulls nest on cliffs.")):
        answer = asked(two_pages, "Where do herons and gulls nest?", page=page)
        assert (answer.route, answer.lines[0].text) == ("page", line)
        assert titles(answer) == [page]
        assert {passage.title for passage in answer.passages} == {page}
        assert page in answer.why


def test_one_page_answers_the_same_each_time(two_pages: OpenBook) -> None:
    """Answering from a page is deterministic, and no threshold of the search changes it (R235)."""
    question = "Where do herons nest?"
    first = asked(two_pages, question, page="Heron")
    assert asked(two_pages, question, settings(exit_at=NEVER), page="Heron") == first
    assert asked(two_pages, question, settings(exit_at=ALWAYS), page="Heron") == first


@pytest.mark.parametrize("most", [1, 2, 5])
def test_no_more_passages_are_shown_than_asked_for(most: int) -> None:
    """The option goes before the settings, and 0 leaves it to them."""
    html = "".join(f"<h2>Part {number}</h2><p>Herons nest in reed number {number}.</p>" for number in range(12))
    book = a_memory_book({"Heron": html})
    question = "Where do herons nest?"
    assert len(asked(book, question, None, AskOptions(passages=most)).passages) == most
    assert len(asked(book, question, settings(passages=4)).passages) == 4


def test_a_page_about_the_subject_that_does_not_speak_of_what_is_asked_answers_nothing() -> None:
    """The first sentence of a page is not an answer to a question about something the page hardly mentions (R232)."""
    page = (
        "<p>Ada Brontwick (1815 – 1871) was a singer of ballads.</p><p>She sang in Leeds and in York.</p>"
        "<h2>Reception</h2><p>Her halls were of a fair size. People walked far to hear her.</p>"
    )
    book = a_memory_book({"Ada Brontwick": page, "York": "<p>York is a city.</p>", "Leeds": "<p>A city too.</p>"})
    assert asked(book, "What was the favourite shoe size of Ada Brontwick?").route == "none"
    assert asked(book, "When was Ada Brontwick born?").grounded
    assert asked(book, "Where did Ada Brontwick sing?").grounded
