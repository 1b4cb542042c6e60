"""Rule-based extraction of claims from a page's sentences, tables and infoboxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from kiwiresearch.claims.claim import Claim, ClaimSignals, ClaimType, DependsOn, Measure, NameSource
from kiwiresearch.claims.language import has_claim_tables
from kiwiresearch.claims.opening import opening_of
from kiwiresearch.claims.plain_claims import ClaimPage, PlainClaims, SentenceFilter, no_sentences
from kiwiresearch.claims.sentence import (
    PageSentence,
    SentenceAnnotations,
    claim_score,
    claim_signals,
    has_name,
    is_whole,
    needs_context,
    sentences_of,
    shortened_definition,
    tidy_sentence,
)
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
from kiwiresearch.evidence import INFOBOX, Quote, quote_at
from kiwiresearch.page import Cell, Infobox, InfoboxRow, PageDoc, PageTable
from kiwiresearch.system import stop_if_abandoned
from kiwiresearch.text import hedges_in, quantities_in, without_qualifier
from kiwiresearch.text.dates import dates_in

MAX_TABLE_CLAIMS = 60
"""Keeps one page of statistics from filling the brief."""
MAX_CELL_CHARS = 100
MAX_LABEL_CHARS = 60
MAX_SCOPE_CHARS = 60
HAS_DIGIT = re.compile(r"\d")
# '1900' or '—' as the label of a row says nothing about its value.
NOT_A_LABEL = re.compile(r"^[\W\d_]*$")
LIST_MARKERS = "-–—•· "


def infobox_claims(page: PageDoc, book_name: str) -> list[Claim]:
    """Claims from infobox rows whose value has a number or date."""
    claims = []
    name = without_qualifier(page.title)
    for box in page.infoboxes:
        for row, heading in _rows_with_headings(box):
            key = " ".join(row.key.split()).strip(LIST_MARKERS)
            value = " ".join(row.value.split())
            if not _is_label(key) or not HAS_DIGIT.search(value) or len(value) > MAX_CELL_CHARS:
                continue
            # The heading ('Population' above '- Total') becomes part of the claim, so it needs a quote of its own.
            quotes: tuple[Quote, ...] = (_quote_with_label(page, row.key, row.start, row.end),)
            label = key
            heading_start = page.text.rfind(heading, box.start, row.start) if heading else -1
            if heading_start >= 0:
                label = f"{' '.join(heading.split())}, {key}"
                quotes = (*quotes, quote_at(page, heading_start, heading_start + len(heading)))
            claim = _row_claim(page, name, label, value, quotes, book_name, INFOBOX, "")
            if claim is not None:
                claims.append(claim)
    return claims


def _rows_with_headings(box: Infobox) -> Iterator[tuple[InfoboxRow, str]]:
    """Each row of an infobox, with the heading it appears under.

    A row that starts with a dash belongs to the last row that does not: 'Population', '- Total', 'GDP', '- Total'.
    `ask.page_units` has its own rules: there a heading only adds words to match, here it is part of what is claimed.
    """
    group = heading = ""
    group_has_dashes = False
    for row in box.rows:
        is_dashed = row.key.strip()[:1] in LIST_MARKERS
        if row.group != group:
            group = heading = row.group
            group_has_dashes = False
        group_has_dashes |= is_dashed
        if group_has_dashes and not is_dashed:
            heading = row.key
        yield row, "" if heading == row.key else heading


def _quote_with_label(page: PageDoc, key: str, start: int, end: int) -> Quote:
    """A quote of the value, including the label if that directly precedes it."""
    # Searched backwards within a few characters: only a colon, a tab or a line break may be between label and value.
    at = page.text.rfind(key, max(start - len(key) - 4, 0), start) if key else -1
    return quote_at(page, at if at >= 0 and not page.text[at + len(key) : start].strip(" :\t\n") else start, end)


def table_claims(page: PageDoc, book_name: str) -> list[Claim]:
    """Claims from the numbers in tables whose rows and columns are labelled."""
    claims = (claim for table in page.tables for claim in _claims_of_table(page, table, book_name))
    return list(islice(claims, MAX_TABLE_CLAIMS))


def _claims_of_table(page: PageDoc, table: PageTable, book_name: str) -> Iterator[Claim]:
    if len(table.rows) < 2:
        return
    head, *rows = table.rows
    headings = [_cell_text(page, cell) for cell in head]
    # The first heading may be empty: it is the corner above the labels of the rows.
    if len(head) < 2 or not all(cell.is_header for cell in head) or not all(map(_is_label, headings[1:])):
        return
    section, path = page.sections[table.section], page.headings(table.section)
    for row in rows:
        # Cells that span several rows or columns shift the others, so a value could get the wrong heading.
        if len(row) != len(head):
            continue
        label = _cell_text(page, row[0])
        if not _is_label(label):
            continue
        for cell, heading_cell, heading in zip(row[1:], head[1:], headings[1:], strict=True):
            value = _cell_text(page, cell)
            if not HAS_DIGIT.search(value) or len(value) > MAX_CELL_CHARS:
                continue
            quotes = tuple(quote_at(page, item.start, item.end) for item in (cell, row[0], heading_cell))
            claim = _row_claim(page, label, heading, value, quotes, book_name, section.heading, section.anchor, path)
            if claim is not None:
                yield claim


def _cell_text(page: PageDoc, cell: Cell) -> str:
    return " ".join(page.text[cell.start : cell.end].split())


def _is_label(text: str) -> bool:
    return bool(text) and len(text) <= MAX_LABEL_CHARS and not NOT_A_LABEL.match(text)


def _row_claim(
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
    """A claim worded 'subject — label: value'; None if the value has neither a number nor a date."""
    prefix = f"{subject} — {label}: "
    text = prefix + value
    dates = [mention for mention in dates_in(text, page.language) if mention.start >= len(prefix)]
    spans = [(mention.start, mention.end) for mention in dates]
    quantities = [
        quantity for quantity in quantities_in(text, page.language, not_in=spans) if quantity.start >= len(prefix)
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
        measures=tuple(
            Measure(quantity, label.lower(), subject, when) for quantity in quantities if not quantity.converted
        ),
        dates=tuple(dates),
        score=claim_score(signals, (), points=0.0, table=True),
    )


class StandaloneSentence(NamedTuple):
    """A sentence reworded so that it can be read on its own."""

    text: str
    subject: NamedSubject
    kept_from: int
    """The offset in the original sentence from which its words are used."""


def claims_of(page: PageDoc, book_name: str = "", wanted: SentenceFilter = no_sentences) -> tuple[Claim, ...]:
    """All rule-based claims of a page in page order, including statements for the sentences that are `wanted`.

    What a page repeats is one claim, or a single page could outweigh all others.
    """
    claims: list[Claim] = []
    if not page.signals.disambiguation.holds:
        has_rules = has_claim_tables(page.language)
        claims += _SentenceClaims(page, book_name, wanted).claims() if has_rules else _first_sentence(page, book_name)
    claims += table_claims(page, book_name)
    claims += infobox_claims(page, book_name)
    found: dict[tuple[object, ...], Claim] = {}
    for claim in claims:
        # The first one wins, which is that of the sentence, since rows of tables and infoboxes come later.
        found.setdefault(_repetition_key(claim), claim)
    return tuple(found.values())


def _repetition_key(claim: Claim) -> tuple[object, ...]:
    """What is the same in repetitions of a claim; one that depends on its context may mean something else elsewhere."""
    return claim.type, claim.text, claim.subject, claim.headings if claim.depends_on else ()


def _first_sentence(page: PageDoc, book_name: str) -> Iterator[Claim]:
    """For languages without rules: only the first sentence, which says what the page is about in any encyclopaedia."""
    sentence = next(
        (
            page_sentence
            for page_sentence in sentences_of(page)
            if page_sentence.section == 0 and page_sentence.kind == "paragraph"
        ),
        None,
    )
    if sentence is None or not is_whole(sentence):
        return
    section = page.sections[sentence.section]
    signals = claim_signals(page, sentence, SentenceAnnotations(page))
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


class _SentenceClaims:
    """Makes the claims of a page's sentences."""

    def __init__(self, page: PageDoc, book_name: str, wanted: SentenceFilter) -> None:
        self._page = page
        self._claim_page = ClaimPage(page, book_name)
        self._sentences = self._claim_page.sentences
        self._subjects = self._claim_page.subjects
        self._grammar = self._claim_page.grammar
        self._statements = PlainClaims(self._claim_page, wanted)

    def claims(self) -> Iterator[Claim]:
        first = self._subjects.definition_index
        full_first = self._sentences[first] if self._sentences else None
        if full_first is not None:
            # Shortened for its typed claim only; as a plain statement below, the first sentence is complete.
            self._sentences[first] = shortened_definition(full_first, self._subjects.opening(first).verb_start)
        for index, sentence in enumerate(self._sentences):
            stop_if_abandoned()
            typed = self._typed_claim(index, sentence, is_first=index == first)
            if typed is not None:
                yield typed
            if sentence.text.endswith(":"):
                yield from self._statements.from_list(index)
            # A sentence may have both: a typed claim with a name for its pronoun, and a statement in its own words.
            elif typed is None or typed.inserted_name_from or (index == first and sentence != full_first):
                full = full_first if full_first and index == first else sentence
                statement = self._statements.from_sentence(index, full)
                if statement is not None:
                    yield statement

    def _typed_claim(self, index: int, sentence: PageSentence, *, is_first: bool) -> Claim | None:
        """The claim a sentence makes on its own, or None if no claim type fits."""
        if not is_whole(sentence):
            return None
        words = SentenceWords.of(sentence.text)
        cues = cue_points(words, self._page.language)
        has_number = is_counting(sentence.text, words, self._grammar)
        # The cheapest checks first, since most sentences end here. In an introduction a sentence without any cue may
        # still define the page's subject.
        if sentence.section and not has_number and not may_have_type(sentence.text, words, cues):
            return None
        if needs_context(sentence.text, words, self._grammar):
            return None
        if self._claim_page.has_unnamed_person(sentence.text, words):
            return None
        standalone = self._standalone(index)
        if standalone is None:
            return None
        if standalone.kept_from:  # connectives were cut, so cues found in them no longer count
            cues = cue_points(SentenceWords.of(standalone.text), self._page.language)
        figures = figures_of(standalone.text, words, self._page.language, self._grammar) if has_number else NO_FIGURES
        return self._sentence_claim(index, standalone, cues, figures, is_first=is_first)

    def _standalone(self, index: int) -> StandaloneSentence | None:
        """The sentence without leading connectives, its subject replaced by a name."""
        sentence, opening = self._sentences[index], self._subjects.opening(index)
        named = self._subjects.of(index)
        if named is None or (opening.verb_start < 0 and sentence.kind == "item"):
            return None
        text = tidy_sentence(named.substitute_in(sentence.text, self._subjects.page_subject)[opening.start :])
        return StandaloneSentence(text[:1].upper() + text[1:], named, opening.start)

    def _sentence_claim(
        self, index: int, standalone: StandaloneSentence, cues: TypePoints, figures: Figures, *, is_first: bool
    ) -> Claim | None:
        page, sentence = self._page, self._sentences[index]
        text, named = standalone.text, standalone.subject
        is_unchanged = text == sentence.text
        # Offsets in the sentence no longer fit once a connective was cut or a name inserted.
        opening = self._subjects.opening(index) if is_unchanged else opening_of(text, self._grammar)
        is_about_page = named.name == self._subjects.page_subject.name
        features = SentenceFeatures(
            text,
            cues,
            opening.verb_start,
            figures.quantities,
            figures.dates,
            is_about_page,
            is_first,
            sentence.section == 0,
        )
        typed = type_of(features)
        if typed is None:
            return None
        hedges = hedges_in(text, page.language)
        signals = claim_signals(page, sentence, self._claim_page.annotations)
        name_source: NameSource = "" if named.end <= named.start else "before" if named.name_span else "title"
        score = claim_score(
            signals,
            hedges,
            points=typed.points,
            inserted_name_from=name_source,
            length=len(text),
            about_the_page=is_about_page,
            has_name=has_name(text),
        )
        claim = self._claim_page.claim(
            sentence,
            text,
            typed.type,
            named.name,
            _quotes(page, sentence, standalone),
            figures,
            hedges=hedges,
            signals=signals,
            score=score,
        )
        scope = _scope(text, named, opening.subject_start)
        needs_previous = self._grammar.adds.match(text) or (
            not name_source and self._grammar.pronoun_second.match(text)
        )
        depends_on: DependsOn = "previous" if needs_previous else ""
        return replace(claim, also=typed.also, scope=scope, inserted_name_from=name_source, depends_on=depends_on)


def _quotes(page: PageDoc, sentence: PageSentence, standalone: StandaloneSentence) -> tuple[Quote, ...]:
    """The sentence, and where the name that replaced its pronoun was found."""
    own = quote_at(page, sentence.start + standalone.kept_from, sentence.end)
    found = standalone.subject.name_span
    return (own, quote_at(page, *found)) if found else (own,)


def _scope(text: str, named: NamedSubject, subject_start: int) -> str:
    """The subject, plus any leading phrase that limits where or when the claim holds."""
    before = text[:subject_start].strip(" ,") if 0 < subject_start <= MAX_SCOPE_CHARS else ""
    return f"{named.name} ({before[:1].lower()}{before[1:]})" if before else named.name
