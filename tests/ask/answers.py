"""Answers made by hand."""

from __future__ import annotations

from kiwiresearch.ask.answer import Answer, BookNote, Cited, Line
from kiwiresearch.ask.passages import key_of
from kiwiresearch.evidence.citation import Citation
from kiwiresearch.evidence.quote import of_record
from kiwiresearch.ids import BookId
from kiwiresearch.zim.entry import EntryRef

BOOK = BookNote("b1", "schools", "Wikipedia for Schools", "2007", "", "eng")


def a_cited(words: str, *, title: str = "Hattusa", start: int = 0, section: str = "") -> Cited:
    """A citation of these words of a page."""
    ref = EntryRef(BookId("b1"), title)
    quote = of_record(ref, start, start + len(words), words)
    return Cited(key_of(ref, quote.start, quote.end), Citation(quote, "schools", title, section, ""), BOOK, words)


def an_answer(*cited: Cited, lines: tuple[Line, ...] = ()) -> Answer:
    """An answer in the book's own words."""
    lines = lines or tuple(Line(one.citation.quote.text, (one.key,)) for one in cited)
    why = "The title stands in the question."
    text = " ".join(line.text for line in lines)
    return Answer("q", "q", "title", why, grounded=True, text=text, lines=lines, citations=cited, books=(BOOK,))
