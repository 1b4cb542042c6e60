"""What a page shows about itself, seen on it or inferred from its shape.

Kiwix's scraper removes most boxes that say 'stub' or 'disambiguation', so what
is not seen is inferred, and each signal says which of the two it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from kiwiresearch.page.doc import Block, Mark, Section, Signal, Signals
from kiwiresearch.page.found import Flow
from kiwiresearch.text.languages import LanguageWords

STUB_CHARS = 900
"""Shorter articles without sections and with hardly a reference are taken for stubs."""

STUB_REFERENCES = 2
LEAD_CHARS = 400
"""Disambiguation pages say what they are before this."""

LIST_SHARE = 0.85
LIST_BLOCKS = 16
"""A page with this many items or rows, which make up this share of it, is a list."""

ABSENT = Signal(holds=False)


def signals_of(
    page: Flow,
    *,
    title: str,
    sections: Sequence[Section],
    blocks: Sequence[Block],
    marks: Sequence[Mark],
    words: LanguageWords,
    lead_only: bool,
) -> Signals:
    """Read the signals of the article's own text, without its infoboxes."""
    text = page.text
    length = len(text)
    references = page.listed_references or sum(mark.kind == "reference" for mark in marks)
    disambiguation = _disambiguation(page, title, text[:LEAD_CHARS], blocks, words)
    list_page = _list_page(page, title, text, blocks, words)
    stub = _stub(page, length, words)
    is_short = length < STUB_CHARS and len(sections) == 1 and references <= STUB_REFERENCES
    if not stub and is_short and not lead_only and not disambiguation and not list_page:
        stub = _inferred(f"{length} characters, no sections, {references} references")
    return Signals(
        stub=stub,
        citation_needed=_marked(page, marks, "citation needed", words.citation_needed),
        disputed=_marked(page, marks, "disputed", words.disputed),
        disambiguation=disambiguation,
        list_page=list_page,
        references=references,
        length=length,
    )


def _seen(why: str) -> Signal:
    return Signal(holds=True, basis="seen", why=why)


def _inferred(why: str) -> Signal:
    return Signal(holds=True, basis="inferred", why=why)


def _stub(page: Flow, length: int, words: LanguageWords) -> Signal:
    for signs, said in page.notes:
        if any(word in said for word in words.section_words):
            continue
        # A box without words on a long page was put there for one of its sections.
        has_sign = "stub" in signs.split() and (said or length < LONG_FOR_A_STUB)
        if has_sign or any(note in said for note in words.stub_notes):
            return _seen("stub note")
    return ABSENT


LONG_FOR_A_STUB = 5 * STUB_CHARS


def _disambiguation(page: Flow, title: str, lead: str, blocks: Sequence[Block], words: LanguageWords) -> Signal:
    for signs, said in page.notes:
        if "disambig" in signs or "disambig" in said:
            return _seen("disambiguation box")
    folded = title.casefold()
    if any(folded.endswith(suffix) for suffix in words.disambiguation_suffixes):
        return _inferred("title")
    first_line = lead.partition("\n")[0].casefold()
    phrase = next((p for p in words.may_refer if p in first_line), "")
    if phrase and (first_line.endswith(":") or len(first_line) < SHORT_LINE):
        items = sum(block.kind == "item" for block in blocks)
        if items > 1 and items >= len(blocks) / 3:
            return _inferred(f"{phrase!r} before a list")
    return ABSENT


SHORT_LINE = 160


def _list_page(page: Flow, title: str, text: str, blocks: Sequence[Block], words: LanguageWords) -> Signal:
    folded = title.casefold()
    if any(folded.startswith(start) for start in words.list_titles):
        return _inferred("title")
    if page.infoboxes:  # an album is mostly its track list, and still no list
        return ABSENT
    rows = [block.end - block.start for block in blocks if block.kind == "item" or block.kind == "row"]
    if len(rows) >= LIST_BLOCKS and sum(rows) / len(text) > LIST_SHARE:
        return _inferred("nearly all of it is lists or tables")
    return ABSENT


def _marked(page: Flow, marks: Sequence[Mark], kind: str, phrases: Sequence[str]) -> Signal:
    inline = sum(mark.kind == kind for mark in marks)
    if inline:
        return _seen(f"{inline} in the text")
    for signs, said in page.notes:
        if any(phrase in said or phrase.replace(" ", "_") in signs for phrase in phrases):
            return _seen("box")
    return ABSENT
