"""What a brief speaks of: definitions, timeline, mechanisms, key actors."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from kiwiresearch.brief.brief import Group, Moment, Statement
from kiwiresearch.brief.stating import stated
from kiwiresearch.brief.support import Said
from kiwiresearch.brief.weighing import Scales, is_aside
from kiwiresearch.brief.wording import folded, likeness, same_name, stems_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.tables import is_known
from kiwiresearch.text.when import Dated

DATA = files("kiwiresearch.brief") / "data"
MOST_CONCEPTS = 12
MOST_MOMENTS = 28
MOST_MECHANISMS = 7
MOST_IN_GROUP = 5
MOST_OTHERS = 8
MOST_ACTORS = 10
ALIKE = 0.45
"""Statements with more words in common than this repeat each other."""
LEAST = 0.3
"""What has less than this share of the best one's weight is not about the topic."""


def definitions(said: Sequence[Said], scales: Scales) -> tuple[Group, ...]:
    """What the most important pages say that their subject is, the topic's own first."""
    first: dict[str, Said] = {}
    for one in sorted(said, key=lambda one: (one.best.quotes[0].start, one.best.id)):
        if _is_of_its_page(one):
            first.setdefault(folded(one.best.subject), one)
    places = any(PLACE.search(one.best.text) for one in of_the_topic(said, scales))
    best = {name: one for name, one in first.items() if _belongs(one.best, scales, places=places)}
    chosen = sorted(best.values(), key=lambda one: (-_standing(one.best, scales), -one.points, one.best.id))
    return tuple(Group(one.best.subject, (stated(one),)) for one in chosen[:MOST_CONCEPTS])


def _belongs(claim: Claim, scales: Scales, *, places: bool) -> bool:
    """Whether a concept has to do with the topic: the pages about it speak of it, and it is no mere place."""
    if scales.is_seed(claim):
        return True
    if claim.type != "definition" or claim.text.startswith(("In ", "During ", "Since ", "For ")):
        return False
    if PLACE.search(claim.text) and not places:
        return False
    weight = scales.page(claim.ref)
    return weight >= WEIGHTY or (weight >= KNOWN and scales.is_named(claim.page_title))


WEIGHTY, KNOWN = 0.65, 0.15
PLACE = re.compile(
    r"\b(?:is|are|was) (?:an?|the|one of)\b(?: [\w’'-]+){0,6}? (?:country|continents?|capital|city|state|republic|"
    r"nation|province|governorate|monarchy|democracy|region|peninsula|founding members)\b"
)


def of_the_topic(said: Sequence[Said], scales: Scales) -> list[Said]:
    """What the first page about the topic says that it is, if it says so."""
    own = [one for one in said if one.best.type == "definition" and scales.is_seed(one.best) and _is_of_its_page(one)]
    return sorted(own, key=lambda one: (-scales.page(one.best.ref), one.best.quotes[0].start, one.best.id))[:1]


def _standing(claim: Claim, scales: Scales) -> float:
    """How much a page matters: by what it says of the topic, and by whether the pages on the topic speak of it."""
    is_seed = SEED if scales.is_seed(claim) else 0.0
    return is_seed + scales.page(claim.ref) + NAMED * scales.is_named(claim.page_title)


SEED, NAMED = 2.0, 0.4


def _is_of_its_page(said: Said) -> bool:
    """Whether a definition stands in the introduction of the page about its subject, and says what that is."""
    claim = said.best
    title = re.sub(r"\s*\([^()]*\)\s*$", "", claim.page_title)
    if claim.section or folded(claim.subject) not in (folded(title), folded(claim.page_title)):
        return False
    # Where there are no rules for a language, only first sentences are claims.
    return DEFINES.search(claim.text) is not None or not is_known(said.claims[0].language)


DEFINES = re.compile(
    r"\b(?:is|are|was|were)\s+(?:an?|the|any|one|defined|used)\b(?! (?:current|few|following|founding|member))"
    r"|\brefers? to\b|\bmeans\b|\bconsists? of\b"
)


def timeline(said: Sequence[Said], scales: Scales) -> tuple[Moment, ...]:
    """What happened when, in the order of time."""
    dated = [
        one
        for one in said
        if one.best.dates
        and "timeline" in (one.best.type, *one.best.also)
        and scales.is_about(one.claims[0])
        and not is_aside(one.best.section)
        and _main_date(one.best) is not None
    ]
    if not dated:
        return ()
    least = LEAST * dated[0].points
    chosen: list[Said] = []
    for one in dated:
        if len(chosen) == MOST_MOMENTS or one.points < least:
            break
        if not any(likeness(one.stems, other.stems) > ALIKE for other in chosen):
            chosen.append(one)
    moments = [_moment(one) for one in chosen]
    return tuple(sorted(moments, key=lambda moment: (moment.earliest, moment.latest, moment.statement.text)))


def _moment(one: Said) -> Moment:
    date = _main_date(one.best) or one.best.dates[0]
    words = worded_dates(one.best.text, date)[-1]
    return Moment(words, date.when.earliest, date.when.latest, stated(one))


def worded_dates(text: str, date: Dated) -> tuple[str, ...]:
    """A date in the words of its sentence; what happened 'not until 1820' happened in 1820."""
    words = text[date.start : date.end]
    told = [words[:1].upper() + words[1:]]
    if text[: date.start].endswith("not ") and words.startswith("until "):
        told.append(words.removeprefix("until "))
    return tuple(told)


def _main_date(claim: Claim) -> Dated | None:
    """The date a claim turns on: one at its start, else the first that is not said in brackets or beside the point.

    None where the sentence begins with a day whose year is not told: then its date is of something else.
    """
    if DAY_ONLY.match(claim.text):
        return None
    main = [date for date in claim.dates if not _in_brackets(claim.text, date.start)]
    beside = [date for date in main if not BESIDE.search(claim.text[max(date.start - BESIDE_CHARS, 0) : date.start])]
    exact = [date for date in beside or main if date.when.precision not in ("millennium", "age")]
    return next(iter(exact or beside or main), None)


DAY_ONLY = re.compile(r"(?:On|In|By) (?:the )?(?:\d{1,2} )?[A-Z][a-z]+(?: \d{1,2})?,? (?!\d{3,4}\b|of \d)(?=[a-z])")
BESIDE = re.compile(
    r"\b(?:although|though|who|whom|founded|until|born|died|since|before|after)\b[^,;]*$", re.IGNORECASE
)
BESIDE_CHARS = 40


def _in_brackets(text: str, at: int) -> bool:
    return text.count("(", 0, at) > text.count(")", 0, at)


def mechanisms(said: Sequence[Said], scales: Scales, topic: frozenset[str]) -> tuple[Group, ...]:
    """Explanations, by what they explain with: the name that most of them share first, but not the topic's own."""
    causal = [one for one in said if "causal" in (one.best.type, *one.best.also) and scales.is_about(one.claims[0])]
    if not causal:
        return ()
    least = LEAST * causal[0].points
    left = _different([one for one in causal if one.points >= least])
    groups = _by_section(left, scales)
    taken = {id(one) for members in groups.values() for one in members}
    left = [one for one in left if id(one) not in taken]
    while left and len(groups) < MOST_MECHANISMS:
        term, members = _largest(left, topic | {folded(heading) for heading in groups})
        if len(members) < 2:
            break
        groups[term] = members[:MOST_IN_GROUP]
        left = [one for one in left if one not in groups[term]]
    if left:
        groups["Other explanations" if groups else "Explanations"] = left[:MOST_OTHERS]
    return tuple(Group(heading, tuple(map(stated, members))) for heading, members in groups.items())


def _by_section(said: Sequence[Said], scales: Scales) -> dict[str, list[Said]]:
    """Explanations under the headings that the pages about the topic give them, and what others say of the same."""
    groups: dict[str, list[Said]] = {}
    for one in said:
        heading = one.best.section
        if scales.is_seed(one.best) and heading and folded(heading) not in dull_headings("eng"):
            groups.setdefault(heading, []).append(one)
    best = sorted(groups, key=lambda heading: (-sum(one.points for one in groups[heading]), heading))[:MOST_MECHANISMS]
    words = {heading: stems_of(heading, said[0].claims[0].language) for heading in best}
    for one in said:
        if scales.is_seed(one.best):
            continue
        heading = next((name for name in best if words[name] and words[name] <= one.stems), "")
        if heading:
            groups[heading].append(one)
    return {heading: groups[heading][:MOST_IN_GROUP] for heading in best}


def _different(said: Sequence[Said]) -> list[Said]:
    """Without those that repeat one before them."""
    kept: list[Said] = []
    for one in said:
        if not any(likeness(one.stems, other.stems) > ALIKE for other in kept):
            kept.append(one)
    return kept


def _largest(said: Sequence[Said], used: frozenset[str]) -> tuple[str, list[Said]]:
    """The name that the most weight of explanations has in common, and those that have it."""
    members: dict[str, list[Said]] = defaultdict(list)
    for one in said:
        for name in dict.fromkeys(_term(term) for term in (one.best.subject, *one.best.names)):
            if name:
                members[name].append(one)
    rows = [(term, group) for term, group in members.items() if folded(term) not in used and len(group) > 1]
    if not rows:
        return "", []
    return min(rows, key=lambda row: (-sum(one.points for one in row[1][:MOST_IN_GROUP]), row[0]))


def _term(name: str) -> str:
    """A name fit for a heading: short, and no number; 'the Hittites' and 'Hittites' are one."""
    plain = re.sub(r"^(?:the|a|an)\s+", "", name.strip(), flags=re.IGNORECASE)
    if not 3 <= len(plain) <= 40 or len(plain.split()) > 4 or any(char.isdigit() for char in plain):
        return ""
    return plain[:1].upper() + plain[1:]


def actors(said: Sequence[Said], scales: Scales) -> tuple[Group, ...]:
    """People, peoples and bodies that the claims about the topic are about."""
    who = [one for one in said if _is_actor(one)]
    chosen = sorted(who, key=lambda one: (-_standing(one.best, scales), -one.points, one.best.id))
    groups: dict[str, Group] = {}
    for one in chosen:
        key = folded(one.best.subject)
        if key in groups or len(groups) == MOST_ACTORS:
            continue
        deeds = _deeds(one, said, scales)
        if deeds or scales.is_seed(one.best):
            groups[key] = Group(one.best.subject, (stated(one), *deeds))
    known = [*groups, *scales.seed_titles]
    return (*groups.values(), *_named_often(said, scales, known))


def _is_actor(said: Said) -> bool:
    claim = said.best
    if claim.type != "definition" or not _is_of_its_page(said):
        return False
    after = re.split(r"\b(?:is|was|were|are)\b", claim.text, maxsplit=1)
    what = re.split(r",|;|\(|\b(?:of|in|from|that|which|who|whose|on|at|for|to|by|with)\b", after[-1], maxsplit=1)[0]
    words = re.findall(r"[a-z]+", what.lower())
    return bool(words) and words[-1] in _actor_words("eng")


@cache
def _actor_words(language: str) -> frozenset[str]:
    return frozenset(" ".join(_table(language)["actors"]).split())


@cache
def dull_headings(language: str) -> frozenset[str]:
    """Headings that many pages have and that name nothing in particular."""
    return frozenset(folded(heading) for heading in _table(language)["dull_headings"])


@cache
def _table(language: str) -> dict[str, list[str]]:
    return tomllib.loads((DATA / f"{language}.toml").read_text(encoding="utf-8"))


def _deeds(actor: Said, said: Sequence[Said], scales: Scales) -> tuple[Statement, ...]:
    """What else is said of an actor that has most to do with the topic; nothing if nothing has."""
    for one in said:
        if one is actor or not scales.is_about(one.claims[0]) or likeness(one.stems, actor.stems) > ALIKE:
            continue
        if same_name(one.best.subject, actor.best.subject):
            return (stated(one),)
    return ()


def _named_often(said: Sequence[Said], scales: Scales, known: Sequence[str]) -> list[Group]:
    """People whom the pages about the topic speak of again and again, though no page about them was read."""
    found: dict[str, list[Said]] = defaultdict(list)
    for one in said:
        name = one.best.subject
        if scales.is_seed(one.best) and PERSON.fullmatch(name) and folded(name) not in known:
            found[name].append(one)
    rows = [(name, several) for name, several in found.items() if len(several) > 1]
    rows.sort(key=lambda row: (-len(row[1]), -row[1][0].points, row[0]))
    return [Group(name, tuple(map(stated, several[:2]))) for name, several in rows[:MOST_NAMED]]


MOST_NAMED = 5
PERSON = re.compile(r"[A-Z][\w’'-]+(?: [A-Z]\.)?(?: (?:de|von|van|da|di|la|le))?(?: [A-Z][\w’'-]+){1,2}")
