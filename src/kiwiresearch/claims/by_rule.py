"""Claims by rule: the sentences, tables and boxes of a page that say something, in words that stand alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from kiwiresearch.claims.by_table import claims_of_boxes, claims_of_tables
from kiwiresearch.claims.claim import Claim, DependsOn, PutIn
from kiwiresearch.claims.confidence import score_of, signals_of
from kiwiresearch.claims.figures import NOTHING, Figures, figures_of, is_counting
from kiwiresearch.claims.opening import opening_of
from kiwiresearch.claims.read_page import ReadPage
from kiwiresearch.claims.sentence import Margin, Sentence, sentences_of
from kiwiresearch.claims.standalone import has_name, is_whole, points_out, tidy, to_the_point
from kiwiresearch.claims.statements import Statements, Wanted, no_sentences
from kiwiresearch.claims.subjects import Named
from kiwiresearch.claims.tables import is_known
from kiwiresearch.claims.types import Looks, Points, Words, by_cues, may_have_type, type_of
from kiwiresearch.evidence.quote import Quote, span
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.hedges import hedges_in

LONGEST_SCOPE = 60


class Worded(NamedTuple):
    """A sentence in words that stand alone."""

    text: str
    subject: Named
    first: int
    """Where in the sentence the words begin that were kept."""


def claims_of(page: PageDoc, book_name: str = "", wanted: Wanted = no_sentences) -> tuple[Claim, ...]:
    """All claims that the rules find on a page, in its order, and statements of those sentences that are wanted."""
    found: list[Claim] = []
    if not page.signals.disambiguation.holds:
        known = is_known(page.language)
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
    signals = signals_of(page, sentence, Margin(page))
    yield Claim(
        text=tidy(sentence.text),
        type="definition",
        subject=page.title,
        scope=page.title,
        quotes=(span(page, sentence.start, sentence.end),),
        page_title=page.title,
        section=section.heading,
        anchor=section.anchor,
        headings=page.headings(sentence.section),
        book_name=book_name,
        tags=(page.title.lower(),),
        signals=signals,
        score=score_of(signals, (), about_the_page=True),
    )


class _Reader:
    """Reads the sentences of one page."""

    def __init__(self, page: PageDoc, book_name: str, wanted: Wanted) -> None:
        self._page = page
        self._read = ReadPage(page, book_name)
        self._sentences = self._read.sentences
        self._subjects = self._read.subjects
        self._grammar = self._read.grammar
        self._statements = Statements(self._read, wanted)

    def claims(self) -> Iterator[Claim]:
        first = self._subjects.first
        whole = self._sentences[first] if self._sentences else None
        if whole is not None:
            self._sentences[first] = to_the_point(whole, self._subjects.opening(first).verb)
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

    def _typed(self, number: int, sentence: Sentence, *, is_first: bool) -> Claim | None:
        """The claim that a sentence makes by itself, if it is of a type."""
        if not is_whole(sentence):
            return None
        words = Words.of(sentence.text)
        cues = by_cues(words, self._page.language)
        has_number = is_counting(sentence.text, words, self._grammar)
        if sentence.section and not has_number and not may_have_type(sentence.text, words, cues):
            return None
        if points_out(sentence.text, words, self._grammar) or self._read.speaks_of_nobody(sentence.text, words):
            return None
        worded = self._worded(number)
        if worded is None:
            return None
        if worded.first:  # what tied it to others is gone, and what that said with it
            cues = by_cues(Words.of(worded.text), self._page.language)
        figures = figures_of(worded.text, words, self._page.language, self._grammar) if has_number else NOTHING
        return self._claim(number, worded, cues, figures, first=is_first)

    def _worded(self, number: int) -> Worded | None:
        """A sentence without ties to others, with its subject by name."""
        sentence, opening = self._sentences[number], self._subjects.opening(number)
        named = self._subjects.of(number)
        if named is None or (opening.verb < 0 and sentence.kind == "item"):
            return None
        text = tidy(named.in_place(sentence.text, self._subjects.theme)[opening.start :])
        return Worded(text[:1].upper() + text[1:], named, opening.start)

    def _claim(self, number: int, worded: Worded, cues: Points, figures: Figures, *, first: bool) -> Claim | None:
        page, sentence = self._page, self._sentences[number]
        text, named = worded.text, worded.subject
        same = text == sentence.text
        opening = self._subjects.opening(number) if same else opening_of(text, self._grammar)
        of_theme = named.name == self._subjects.theme.name
        looks = Looks(
            text, cues, opening.verb, figures.quantities, figures.dates, of_theme, first, sentence.section == 0
        )
        typed = type_of(looks)
        if typed is None:
            return None
        hedges = hedges_in(text, page.language)
        signals = signals_of(page, sentence, self._read.margin)
        put_in: PutIn = "" if named.end <= named.start else "before" if named.found else "title"
        score = score_of(
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


def _quotes(page: PageDoc, sentence: Sentence, worded: Worded) -> tuple[Quote, ...]:
    """The sentence, and the place that the name was taken from which stands for its pronoun."""
    own = span(page, sentence.start + worded.first, sentence.end)
    found = worded.subject.found
    return (own, span(page, *found)) if found else (own,)


def _scope(text: str, named: Named, subject: int) -> str:
    """The subject, with the phrase before it that says where or when the claim holds."""
    before = text[:subject].strip(" ,") if 0 < subject <= LONGEST_SCOPE else ""
    return f"{named.name} ({before[:1].lower()}{before[1:]})" if before else named.name
