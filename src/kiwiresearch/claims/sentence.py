"""The sentences of a page that may be claims: whether they can be read alone, and how well supported they are."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from kiwiresearch.claims.claim import ClaimSignals, NameSource
from kiwiresearch.claims.language import Grammar
from kiwiresearch.claims.types import SentenceWords
from kiwiresearch.page import BlockKind, Link, Mark, PageDoc
from kiwiresearch.search import Score, ScoreTerm
from kiwiresearch.text import Hedge, language_words

PROSE: frozenset[BlockKind] = frozenset({"paragraph", "item", "quote"})
MAX_CLAIM_CHARS = 250_000
"""How much of a page's text claims are taken from: more than any article, but not every chapter of a book."""
MARK_DISTANCE = 1
"""A reference mark is at the end of its sentence, or right after it."""


class PageSentence(NamedTuple):
    """A sentence of a page: `page.text[start:end] == text`."""

    text: str
    start: int
    end: int
    kind: BlockKind
    section: int
    block: int
    is_clause: bool = False
    """Whether it is part of a sentence, after a semicolon."""


def sentences_of(page: PageDoc) -> Iterator[PageSentence]:
    """The sentences of paragraphs, items and quotations, except in sections of references and 'See also'."""
    language = language_words(page.language)
    skipped_headings = language.see_also | language.references
    skipped = {n for n, section in enumerate(page.sections) if section.heading.casefold() in skipped_headings}
    starts, text = page.sentences, page.text
    section, last = 0, len(page.sections) - 1
    end_of_article = min(page.article_end, MAX_CLAIM_CHARS)
    for index, block in enumerate(page.blocks):
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
                    yield PageSentence(stripped, at, at + len(stripped), block.kind, section, index, start > begin)
            begin = end


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A long sentence split at its semicolons, if each part is long enough to say something."""
    if end - start > MIN_SPLIT_CHARS and text.find("; ", start, end) >= 0:
        cuts = [found.start() + 1 for found in SEMICOLON.finditer(text, start, end)]
        ends = [*cuts, end]
        starts = [start, *cuts]
        pieces = list(zip(starts, ends, strict=True))
        if all(stop - begin >= MIN_CLAUSE_CHARS for begin, stop in pieces) and not any(
            text.count("(", begin, stop) != text.count(")", begin, stop) or text.count('"', begin, stop) % 2
            for begin, stop in pieces
        ):
            yield from pieces
            return
    yield start, end


# A semicolon before a word that can start a clause; others may only separate list items.
SEMICOLON = re.compile(
    r"; (?=(?:the|an?|it|he|she|they|in|on|at|by|his|her|its|their|some|many|most|one|this|however)\b|[A-Z])"
)
MIN_SPLIT_CHARS, MIN_CLAUSE_CHARS = 170, 45


class SentenceAnnotations:
    """The links and reference marks of a page, by sentence."""

    def __init__(self, page: PageDoc) -> None:
        self._links = sorted((link for link in page.links if link.in_text), key=lambda link: link.start)
        self._link_starts = [link.start for link in self._links]
        self._marks = page.marks
        self._mark_offsets = [mark.offset for mark in page.marks]

    def links(self, start: int, end: int) -> list[Link]:
        return self._links[bisect_left(self._link_starts, start) : bisect_left(self._link_starts, end)]

    def marks(self, start: int, end: int) -> tuple[Mark, ...]:
        """The marks in a sentence and right after it."""
        # A mark at the very start belongs to the sentence before.
        first = bisect_right(self._mark_offsets, start)
        return self._marks[first : bisect_right(self._mark_offsets, end + MARK_DISTANCE)]


MIN_CHARS, MAX_CHARS = 25, 320
# Leftovers of wiki markup, addresses and references.
JUNK = ("{{", "}}", "[[", "]]", "||", "http://", "https://", "ISBN", "@")
CLOSING = "\"'”’)]"
ENDS = frozenset(".!?…;")
POINTERS = frozenset({"this", "these", "such", "similar", "here"})
# 'this method', 'such wars'; but not 'this day', 'this is', 'such as', 'similar to'.
POINTS_BACK = re.compile(
    r"\b(?:[Tt]his|[Tt]hese)\b(?! (?:day|is|are|was|were)\b)|\b[Ss]uch (?!as\b)\w+|\b[Ss]imilar\b(?! (?:to|in|size)\b)"
    r"|\bhere\b"
)
PERSON_PRONOUNS = frozenset({"he", "she", "his", "her", "him"})
PERSON_PRONOUN = re.compile(r"\b(?:he|she|his|her|him)\b")
NAMED_BEFORE = re.compile(r"\b[A-Z]")


def is_whole(sentence: PageSentence, max_chars: int = MAX_CHARS) -> bool:
    """Whether this is a complete sentence, with all its brackets and quotation marks closed."""
    text = sentence.text
    if not MIN_CHARS <= len(text) <= max_chars or text.rstrip(CLOSING)[-1:] not in ENDS:
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


def needs_context(text: str, words: SentenceWords, grammar: Grammar) -> bool:
    """Whether a sentence refers to something outside itself that no name can replace."""
    # The set of words is checked first; the pattern only runs for the few sentences that have one of them.
    if not POINTERS.isdisjoint(words.different) and POINTS_BACK.search(text):
        return True
    found = grammar.dangling.keys() & words.different
    if not found:
        return False
    padded = words.padded
    return any(phrase in padded for word in sorted(found) for phrase in grammar.dangling[word])


def has_unnamed_person(text: str, words: SentenceWords) -> bool:
    """Whether a sentence has a 'he' or 'she' without naming that person first."""
    if PERSON_PRONOUNS.isdisjoint(words.different):
        return False
    found = PERSON_PRONOUN.search(text)
    return found is not None and not NAMED_BEFORE.search(text, 1, found.start()) and found.start() > 0


def has_name(text: str) -> bool:
    """Whether a word after the first starts with a capital."""
    return NAMED_BEFORE.search(text, 1) is not None


def shortened_definition(sentence: PageSentence, verb: int) -> PageSentence:
    """A long definition, cut before its relative clause: 'was a naturalist who …'."""
    if len(sentence.text) <= MAX_DEFINITION_CHARS or verb < 0:
        return sentence
    found = RELATIVE_CLAUSE.search(sentence.text, verb + MIN_DEFINITION_CHARS)
    kept = sentence.text[: found.start()] if found else ""
    if not kept or kept.count("(") != kept.count(")") or kept.count('"') % 2:
        return sentence
    return sentence._replace(text=f"{kept}.", end=sentence.start + len(kept))


MAX_DEFINITION_CHARS, MIN_DEFINITION_CHARS = 290, 22
RELATIVE_CLAUSE = re.compile(
    r",?(?: (?:in|of|on|for|by|to|from|with|at|through|under))? (?:who|whom|whose|which)\b"
    r"|, (?:and|but) (?:is|was|has|had)\b"
)


def tidy_sentence(text: str) -> str:
    """A sentence without its pronunciation guides and stray blanks."""
    has_bracket = "(" in text
    if has_bracket:
        text = PRONUNCIATION_GUIDE.sub("", text)
    if has_bracket or " ," in text or " ." in text or '" ' in text:
        text = STRAY_SPACES.sub("", text)
    return f"{text[:-1]}." if text.endswith(";") else text


# Removed: '(pronounced rohm)', '(Ukrainian: Київ)', '([ˈviːn] listen (help))'; not '(a city)'. The lookahead finds
# the sign of a pronunciation, the rest the closing bracket, with at most one level of brackets inside.
PRONUNCIATION_GUIDE = re.compile(
    r"\s*\((?=[^()]*(?:IPA|pronounced|listen|[/\[][^()]*[ˈəɪʊɔɛæʃθʁ][^()]*|[A-Z]\w+: [^()]*[^\x00-\u024f])|\s*help)"
    r"(?:[^()]|\([^()]*\)){0,200}\)"
)
"""Pronunciation of a name, and its form in other scripts."""
STRAY_SPACES = re.compile(r"(?<=[(\[]) +| +(?=[)\],;]|\.(?:\s|$))")


# The terms of `claim_score`, in log-odds.
SENTENCE_POINTS = 1.05
ROW_POINTS = 1.6
REFERENCE_POINTS = 0.15
CITATION_NEEDED = -1.5
DISPUTED_POINTS = -1.0
STUB_POINTS = -0.2
HEDGED = {"may": -0.05, "some": -0.2, "debated": -0.8, "uncertain": -0.2}
NAME_INSERTED = -0.05
NAME_FOUND_BEFORE = -1.1
INSERTED_NAME_TERMS = {
    "title": ("pronoun named by the page's title", NAME_INSERTED),
    "before": ("pronoun named by a sentence before", NAME_FOUND_BEFORE),
}
ABOUT_THE_PAGE = 0.4
NO_NAME = -0.6
CLEAR_TYPE_POINTS = 0.5
LONG_PENALTY = -0.15
LONG_CHARS = 240
CLEAR_POINTS = 3.0


def claim_score(
    signals: ClaimSignals,
    hedges: tuple[Hedge, ...],
    *,
    points: float = 0.0,
    inserted_name_from: NameSource = "",
    table: bool = False,
    length: int = 0,
    about_the_page: bool = False,
    has_name: bool = True,
) -> Score:
    """How credible a claim is, in log-odds."""
    terms = [("a row of the page", ROW_POINTS) if table else ("a sentence of the page", SENTENCE_POINTS)]
    if about_the_page:
        terms.append(("about the page's own subject", ABOUT_THE_PAGE))
    if not has_name:
        terms.append(("names nobody and nothing", NO_NAME))
    if signals.references:
        terms.append(("reference in the sentence", REFERENCE_POINTS))
    if signals.citation_needed:
        terms.append(("citation needed", CITATION_NEEDED))
    if signals.disputed:
        terms.append(("marked as disputed", DISPUTED_POINTS))
    if signals.stub:
        terms.append(("the page is a stub", STUB_POINTS))
    terms += [(f"hedged ({kind})", HEDGED[kind]) for kind in sorted({hedge.kind for hedge in hedges})]
    if inserted_name_from:
        terms.append(INSERTED_NAME_TERMS[inserted_name_from])
    if points >= CLEAR_POINTS:
        terms.append(("clear type", CLEAR_TYPE_POINTS))
    if length > LONG_CHARS:
        terms.append(("long sentence", LONG_PENALTY))
    return Score(tuple([ScoreTerm(signal, more) for signal, more in terms]))


def claim_signals(page: PageDoc, sentence: PageSentence, annotations: SentenceAnnotations) -> ClaimSignals:
    """Signs on the page of how well a sentence is supported."""
    marks = annotations.marks(sentence.start, sentence.end)
    kinds = [mark.kind for mark in marks]
    return ClaimSignals(
        references=kinds.count("reference"),
        section_references=page.sections[sentence.section].references,
        page_references=page.signals.references,
        citation_needed="citation needed" in kinds,
        disputed="disputed" in kinds,
        stub=page.signals.stub.holds,
    )
