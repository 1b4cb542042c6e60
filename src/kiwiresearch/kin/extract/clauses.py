"""Sentences that speak of the page's person: who 'he' is, and whose 'his' it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.openings import KIN_SEX, OF_EITHER, is_of_other_sex, leaves_pronoun, starts_with
from kiwiresearch.kin.extract.patterns import regex
from kiwiresearch.kin.extract.pronouns import (
    GOVERNED,
    KIN,
    RELATIVE_NAMED,
    Capitals,
    State,
    capitals_of,
    is_fronted,
    means_subject,
)
from kiwiresearch.kin.extract.spans import CAP, Span
from kiwiresearch.kin.extract.subject import Sentence, Subject, sentences_of
from kiwiresearch.kin.extract.words import FamilyWords
from kiwiresearch.kin.names import name_words
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold

COUPLE = regex.compile(r"(?:They|The couple|The pair|The two|Together,? they|Their)\b")
MARRIED = regex.compile(
    r"\b(?:married|marriage|marry|wed|wedding|wife|husband|couple|(?:had|fathered) (?:\w+ ){1,2}(?:sons?|daughters?|"
    r"child|children)|and \w+['’]s (?:\w+ )?(?:son|daughter|child))\b",
    regex.IGNORECASE,
)
MET = regex.compile(r"\b(?:met|introduced to|proposed to|fell in love with|engaged to)\b")
SKIPPED_HEADINGS = regex.compile(
    r"\b(?:fiction|popular culture|media|adaptations?|appearances|characters?|legacy|trivia|see also|references|"
    r"in art|portrayals?|depictions?|ancest\w+|memorials?)\b",
    regex.IGNORECASE,
)
LIFE_HEADINGS = regex.compile(r"\b(?:life|childhood|youth|years|family|birth|early)\b", regex.IGNORECASE)


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
    met: int | None
    """Where the sentence before begins, if it tells that the subject met somebody."""


def clauses_of(page: PageDoc, subject: Subject, words: FamilyWords) -> Iterator[Clause]:
    """The sentences of the article in order, with whom their pronouns mean."""
    capitals = capitals_of(page, subject)
    state: State = "subject"
    couple = False
    block = -1
    count = 0
    met: int | None = None
    told = ""
    for sentence in sentences_of(page):
        heading = page.sections[sentence.section].heading
        if SKIPPED_HEADINGS.search(heading) and not LIFE_HEADINGS.search(heading):
            continue
        if sentence.start < subject.opening.start or page.text[sentence.start] in '"“':
            continue
        if sentence.block != block:
            couple = couple and bool(COUPLE.match(page.text, sentence.start, sentence.end))
            state, block, met, told = "subject", sentence.block, None, ""
            if sentence.kind == "item":
                state = "other"
        text = page.text[sentence.start : sentence.end]
        start = starts_with(text, state, subject, capitals, words)
        if start == "other" and _is_other_parent(text, told, subject):
            start = "relative"
        told = told + text if start == "relative" else told
        clause = _clause(page, sentence, start, subject, capitals, words, couple=couple, early=count < 2, met=met)
        count += 1
        yield clause
        aside = start == "other" and state == "subject" and is_of_other_sex(text, subject, capitals)
        if start == "relative" and leaves_pronoun(text, subject, capitals):
            state = "subject"
        elif not aside:
            state = start
        if state == "subject" and _ends_with_relative(page.text, clause, subject):
            state = "relative"
        couple = _couple_after(text, clause, couple=couple, ahead=met is not None)
        if not aside:
            met = clause.start if _has_met(page.text, clause, subject) else None


def _is_other_parent(text: str, told: str, subject: Subject) -> bool:
    """'His father was a smith. He was rich. His mother …': whose mother it is, the sentence on the father tells."""
    found = regex.match(r"(?i:his|her) (father|mother)\b(?!['’])", text)
    if not found or not text.lower().startswith(subject.possessive or "?"):
        return False
    return bool(regex.match(rf"\P{{Lu}}*(?:\p{{Lu}}\S*\s){{1,4}}?{PARENTS[found[1]]}\b", told))


PARENTS = {"father": "mother", "mother": "father"}


def _has_met(text: str, clause: Clause, subject: Subject) -> bool:
    """Whether the subject met somebody, and not somebody else."""
    found = MET.search(text, clause.start, clause.end)
    if found and clause.state == "subject" and text[clause.start : found.start()].endswith(f" {subject.pronoun} "):
        return bool(clause.anchors)
    ends = [anchor.end for anchor in clause.anchors if found and anchor.end <= found.start()]
    return bool(found and ends and not regex.search(CAP, text[ends[-1] : found.start()]))


def _couple_after(text: str, clause: Clause, *, couple: bool, ahead: bool) -> bool:
    """Whether 'they' in the next sentence are the subject and a spouse."""
    if COUPLE.match(text):
        own = text.startswith("The couple") and bool(clause.anchors or clause.owners)
        return couple or own or (ahead and bool(regex.search(r"\bmarried\b", text)))
    if not MARRIED.search(text):
        return couple
    if clause.state == "other":
        return couple and bool(regex.match(r"(?:He|She|His|Her)\b", text))
    return couple or bool(clause.anchors or clause.owners)


def _ends_with_relative(text: str, clause: Clause, subject: Subject) -> bool:
    """'… but Dufferin's father did not': 'he' in the next sentence may be the father."""
    last = max((anchor.end for anchor in clause.anchors), default=clause.start)
    for owner in clause.owners:
        kin = KIN.match(text, owner.end, clause.end)
        named = text[owner.start : owner.end].lower() != subject.possessive
        if kin and named and owner.start > last and not GOVERNED.search(text, clause.start, owner.start):
            return KIN_SEX.get(kin["kind"], "") == subject.sex
    return False


def _is_whole(text: str, start: int, at: int, capitals: Capitals) -> bool:
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
    return before.start() == 0 and plain in capitals.small and plain not in known.male and plain not in known.female


def _is_of_spouse(mention: str, subject: Subject) -> bool:
    """'Mrs. Carter', on the page of Mr. Carter."""
    title = mention.split()[0].rstrip(".").lower()
    known = name_words()
    return title in {"male": known.female_titles, "female": known.male_titles}.get(subject.sex, frozenset())


def _is_otherwise_titled(page: PageDoc, start: int, at: int, subject: Subject) -> bool:
    """'Earl Carter', on the page of a Carter whom the lead calls no earl: it may be a first name."""
    before = regex.search(r"(\p{Lu}\p{Ll}+)\s+$", page.text[start:at])
    if not before or fold(before[1]) not in name_words().honorifics:
        return False
    return before[1].lower() not in page.text[subject.opening.start : subject.opening.end].lower()


def _is_parallel(text: str, sentence: Sentence, at: int, end: int, owners: list[Span]) -> bool:
    """'his brother Ned was a smith, and his sister': both have the same owner."""
    kin = KIN.match(text, end, sentence.end)
    before = [owner for owner in owners if KIN.match(text, owner.end, at)]
    return bool(
        kin and before and not OF_EITHER.match(kin["kind"]) and regex.search(r"[,;] and\s+$", text[sentence.start : at])
    )


WIFE_NAMED = regex.compile(r"\b(?:his|her)\s+(?:\p{Ll}+\s+)?(?:wife|husband|queen|consort),?\s+$")
"""'his wife, Queen Anna', on the page of another Anna."""
WITH_ANOTHER = regex.compile(
    rf"\s+and\s+(?:(?:his|her)\s+(?:wife|husband),?\s+)?{CAP}(?:\s+{CAP}){{0,2}}['’]s?"
    r"(?=\s+(?:\p{Ll}+\s+){0,2}(?:sons?|daughters?|child|children)\b)"
)
"""'Carter and Ruth's first son'."""
PARTICLES_BEFORE = frozenset(
    ["ap", "ab", "ferch", "verch", "ibn", "bin", "bint", "mac", "van", "von", "de", "da", "di", "af", "y", "e", "la"]
)


def _clause(
    page: PageDoc,
    sentence: Sentence,
    start: State,
    subject: Subject,
    capitals: Capitals,
    words: FamilyWords,
    *,
    couple: bool,
    early: bool,
    met: int | None,
) -> Clause:
    text = page.text
    anchors: list[Span] = []
    owners: list[Span] = []
    for found in subject.mention.finditer(text, sentence.start, sentence.end):
        after = regex.match(r"['’]s?(?=\s)", text[found.end() : found.end() + 4])
        if not _is_whole(text, sentence.start, found.start(), capitals) or _is_of_spouse(found[0], subject):
            continue
        if _is_otherwise_titled(page, sentence.start, found.start(), subject):
            continue
        told = RELATIVE_NAMED.search(text, sentence.start, found.start())
        if (told and "," not in told[0]) or WIFE_NAMED.search(text, sentence.start, found.start()):
            continue
        if after:
            owners.append(Span(found.start(), found.end() + after.end()))
        else:
            anchors.append(Span(*found.span()))
            joint = WITH_ANOTHER.match(text, found.end(), sentence.end)
            if joint:
                owners.append(Span(found.start(), joint.end()))
    if subject.pronoun:
        for found in regex.finditer(
            rf"\b(?:{subject.pronoun}|{subject.possessive})\b",
            text,
            regex.IGNORECASE,
            pos=sentence.start,
            endpos=sentence.end,
        ):
            told = means_subject(text, sentence, found.start(), start, subject, anchors + owners, capitals, words)
            if not told and not _is_parallel(text, sentence, found.start(), found.end(), owners):
                continue
            span = Span(*found.span())
            (anchors if found[0].lower() == subject.pronoun else owners).append(span)
    owners = [span for span in owners if not is_fronted(text, sentence, span, anchors, capitals)]
    spans = tuple(sorted(anchors)), tuple(sorted(owners))
    return Clause(sentence.start, sentence.end, start, couple, *spans, early, met)
