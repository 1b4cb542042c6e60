"""Whether a pronoun means the subject, judged by the names between the subject and 'he' or 'his'."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.kin.extract.name_lists import TextSpan
from kiwiresearch.kin.extract.subject import ArticlePerson, SentenceSpan
from kiwiresearch.kin.language import ENGLISH, regex
from kiwiresearch.kin.names import name_words, sex_of_name
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold

Referent = Literal["subject", "relative", "other"]

# Room for the longest word of `governed` and the space after it.
MAX_GOVERNING_GAP = 12


def governing_word(text: str, start: int, at: int) -> str:
    """The word before a name that makes it an object, such as 'with' or 'of'; empty if there is none."""
    found = ENGLISH.governed.search(text[max(start, at - MAX_GOVERNING_GAP) : at])
    return found[0].strip() if found else ""


@dataclass(frozen=True, slots=True)
class CapitalizedWords:
    """The words a page capitalises in the middle of sentences: of people and of places."""

    persons: frozenset[str]
    also_lowercase: frozenset[str]
    """Words that the page also writes without a capital."""
    place_names: frozenset[str]
    """Words that follow 'in', 'at' or 'near' at least one time in three."""


def capitalized_words(page: PageDoc, subject: ArticlePerson) -> CapitalizedWords:
    counts: Counter[str] = Counter()
    placed: Counter[str] = Counter()
    for found in ENGLISH.mid_sentence.finditer(page.text[: page.sections[-1].end]):
        plain = fold(found[0])
        counts[plain] += 1
        placed[plain] += found[1] in ("in", "at", "near")
    # Names of people seldom follow these words; names of places do in at least a third of the cases.
    places = frozenset(word for word, count in counts.items() if placed[word] * 3 >= count)
    small = frozenset(fold(word) for word in regex.findall(r"(?<![\p{L}\-])\p{Ll}+", page.text))
    return CapitalizedWords(frozenset(counts) - subject.name_tokens - places, small, places - subject.name_tokens)


def is_fronted(
    text: str, sentence: SentenceSpan, owner: TextSpan, anchors: list[TextSpan], capitals: CapitalizedWords
) -> bool:
    """Whether 'his' is in a phrase before the main clause, and that clause begins with another person."""
    if not ENGLISH.fronted.fullmatch(text, sentence.start, owner.start) or text[owner.start].isupper():
        return False
    own = (anchor for anchor in anchors if not governing_word(text, sentence.start, anchor.start))
    stop = next((anchor.start for anchor in own), sentence.end)
    kin = ENGLISH.kin_noun.match(text, owner.end, sentence.end) or ENGLISH.wedded.match(text, owner.end, sentence.end)
    named = ENGLISH.run_after_kin.match(text[kin.end() : sentence.end]) if kin else None
    begin = kin.end() + (named.end() if named else 0) if kin else owner.end
    if named and ENGLISH.verb_after.match(text, begin + (text[begin : begin + 1] == ","), sentence.end):
        return False  # 'From then on his son, Ned Carter, became': this is the main clause
    known = name_words()
    wedding = kin and not ENGLISH.kin_noun.match(text, owner.end, sentence.end)
    comma = text.find(",", begin, sentence.end)
    main_clause = comma if comma >= 0 else sentence.end
    stretch = main_clause + OPENS_WITHIN if wedding else sentence.end
    return any(
        fold(found[0].split()[0]) in capitals.persons | known.honorifics | known.male | known.female
        and not ENGLISH.place_before.search(text[sentence.start : found.start()])
        for found in ENGLISH.capital_run.finditer(text, begin, max(begin, min(stop, stretch)))
    )


OPENS_WITHIN = 60
"""How far into the main clause its subject may be."""


def refers_to_subject(
    text: str,
    sentence: SentenceSpan,
    at: int,
    start: Referent,
    subject: ArticlePerson,
    named: list[TextSpan],
    capitals: CapitalizedWords,
) -> bool:
    """Whether a pronoun means the subject: no other person is named between the two."""
    if text.count("(", sentence.start, at) > text.count(")", sentence.start, at):
        return False  # in brackets it may mean the person the brackets are about
    if start == "other" and not _is_only_opposite(text, sentence, at, subject):
        return False
    if at == sentence.start or (start == "subject" and ENGLISH.born_there.fullmatch(text, sentence.start, at)):
        return True
    own = [span.end for span in named if span.end <= at and not governing_word(text, sentence.start, span.start)]
    begin = max(own, default=sentence.start)
    # From the last mention of the subject on, without brackets and quotes.
    between = ASIDES.sub(lambda inside: " " * len(inside[0]), text[begin:at])
    if not own and start == "subject" and ENGLISH.with_partner.fullmatch(between):
        return True
    if _is_owned_by_another(between, capitals):
        return False
    if start == "relative" and ENGLISH.parallel.search(text, begin, at):
        return True
    # Each capitalised run in between is passed over if it cannot be the antecedent; the first that can ends the search.
    placed = -1
    for found in ENGLISH.capital_run.finditer(between):
        tokens = [fold(token) for token in ENGLISH.cap.findall(found[0]) if len(token) > 1]
        if found.start() == 0 and begin == sentence.start:
            tokens = tokens[1:]  # every sentence begins with a capital
        tokens = [
            token for token in tokens if token not in subject.name_tokens and token not in ENGLISH.words["sure_months"]
        ]
        if len(tokens) == 1 and (tokens[0] in name_words().ranks or _is_month(between, found.start(), found.end())):
            continue
        if ENGLISH.regnal.search(found[0]) and not subject.mention.match(found[0]):
            return False  # 'George III', on the page of George IV
        if subject.sex and sex_of_name(found[0]) not in ("", subject.sex):
            continue  # the pronoun cannot mean a person of the other sex
        if (
            not tokens
            or tokens[0] in capitals.place_names
            or {tokens[0], tokens[-1]} & (ENGLISH.words["buildings"] | ENGLISH.places)
        ):
            continue
        before = between[: found.start()]
        if before.endswith((" name ", " title ")) or ENGLISH.own_name_before.search(before):
            continue  # 'took the name Paul'
        if before.endswith(" as ") and ENGLISH.as_what.match(between, found.end()):
            continue
        if ENGLISH.conceded.fullmatch(before) and ENGLISH.verb_after.match(between, found.end()):
            return False
        if ENGLISH.relative_named.search(before):
            return False  # 'his brother Ned'
        if ENGLISH.placed.search(before) and (len(tokens) == 1 or ENGLISH.in_place.search(before)):
            placed = found.end()
            continue
        if placed >= 0 and len(tokens) == 1 and ENGLISH.and_or.fullmatch(between[placed : found.start()]):
            continue  # 'in Ust-Kut and Verkholensk'
        if subject.sex and (ENGLISH.before_woman if subject.sex == "male" else ENGLISH.before_man).search(before):
            continue
        if subject.sex == "male" and ENGLISH.gave_birth_to.match(between, found.end()):
            continue  # a woman, whatever her name
        if (
            own
            and not ENGLISH.and_his.search(between)
            and ENGLISH.touched.search(before)
            and not ENGLISH.goes_on_with.match(between, found.end())
        ):
            continue  # an object of what the subject does: 'Carter met Ned, and he'
        return False
    return True


def _is_only_opposite(text: str, sentence: SentenceSpan, at: int, subject: ArticlePerson) -> bool:
    """'Beatrice died, and in 1321 he married': the only person named before cannot be 'he'."""
    opposite = subject.opposite
    runs = list(ENGLISH.capital_run.finditer(text, sentence.start, at))
    first = subject.opposite_opens(text, sentence.start)
    if not opposite or not runs or not (first or sex_of_name(runs[0][0]) == opposite):
        return False
    if not ENGLISH.new_part.search(text[sentence.start : at]):
        return False
    return all(
        sex_of_name(run[0]) == opposite
        or ENGLISH.placed.search(text[sentence.start : run.start()])
        or fold(run[0]) in ENGLISH.words["sure_months"]
        for run in runs[1:]
    )


# '(a smith)' and '“the Lion”', but not a bracket within a bracket.
ASIDES = regex.compile(r"\([^()]*\)|[\"“][^\"“”]*[\"”]")


def _is_month(between: str, start: int, end: int) -> bool:
    """'On 2 April 1836': a month that can also be a name has a number next to it."""
    if between[start:end].split()[-1] not in ENGLISH.words["months_or_names"]:
        return False
    return bool(ENGLISH.day_before.search(between[:start]) or regex.match(r",?\s+\d", between[end:]))


def _is_owned_by_another(between: str, capitals: CapitalizedWords) -> bool:
    """'the king and his' consort, 'Later, Ned and his wife': the pronoun belongs to the noun just before it."""
    found = ENGLISH.noun_and.search(between)
    if found and ENGLISH.human.fullmatch(found[1]):
        return True
    named = ENGLISH.name_and.search(between)
    first = fold(named[1].split()[0]) if named else ""
    known = name_words()
    return first in (capitals.persons | known.male | known.female | known.honorifics) - ENGLISH.places - ENGLISH.nobody
