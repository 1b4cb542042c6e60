"""An answer in words: cited sentence by sentence, honest where there is none, dated in its last line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from tests.ask.answers import BOOK, a_cited, an_answer

from kiwiresearch.ask.answer import (
    GENERAL,
    Answer,
    AnswerBook,
    AnswerCitation,
    AnswerConflict,
    AnswerSentence,
    ExaminedPage,
)
from kiwiresearch.ask.formats import body_markdown, defused, footer_markdown, markdown_of, without_footer
from kiwiresearch.ask.presentation import on_one_line, origin_of
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import EntryRef


def link(cited: AnswerCitation) -> str:
    return f"http://desk/read/{cited.citation.quote.ref.path}#mark"


def address(ref: EntryRef) -> str:
    return f"http://desk/read/{ref.path}"


def test_each_sentence_carries_the_number_of_its_citation() -> None:
    """A sentence is followed by the numbers of what it rests on, in the order of the citations."""
    one, two = a_cited("It burned.", title="Hattusa"), a_cited("It fell.", title="Troy", start=40)
    answer = an_answer(
        one, two, lines=(AnswerSentence("It burned.", (one.key,)), AnswerSentence("It fell.", (two.key, one.key)))
    )
    assert body_markdown(answer) == "It burned. [1]\n\nIt fell. [2][1]"


def test_a_repeated_quote_is_shown_once() -> None:
    """The same quote from two places of the search is one line with one source."""
    one = a_cited("It burned.")
    result = markdown_of(an_answer(one, one, a_cited("It fell.", title="Troy")), link)
    assert result.startswith("It burned. [1]\n\nIt fell. [2]\n")
    assert result.count("[Hattusa — introduction]") == 1


def test_the_last_line_names_the_book_and_its_date() -> None:
    """Every answer ends with its book and how old that is."""
    assert markdown_of(an_answer(a_cited("It burned.")), link).splitlines()[-1] == "From Wikipedia for Schools, 2007"


def test_several_books_and_what_they_leave_out_are_named() -> None:
    """Books of an answer are distinguished, each with date and flavour."""
    other = AnswerBook("2", "w", "Wikipedia", "2023-09-15", "mini", "eng")
    assert origin_of((BOOK, other)) == "From Wikipedia for Schools, 2007; and Wikipedia, 2023-09-15 (mini)"


def test_a_refusal_says_so_and_shows_the_nearest_pages() -> None:
    """If nothing answers, that is the first sentence, and the nearest pages follow with links."""
    pages = tuple(ExaminedPage(EntryRef(BookId("b"), name), name, 1.0) for name in ("A", "B", "A", "C", "D"))
    refused = Answer("q", "q", "none", "Nothing.", grounded=False, pages=pages, books=(BOOK,))
    result = markdown_of(refused, link, address)
    assert result.startswith(
        "No answer found in the books.\n\nRelated pages: "
        "[A](http://desk/read/A), [B](http://desk/read/B), [C](http://desk/read/C)."
    )
    assert result.endswith("From Wikipedia for Schools, 2007")


def test_general_words_are_followed_by_a_warning() -> None:
    """What a model says without sources has a warning, and cites nothing."""
    words = f"{GENERAL}The Moon is round."
    general = Answer("q", "q", "none", "Nothing.", grounded=False, text=words, model="m")
    result = markdown_of(general, link)
    assert result.startswith(words)
    assert "without a source" in result
    assert "Sources" not in result


def test_disagreement_is_shown_with_both_quotes() -> None:
    """Sources that do not agree are both quoted, with their numbers."""
    one, two = a_cited("Built in 1889."), a_cited("Built in 1887.", start=50)
    conflict = AnswerConflict(
        "date", one.key, two.key, "Built in 1889.", "Built in 1887.", "One says 1889, the other 1887."
    )
    result = footer_markdown(replace(an_answer(one, two), conflicts=(conflict,)), link)
    assert (
        "**The sources disagree.** One says 1889, the other 1887. “Built in 1889.” [1] — “Built in 1887.” [2]" in result
    )


def test_notices_and_sources_are_below_the_words() -> None:
    """What a reader should know, and where each number leads."""
    result = markdown_of(replace(an_answer(a_cited("It burned.")), notices=("Ask a doctor.",)), link)
    assert "Ask a doctor." in result
    assert "[1] [Hattusa — introduction](http://desk/read/Hattusa#mark)" in result


def test_the_short_answer_is_made_strong() -> None:
    """The few words that are the answer are bold in their sentence."""
    cited = a_cited("It burned about 1180 BC.")
    answer = replace(an_answer(cited), short="about 1180 BC", short_at=10)
    assert body_markdown(answer) == "**about 1180 BC**\n\nIt burned **about 1180 BC**. [1]"


def test_rows_read_as_lines() -> None:
    """The name of a value is before it, and separate lines are joined."""
    cited = a_cited("Born:\t14 March 1879\n\nUlm, Germany")
    answer = replace(an_answer(cited), short="14 March 1879", short_at=6)
    assert body_markdown(answer) == "**14 March 1879**\n\nBorn: **14 March 1879**, Ulm, Germany [1]"
    assert on_one_line("Population\t3 million") == "Population: 3 million"
    assert on_one_line("The colours are:\nred\ngreen.\nNo other.") == "The colours are: red, green. No other."


def test_words_sent_back_lose_their_ending() -> None:
    """A client sends our own answers back: only their words count."""
    answer = an_answer(a_cited("It burned."))
    assert without_footer(markdown_of(answer, link)) == "It burned. [1]"
    assert without_footer("Just words.") == "Just words."


HOSTILE = (
    "![x](http://evil/a.png)",
    "[click](javascript:alert(1))",
    "<img src=http://evil/a.png>",
    "<script>alert(1)</script>",
    "# heading",
    "1. item",
    "**bold** _emphasis_ `code`",
    "&lt;b&gt;",
)


@pytest.mark.parametrize("words", HOSTILE)
def test_words_of_books_stay_words(words: str) -> None:
    """Nothing in a book becomes a picture, a link, a tag or a heading in the answer."""
    tokens = MarkdownIt().parse(body_markdown(an_answer(a_cited(words))))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special"}, kinds


@pytest.mark.parametrize("words", HOSTILE[:4])
def test_words_of_a_model_load_nothing(words: str) -> None:
    """A model keeps its Markdown, but no picture, link or tag of its making reaches a client."""
    kinds = {child.type for token in MarkdownIt().parse(defused(words)) for child in token.children or ()}
    assert not kinds & {"image", "link_open", "html_inline"}
    assert "html_block" not in {token.type for token in MarkdownIt().parse(defused(words))}
