"""Parts of a brief by rule: definitions, timeline, mechanisms, actors, and what is left open."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from kiwiresearch.brief.brief import Gap, StatementGroup, TimelineMoment
from kiwiresearch.brief.importance import ClaimWeights, folded_name
from kiwiresearch.brief.outline import Outline
from kiwiresearch.brief.sources import BriefOrigin
from kiwiresearch.brief.support import Assertion, is_hedged, statement_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.language import has_claim_tables
from kiwiresearch.messages.message import Message
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.similarity import jaccard
from kiwiresearch.text.when import DateMention
from kiwiresearch.zim.archive import EntryRef

DATA = files("kiwiresearch.brief") / "data"
MAX_CONCEPTS = 6
MAX_MOMENTS = 20
MAX_MECHANISMS = 5
MAX_IN_GROUP = 3
MAX_ACTORS = 10
REPEATED = 0.45
"""Statements with more words in common than this repeat each other."""
MIN_SHARE = 0.3
"""What has less than this share of the best one's weight is not about the topic."""


def definitions(said: Sequence[Assertion], outline: Outline, scales: ClaimWeights) -> tuple[StatementGroup, ...]:
    """What the terms mean that the brief uses, where a page that was read says so; the most used first."""
    uses = _uses(outline)
    first: dict[str, Assertion] = {}
    for one in sorted(said, key=lambda one: (one.best.quotes[0].start, one.best.id)):
        if _defines_its_page(one) and scales.is_opening(one.best):
            first.setdefault(folded_name(one.best.page_title), one)
    # Of a country, a person or what the text has defined, a later sentence is no definition either.
    terms = {
        name: one
        for name, one in first.items()
        if not _is_actor(one) and not PLACE.search(one.best.text) and not outline.is_used(one.best)
    }
    rows = [
        (uses[name], one)
        for name, one in terms.items()
        if uses[name] and scales.page_weight(one.best.ref) >= NEAR_TOPIC
    ]
    rows.sort(key=lambda row: (-row[0], -scales.page_weight(row[1].best.ref), row[1].best.id))
    return tuple(StatementGroup(one.best.subject, (statement_of(one),)) for _, one in rows[:MAX_CONCEPTS])


def _uses(outline: Outline) -> Counter[str]:
    """How often the sentences used so far link to a page, by its title."""
    return Counter(folded_name(name) for claim in outline.claims for name in claim.names)


def _defines_its_page(said: Assertion) -> bool:
    """Whether a claim stands in the introduction of the page about its subject, and says what that is."""
    claim = said.best
    title = re.sub(r"\s*\([^()]*\)\s*$", "", claim.page_title)
    if (
        claim.section
        or claim.type != "definition"
        or folded_name(claim.subject) not in (folded_name(title), folded_name(claim.page_title))
    ):
        return False
    if folded_name(title) not in folded_name(claim.text) and claim.put_in != "title":
        return False
    # Where there are no rules for a language, only first sentences are claims.
    return DEFINES.search(claim.text) is not None or not has_claim_tables(said.claims[0].language)


NEAR_TOPIC = 0.25
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


def timeline(said: Sequence[Assertion], scales: ClaimWeights, *, most: int = MAX_MOMENTS) -> tuple[TimelineMoment, ...]:
    """What happened when, in the order of time."""
    dated = [
        one
        for one in said
        if one.best.dates
        and "timeline" in (one.best.type, *one.best.also)
        and not one.best.depends_on
        and scales.is_mainly_about(one.claims[0])
        and scales.names_topic(one.best)
        and not language_words(scales.language(one.best.ref)).is_minor(one.best.section)
        and _main_date(one.best) is not None
    ]
    if not dated:
        return ()
    least = MIN_SHARE * dated[0].points
    chosen: list[Assertion] = []
    for one in dated:
        if len(chosen) == most or one.points < least:
            break
        if not any(jaccard(one.stems, other.stems) > REPEATED for other in chosen):
            chosen.append(one)
    return in_time_order([_moment(one) for one in chosen])


def in_time_order(moments: Sequence[TimelineMoment]) -> tuple[TimelineMoment, ...]:
    """Moments in the order of time."""
    return tuple(sorted(moments, key=lambda moment: (moment.earliest, moment.latest, moment.statement.text)))


def begins_with_date(said: Assertion) -> bool:
    """Whether a sentence opens with its date: 'In 1772', 'On 5 May 1821'."""
    date = _main_date(said.best)
    return date is not None and date.start <= LATEST_DATE_START


LATEST_DATE_START = 8


def _moment(one: Assertion) -> TimelineMoment:
    date = _main_date(one.best) or one.best.dates[0]
    words = worded_dates(one.best.text, date)[-1]
    return TimelineMoment(words, date.when.earliest, date.when.latest, statement_of(one))


def worded_dates(text: str, date: DateMention) -> tuple[str, ...]:
    """A date in the words of its sentence; what happened 'not until 1820' happened in 1820."""
    words = text[date.start : date.end]
    told = [words[:1].upper() + words[1:]]
    if text[: date.start].endswith("not ") and words.startswith("until "):
        told.append(words.removeprefix("until "))
    return tuple(told)


def _main_date(claim: Claim) -> DateMention | None:
    """The date a claim turns on: one at its start, else the first that is not said in brackets or beside the point.

    None where the sentence begins with a day whose year is not told: then its date is of something else.
    """
    if DAY_ONLY.match(claim.text):
        return None
    main = [date for date in claim.dates if not _in_brackets(claim.text, date.start)]
    beside = [
        date
        for date in main
        if not SECONDARY_DATE.search(claim.text[max(date.start - SECONDARY_DATE_CHARS, 0) : date.start])
    ]
    exact = [date for date in beside or main if date.when.precision not in ("millennium", "age")]
    return next(iter(exact or beside or main), None)


DAY_ONLY = re.compile(r"(?:On|In|By) (?:the )?(?:\d{1,2} )?[A-Z][a-z]+(?: \d{1,2})?,? (?!\d{3,4}\b|of \d)(?=[a-z])")
SECONDARY_DATE = re.compile(
    r"\b(?:although|though|who|whom|founded|until|born|died|since|before|after)\b[^,;]*$", re.IGNORECASE
)
SECONDARY_DATE_CHARS = 40


def _in_brackets(text: str, at: int) -> bool:
    return text.count("(", 0, at) > text.count(")", 0, at)


def mechanisms(said: Sequence[Assertion], scales: ClaimWeights) -> tuple[StatementGroup, ...]:
    """Explanations that the running text leaves out, by the headings of their pages."""
    causal = [
        one
        for one in said
        if "causal" in (one.best.type, *one.best.also) and not one.best.depends_on and scales.is_about(one.claims[0])
    ]
    groups: dict[str, list[Assertion]] = {}
    kept: list[Assertion] = []
    for one in causal:
        if one.points < MIN_SHARE * causal[0].points or any(
            jaccard(one.stems, other.stems) > REPEATED for other in kept
        ):
            continue
        heading = one.best.section or one.best.page_title
        if len(groups.get(heading, ())) < MAX_IN_GROUP and (heading in groups or len(groups) < MAX_MECHANISMS):
            groups.setdefault(heading, []).append(one)
            kept.append(one)
    return tuple(StatementGroup(heading, tuple(map(statement_of, members))) for heading, members in groups.items())


def actors(said: Sequence[Assertion], outline: Outline, scales: ClaimWeights) -> tuple[StatementGroup, ...]:
    """People, peoples and bodies that the brief speaks of, the most named first, and who they were."""
    uses = _uses(outline)
    found: dict[str, tuple[int, Assertion]] = {}
    for one in said:
        name = folded_name(one.best.page_title)
        if uses[name] and _is_actor(one) and name not in found and not outline.is_used(one.best):
            found[name] = (uses[name], one)
    rows = sorted(found.values(), key=lambda row: (-row[0], -scales.page_weight(row[1].best.ref), row[1].best.id))
    return tuple(StatementGroup(one.best.subject, (statement_of(one),)) for _, one in rows[:MAX_ACTORS])


def _is_actor(said: Assertion) -> bool:
    claim = said.best
    if not _defines_its_page(said):
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


FEW_CLAIMS = 2
MAX_CENTRAL = 5
MAX_HEDGED = 5
MAX_OPEN = 6
MAX_MISSING = 6
CENTRAL_LINKS = 4
"""A page that this many of the pages read link to is central."""
MIN_PAGE_WEIGHT = 0.35
"""A page with less than this share of the best one's weight is beside the topic."""


def gaps(
    origin: BriefOrigin,
    said: Sequence[Assertion],
    claims: Sequence[Claim],
    outline: Outline,
    scales: ClaimWeights,
    missing: Mapping[str, int],
) -> tuple[Gap, ...]:
    """All that was seen to be open; `missing` has the pages that were linked to and are not in the book."""
    return (
        *_introductions(origin),
        *_open(said, outline, scales),
        *_concepts(origin, claims, scales),
        *_hedged(said, scales),
        *_missing(missing, origin),
    )


def _introductions(origin: BriefOrigin) -> Iterator[Gap]:
    for book in origin.books:
        if book.lead_only:
            text = (
                f"“{book.title}” holds the introductions of its articles only: "
                "what the later sections say is missing here, and is no gap in knowledge."
            )
            yield Gap("introductions only", Message(text, "gap.introductions", book=book.title))


def _open(said: Sequence[Assertion], outline: Outline, scales: ClaimWeights) -> Iterator[Gap]:
    """Sentences about the topic that say that something is not known, and that the brief has not told yet."""
    told: list[Assertion] = []
    for one in said:
        claim = one.best
        if len(told) == MAX_OPEN:
            break
        if claim.is_row or claim.depends_on or outline.is_used(claim) or not scales.is_about(one.claims[0]):
            continue
        is_open = language_words(scales.language(claim.ref)).open_questions.search(claim.text) is not None
        if is_open and not any(jaccard(one.stems, other.stems) > REPEATED for other in told):
            told.append(one)
    for one in told:
        yield Gap("open", Message(one.best.text), (one.best.id,))


def _concepts(origin: BriefOrigin, claims: Sequence[Claim], scales: ClaimWeights) -> Iterator[Gap]:
    """Pages that matter and that many others link to, of which next to nothing is claimed."""
    visited = origin.state.visited
    linked = Counter(
        EntryRef(ref.book, path) for ref, step in visited.items() for path in {offer.path for offer in step.offers}
    )
    of_page = Counter(claim.ref for claim in claims)
    subjects = Counter(folded_name(claim.subject) for claim in claims)
    rows = [
        (linked[ref], step.title)
        for ref, step in visited.items()
        if linked[ref] >= CENTRAL_LINKS
        and scales.page_weight(ref) >= MIN_PAGE_WEIGHT
        and of_page[ref] <= FEW_CLAIMS
        and subjects[folded_name(step.title)] <= FEW_CLAIMS
    ]
    for count, title in sorted(rows, key=lambda row: (-row[0], row[1]))[:MAX_CENTRAL]:
        text = f"{title}: {count} of the pages read link to it, but hardly anything is claimed of it."
        yield Gap("concept", Message(text, "gap.concept", n=count, title=title))


def _hedged(said: Sequence[Assertion], scales: ClaimWeights) -> Iterator[Gap]:
    """Pages that hedge much of what they say, and give few references."""
    hedged: dict[str, list[Claim]] = defaultdict(list)
    if not any(one.best.signals.page_references for one in said):
        return  # the book was made without references: that none are there says nothing
    for one in said:
        for weighed in one.claims:
            claim = weighed.claim
            if (
                is_hedged(claim)
                and scales.is_on_topic_page(claim)
                and not claim.signals.references
                and claim.signals.section_references == 0
            ):
                hedged[claim.page_title].append(claim)
    rows = [
        (scales.page_weight(claims[0].ref) * len(claims), title, claims)
        for title, claims in hedged.items()
        if len(claims) > 1
    ]
    for _, title, claims in sorted(rows, key=lambda row: (-row[0], row[1]))[:MAX_HEDGED]:
        cues = Counter(hedge.cue for claim in claims for hedge in claim.hedges if hedge.kind != "some")
        words = ", ".join(f"“{cue}”" for cue, _ in sorted(cues.items(), key=lambda row: (-row[1], row[0]))[:4])
        text = f"{title}: {len(claims)} claims are hedged ({words}) and have no reference beside them."
        message = Message(text, "gap.hedged", n=len(claims), title=title, cues=words)
        yield Gap("hedged", message, tuple(claim.id for claim in claims[:4]))


def _missing(missing: Mapping[str, int], origin: BriefOrigin) -> Iterator[Gap]:
    rows = sorted(missing.items(), key=lambda row: (-row[1], row[0]))[:MAX_MISSING]
    if rows:
        named = tuple(f"{title} ({count})" for title, count in rows)
        which = "the book" if len(origin.books) == 1 else "the books"
        text = (
            f"Pages that the most relevant articles link to and that {which} used here do not hold: "
            f"{', '.join(named)}. That is a gap of this selection, not of knowledge."
        )
        yield Gap("missing page", Message(text, "gap.missing", listed=named))
