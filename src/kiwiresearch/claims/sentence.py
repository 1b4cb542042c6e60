"""The sentences of a page that may be claims: whether they stand alone, and how well founded they are."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from kiwiresearch.claims.claim import ClaimSignals, NameSource
from kiwiresearch.claims.language import Grammar
from kiwiresearch.claims.types import SentenceWords
from kiwiresearch.page.doc import BlockKind, Link, Mark, PageDoc
from kiwiresearch.search.query import Score, ScoreLine
from kiwiresearch.text.hedges import Hedge
from kiwiresearch.text.languages import language_words

PROSE: frozenset[BlockKind] = frozenset({"paragraph", "item", "quote"})
BEHIND = 1
"""A reference mark stands at the end of its sentence, or right behind it."""


class PageSentence(NamedTuple):
    """A sentence of a page: `page.text[start:end] == text`."""

    text: str
    start: int
    end: int
    kind: BlockKind
    section: int
    block: int
    is_clause: bool = False
    """Whether it is a part of a sentence, behind a semicolon."""


def sentences_of(page: PageDoc) -> Iterator[PageSentence]:
    """The sentences of paragraphs, items and quotations, without those of reference lists and pointers elsewhere."""
    skipped = _aside(page)
    starts, text = page.sentences, page.text
    section, last = 0, len(page.sections) - 1
    end_of_article = page.sections[-1].end
    for number, block in enumerate(page.blocks):
        if block.kind not in PROSE or block.start >= end_of_article:
            continue
        while section < last and page.sections[section + 1].heading_start <= block.start:
            section += 1
        if section in skipped:
            continue
        first = bisect_right(starts, block.start)
        inside = starts[first : bisect_left(starts, block.end, first)]
        begin = block.start
        for end in (*inside, block.end):
            for start, stop in _clauses(text, begin, end):
                words = text[start:stop]
                stripped = words.strip()
                if stripped:
                    at = start + len(words) - len(words.lstrip())
                    yield PageSentence(stripped, at, at + len(stripped), block.kind, section, number, start > begin)
            begin = end


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A long sentence in the parts that semicolons make of it, if each of them is long enough to say something."""
    if end - start > LONG and text.find("; ", start, end) >= 0:
        cuts = [found.start() + 1 for found in SEMICOLON.finditer(text, start, end)]
        ends = [*cuts, end]
        starts = [start, *cuts]
        pieces = list(zip(starts, ends, strict=True))
        if all(stop - begin >= SHORT for begin, stop in pieces) and not any(
            text.count("(", begin, stop) != text.count(")", begin, stop) or text.count('"', begin, stop) % 2
            for begin, stop in pieces
        ):
            yield from pieces
            return
    yield start, end


SEMICOLON = re.compile(
    r"; (?=(?:the|an?|it|he|she|they|in|on|at|by|his|her|its|their|some|many|most|one|this|however)\b|[A-Z])"
)
LONG, SHORT = 170, 45


def _aside(page: PageDoc) -> frozenset[int]:
    """Sections that point elsewhere instead of saying something."""
    words = language_words(page.language)
    aside = words.see_also | words.references
    return frozenset(n for n, section in enumerate(page.sections) if section.heading.casefold() in aside)


class SentenceMargin:
    """What stands in and beside a page's sentences: links and marks."""

    def __init__(self, page: PageDoc) -> None:
        self._links = sorted((link for link in page.links if link.in_text), key=lambda link: link.start)
        self._link_starts = [link.start for link in self._links]
        self._marks = page.marks
        self._mark_offsets = [mark.offset for mark in page.marks]

    def links(self, start: int, end: int) -> list[Link]:
        return self._links[bisect_left(self._link_starts, start) : bisect_left(self._link_starts, end)]

    def marks(self, start: int, end: int) -> tuple[Mark, ...]:
        """The marks in a sentence and right behind it."""
        first = bisect_right(self._mark_offsets, start)
        return self._marks[first : bisect_right(self._mark_offsets, end + BEHIND)]


SHORTEST, LONGEST = 25, 320
JUNK = ("{{", "}}", "[[", "]]", "||", "http://", "https://", "ISBN", "@")
CLOSING = "\"'”’)]"
ENDS = frozenset(".!?…;")
POINTERS = frozenset({"this", "these", "such", "similar", "here"})
POINTS_BACK = re.compile(
    r"\b(?:[Tt]his|[Tt]hese)\b(?! (?:day|is|are|was|were)\b)|\b[Ss]uch (?!as\b)\w+|\b[Ss]imilar\b(?! (?:to|in|size)\b)"
    r"|\bhere\b"
)
SOMEBODY = frozenset({"he", "she", "his", "her", "him"})
SOMEBODY_THERE = re.compile(r"\b(?:he|she|his|her|him)\b")
NAMED_BEFORE = re.compile(r"\b[A-Z]")


def is_whole(sentence: PageSentence, longest: int = LONGEST) -> bool:
    """Whether a sentence is one, and nothing of it is torn off."""
    text = sentence.text
    if not SHORTEST <= len(text) <= longest or text.rstrip(CLOSING)[-1:] not in ENDS:
        return False
    for junk in JUNK:
        if junk in text:
            return False
    if not (text[0].isupper() or text[0].isdigit() or text[0] in "\"“'‘" or sentence.is_clause):
        return False
    return (
        text.count("(") == text.count(")")
        and text.count("“") == text.count("”")
        and text.count("[") == text.count("]")
        and not text.count('"') % 2
    )


def points_outside(text: str, words: SentenceWords, grammar: Grammar) -> bool:
    """Whether a sentence points at something outside itself that no name can stand for."""
    if not POINTERS.isdisjoint(words.different) and POINTS_BACK.search(text):
        return True
    found = grammar.dangling.keys() & words.different
    if not found:
        return False
    padded = words.padded
    return any(phrase in padded for word in sorted(found) for phrase in grammar.dangling[word])


def has_unnamed_person(text: str, words: SentenceWords) -> bool:
    """Whether a sentence speaks of a 'he' or 'she' whom it has not named before."""
    if SOMEBODY.isdisjoint(words.different):
        return False
    found = SOMEBODY_THERE.search(text)
    return found is not None and not NAMED_BEFORE.search(text, 1, found.start()) and found.start() > 0


def has_name(text: str) -> bool:
    """Whether a word behind the first begins with a capital."""
    return NAMED_BEFORE.search(text, 1) is not None


def shortened_definition(sentence: PageSentence, verb: int) -> PageSentence:
    """A long definition up to where it begins to tell more: 'was a naturalist who …'."""
    if len(sentence.text) <= LONG_DEFINITION or verb < 0:
        return sentence
    found = TELLS_MORE.search(sentence.text, verb + SOMETHING)
    kept = sentence.text[: found.start()] if found else ""
    if not kept or kept.count("(") != kept.count(")") or kept.count('"') % 2:
        return sentence
    return sentence._replace(text=f"{kept}.", end=sentence.start + len(kept))


LONG_DEFINITION, SOMETHING = 290, 22
TELLS_MORE = re.compile(
    r",?(?: (?:in|of|on|for|by|to|from|with|at|through|under))? (?:who|whom|whose|which)\b"
    r"|, (?:and|but) (?:is|was|has|had)\b"
)


def tidy_sentence(text: str) -> str:
    """A sentence without what only a dictionary needs, and without blanks where none belong."""
    has_bracket = "(" in text
    if has_bracket:
        text = SOUNDS.sub("", text)
    if has_bracket or " ," in text or " ." in text or '" ' in text:
        text = BLANKS.sub("", text)
    return f"{text[:-1]}." if text.endswith(";") else text


SOUNDS = re.compile(
    r"\s*\((?=[^()]*(?:IPA|pronounced|listen|[/\[][^()]*[ˈəɪʊɔɛæʃθʁ][^()]*|[A-Z]\w+: [^()]*[^\x00-\u024f])|\s*help)"
    r"(?:[^()]|\([^()]*\)){0,200}\)"
)
"""How a name is said, and what it is in other scripts."""
BLANKS = re.compile(r"(?<=[(\[]) +| +(?=[)\],;]|\.(?:\s|$))")


SENTENCE = 1.05
ROW = 1.6
REFERENCED = 0.15
CITATION_NEEDED = -1.5
DISPUTED = -1.0
STUB = -0.2
HEDGED = {"may": -0.05, "some": -0.2, "debated": -0.8, "uncertain": -0.2}
NAME_PUT_IN = -0.05
NAME_FOUND_BEFORE = -1.1
PUT_IN = {
    "title": ("pronoun named by the page's title", NAME_PUT_IN),
    "before": ("pronoun named by a sentence before", NAME_FOUND_BEFORE),
}
ABOUT_THE_PAGE = 0.4
NO_NAME = -0.6
CLEAR = 0.5
LONG_PENALTY = -0.15
LONG_CHARS = 240
CLEAR_POINTS = 3.0


def claim_score(
    signals: ClaimSignals,
    hedges: tuple[Hedge, ...],
    *,
    points: float = 0.0,
    put_in: NameSource = "",
    table: bool = False,
    length: int = 0,
    about_the_page: bool = False,
    has_name: bool = True,
) -> Score:
    """The score of a claim made by rule."""
    lines = [("a row of the page", ROW) if table else ("a sentence of the page", SENTENCE)]
    if about_the_page:
        lines.append(("about the page's own subject", ABOUT_THE_PAGE))
    if not has_name:
        lines.append(("names nobody and nothing", NO_NAME))
    if signals.references:
        lines.append(("reference in the sentence", REFERENCED))
    if signals.citation_needed:
        lines.append(("citation needed", CITATION_NEEDED))
    if signals.disputed:
        lines.append(("marked as disputed", DISPUTED))
    if signals.stub:
        lines.append(("the page is a stub", STUB))
    lines += [(f"hedged ({kind})", HEDGED[kind]) for kind in sorted({hedge.kind for hedge in hedges})]
    if put_in:
        lines.append(PUT_IN[put_in])
    if points >= CLEAR_POINTS:
        lines.append(("clear type", CLEAR))
    if length > LONG_CHARS:
        lines.append(("long sentence", LONG_PENALTY))
    return Score(tuple([ScoreLine(signal, more) for signal, more in lines]))


def claim_signals(page: PageDoc, sentence: PageSentence, margin: SentenceMargin) -> ClaimSignals:
    """What the page shows about how well a sentence is founded."""
    marks = margin.marks(sentence.start, sentence.end)
    kinds = [mark.kind for mark in marks]
    return ClaimSignals(
        references=kinds.count("reference"),
        section_references=page.sections[sentence.section].references,
        page_references=page.signals.references,
        citation_needed="citation needed" in kinds,
        disputed="disputed" in kinds,
        stub=page.signals.stub.holds,
    )
