"""The sentences of a page with what their pronouns mean: who 'he' is, and whose 'his' it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.kin.extract.mentions import (
    birth_name_in,
    is_mention,
    leaves_pronoun_to_subject,
    names_only_other_sex,
    opening_kin,
    sentence_referent,
)
from kiwiresearch.kin.extract.name_lists import TextSpan
from kiwiresearch.kin.extract.pronouns import (
    CapitalizedWords,
    Referent,
    capitalized_words,
    governing_word,
    is_fronted,
    refers_to_subject,
)
from kiwiresearch.kin.extract.subject import ArticlePerson, SentenceSpan, sentences_of
from kiwiresearch.kin.language import ENGLISH, regex
from kiwiresearch.kin.names import name_words, sex_of_name
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold

MAX_SENTENCE = 1_400
"""Longer sentences are skipped: no author writes them, and the time grows with the square of the length."""
MEETING_WITHIN = 200
"""How far back a meeting may be that 'They were married' refers to, if nobody else was named since."""
EARLY_SENTENCES = 25
"""In this many sentences from the top 'He was born' is about the page's person."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence and what its pronouns mean; offsets are into the page's text."""

    start: int
    end: int
    opening_pronoun_means: Referent
    """Whom a pronoun at the start of the sentence means."""
    they_are_couple: bool
    """Whether 'they' are the subject and a spouse."""
    mentions: tuple[TextSpan, ...]
    """Where the sentence names the subject, or a pronoun surely means it."""
    possessives: tuple[TextSpan, ...]
    """Where 'his', 'her' or the name with an apostrophe means the subject."""
    early: bool
    """Whether it is one of the first two sentences of the lead."""
    meeting_starts: int | None
    """Where a sentence just before begins that says that the subject met someone."""


def clauses_of(page: PageDoc, subject: ArticlePerson) -> Iterator[Clause]:
    """The sentences of the article in order, with the meaning of their pronouns.

    `state` says whom a pronoun at the start of the next sentence means. Each paragraph starts with the
    subject; a sentence about another person hands the pronoun over, unless it names only people of the other sex.
    """
    capitals = capitalized_words(page, subject)
    state: Referent = "subject"
    couple = False
    block = section = -1
    count = 0
    met: int | None = None
    relative_text = ""
    wed = False  # unlike `met`, once true it stays true for the rest of the page
    for sentence in sentences_of(page):
        heading = page.sections[sentence.section].heading
        if ENGLISH.skipped_headings.search(heading) and not ENGLISH.life_headings.search(heading):
            continue
        if sentence.start < subject.opening.start:
            continue
        if page.text[sentence.start] in '"“':  # in a quotation 'he' may be anybody
            quoted = ENGLISH.quoted_first.match(page.text, sentence.start, sentence.end)
            if not quoted or not subject.mention.match(page.text, quoted.end()):
                continue
            sentence = sentence._replace(start=quoted.end())
        if sentence.end - sentence.start > MAX_SENTENCE:
            continue
        if sentence.block != block:
            couple = couple and bool(ENGLISH.couple.match(page.text, sentence.start, sentence.end))
            state, block, met, relative_text = "subject", sentence.block, None, ""
            # Sections on works and influence, and list items, are often about others.
            if ENGLISH.legacy_headings.search(heading) and not ENGLISH.life_headings.search(heading):
                state = "other"
            if sentence.kind == "item" and not ENGLISH.with_kin.match(page.text, sentence.start, sentence.end):
                state = "other"
        text = page.text[sentence.start : sentence.end]
        start = sentence_referent(text, state, subject, capitals)
        born_as = birth_name_in(page.text, sentence, heading, subject) if sentence.section != section else None
        section = sentence.section
        if born_as:
            start = "subject"
        if start == "other" and count < EARLY_SENTENCES and _is_of_birth(text, subject):
            start = "subject"
        if start == "other" and state == "subject" and ENGLISH.is_his_kin.match(text):
            start = "subject"
        if start == "other" and _is_other_parent(text, relative_text, subject):
            start = "relative"
        relative_text += text if start == "relative" else ""
        if wed and state != "other" and sentence.kind == "paragraph" and ENGLISH.the_couple.search(text):
            couple = True
        clause = _clause(
            page, sentence, start, subject, capitals, couple=couple, early=count < 2, met=met, born_as=born_as
        )
        count += 1
        yield clause
        # From here on, how the sentence ends: that decides whom the next 'he' means, whatever it began with.
        aside = start == "other" and state == "subject" and names_only_other_sex(text, subject, capitals)
        if start == "relative" and leaves_pronoun_to_subject(text, subject, capitals):
            state = "subject"
        elif not aside:
            state = start
        if start == "other" and _ends_with_subject(page.text, clause, subject, capitals):
            state = "subject"
        if state == "subject" and _ends_with_relative(page.text, clause, subject):
            state = "relative"
        if state == "subject" and _ends_with_other(page.text, clause, subject, capitals):
            state = "other"
        about_subject = bool(clause.mentions or clause.possessives or ENGLISH.couple.match(text))
        wed = wed or (state == "subject" and about_subject and bool(ENGLISH.married.search(text)))
        couple = _couple_after(text, clause, subject, couple=couple, ahead=met is not None)
        if not aside:
            is_near = met is not None and clause.start - met < MEETING_WITHIN
            if _has_met(page.text, clause, subject):
                met = clause.start
            elif not (is_near and met is not None and _names_nobody_new(page.text, met, clause, subject)):
                met = None


def _is_of_birth(text: str, subject: ArticlePerson) -> bool:
    """'He was born', 'She was the eldest of': said of the person, near the top of a page."""
    said = ENGLISH.birth_sentence.match(text)
    return bool(said and said[1].lower() == subject.pronoun)


def _is_other_parent(text: str, relative_text: str, subject: ArticlePerson) -> bool:
    """'His father was a smith. He was rich. His mother …' is about the subject's mother, not the father's."""
    found = ENGLISH.his_parent_opens.match(text)
    return bool(found and found[1].lower() == subject.possessive and ENGLISH.parents_named.match(relative_text))


def _has_met(text: str, clause: Clause, subject: ArticlePerson) -> bool:
    """Whether it is the subject who met someone."""
    found = ENGLISH.met.search(text, clause.start, clause.end)
    if (
        found
        and clause.opening_pronoun_means == "subject"
        and text[clause.start : found.start()].endswith(f" {subject.pronoun} ")
    ):
        return bool(clause.mentions)
    ends = [anchor.end for anchor in clause.mentions if found and anchor.end <= found.start()]
    if not found or not ends:
        return False
    between = text[ends[-1] : found.start()]
    return not ENGLISH.cap.search(between) or bool(ENGLISH.coordinated.fullmatch(between))


def _names_nobody_new(text: str, met: int, clause: Clause, subject: ArticlePerson) -> bool:
    """Whether a sentence after a meeting names only the two, or places."""
    known = {fold(word) for word in ENGLISH.cap.findall(text[met : clause.start])} | subject.name_tokens
    given = name_words().male | name_words().female
    return all(
        (run.start() == clause.start and " " not in run[0] and fold(run[0]) not in given)
        or ENGLISH.placed.search(text[clause.start : run.start()])
        or {fold(word) for word in ENGLISH.cap.findall(run[0])} <= known
        for run in ENGLISH.capital_run.finditer(text, clause.start, clause.end)
    )


def _couple_after(text: str, clause: Clause, subject: ArticlePerson, *, couple: bool, ahead: bool) -> bool:
    """Whether 'they' in the next sentence are the subject and a spouse."""
    if ENGLISH.couple.match(text):
        own = text.startswith("The couple") and bool(clause.mentions or clause.possessives)
        return couple or own or (ahead and bool(ENGLISH.married_word.search(text)))
    if not ENGLISH.married.search(text):
        return couple
    if clause.opening_pronoun_means == "relative" and _is_wedding_of_relative(text, subject):
        return False
    if clause.opening_pronoun_means == "other":
        return couple and bool(ENGLISH.pronoun_opens.match(text))
    return couple or bool(clause.mentions or clause.possessives)


def _is_wedding_of_relative(text: str, subject: ArticlePerson) -> bool:
    """'His younger sister married Tom Hay': 'they' in the next sentence are those two."""
    kin = opening_kin(text, subject)
    if kin is None or kin["kind"] in ENGLISH.spouses:
        return False
    return not ENGLISH.married.search(text, 0, kin.start("kind"))


def _ends_with_other(text: str, clause: Clause, subject: ArticlePerson, capitals: CapitalizedWords) -> bool:
    """'Carter had a son, and Ned never left Aue': 'he' in the next sentence may be Ned."""
    last = max((anchor.end for anchor in clause.mentions), default=clause.start)
    known, opening = name_words(), text[subject.opening.start : subject.opening.end]
    return any(
        ENGLISH.new_clause.search(text, clause.start, run.start())
        and ENGLISH.acts.match(text, run.end(), clause.end)
        and sex_of_name(run[0]) in ("", subject.sex)
        and run[0] not in opening
        and fold(run[0].split()[0]) in (capitals.persons - ENGLISH.places | known.male | known.female)
        for run in ENGLISH.capital_run.finditer(text, last, clause.end)
    )


def _ends_with_subject(text: str, clause: Clause, subject: ArticlePerson, capitals: CapitalizedWords) -> bool:
    """'Jane died in 1605, but Carter had left by then': the last who does something is the subject."""
    named = [
        span
        for span in clause.mentions
        if text[span.start].isupper() and ENGLISH.new_clause.search(text, clause.start, span.start)
    ]
    if not named or not ENGLISH.verb_after.match(text, named[-1].end, clause.end):
        return False
    return not any(
        fold(run[0].split()[0]) in capitals.persons and not ENGLISH.placed.search(text[clause.start : run.start()])
        for run in ENGLISH.capital_run.finditer(text, named[-1].end, clause.end)
        if sex_of_name(run[0]) in ("", subject.sex)
    )


def _ends_with_relative(text: str, clause: Clause, subject: ArticlePerson) -> bool:
    """'… but Dufferin's father did not': 'he' in the next sentence may be the father."""
    last = max((anchor.end for anchor in clause.mentions), default=clause.start)
    for owner in clause.possessives:
        kin = ENGLISH.kin_noun.match(text, owner.end, clause.end)
        named = text[owner.start : owner.end].lower() != subject.possessive
        if kin and named and owner.start > last and not governing_word(text, clause.start, owner.start):
            return ENGLISH.kin_sex.get(kin["kind"], "") == subject.sex
    return False


def _is_parallel(text: str, sentence: SentenceSpan, at: int, end: int, owners: list[TextSpan]) -> bool:
    """'his brother Ned was a smith, and his sister': both have the same owner."""
    kin = ENGLISH.kin_noun.match(text, end, sentence.end)
    before = [owner for owner in owners if ENGLISH.kin_noun.match(text, owner.end, at)]
    return bool(
        kin
        and before
        and not ENGLISH.of_either.match(kin["kind"])
        and regex.search(r"[,;] and\s+$", text[sentence.start : at])
    )


def _clause(
    page: PageDoc,
    sentence: SentenceSpan,
    start: Referent,
    subject: ArticlePerson,
    capitals: CapitalizedWords,
    *,
    couple: bool,
    early: bool,
    met: int | None,
    born_as: TextSpan | None,
) -> Clause:
    text = page.text
    anchors: list[TextSpan] = [born_as] if born_as else []
    owners: list[TextSpan] = []
    # Names first: each pronoun below is judged by what is named before it.
    for found in subject.mention.finditer(text, sentence.start, sentence.end):
        after = regex.match(r"['’]s?(?=\s)", text[found.end() : found.end() + 4])
        if not is_mention(page, sentence, found, subject, capitals):
            continue
        if after:
            owners.append(TextSpan(found.start(), found.end() + after.end()))
        else:
            anchors.append(TextSpan(*found.span()))
            joint = ENGLISH.with_another.match(text, found.end(), sentence.end)
            if joint:
                owners.append(TextSpan(found.start(), joint.end()))
    if start == "subject" and subject.sex == "male":
        widowed = (TextSpan(*found.span()) for found in ENGLISH.widower.finditer(text, sentence.start, sentence.end))
        anchors.extend(widowed)
    roles = subject.role.finditer(text, sentence.start, sentence.end) if start == "subject" else ()
    owners.extend(TextSpan(*found.span()) for found in roles if ENGLISH.kin_noun.match(text, found.end(), sentence.end))
    if subject.pronoun:
        pronouns = regex.compile(rf"\b(?:{subject.pronoun}|{subject.possessive})\b", regex.IGNORECASE)
        for found in pronouns.finditer(text, sentence.start, sentence.end):
            named = anchors + owners
            if refers_to_subject(text, sentence, found.start(), start, subject, named, capitals) or _is_parallel(
                text, sentence, found.start(), found.end(), owners
            ):
                (anchors if found[0].lower() == subject.pronoun else owners).append(TextSpan(*found.span()))
    owners = [span for span in owners if not is_fronted(text, sentence, span, anchors, capitals)]
    spans = tuple(sorted(anchors)), tuple(sorted(owners))
    return Clause(sentence.start, sentence.end, start, couple, *spans, early, met)
