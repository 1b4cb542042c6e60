"""The lead of a page: who the person was, and when the person lived."""

from __future__ import annotations

from collections.abc import Iterator

from kiwiresearch.kin.extract.lifespan import Lifespan, brackets_in, lifespan_in
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import Span
from kiwiresearch.kin.extract.subject import VERB, Subject
from kiwiresearch.kin.extracted import Extracted, Snippet
from kiwiresearch.page.doc import PageDoc

LATEST_BRACKET = 420
"""The bracket with the dates stands within so many characters from the start of the lead."""
SURE = 0.9
LESS_SURE = 0.75
NAMED = 0.9
TELLING = regex.compile(r"\b(?:was|is|were|are)\b(?!\s+also\b)")


def lead_facts(page: PageDoc, subject: Subject) -> Iterator[Extracted]:
    """Name, sex, and the dates in brackets."""
    text = page.text
    named = text.find(subject.name, subject.opening.start, subject.opening.end) if subject.opening.end else -1
    if named >= 0:
        there = Span(named, named + len(subject.name))
        yield Extracted("name", subject.name, cut(page, there), "lead", NAMED, rationale="the name that opens the lead")
    if subject.sex and subject.sex_from.end:
        because = "the pronouns of the lead"
        yield Extracted("sex", subject.sex, cut(page, subject.sex_from), "lead", SURE, rationale=because)
    found = opening_lifespan(page, subject)
    if not found:
        return
    lifespan, span = found
    first = "baptism_date" if lifespan.is_baptism else "birth_date"
    for field, when in ((first, lifespan.birth), ("death_date", lifespan.death)):
        if when:
            sure = SURE if when.precision == "day" and not when.qualifier else LESS_SURE
            yield Extracted(
                field,  # type: ignore[arg-type]  # one of two names of fields
                when.edtf(),
                cut(page, span),
                "lead",
                sure,
                when,
                rationale="the dates in brackets behind the name in the lead",
            )


def opening_lifespan(page: PageDoc, subject: Subject) -> tuple[Lifespan, Span] | None:
    """The dates in brackets behind the name, and the words from the name to the closing bracket."""
    start, end = subject.opening
    head = page.text[start : min(end, start + 3 * LATEST_BRACKET)]
    for bracket in brackets_in(head):
        before = regex.sub(r"\([^()]*(?:\([^()]*\))*[^()]*\)", " ", head[: bracket.start - 1])
        if bracket.start > LATEST_BRACKET or TELLING.search(before):
            return None
        lifespan = lifespan_in(head[bracket.start : bracket.end], page.language)
        if lifespan:
            return lifespan, Span(start, start + bracket.end + 1)
    return None


def cut(page: PageDoc, span: Span) -> Snippet:
    """Some words of the page, as they stand there."""
    return Snippet(span.start, span.end, page.text[span.start : span.end])


__all__ = ["VERB", "cut", "lead_facts", "opening_lifespan"]
