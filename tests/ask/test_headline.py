"""The few words above an answer: a date of what was asked about, and all of a list."""

from __future__ import annotations

import pytest
from tests.ask.question_books import a_memory_book, asked

from kiwiresearch.ask.answer_match import AnswerSpan
from kiwiresearch.ask.headline import asks_for_several, dates_the_event, may_have_headline, whole_list
from kiwiresearch.ask.question import read_question
from kiwiresearch.search.open_book import OpenBook

DATED = (
    ("When did the Green Wall fall?", "The Green Wall fell in *1989*.", True),
    ("When did the Green Wall fall?", "After the fall of the Green Wall in *1989* many houses were renewed.", True),
    ("When did the Green Wall fall?", "On *9 May 1989*, crowds tore down the Green Wall.", True),
    ("When did the Green Wall fall?", "Its fall led to the union, which was agreed on in *1990*.", False),
    ("When did the Red Ship sink?", "It struck a rock on *14 April 1912*, and sank two hours later.", False),
    ("When did the Red Ship sink?", "It struck a rock at night and sank at 2:20 on *15 April 1912*.", True),
    ("When did Ann Moore arrive in Kent?", "Her fame was greatest in *1892* when people recalled her arrival.", False),
    ("When did Ann Moore arrive in Kent?", "She landed in Kent in *1492*.", True),
    ("When did Ann Moore die?", "Ann Moore (1815 – *1871*) was a singer.", True),
    ("When was the Kent Act made?", "Treaties were signed to complete the market in the Kent Act *1986*.", True),
    ("When was the Battle of Kent?", "The Battle of Kent of *1415* was lost.", True),
)


@pytest.mark.parametrize(("question", "text", "expected"), DATED)
def test_a_date_must_be_of_what_the_question_asks_about(question: str, text: str, expected: bool) -> None:
    """A date in another clause of the sentence is of something else."""
    before, date, after = text.split("*")
    span = AnswerSpan(len(before), len(before) + len(date))
    assert dates_the_event(f"{before}{date}{after}", span, read_question(question), "Page") is expected


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("When did the Salt War start?", "3 May 1839"),
        ("When did the Salt War begin?", "3 May 1839"),
        ("When did the Salt War end?", "2 June 1845"),
        ("How old is the Red Planet?", "around 4.5 billion years ago"),
    ],
)
def test_the_dates_of_a_thing_say_when_it_began_and_ended(question: str, short: str) -> None:
    """A row 'Date' of an infobox comes before other beginnings, and 'formed … years ago' says how old something is."""
    row = "<table class='infobox'><tr><th>Date</th><td>3 May 1839 – 2 June 1845</td></tr></table>"
    pages = {
        "Salt War": f"{row}<p>The Salt War was a war. In 1841 Operation Brine began in Kent.</p>",
        "Red Planet": "<p>The Red Planet is a planet. It formed around 4.5 billion years ago out of dust.</p>",
    }
    filler = {f"Page {number}": "<p>Nothing.</p>" for number in range(60)}
    assert asked(a_memory_book(pages | filler), question).short == short


def test_an_answer_with_another_date_is_doubtful() -> None:
    """The sentence is shown without a headline, and with so little confidence that it comes with a warning."""
    pages = {"Green Wall": "<p>The Green Wall stood in Kent. {}</p>"}
    filler = {f"Page {number}": "<p>Nothing.</p>" for number in range(60)}

    def answer_from(sentence: str) -> tuple[str, bool]:
        book = a_memory_book({title: html.format(sentence) for title, html in pages.items()} | filler)
        found = asked(book, "When did the Green Wall fall?")
        assert found.grounded
        return found.short, found.confidence <= 0.4

    assert answer_from("The Green Wall fell in 1989.") == ("1989", False)
    other = "The fall of the Green Wall shaped the town, which became a free city in 1990."
    assert answer_from(other) == ("", True)


@pytest.mark.parametrize(
    "question",
    [
        "Which countries border Kent?",
        "What are the moons of Mars?",
        "Who were the wives of King Tom?",
        "Which languages are spoken in Kent?",
        "What countries did Tom invade?",
        "What are Saturn's moons?",
    ],
)
def test_a_question_may_ask_for_several_things(question: str) -> None:
    assert asks_for_several(read_question(question))


@pytest.mark.parametrize(
    "question",
    [
        "Which country borders Kent?",
        "What are bees?",
        "What causes earthquakes?",
        "Who was the wife of King Tom?",
        "Which city has the most people?",
        "Who are the Beatles?",
        "What is the process of glass making?",
        "What was the name of the ship?",
    ],
)
def test_most_questions_ask_for_one_thing(question: str) -> None:
    assert not asks_for_several(read_question(question))


LISTS = (
    ("Kent is bordered by *Sussex*, Surrey and Essex.", "Sussex, Surrey and Essex"),
    ("His books are Great Hopes, Two Towns, and *Bleak Barn*.", "Great Hopes, Two Towns, and Bleak Barn"),
    ("The signs are *fever, rash* and pain.", "fever, rash"),
    ("The largest city is *Toronto*.", ""),
    ("It is bordered to the east by Poland and Denmark, to the west by *France and Spain*.", ""),
)  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LISTS)
def test_a_list_is_given_as_a_whole_or_not_at_all(text: str, expected: str) -> None:
    """One name of several would look like the complete answer."""
    before, words, after = text.split("*")
    text = f"{before}{words}{after}"
    found = whole_list(text, AnswerSpan(len(before), len(before) + len(words)))
    assert (text[slice(*found)] if found else "") == expected


@pytest.fixture(scope="module")
def atlas() -> OpenBook:
    pages = {
        "Canada": "<table class='infobox'><tr><th>Largest city</th><td>Toronto</td></tr></table><p>Canada is cold.</p>",
        "Bee": "<p>Bees are insects. Many species of bees are little known.</p>",
    }
    return a_memory_book(pages | {f"Page {number}": "<p>Nothing.</p>" for number in range(60)})


def test_one_value_is_no_answer_to_a_question_for_several(atlas: OpenBook) -> None:
    """The row is shown, but not as if it were all of them."""
    one, several = (
        asked(atlas, "What is the largest city of Canada?"),
        asked(atlas, "What are the largest cities of Canada?"),
    )
    assert (one.short, several.short) == ("Toronto", "")
    assert several.lines[0].text == one.lines[0].text


def test_only_a_request_to_explain_is_open() -> None:
    """Somebody who explained something may be what is asked about."""
    assert may_have_headline(read_question("What did Newton explain?"))
    assert not may_have_headline(read_question("Could you please explain the seasons?"))


def test_a_request_to_tell_about_something_has_no_headline(atlas: OpenBook) -> None:
    """No few words are the answer to it."""
    found = asked(atlas, "Can you tell us about bees?")
    assert found.grounded
    assert found.short == ""
