"""Sentences that speak of the page's person: who 'he' is, and whose 'his' it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.spans import CAP, MONTHS, NAME, Span
from kiwiresearch.kin.extract.subject import Sentence, Subject, sentences_of
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.names import name_words
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold

State = Literal["subject", "relative", "other"]

COUPLE = regex.compile(r"(?:They|The couple|The pair|Together,? they|Their)\b")
MARRIED = regex.compile(
    r"\b(?:married|marriage|marry|wed|wedding|wife|husband|couple|had (?:\w+ ){1,2}(?:sons?|daughters?|"
    r"child|children))\b",
    regex.IGNORECASE,
)
MID_SENTENCE = regex.compile(rf"(?<=\b\p{{Ll}}{{2,15}} ){CAP}")
PLACED = regex.compile(
    r"(?:\b(?:in|at|near|from|to|on|of|the|into|through|until|since|during|University|County),?\s+|,\s+)$"
)
PARALLEL = regex.compile(r"(?:,|;|,? and|,? while)\s+$")
SKIPPED_HEADINGS = regex.compile(
    r"\b(?:fiction|popular culture|legacy|trivia|see also|references|in art|portrayals?|depictions?|"
    r"ancest\w+|memorials?)\b",
    regex.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence, and what its pronouns stand for. Offsets are those of the page's text."""

    start: int
    end: int
    state: State
    """Whom a pronoun at the start of the sentence means."""
    couple: bool
    """Whether 'they' are the subject and a spouse."""
    anchors: tuple[Span, ...]
    """Where the sentence names the subject, or a pronoun surely means it."""
    owners: tuple[Span, ...]
    """Where 'his', 'her' or the name with an apostrophe means the subject."""
    early: bool
    """Whether it is one of the first two sentences of the lead."""


def clauses_of(page: PageDoc, subject: Subject, words: FamilyWords) -> Iterator[Clause]:
    """The sentences of the article in order, with whom their pronouns mean."""
    persons = {fold(found[0]) for found in MID_SENTENCE.finditer(page.text[: page.sections[-1].end])} - subject.tokens
    state: State = "subject"
    couple = False
    block = -1
    count = 0
    for sentence in sentences_of(page):
        if SKIPPED_HEADINGS.search(page.sections[sentence.section].heading):
            continue
        if sentence.start < subject.opening.start or page.text[sentence.start] in '"“':
            continue
        if sentence.block != block:
            couple = couple and bool(COUPLE.match(page.text, sentence.start, sentence.end))
            state, block = "subject", sentence.block
            if sentence.kind == "item":
                state = "other"
        text = page.text[sentence.start : sentence.end]
        start = _starts_with(text, state, subject, persons, words)
        clause = _clause(page, sentence, start, subject, persons, couple=couple, early=count < 2)
        count += 1
        yield clause
        state = start
        couple = _couple_after(text, clause, couple=couple)


def _couple_after(text: str, clause: Clause, *, couple: bool) -> bool:
    """Whether 'they' in the next sentence are the subject and a spouse."""
    if COUPLE.match(text) or not MARRIED.search(text):
        return couple
    if clause.state == "other":
        return couple and bool(regex.match(r"(?:He|She|His|Her)\b", text))
    return bool(clause.anchors or clause.owners)


def _is_whole(text: str, start: int, at: int, persons: set[str]) -> bool:
    """Whether a name is not the end of somebody else's: 'Hulagu Khan', 'Dafydd ap Llywelyn'."""
    before = regex.search(r"([\p{L}\p{M}'’\-]+\.?)\s+$", text[start:at])
    if not before:
        return True
    word = before[1]
    if word in PARTICLES_BEFORE:
        return False
    plain = fold(word)
    known = name_words()
    if not word[0].isupper() or plain in known.honorifics or plain in known.particles:
        return True
    return before.start() == 0 and plain not in persons and plain not in known.male and plain not in known.female


PARTICLES_BEFORE = frozenset(
    [
        "ap",
        "ab",
        "ferch",
        "verch",
        "ibn",
        "bin",
        "bint",
        "mac",
        "van",
        "von",
        "de",
        "da",
        "di",
        "af",
        "y",
        "e",
        "del",
        "la",
    ]
)
GOVERNED = regex.compile(r"\b(?:with|of|by|to|between|among|for|against|than|from|under|after|upon|into|and)\s+$")


def _starts_with(text: str, state: State, subject: Subject, persons: set[str], words: FamilyWords) -> State:
    """Whom the sentence is about, by its first words."""
    first = regex.match(r"[\"“'(\s]*(\p{L}[\p{L}\p{M}'’\-]*)", text)
    word = first[1].lower() if first else ""
    if word == subject.pronoun:
        return "subject" if state == "subject" else "other"
    if word == subject.possessive:
        return "other" if state == "other" else "relative"
    if word in ("he", "she", "his"):
        return "other"
    mention = subject.mention.search(text)
    named = NAME.match(text)
    if mention and mention.start() == 0:
        owner = regex.match(r"['’]s?\s", text[mention.end() :])
        return "relative" if owner else "subject"
    if named and _is_other(named[0], subject, persons, words):
        return "other"
    return "subject" if mention and _first_person(text[: mention.start()], persons) else state


def _first_person(before: str, persons: set[str]) -> bool:
    """Whether no other person is named before."""
    for found in regex.finditer(CAP, before):
        if found.start() > 0 and fold(found[0]) in persons and not PLACED.search(before[: found.start()]):
            return False
    return True


def _is_other(name: str, subject: Subject, persons: set[str], words: FamilyWords) -> bool:
    tokens = [fold(token) for token in regex.findall(r"[\p{L}\p{M}'’\-]+", name)]
    if not tokens or tokens[0] in words.nobody or tokens[0] in words.places:
        return False
    if set(tokens) <= subject.tokens:
        return False
    known = name_words()
    return len(tokens) > 1 or tokens[0] in persons or tokens[0] in known.male or tokens[0] in known.female


def _clause(
    page: PageDoc, sentence: Sentence, start: State, subject: Subject, persons: set[str], *, couple: bool, early: bool
) -> Clause:
    text = page.text
    anchors: list[Span] = []
    owners: list[Span] = []
    for found in subject.mention.finditer(text, sentence.start, sentence.end):
        after = regex.match(r"['’]s?(?=\s)", text[found.end() : found.end() + 4])
        if not _is_whole(text, sentence.start, found.start(), persons):
            continue
        if after:
            owners.append(Span(found.start(), found.end() + after.end()))
        else:
            anchors.append(Span(*found.span()))
    if subject.pronoun:
        for found in regex.finditer(
            rf"\b(?:{subject.pronoun}|{subject.possessive})\b",
            text,
            regex.IGNORECASE,
            pos=sentence.start,
            endpos=sentence.end,
        ):
            if not _means_subject(text, sentence, found.start(), start, subject, anchors + owners):
                continue
            span = Span(*found.span())
            (anchors if found[0].lower() == subject.pronoun else owners).append(span)
    return Clause(sentence.start, sentence.end, start, couple, tuple(sorted(anchors)), tuple(sorted(owners)), early)


def _means_subject(text: str, sentence: Sentence, at: int, start: State, subject: Subject, named: list[Span]) -> bool:
    """Whether a pronoun means the subject: nobody else is named between the subject and it."""
    if start == "other" or text.count("(", sentence.start, at) > text.count(")", sentence.start, at):
        return False
    if at == sentence.start:
        return True
    own = [span.end for span in named if span.end <= at and not GOVERNED.search(text, sentence.start, span.start)]
    begin = max(own, default=sentence.start)
    between = text[begin:at]
    if start == "relative" and PARALLEL.search(text, begin, at):
        return True
    for found in regex.finditer(CAP, between):
        if (found.start() == 0 and begin == sentence.start) or len(found[0]) < 2:
            continue
        plain = fold(found[0])
        if plain in subject.tokens or plain in MONTHS or PLACED.search(between[: found.start()]):
            continue
        return False
    return True
