"""Claims by rule: what the sentences, tables and boxes of a page say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from kiwiresearch.claims.claim import Claim, ClaimSignals, ClaimType, DependsOn, Measure, NameSource
from kiwiresearch.claims.language import has_claim_tables
from kiwiresearch.claims.opening import TITLE_BRACKET, opening_of
from kiwiresearch.claims.sentence import (
    PageSentence,
    SentenceMargin,
    claim_score,
    claim_signals,
    has_name,
    is_whole,
    points_outside,
    sentences_of,
    shortened_definition,
    tidy_sentence,
)
from kiwiresearch.claims.statements import ClaimPage, SentenceFilter, Statements, no_sentences
from kiwiresearch.claims.subjects import NamedSubject
from kiwiresearch.claims.types import (
    NO_FIGURES,
    Figures,
    SentenceFeatures,
    SentenceWords,
    TypePoints,
    cue_points,
    figures_of,
    is_counting,
    may_have_type,
    type_of,
)
from kiwiresearch.evidence import FACTS_BOX, Quote, quote_at
from kiwiresearch.page.doc import Cell, Infobox, InfoboxRow, PageDoc, Table
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.when import dates_in

MAX_FROM_TABLES = 60
"""A page of statistics does not fill a brief."""
LONGEST_CELL = 100
LONGEST_LABEL = 60
HAS_DIGIT = re.compile(r"\d")
NO_LABEL = re.compile(r"^[\W\d_]*$")


def claims_of_boxes(page: PageDoc, book_name: str) -> list[Claim]:
    """What the boxes of a page say in numbers and dates."""
    found = []
    name = TITLE_BRACKET.sub("", page.title) or page.title
    for box in page.infoboxes:
        for row, heading in _under_headings(box):
            key = " ".join(row.key.split()).strip(DASHES)
            value = " ".join(row.value.split())
            if not key or NO_LABEL.match(key) or len(key) > LONGEST_LABEL or not HAS_DIGIT.search(value):
                continue
            if len(value) > LONGEST_CELL:
                continue
            quotes: tuple[Quote, ...] = (_with_label(page, row.key, row.start, row.end),)
            label = key
            at = page.text.rfind(heading, box.start, row.start) if heading else -1
            if at >= 0:
                label = f"{' '.join(heading.split())}, {key}"
                quotes = (*quotes, quote_at(page, at, at + len(heading)))
            claim = _claim(page, name, label, value, quotes, book_name, FACTS_BOX, "")
            if claim is not None:
                found.append(claim)
    return found


def _under_headings(box: Infobox) -> Iterator[tuple[InfoboxRow, str]]:
    """The rows of a box with the heading each stands under.

    A row with a dash belongs to the last one without: 'Population', '- Total', 'GDP | 2006 estimate', '- Total'.
    """
    group = heading = ""
    with_dashes = False
    for row in box.rows:
        dashed = row.key.strip()[:1] in DASHES
        if row.group != group:
            group = heading = row.group
            with_dashes = False
        with_dashes |= dashed
        if with_dashes and not dashed:
            heading = row.key
        yield row, "" if heading == row.key else heading


DASHES = "-–—•· "


def _with_label(page: PageDoc, key: str, start: int, end: int) -> Quote:
    """The value, and the label right before it where it stands there."""
    at = page.text.rfind(key, max(start - len(key) - 4, 0), start) if key else -1
    return quote_at(page, at if at >= 0 and not page.text[at + len(key) : start].strip(" :\t\n") else start, end)


def claims_of_tables(page: PageDoc, book_name: str) -> list[Claim]:
    """What the tables of a page say in numbers, as long as rows and columns have names."""
    found: list[Claim] = []
    for table in page.tables:
        for claim in _of_table(page, table, book_name):
            found.append(claim)
            if len(found) == MAX_FROM_TABLES:
                return found
    return found


def _of_table(page: PageDoc, table: Table, book_name: str) -> Iterator[Claim]:
    if len(table.rows) < 2:
        return
    head, *rows = table.rows
    headings = [_words(page, cell) for cell in head]
    if len(head) < 2 or not all(cell.is_header for cell in head) or not all(map(_is_label, headings[1:])):
        return
    section, path = page.sections[table.section], page.headings(table.section)
    for row in rows:
        if len(row) != len(head):
            continue
        label = _words(page, row[0])
        if not _is_label(label):
            continue
        for cell, heading_cell, heading in zip(row[1:], head[1:], headings[1:], strict=True):
            value = _words(page, cell)
            if not HAS_DIGIT.search(value) or len(value) > LONGEST_CELL:
                continue
            quotes = tuple(quote_at(page, one.start, one.end) for one in (cell, row[0], heading_cell))
            claim = _claim(page, label, heading, value, quotes, book_name, section.heading, section.anchor, path)
            if claim is not None:
                yield claim


def _words(page: PageDoc, cell: Cell) -> str:
    return " ".join(page.text[cell.start : cell.end].split())


def _is_label(text: str) -> bool:
    return bool(text) and len(text) <= LONGEST_LABEL and not NO_LABEL.match(text)


def _claim(
    page: PageDoc,
    subject: str,
    label: str,
    value: str,
    quotes: Sequence[Quote],
    book_name: str,
    section: str,
    anchor: str,
    headings: tuple[str, ...] = (),
) -> Claim | None:
    """The words 'subject — label: value', numeric or dated; None if the value is neither."""
    before = f"{subject} — {label}: "
    text = before + value
    dates = dates_in(text, page.language)
    dates = [one for one in dates if one.start >= len(before)]
    quantities = [
        one
        for one in quantities_in(text, page.language, not_in=[(one.start, one.end) for one in dates])
        if one.start >= len(before)
    ]
    if not dates and not quantities:
        return None
    kind: ClaimType = "numeric" if quantities else "timeline"
    signals = ClaimSignals(page_references=page.signals.references, stub=page.signals.stub.holds)
    when = dates[0].when if dates and quantities else None
    return Claim(
        text=text,
        type=kind,
        subject=subject,
        scope=subject if subject == page.title else f"{subject} ({page.title})",
        quotes=tuple(quotes),
        page_title=page.title,
        section=section,
        anchor=anchor,
        headings=headings,
        book_name=book_name,
        tags=tuple(dict.fromkeys((subject.lower(), label.lower()))),
        signals=signals,
        measures=tuple(Measure(one, label.lower(), subject, when) for one in quantities if not one.converted),
        dates=tuple(dates),
        score=claim_score(signals, (), points=0.0, table=True),
    )


LONGEST_SCOPE = 60


class WordedSentence(NamedTuple):
    """A sentence in words that stand alone."""

    text: str
    subject: NamedSubject
    first: int
    """Where in the sentence the words begin that were kept."""


def claims_of(page: PageDoc, book_name: str = "", wanted: SentenceFilter = no_sentences) -> tuple[Claim, ...]:
    """All claims that the rules find on a page, in its order, and statements of those sentences that are wanted."""
    found: list[Claim] = []
    if not page.signals.disambiguation.holds:
        known = has_claim_tables(page.language)
        found += _Reader(page, book_name, wanted).claims() if known else _first_sentence(page, book_name)
    found += claims_of_tables(page, book_name)
    found += claims_of_boxes(page, book_name)
    return without_repeats(found)


def without_repeats(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Each claim once, by its id: a table may say the same twice."""
    return tuple({claim.id: claim for claim in reversed(claims)}.values())[::-1]


def _first_sentence(page: PageDoc, book_name: str) -> Iterator[Claim]:
    """Of a language without tables: what a page begins with, which in every encyclopaedia says what it is about."""
    sentence = next((one for one in sentences_of(page) if one.section == 0 and one.kind == "paragraph"), None)
    if sentence is None or not is_whole(sentence):
        return
    section = page.sections[sentence.section]
    signals = claim_signals(page, sentence, SentenceMargin(page))
    yield Claim(
        text=tidy_sentence(sentence.text),
        type="definition",
        subject=page.title,
        scope=page.title,
        quotes=(quote_at(page, sentence.start, sentence.end),),
        page_title=page.title,
        section=section.heading,
        anchor=section.anchor,
        headings=page.headings(sentence.section),
        book_name=book_name,
        tags=(page.title.lower(),),
        signals=signals,
        score=claim_score(signals, (), about_the_page=True),
    )


class _Reader:
    """Reads the sentences of one page."""

    def __init__(self, page: PageDoc, book_name: str, wanted: SentenceFilter) -> None:
        self._page = page
        self._read = ClaimPage(page, book_name)
        self._sentences = self._read.sentences
        self._subjects = self._read.subjects
        self._grammar = self._read.grammar
        self._statements = Statements(self._read, wanted)

    def claims(self) -> Iterator[Claim]:
        first = self._subjects.first
        whole = self._sentences[first] if self._sentences else None
        if whole is not None:
            self._sentences[first] = shortened_definition(whole, self._subjects.opening(first).verb)
        for number, sentence in enumerate(self._sentences):
            typed = self._typed(number, sentence, is_first=number == first)
            if typed is not None:
                yield typed
            if sentence.text.endswith(":"):
                yield from self._statements.of_list(number)
            elif typed is None or typed.put_in or (number == first and sentence != whole):
                statement = self._statements.of(number, whole if whole and number == first else sentence)
                if statement is not None:
                    yield statement

    def _typed(self, number: int, sentence: PageSentence, *, is_first: bool) -> Claim | None:
        """The claim that a sentence makes by itself, if it is of a type."""
        if not is_whole(sentence):
            return None
        words = SentenceWords.of(sentence.text)
        cues = cue_points(words, self._page.language)
        has_number = is_counting(sentence.text, words, self._grammar)
        if sentence.section and not has_number and not may_have_type(sentence.text, words, cues):
            return None
        if points_outside(sentence.text, words, self._grammar) or self._read.has_unnamed_person(sentence.text, words):
            return None
        worded = self._worded(number)
        if worded is None:
            return None
        if worded.first:  # what tied it to others is gone, and what that said with it
            cues = cue_points(SentenceWords.of(worded.text), self._page.language)
        figures = figures_of(worded.text, words, self._page.language, self._grammar) if has_number else NO_FIGURES
        return self._claim(number, worded, cues, figures, first=is_first)

    def _worded(self, number: int) -> WordedSentence | None:
        """A sentence without ties to others, with its subject by name."""
        sentence, opening = self._sentences[number], self._subjects.opening(number)
        named = self._subjects.of(number)
        if named is None or (opening.verb < 0 and sentence.kind == "item"):
            return None
        text = tidy_sentence(named.put_into(sentence.text, self._subjects.theme)[opening.start :])
        return WordedSentence(text[:1].upper() + text[1:], named, opening.start)

    def _claim(
        self, number: int, worded: WordedSentence, cues: TypePoints, figures: Figures, *, first: bool
    ) -> Claim | None:
        page, sentence = self._page, self._sentences[number]
        text, named = worded.text, worded.subject
        same = text == sentence.text
        opening = self._subjects.opening(number) if same else opening_of(text, self._grammar)
        of_theme = named.name == self._subjects.theme.name
        looks = SentenceFeatures(
            text, cues, opening.verb, figures.quantities, figures.dates, of_theme, first, sentence.section == 0
        )
        typed = type_of(looks)
        if typed is None:
            return None
        hedges = hedges_in(text, page.language)
        signals = claim_signals(page, sentence, self._read.margin)
        put_in: NameSource = "" if named.end <= named.start else "before" if named.found else "title"
        score = claim_score(
            signals,
            hedges,
            points=typed.points,
            put_in=put_in,
            length=len(text),
            about_the_page=of_theme,
            has_name=has_name(text),
        )
        made = self._read.claim(
            sentence,
            text,
            typed.type,
            named.name,
            _quotes(page, sentence, worded),
            figures,
            hedges=hedges,
            signals=signals,
            score=score,
        )
        scope = _scope(text, named, opening.subject)
        is_tied = self._grammar.adds.match(text) or (not put_in and self._grammar.pronoun_second.match(text))
        depends_on: DependsOn = "previous" if is_tied else ""
        return replace(made, also=typed.also, scope=scope, put_in=put_in, depends_on=depends_on)


def _quotes(page: PageDoc, sentence: PageSentence, worded: WordedSentence) -> tuple[Quote, ...]:
    """The sentence, and the place that the name was taken from which stands for its pronoun."""
    own = quote_at(page, sentence.start + worded.first, sentence.end)
    found = worded.subject.found
    return (own, quote_at(page, *found)) if found else (own,)


def _scope(text: str, named: NamedSubject, subject: int) -> str:
    """The subject, with the phrase before it that says where or when the claim holds."""
    before = text[:subject].strip(" ,") if 0 < subject <= LONGEST_SCOPE else ""
    return f"{named.name} ({before[:1].lower()}{before[1:]})" if before else named.name
