"""What a brief speaks of: definitions, timeline, mechanisms, key actors."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from kiwiresearch.brief.brief import Group, Moment
from kiwiresearch.brief.outline import Outline
from kiwiresearch.brief.stating import stated
from kiwiresearch.brief.support import Said
from kiwiresearch.brief.weighing import Scales
from kiwiresearch.brief.wording import folded, likeness
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.tables import is_known
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.when import Dated

DATA = files("kiwiresearch.brief") / "data"
MOST_CONCEPTS = 6
MOST_MOMENTS = 20
MOST_MECHANISMS = 5
MOST_IN_GROUP = 3
MOST_ACTORS = 10
ALIKE = 0.45
"""Statements with more words in common than this repeat each other."""
LEAST = 0.3
"""What has less than this share of the best one's weight is not about the topic."""


def definitions(said: Sequence[Said], outline: Outline, scales: Scales) -> tuple[Group, ...]:
    """What the terms mean that the brief uses, where a page that was read says so; the most used first."""
    uses = _uses(outline)
    first: dict[str, Said] = {}
    for one in sorted(said, key=lambda one: (one.best.quotes[0].start, one.best.id)):
        if _is_of_its_page(one) and scales.is_opening(one.best):
            first.setdefault(folded(one.best.page_title), one)
    # Of a country, a person or what the text has defined, a later sentence is no definition either.
    terms = {
        name: one
        for name, one in first.items()
        if not _is_actor(one) and not PLACE.search(one.best.text) and not outline.has(one.best)
    }
    rows = [(uses[name], one) for name, one in terms.items() if uses[name] and scales.page(one.best.ref) >= NEAR]
    rows.sort(key=lambda row: (-row[0], -scales.page(row[1].best.ref), row[1].best.id))
    return tuple(Group(one.best.subject, (stated(one),)) for _, one in rows[:MOST_CONCEPTS])


def _uses(outline: Outline) -> Counter[str]:
    """How often the sentences used so far link to a page, by its title."""
    return Counter(folded(name) for claim in outline.claims for name in claim.names)


def _is_of_its_page(said: Said) -> bool:
    """Whether a claim stands in the introduction of the page about its subject, and says what that is."""
    claim = said.best
    title = re.sub(r"\s*\([^()]*\)\s*$", "", claim.page_title)
    if (
        claim.section
        or claim.type != "definition"
        or folded(claim.subject) not in (folded(title), folded(claim.page_title))
    ):
        return False
    if folded(title) not in folded(claim.text) and claim.put_in != "title":
        return False
    # Where there are no rules for a language, only first sentences are claims.
    return DEFINES.search(claim.text) is not None or not is_known(said.claims[0].language)


NEAR = 0.25
"""A page with less than this share of the best one's weight has little to do with the topic."""
PLACE = re.compile(
    r"\b(?:is|are|was) (?:an?|the|one of)\b(?: [\w’'-]+){0,6}? (?:country|continents?|capital|city|state|republic|"
    r"nation|province|governorate|monarchy|democracy|region|peninsula|town|village|island|islands|river|lake|mountain|"
    r"sea|ocean|county|municipality|language|founding members)\b"
)
DEFINES = re.compile(
    r"\b(?:is|are|was|were)\s+(?:an?|the|any|one|defined|used)\b(?! (?:current|few|following|founding|member))"
    r"|\brefers? to\b|\bmeans\b|\bconsists? of\b"
)


def timeline(said: Sequence[Said], scales: Scales, *, most: int = MOST_MOMENTS) -> tuple[Moment, ...]:
    """What happened when, in the order of time."""
    dated = [
        one
        for one in said
        if one.best.dates
        and "timeline" in (one.best.type, *one.best.also)
        and not one.best.depends_on
        and scales.speaks_of(one.claims[0])
        and scales.is_own(one.best)
        and not words_of(scales.language(one.best.ref)).is_minor(one.best.section)
        and _main_date(one.best) is not None
    ]
    if not dated:
        return ()
    least = LEAST * dated[0].points
    chosen: list[Said] = []
    for one in dated:
        if len(chosen) == most or one.points < least:
            break
        if not any(likeness(one.stems, other.stems) > ALIKE for other in chosen):
            chosen.append(one)
    return in_time([_moment(one) for one in chosen])


def in_time(moments: Sequence[Moment]) -> tuple[Moment, ...]:
    """Moments in the order of time."""
    return tuple(sorted(moments, key=lambda moment: (moment.earliest, moment.latest, moment.statement.text)))


def begins_with_date(said: Said) -> bool:
    """Whether a sentence opens with its date: 'In 1772', 'On 5 May 1821'."""
    date = _main_date(said.best)
    return date is not None and date.start <= EARLY


EARLY = 8


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


def mechanisms(said: Sequence[Said], scales: Scales) -> tuple[Group, ...]:
    """Explanations that the running text leaves out, by the headings of their pages."""
    causal = [
        one
        for one in said
        if "causal" in (one.best.type, *one.best.also) and not one.best.depends_on and scales.is_about(one.claims[0])
    ]
    groups: dict[str, list[Said]] = {}
    kept: list[Said] = []
    for one in causal:
        if one.points < LEAST * causal[0].points or any(likeness(one.stems, other.stems) > ALIKE for other in kept):
            continue
        heading = one.best.section or one.best.page_title
        if len(groups.get(heading, ())) < MOST_IN_GROUP and (heading in groups or len(groups) < MOST_MECHANISMS):
            groups.setdefault(heading, []).append(one)
            kept.append(one)
    return tuple(Group(heading, tuple(map(stated, members))) for heading, members in groups.items())


def actors(said: Sequence[Said], outline: Outline, scales: Scales) -> tuple[Group, ...]:
    """People, peoples and bodies that the brief speaks of, the most named first, and who they were."""
    uses = _uses(outline)
    found: dict[str, tuple[int, Said]] = {}
    for one in said:
        name = folded(one.best.page_title)
        if uses[name] and _is_actor(one) and name not in found and not outline.has(one.best):
            found[name] = (uses[name], one)
    rows = sorted(found.values(), key=lambda row: (-row[0], -scales.page(row[1].best.ref), row[1].best.id))
    return tuple(Group(one.best.subject, (stated(one),)) for _, one in rows[:MOST_ACTORS])


def _is_actor(said: Said) -> bool:
    claim = said.best
    if not _is_of_its_page(said):
        return False
    after = re.split(r"\b(?:is|was|were|are)\b", claim.text, maxsplit=1)
    what = re.split(r",|;|\(|\b(?:of|in|from|that|which|who|whose|on|at|for|to|by|with)\b", after[-1], maxsplit=1)[0]
    words = re.findall(r"[a-z]+", what.lower())
    return bool(words) and words[-1] in _actor_words("eng")


@cache
def _actor_words(language: str) -> frozenset[str]:
    return frozenset(" ".join(_table(language)["actors"]).split())


@cache
def _table(language: str) -> dict[str, list[str]]:
    return tomllib.loads((DATA / f"{language}.toml").read_text(encoding="utf-8"))
