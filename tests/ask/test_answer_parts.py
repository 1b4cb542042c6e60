"""The parts of an answer, and that all who show it show the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.ask.answers import BOOK, a_cited, an_answer

from kiwiresearch.ask.answer import (
    Answer,
    AnswerBook,
    AnswerCitation,
    AnswerConflict,
    AnswerSentence,
    Done,
    EvidenceFound,
    ExaminedPage,
)
from kiwiresearch.ask.formats import markdown_of
from kiwiresearch.ask.presentation import (
    AnswerPart,
    ClosePassage,
    Confidence,
    DisagreeingQuote,
    DisagreementPart,
    Doubt,
    Headline,
    ModelText,
    NumberedSource,
    QuotedSentence,
    Refusal,
    body_parts,
    footer_parts,
    numbered,
)
from kiwiresearch.ask.refusal import NO_ANSWER, NO_SOURCED_ANSWER
from kiwiresearch.cli.answer_output import show_answer
from kiwiresearch.ids import BookId
from kiwiresearch.search.interpretation import Sense
from kiwiresearch.zim.archive import EntryRef

ONE, TWO = a_cited("Built in 1889."), a_cited("Built in 1887.", start=50)
CONFLICT = AnswerConflict(
    "date", ONE.key, TWO.key, "Built in 1889.", "Built in 1887.", "One says 1889, the other 1887."
)
OTHER = AnswerBook("2", "w", "Snakes_* &lt;b", "2023-09-15", "mini", "eng")


def parts_of(answer: Answer) -> Iterator[AnswerPart]:
    """All parts of an answer, in the order in which they are shown."""
    yield from body_parts(answer)
    yield from footer_parts(answer)


def whole() -> Answer:
    """An answer with every part."""
    lines = (
        AnswerSentence("Built in 1889.", (ONE.key, "nobody")),
        AnswerSentence("Built in 1889.", (ONE.key, "nobody")),
    )
    return replace(
        an_answer(ONE, TWO, ONE, lines=lines),
        short="1889",
        short_at=9,
        conflicts=(CONFLICT,),
        notices=("The book is old.",),
        books=(BOOK, OTHER),
        confidence=0.72,
        senses=(Sense(EntryRef(BookId("b"), "Tower"), "Tower", "A tall building."),),
        as_of_book=BOOK,
    )


def pages(*titles: str) -> tuple[ExaminedPage, ...]:
    return tuple(ExaminedPage(EntryRef(BookId("b"), f"{place}"), title, 1.0) for place, title in enumerate(titles))


def link(cited: AnswerCitation) -> str:
    return f"http://desk/{cited.citation.quote.start}"


def test_the_parts_come_in_their_order() -> None:
    """Few words first, then the sentence, other senses, disagreement, what to know, and the sources."""
    assert [type(part).__name__ for part in parts_of(whole())] == [
        "Headline", "QuotedSentence", "Senses", "DisagreementPart", "Notice", "Notice", "RouteNote", "Confidence",
        "SourceList", "BookOrigin",
    ]  # fmt: skip


def test_a_sentence_is_cut_around_the_short_answer() -> None:
    """A repeated quote is shown once, and a key without citations has no number."""
    (headline, sentence, *_) = parts_of(whole())
    assert headline == Headline("1889")
    assert sentence == QuotedSentence("Built in ", "1889", ".", (NumberedSource(1, ONE),))


def test_citations_are_numbered_once() -> None:
    """A number of its own is kept, and one that is there twice counts once."""
    assert numbered(whole()) == (NumberedSource(1, ONE), NumberedSource(2, TWO))
    assert numbered(an_answer(replace(TWO, number=7)))[0].number == 7


@pytest.mark.parametrize(("text", "words"), [("", NO_ANSWER), ("The Moon is round.", NO_SOURCED_ANSWER)])
def test_a_refusal_names_each_near_page_once(text: str, words: str) -> None:
    """Pages without a title and further ones of the same title are left out."""
    near = pages("A", "B", " ", "A", "C", "D")
    refused = Answer("q", "q", "none", "Nothing.", grounded=False, text=text, pages=near, closest=(ONE,))
    parts = list(parts_of(refused))
    refusal = Refusal(words, (ClosePassage("Built in 1889.", ONE),), (near[0], near[1], near[4]))
    assert parts[:-1] == [*([ModelText(text)] if text else []), refusal]


def test_sides_of_a_disagreement_say_where_they_are_from() -> None:
    """A quote carries the number of its source, where it is cited."""
    alone = replace(whole(), citations=(ONE,))
    (disagreement,) = [part for part in parts_of(alone) if isinstance(part, DisagreementPart)]
    assert disagreement.sides == (
        DisagreeingQuote("Built in 1889.", NumberedSource(1, ONE)),
        DisagreeingQuote("Built in 1887.", None),
    )


MARKDOWN = """\
**1889**

Built in **1889**. [1]

---

Other meanings: Tower.

**The sources disagree.** One says 1889, the other 1887. “Built in 1889.” [1] — “Built in 1887.” [2]

The question is about the present, but Wikipedia for Schools is from 2007.

The book is old.

Confidence: medium (about 70%).

Sources:··
[1] [Hattusa — introduction](http://desk/0)··
[2] [Hattusa — introduction](http://desk/50)

From Wikipedia for Schools, 2007; and Snakes\\_\\* \\&lt;b, 2023-09-15 (mini)"""

TERMINAL = """\
[1] Hattusa — introduction
    http://desk/0
[2] Hattusa — introduction
    http://desk/50

**1889**
Built in **1889**. [1]
Other meanings: Tower.

The sources disagree. One says 1889, the other 1887.
  “Built in 1889.” [1]
  “Built in 1887.” [2]

The question is about the present, but Wikipedia for Schools is from 2007.

The book is old.

Found by title: the title stands in the question.
Confidence: medium (about 70%).
From Wikipedia for Schools, 2007; and Snakes_* &lt;b, 2023-09-15 (mini).
"""


def test_the_same_answer_in_markdown_and_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Every format of an answer says the same, each in its own form."""
    assert markdown_of(whole(), link) == MARKDOWN.replace("·", " ")
    show_answer(iter((EvidenceFound(whole()), Done(whole()))), link)
    assert capsys.readouterr().out == TERMINAL


def test_yes_and_no_come_first() -> None:
    """A question for yes or no is answered with one of them, and with the sentence that bears it out."""
    decided = replace(whole(), verdict="no")
    headline, sentence, *_ = parts_of(decided)
    assert headline == Headline("No.")
    assert isinstance(sentence, QuotedSentence)


def test_an_answer_with_low_confidence_has_no_headline(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong answer does not look like a right one: the doubt comes first, then the sentence, in every format."""
    unsure = replace(whole(), confidence=0.2, verdict="no")
    doubt, sentence, *rest = parts_of(unsure)
    assert doubt == Doubt()
    assert isinstance(sentence, QuotedSentence)
    assert not any(isinstance(part, Headline) for part in rest)
    assert markdown_of(unsure, link).startswith(f"{Doubt().words}\n\nBuilt in **1889**. [1]\n")
    show_answer(iter((EvidenceFound(unsure), Done(unsure))), link)
    assert f"\n{Doubt().words}\nBuilt in **1889**. [1]\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sure", "words"),
    [
        (0.0, "Confidence: low (about 5%)."),
        (0.43, "Confidence: medium (about 45%)."),
        (0.91, "Confidence: high (about 90%)."),
        (1.0, "Confidence: high (about 95%)."),
    ],
)
def test_confidence_is_never_certain(sure: float, words: str) -> None:
    """It is given as a word and as a share, in steps of five."""
    assert Confidence.of(sure).words == words
