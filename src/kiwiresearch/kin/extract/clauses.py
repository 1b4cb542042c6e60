"""Sentences that speak of the page's person: who 'he' is, and whose 'his' it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.lexicon import CAP, NAME, FamilyWords, Span, regex
from kiwiresearch.kin.extract.mentions import (
    KIN_SEX,
    OF_EITHER,
    WITH_ANOTHER,
    is_mention,
    leaves_pronoun_to_subject,
    names_only_other_sex,
    sentence_referent,
)
from kiwiresearch.kin.extract.pronouns import (
    DOES,
    KIN,
    PLACED,
    RUN,
    CapitalisedWords,
    Referent,
    capitalised_words,
    governing_word,
    is_fronted,
    refers_to_subject,
)
from kiwiresearch.kin.extract.subject import PageSubject, SentenceSpan, sentences_of
from kiwiresearch.kin.names import sex_of_name
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.words import fold

COUPLE = regex.compile(r"(?:They|The couple|The pair|The two|Together,? they|Their)\b")
THE_COUPLE = regex.compile(r"\b[Tt]he couple(?:['’]s)?\b|^(?:One of their|Their) (?:\w+ )?(?:son|daughter|child)")
MARRIED = regex.compile(
    r"\b(?:married|marriage|marry|wed|wedding|wife|husband|couple|(?:had|fathered) (?:\w+ ){1,2}(?:sons?|daughters?|"
    r"child|children)|and \w+['’]s (?:\w+ )?(?:son|daughter|child))\b",
    regex.IGNORECASE,
)
MET = regex.compile(
    r"\b(?:met|introduced to|proposed to|fell in love with|engaged to|(?:relationship|affair) with|courted|courting|"
    r"dating|dated)\b"
)
SKIPPED_HEADINGS = regex.compile(
    r"\b(?:fiction|popular culture|media|adaptations?|appearances|characters?|trivia|see also|references|"
    r"in art|portrayals?|depictions?)\b",
    regex.IGNORECASE,
)
LONGEST = 1_400
"""No sentence that anybody wrote is longer, and one made to be is not read: the time grows with its square."""
EARLY = 25
"""So far down a page 'He was born' is said of its person."""
LEGACY_HEADINGS = regex.compile(r"\b(?:legacy|legend\w*|ancest\w+|memorials?|descendants)\b", regex.IGNORECASE)
"""Sections that speak of others as well: a paragraph there is about the person only where it says so."""
LIFE_HEADINGS = regex.compile(r"\b(?:life|childhood|youth|years|family|birth|early)\b", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence, and what its pronouns stand for. Offsets are those of the page's text."""

    start: int
    end: int
    referent: Referent
    """Whom a pronoun at the start of the sentence means."""
    couple: bool
    """Whether 'they' are the subject and a spouse."""
    anchors: tuple[Span, ...]
    """Where the sentence names the subject, or a pronoun surely means it."""
    owners: tuple[Span, ...]
    """Where 'his', 'her' or the name with an apostrophe means the subject."""
    early: bool
    """Whether it is one of the first two sentences of the lead."""
    met_sentence_start: int | None
    """Where the sentence before begins, if it tells that the subject met somebody."""


def clauses_of(page: PageDoc, subject: PageSubject, words: FamilyWords) -> Iterator[Clause]:
    """The sentences of the article in order, with whom their pronouns mean."""
    capitals = capitalised_words(page, subject)
    state: Referent = "subject"
    couple = False
    block = -1
    count = 0
    met: int | None = None
    told = ""
    wed = False
    for sentence in sentences_of(page):
        heading = page.sections[sentence.section].heading
        if SKIPPED_HEADINGS.search(heading) and not LIFE_HEADINGS.search(heading):
            continue
        if sentence.start < subject.opening.start or page.text[sentence.start] in '"“':
            continue
        if sentence.end - sentence.start > LONGEST:
            continue
        if sentence.block != block:
            couple = couple and bool(COUPLE.match(page.text, sentence.start, sentence.end))
            state, block, met, told = "subject", sentence.block, None, ""
            if LEGACY_HEADINGS.search(heading) and not LIFE_HEADINGS.search(heading):
                state = "other"
            if sentence.kind == "item" and not WITH_KIN.match(page.text, sentence.start, sentence.end):
                state = "other"
        text = page.text[sentence.start : sentence.end]
        start = sentence_referent(text, state, subject, capitals, words)
        if start == "other" and count < EARLY and _is_of_birth(text, subject):
            start = "subject"
        if start == "other" and state == "subject" and IS_HIS_KIN.match(text):
            start = "subject"
        if start == "other" and _is_other_parent(text, told, subject):
            start = "relative"
        told = told + text if start == "relative" else told
        if wed and state != "other" and sentence.kind == "paragraph" and THE_COUPLE.search(text):
            couple = True
        clause = _clause(page, sentence, start, subject, capitals, words, couple=couple, early=count < 2, met=met)
        count += 1
        yield clause
        aside = start == "other" and state == "subject" and names_only_other_sex(text, subject, capitals)
        if start == "relative" and leaves_pronoun_to_subject(text, subject, capitals):
            state = "subject"
        elif not aside:
            state = start
        if start == "other" and _ends_with_subject(page.text, clause, subject, capitals):
            state = "subject"
        if state == "subject" and _ends_with_relative(page.text, clause, subject):
            state = "relative"
        told_of = bool(clause.anchors or clause.owners or COUPLE.match(text))
        wed = wed or (state == "subject" and told_of and bool(MARRIED.search(text)))
        couple = _couple_after(text, clause, couple=couple, ahead=met is not None)
        if not aside:
            met = clause.start if _has_met(page.text, clause, subject) else None


def _is_of_birth(text: str, subject: PageSubject) -> bool:
    """'He was born', 'She was the eldest of': said of the person, near the top of a page."""
    said = BIRTH_SENTENCE.match(text)
    return bool(said and said[1].lower() == subject.pronoun)


IS_HIS_KIN = regex.compile(
    rf"{NAME.pattern}\s+(?:was|is|became)\s+(?:his|her)\s+(?:[\w\-]+\s+){{0,2}}"
    r"(?:father|mother|wife|husband|son|daughter|brother|sister)\b"
)
"""'Ann Hay was his mother'."""
BIRTH_SENTENCE = regex.compile(
    r"(He|She) was (?:born|named after|christened|baptised|"
    r"the (?:[\w\-]+ )?(?:son|daughter|child|of (?:\w+ )?children)\b)"
)


def _is_other_parent(text: str, told: str, subject: PageSubject) -> bool:
    """'His father was a smith. He was rich. His mother …': whose mother it is, the sentence on the father tells."""
    found = regex.match(
        r"(?:(?:Through|By|From|On|In|At|With|When|After)\b[^,;.]{0,40}?,?\s)?(?i:(his|her)) (father|mother)\b(?!['’])",
        text,
    )
    if not found or found[1].lower() != subject.possessive:
        return False
    return bool(regex.match(r"\P{Lu}*(?:\p{Lu}\S*\s){1,4}?(?:father|mother|parents)\b", told))


WITH_KIN = regex.compile(
    r"(?:His|Her|By (?:his|her))\s+(?:[\w\-]+\s+){0,4}?(?:wife|husband|son|daughter|father|mother)\b"
)
"""'His third wife was': an item of a list about the person."""


def _has_met(text: str, clause: Clause, subject: PageSubject) -> bool:
    """Whether the subject met somebody, and not somebody else."""
    found = MET.search(text, clause.start, clause.end)
    if found and clause.referent == "subject" and text[clause.start : found.start()].endswith(f" {subject.pronoun} "):
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
    if clause.referent == "other":
        return couple and bool(regex.match(r"(?:He|She|His|Her)\b", text))
    return couple or bool(clause.anchors or clause.owners)


def _ends_with_subject(text: str, clause: Clause, subject: PageSubject, capitals: CapitalisedWords) -> bool:
    """'Jane died in 1605, but Carter had left by then': the last who does something is the subject."""
    named = [
        one for one in clause.anchors if text[one.start].isupper() and NEW_CLAUSE.search(text, clause.start, one.start)
    ]
    if not named or not DOES.match(text, named[-1].end, clause.end):
        return False
    return not any(
        fold(run[0].split()[0]) in capitals.persons and not PLACED.search(text[clause.start : run.start()])
        for run in RUN.finditer(text, named[-1].end, clause.end)
        if sex_of_name(run[0]) in ("", subject.sex)
    )


NEW_CLAUSE = regex.compile(r"(?:,|;|\b(?:and|but|while|when|where|that|so))\s+$")


def _ends_with_relative(text: str, clause: Clause, subject: PageSubject) -> bool:
    """'… but Dufferin's father did not': 'he' in the next sentence may be the father."""
    last = max((anchor.end for anchor in clause.anchors), default=clause.start)
    for owner in clause.owners:
        kin = KIN.match(text, owner.end, clause.end)
        named = text[owner.start : owner.end].lower() != subject.possessive
        if kin and named and owner.start > last and not governing_word(text, clause.start, owner.start):
            return KIN_SEX.get(kin["kind"], "") == subject.sex
    return False


def _is_parallel(text: str, sentence: SentenceSpan, at: int, end: int, owners: list[Span]) -> bool:
    """'his brother Ned was a smith, and his sister': both have the same owner."""
    kin = KIN.match(text, end, sentence.end)
    before = [owner for owner in owners if KIN.match(text, owner.end, at)]
    return bool(
        kin and before and not OF_EITHER.match(kin["kind"]) and regex.search(r"[,;] and\s+$", text[sentence.start : at])
    )


def _clause(
    page: PageDoc,
    sentence: SentenceSpan,
    start: Referent,
    subject: PageSubject,
    capitals: CapitalisedWords,
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
        if not is_mention(page, sentence, found, subject, capitals):
            continue
        if after:
            owners.append(Span(found.start(), found.end() + after.end()))
        else:
            anchors.append(Span(*found.span()))
            joint = WITH_ANOTHER.match(text, found.end(), sentence.end)
            if joint:
                owners.append(Span(found.start(), joint.end()))
    roles = subject.role.finditer(text, sentence.start, sentence.end) if start == "subject" else ()
    owners.extend(Span(*found.span()) for found in roles if KIN.match(text, found.end(), sentence.end))
    if subject.pronoun:
        for found in regex.finditer(
            rf"\b(?:{subject.pronoun}|{subject.possessive})\b",
            text,
            regex.IGNORECASE,
            pos=sentence.start,
            endpos=sentence.end,
        ):
            told = refers_to_subject(text, sentence, found.start(), start, subject, anchors + owners, capitals, words)
            if not told and not _is_parallel(text, sentence, found.start(), found.end(), owners):
                continue
            span = Span(*found.span())
            (anchors if found[0].lower() == subject.pronoun else owners).append(span)
    owners = [span for span in owners if not is_fronted(text, sentence, span, anchors, capitals)]
    spans = tuple(sorted(anchors)), tuple(sorted(owners))
    return Clause(sentence.start, sentence.end, start, couple, *spans, early, met)
