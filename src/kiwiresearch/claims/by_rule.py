"""Claims by rule: the sentences, tables and boxes of a page that say something, in words that stand alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from kiwiresearch.claims.by_table import claims_of_boxes, claims_of_tables
from kiwiresearch.claims.claim import Claim, ClaimType, Leans, PutIn, Signals
from kiwiresearch.claims.confidence import score_of
from kiwiresearch.claims.measures import measures_in
from kiwiresearch.claims.opening import opening_of
from kiwiresearch.claims.sentence import Margin, Sentence, sentences_of
from kiwiresearch.claims.subjects import Named, Subjects
from kiwiresearch.claims.tables import Grammar, grammar_of, is_known
from kiwiresearch.claims.types import Looks, Points, Words, by_cues, may_have_type, type_of
from kiwiresearch.evidence.quote import Quote, span
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.hit import Score
from kiwiresearch.text.hedges import Hedge, hedges_in
from kiwiresearch.text.quantities import Quantity, quantities_in
from kiwiresearch.text.when import Dated, dates_in

SHORTEST, LONGEST, LONGEST_STATEMENT = 25, 320, 420
FEWEST_ITEMS, LONGEST_LIST = 2, 600
MOST_TAGS = 8
JUNK = ("{{", "}}", "[[", "]]", "||", "http://", "https://", "ISBN", "@")
CLOSING = "\"'”’)]"
POINTS_BACK = re.compile(
    r"\b(?:[Tt]his|[Tt]hese)\b(?! (?:day|is|are|was|were)\b)|\b[Ss]uch (?!as\b)\w+|\b[Ss]imilar\b(?! (?:to|in|size)\b)"
    r"|\bhere\b"
)


POINTS_ELSEWHERE = re.compile(
    r"\b(?:please see|see also|see main article)\b|, see [A-Z]|\(see (?:also|below|above)\b", re.IGNORECASE
)


SMALL_PRONOUN = re.compile(r"[A-Z][a-z]+,? (?:they|these|those|he|she)\b")
"""'Today they are seen …'"""
IN_ORDER = frozenset({"finally", "eventually", "at first", "initially"})
ENDS_IN_PRONOUN = re.compile(r"^[^,;:]{1,80}\b(?:it|them|him)[.!?]$")
"""'The frost closed it.'"""


class Worded(NamedTuple):
    """A sentence in words that stand alone."""

    text: str
    subject: Named
    first: int
    """Where in the sentence the words begin that were kept."""


Wanted = Callable[[str, tuple[str, ...]], bool]
"""Whether a sentence, below these headings, is wanted also where it is of no type."""


def all_sentences(_text: str, _headings: tuple[str, ...]) -> bool:
    """Every sentence is wanted."""
    return True


def no_sentences(_text: str, _headings: tuple[str, ...]) -> bool:
    """Only claims that have a type are wanted."""
    return False


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
        self._book_name = book_name
        self._wanted = wanted
        self._grammar = grammar_of(page.language)
        self._sentences = list(sentences_of(page))
        self._subjects = Subjects(page, self._grammar, self._sentences)
        self._margin = Margin(page)
        self._headings = [page.headings(number) for number in range(len(page.sections))]

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
                yield from self._list(number)
            elif typed is None or typed.put_in or (number == first and sentence != whole):
                statement = self._statement(number, whole if whole and number == first else sentence)
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
        if points_out(sentence.text, words, self._grammar) or self._speaks_of_nobody(sentence.text, words):
            return None
        worded = self._worded(number)
        if worded is None:
            return None
        if worded.first:  # what tied it to others is gone, and what that said with it
            cues = by_cues(Words.of(worded.text), self._page.language)
        facts = facts_of(worded.text, words, self._page.language, self._grammar) if has_number else NOTHING
        return self._claim(number, worded, cues, facts, first=is_first)

    def _statement(self, number: int, sentence: Sentence) -> Claim | None:
        """What a sentence says, in its own words: by itself, or behind the one before it in its paragraph."""
        if not is_whole(sentence, LONGEST_STATEMENT) or not self._wanted(
            sentence.text, self._headings[sentence.section]
        ):
            return None
        if POINTS_ELSEWHERE.search(sentence.text):
            return None
        named, leans = self._subjects.of(number), self._leans(number, sentence)
        if leans == "before" and not self._goes_on(number):
            return None
        if sentence.kind == "item" and self._subjects.opening(number).verb < 0:
            return None
        start = 0 if leans == "before" else self._subjects.opening(number).start
        name = self._subjects.theme.name if named is None else named.name
        cut = sentence._replace(text=sentence.text[start:], start=sentence.start + start)
        return self._stated(cut, name, leans)

    def _list(self, number: int) -> Iterator[Claim]:
        """'The drugs are:' and the items below it, as one statement; as many items as a reader takes in."""
        sentence, items = self._sentences[number], list[Sentence]()
        for item in self._sentences[number + 1 :]:
            if item.kind != "item" or item.section != sentence.section or item.block > sentence.block + len(items) + 1:
                break
            if item.end - sentence.start > LONGEST_LIST:
                break
            items.append(item)
        is_wanted = self._wanted(sentence.text, self._headings[sentence.section])
        # Its verb may be missing or far away, so only a pronoun at its beginning counts.
        begins = sentence.text[self._subjects.opening(number).subject :].partition(" ")[0].lower()
        leans: Leans = "before" if begins in self._grammar.genders else ""
        if (
            len(items) < FEWEST_ITEMS
            or not is_wanted
            or (leans == "before" and not self._goes_on(number))
            or points_out(sentence.text, Words.of(sentence.text), self._grammar)
        ):
            return
        follows = self._sentences[number + len(items) + 1 : number + len(items) + 2]
        is_cut = bool(follows) and follows[0].kind == "item" and follows[0].section == sentence.section
        text = f"{sentence.text} {'; '.join(item.text.rstrip(' .;,') for item in items)}{'; …' if is_cut else '.'}"
        yield self._stated(sentence._replace(text=text, end=items[-1].end), self._subjects.theme.name, leans)

    def _goes_on(self, number: int) -> bool:
        """Whether a sentence has one before it in its paragraph."""
        return number > 0 and self._sentences[number - 1].block == self._sentences[number].block

    def _leans(self, number: int, sentence: Sentence) -> Leans:
        """What a sentence can only be read with, if it cannot be read by itself."""
        named, words = self._subjects.of(number), Words.of(sentence.text)
        opening = self._subjects.opening(number)
        if (
            named is None
            or (opening.start == 0 and self._is_tied(sentence.text))
            or ENDS_IN_PRONOUN.search(sentence.text) is not None
            or (named.end <= named.start and SMALL_PRONOUN.match(sentence.text) is not None)
            or points_out(sentence.text, words, self._grammar)
            or self._speaks_of_nobody(sentence.text, words)
        ):
            return "before"
        if named.end <= named.start:
            return ""
        is_subject = self._subjects.theme.is_person and named.name == self._subjects.theme.name
        return "subject" if is_subject and named.found is None else "before"

    def _is_tied(self, text: str) -> bool:
        """Whether a sentence begins with a word that ties it to what was said: 'However', 'Finally', not 'Today'."""
        found = self._grammar.connective.match(text)
        words = found[0].strip(" ,").lower() if found else ""
        return bool(words) and (words not in self._grammar.kept_connectives or words in IN_ORDER)

    def _stated(self, sentence: Sentence, subject: str, leans: Leans = "") -> Claim:
        """A statement in the words of a sentence, or of a list."""
        text = tidy(" ".join(sentence.text.split()))
        text = text[:1].upper() + text[1:]
        facts = facts_of(text, Words.of(text), self._page.language, self._grammar)
        hedges = hedges_in(text, self._page.language)
        signals = signals_of(self._page, sentence, self._margin)
        score = score_of(signals, hedges, length=len(text), has_name=NAMED_BEFORE.search(text, 1) is not None)
        quotes = (span(self._page, sentence.start, sentence.end),)
        return self._made(
            sentence,
            text,
            "statement",
            subject,
            quotes,
            facts,
            hedges=hedges,
            signals=signals,
            score=score,
            leans=leans,
        )

    def _speaks_of_nobody(self, text: str, words: Words) -> bool:
        """Whether a sentence on a page about no person speaks of a 'he' or 'she' whom it has not named before."""
        if self._subjects.theme.is_person or SOMEBODY.isdisjoint(words.different):
            return False
        found = SOMEBODY_THERE.search(text)
        return found is not None and not NAMED_BEFORE.search(text, 1, found.start()) and found.start() > 0

    def _worded(self, number: int) -> Worded | None:
        """A sentence without ties to others, with its subject by name."""
        sentence, opening = self._sentences[number], self._subjects.opening(number)
        named = self._subjects.of(number)
        if named is None or (opening.verb < 0 and sentence.kind == "item"):
            return None
        text = tidy(named.in_place(sentence.text, self._subjects.theme)[opening.start :])
        return Worded(text[:1].upper() + text[1:], named, opening.start)

    def _claim(self, number: int, worded: Worded, cues: Points, facts: Facts, *, first: bool) -> Claim | None:
        page, sentence = self._page, self._sentences[number]
        text, named = worded.text, worded.subject
        same = text == sentence.text
        opening = self._subjects.opening(number) if same else opening_of(text, self._grammar)
        of_theme = named.name == self._subjects.theme.name
        looks = Looks(text, cues, opening.verb, facts.quantities, facts.dates, of_theme, first, sentence.section == 0)
        typed = type_of(looks)
        if typed is None:
            return None
        hedges = hedges_in(text, page.language)
        signals = signals_of(page, sentence, self._margin)
        put_in: PutIn = "" if named.end <= named.start else "before" if named.found else "title"
        score = score_of(
            signals,
            hedges,
            points=typed.points,
            put_in=put_in,
            length=len(text),
            about_the_page=of_theme,
            has_name=NAMED_BEFORE.search(text, 1) is not None,
        )
        made = self._made(
            sentence,
            text,
            typed.type,
            named.name,
            _quotes(page, sentence, worded),
            facts,
            hedges=hedges,
            signals=signals,
            score=score,
        )
        scope = _scope(text, named, opening.subject)
        leans: Leans = "before" if not put_in and SMALL_PRONOUN.match(text) else ""
        return replace(made, also=typed.also, scope=scope, put_in=put_in, leans=leans)

    def _made(
        self,
        sentence: Sentence,
        text: str,
        kind: ClaimType,
        subject: str,
        quotes: tuple[Quote, ...],
        facts: Facts,
        *,
        hedges: tuple[Hedge, ...],
        signals: Signals,
        score: Score,
        leans: Leans = "",
    ) -> Claim:
        page = self._page
        section = page.sections[sentence.section]
        links = self._margin.links(sentence.start, sentence.end)
        names = tuple(dict.fromkeys(link.text for link in links if link.text))
        return Claim(
            text=text,
            type=kind,
            subject=subject,
            scope=subject,
            quotes=quotes,
            page_title=page.title,
            section=section.heading,
            anchor=section.anchor,
            headings=self._headings[sentence.section],
            book_name=self._book_name,
            tags=_tags(subject, section.heading, names),
            hedges=hedges,
            signals=signals,
            measures=measures_in(text, facts.quantities, facts.dates, subject, self._grammar),
            dates=tuple(facts.dates),
            names=names,
            score=score,
            leans=leans,
        )


def to_the_point(sentence: Sentence, verb: int) -> Sentence:
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


def is_whole(sentence: Sentence, longest: int = LONGEST) -> bool:
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


def points_out(text: str, words: Words, grammar: Grammar) -> bool:
    """Whether a sentence points at something outside itself that no name can stand for."""
    if not POINTERS.isdisjoint(words.different) and POINTS_BACK.search(text):
        return True
    found = grammar.dangling.keys() & words.different
    if not found:
        return False
    padded = words.padded
    return any(phrase in padded for word in sorted(found) for phrase in grammar.dangling[word])


class Facts(NamedTuple):
    """The numbers and dates of a sentence."""

    quantities: Sequence[Quantity]
    dates: Sequence[Dated]


def is_counting(text: str, words: Words, grammar: Grammar) -> bool:
    """Whether a sentence may have numbers or dates at all."""
    # A pattern for the ten figures alone is five times as fast.
    figure = ASCII_FIGURE if text.isascii() else FIGURE
    return figure.search(text) is not None or _has_number_word(words, grammar)


def _has_number_word(words: Words, grammar: Grammar) -> bool:
    """'Ten years', and also 'a ten-year war'."""
    if not grammar.number_words.isdisjoint(words.different):
        return True
    return any(word.partition("-")[0] in grammar.number_words for word in words.different if "-" in word)


def facts_of(text: str, words: Words, language: str, grammar: Grammar) -> Facts:
    """The numbers and dates of a sentence; where all figures belong to dates, nothing else is looked for."""
    dates = dates_in(text, language)
    spans = [(one.start, one.end) for one in dates]
    left = not _has_number_word(words, grammar) and all(
        any(start <= found.start() < end for start, end in spans) for found in FIGURE.finditer(text)
    )
    return Facts((), dates) if left else Facts(quantities_in(text, language, not_in=spans), dates)


NOTHING = Facts((), ())
FIGURE = re.compile(r"\d+")
ASCII_FIGURE = re.compile("[0-9]")
POINTERS = frozenset({"this", "these", "such", "similar", "here"})
SOMEBODY = frozenset({"he", "she", "his", "her", "him"})
SOMEBODY_THERE = re.compile(r"\b(?:he|she|his|her|him)\b")
NAMED_BEFORE = re.compile(r"\b[A-Z]")
ENDS = frozenset(".!?…;")


def tidy(text: str) -> str:
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


def _quotes(page: PageDoc, sentence: Sentence, worded: Worded) -> tuple[Quote, ...]:
    """The sentence, and the place that the name was taken from which stands for its pronoun."""
    own = span(page, sentence.start + worded.first, sentence.end)
    found = worded.subject.found
    return (own, span(page, *found)) if found else (own,)


def signals_of(page: PageDoc, sentence: Sentence, margin: Margin) -> Signals:
    """What the page shows about how well a sentence is founded."""
    marks = margin.marks(sentence.start, sentence.end)
    kinds = [mark.kind for mark in marks]
    return Signals(
        references=kinds.count("reference"),
        section_references=page.sections[sentence.section].references,
        page_references=page.signals.references,
        citation_needed="citation needed" in kinds,
        disputed="disputed" in kinds,
        stub=page.signals.stub.holds,
    )


def _scope(text: str, named: Named, subject: int) -> str:
    """The subject, with the phrase before it that says where or when the claim holds."""
    before = text[:subject].strip(" ,") if 0 < subject <= LONGEST_SCOPE else ""
    return f"{named.name} ({before[:1].lower()}{before[1:]})" if before else named.name


LONGEST_SCOPE = 60


def _tags(subject: str, heading: str, names: Sequence[str]) -> tuple[str, ...]:
    words = [subject, heading, *names]
    return tuple(dict.fromkeys(word.lower() for word in words if word))[:MOST_TAGS]
