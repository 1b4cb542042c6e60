"""Answers made by hand."""

from __future__ import annotations

from kiwiresearch.ask.answer import Answer, AnswerBook, AnswerCitation, AnswerSentence, key_of
from kiwiresearch.evidence import Citation, recorded_quote
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import EntryRef

BOOK = AnswerBook("b1", "schools", "Wikipedia for Schools", "2007", "", "eng")


def a_cited(words: str, *, title: str = "Hattusa", start: int = 0, section: str = "") -> AnswerCitation:
    """A citation of these words of a page."""
    ref = EntryRef(BookId("b1"), title)
    quote = recorded_quote(ref, start, start + len(words), words)
    return AnswerCitation(
        key_of(ref, quote.start, quote.end), Citation(quote, "schools", title, section, ""), BOOK, words
    )


def an_answer(*cited: AnswerCitation, lines: tuple[AnswerSentence, ...] = ()) -> Answer:
    """An answer in the book's own words."""
    lines = lines or tuple(AnswerSentence(one.citation.quote.text, (one.key,)) for one in cited)
    why = "The title stands in the question."
    text = " ".join(line.text for line in lines)
    return Answer("q", "q", "title", why, grounded=True, text=text, lines=lines, citations=cited, books=(BOOK,))
