"""The parts of a brief other than prose: definitions, timeline, mechanisms, actors and gaps."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from kiwiresearch.brief.brief import Gap, StatementGroup, TimelineMoment
from kiwiresearch.brief.importance import ClaimWeights, folded_name
from kiwiresearch.brief.passages import UsedClaims
from kiwiresearch.brief.sources import BriefInput
from kiwiresearch.brief.support import MergedClaim, is_hedged, statement_of
from kiwiresearch.claims import Claim, has_claim_tables
from kiwiresearch.messages import Message
from kiwiresearch.text import DOUBT_KINDS, jaccard, language_words, without_qualifier
from kiwiresearch.text.dates import DateMention
from kiwiresearch.zim import EntryRef

MAX_DEFINITIONS = 6
MAX_MOMENTS = 20
MAX_MECHANISMS = 5
MAX_IN_GROUP = 3
MAX_ACTORS = 10
MAX_LIST_OVERLAP = 0.45
"""Statements with more words in common repeat each other."""
MIN_SHARE = 0.3
"""A claim with less than this share of the best one's points is left out."""
MIN_DEFINED_WEIGHT = 0.25
"""A page with less than this share of the best page's weight is too far from the topic to define its terms."""
# 'is a country', 'was the former capital'; such sentences define a place, which no brief has to explain.
PLACE = re.compile(
    r"\b(?:is|are|was) (?:an?|the|one of)\b(?: [\w’'-]+){0,6}? (?:country|continents?|capital|city|state|republic|"
    r"nation|province|governorate|monarchy|democracy|region|peninsula|town|village|island|islands|river|lake|mountain|"
    r"sea|ocean|county|municipality|language|founding members)\b"
)
# 'is a', 'refers to'; but not 'are the following', 'is a member', which define nothing.
DEFINES = re.compile(
    r"\b(?:is|are|was|were)\s+(?:an?|the|any|one|defined|used)\b(?! (?:current|few|following|founding|member))"
    r"|\brefers? to\b|\bmeans\b|\bconsists? of\b"
)
MAX_OPENING_DATE_START = 8
"""A sentence opens with its date if that starts within this many characters: 'In 1772', 'On 5 May 1821'."""
# A day or month without a year at the start: 'On 5 May he', 'In June the'.
DAY_ONLY = re.compile(r"(?:On|In|By) (?:the )?(?:\d{1,2} )?[A-Z][a-z]+(?: \d{1,2})?,? (?!\d{3,4}\b|of \d)(?=[a-z])")
# Text before a date that belongs to a side remark: ', founded in', ', who died in'.
SECONDARY_DATE = re.compile(
    r"\b(?:although|though|who|whom|founded|until|born|died|since|before|after)\b[^,;]*$", re.IGNORECASE
)
SECONDARY_DATE_CHARS = 40


def definitions(
    merged_claims: Sequence[MergedClaim], used: UsedClaims, weights: ClaimWeights
) -> tuple[StatementGroup, ...]:
    """Definitions of the terms that the brief uses, from the pages about them; most used first.

    What the pages about the topic name only in passing is not a term of its field: a page on plate tectonics names the
    war in which its instruments were developed.
    """
    uses = _link_counts(used)
    first: dict[str, MergedClaim] = {}
    for claim in sorted(merged_claims, key=lambda claim: (claim.best.quotes[0].start, claim.best.id)):
        if _defines_its_page(claim) and weights.is_opening(claim.best):
            first.setdefault(folded_name(claim.best.page_title), claim)
    # Filtered only now: if the first sentence is left out, a later one of its page is not a definition either.
    terms = {
        name: merged_claim
        for name, merged_claim in first.items()
        if not _is_actor(merged_claim) and not PLACE.search(merged_claim.best.text) and merged_claim.best not in used
    }
    rows = [
        (uses[name], merged_claim)
        for name, merged_claim in terms.items()
        if uses[name]
        and weights.page_weight(merged_claim.best.ref) >= MIN_DEFINED_WEIGHT
        and (
            uses[name] > 1
            or weights.is_term(merged_claim.best.subject)
            or weights.mentions_topic(merged_claim.best.ref)
        )
    ]
    rows.sort(key=lambda row: (-row[0], -weights.page_weight(row[1].best.ref), row[1].best.id))
    return tuple(
        StatementGroup(merged_claim.best.subject, (statement_of(merged_claim),))
        for _, merged_claim in rows[:MAX_DEFINITIONS]
    )


def _link_counts(used: UsedClaims) -> Counter[str]:
    """How often the sentences used so far link to each page, by the text of the link."""
    return Counter(folded_name(name) for claim in used.claims for name in claim.names)


def _defines_its_page(merged: MergedClaim) -> bool:
    """Whether a claim is from the lead of the page about its subject, and says what that is."""
    claim = merged.best
    title = without_qualifier(claim.page_title)
    if (
        claim.section
        or claim.type != "definition"
        or folded_name(claim.subject) not in (folded_name(title), folded_name(claim.page_title))
    ):
        return False
    if folded_name(title) not in folded_name(claim.text) and claim.inserted_name_from != "title":
        return False
    # For a language without rules, only first sentences become claims.
    return DEFINES.search(claim.text) is not None or not has_claim_tables(merged.claims[0].language)


DAYS_OF_AN_AGE = 3_652_425
"""Ten thousand years: what is dated no more exactly is an age."""


def timeline(
    merged_claims: Sequence[MergedClaim], weights: ClaimWeights, *, max_moments: int = MAX_MOMENTS
) -> tuple[TimelineMoment, ...]:
    """Dated events in chronological order."""
    dated = [
        merged
        for merged in merged_claims
        if merged.best.dates
        and "timeline" in (merged.best.type, *merged.best.also)
        and not merged.best.depends_on
        and weights.is_mainly_about(merged.claims[0])
        and weights.relevance.is_probably_on_aspect(merged.best)
        and weights.names_topic(merged.best)
        and not language_words(weights.language(merged.best.ref)).is_minor(merged.best.section)
        and (date := _main_date(merged.best)) is not None
        and (merged.best.ref in weights.topic_pages or not _describes_a_state(merged.best.text[: date.start]))
    ]
    chosen: list[MergedClaim] = []
    for merged_claim in dated:
        if len(chosen) == max_moments or merged_claim.points < MIN_SHARE * dated[0].points:
            break
        if not _repeats_any(merged_claim, chosen):
            chosen.append(merged_claim)
    return in_time_order([_moment(merged_claim) for merged_claim in chosen])


# What something is, and no event: 'The Crisis is a name for the years between'; but not 'is a bridge built in'.
COPULA = re.compile(r"\b(?:is|are) (?:an?|the|one|that)\b")
ENDS_IN_PARTICIPLE = re.compile(
    r"\b(?:\w+ed|begun|born|built|fought|found|held|laid|lost|made|put|sent|set|sunk|taken|won|written)"
    r"(?: (?:about|around|as|at|between|by|during|early|from|in|late|on|since|the|to))*\s*$"
)


def _describes_a_state(before_date: str) -> bool:
    """Whether a sentence says what something is: it dates no event, unless a participle precedes the date.

    On the topic's own page what it is in a year may be worth a line; elsewhere it is about something else.
    """
    return COPULA.search(before_date) is not None and ENDS_IN_PARTICIPLE.search(before_date) is None


def _repeats_any(merged: MergedClaim, others: Sequence[MergedClaim]) -> bool:
    return any(jaccard(merged.stems, other.stems) > MAX_LIST_OVERLAP for other in others)


def in_time_order(moments: Sequence[TimelineMoment]) -> tuple[TimelineMoment, ...]:
    return tuple(sorted(moments, key=lambda moment: (_order_day(moment), moment.latest, moment.statement.text)))


def _order_day(moment: TimelineMoment) -> int:
    """The first day it may mean; of an age the middle, else 'about 3 billion years ago' would precede 3.4 billion."""
    is_age = moment.latest - moment.earliest > DAYS_OF_AN_AGE
    return (moment.earliest + moment.latest) // 2 if is_age else moment.earliest


def begins_with_date(merged: MergedClaim) -> bool:
    date = _main_date(merged.best)
    return date is not None and date.start <= MAX_OPENING_DATE_START


def _moment(merged: MergedClaim) -> TimelineMoment:
    claim = merged.best
    date = _main_date(claim) or claim.dates[0]
    words = date_wordings(claim.text, date)[-1]
    return TimelineMoment(words, date.when.earliest, date.when.latest, statement_of(merged))


def date_wordings(text: str, date: DateMention) -> tuple[str, ...]:
    """A date as written in its sentence, and again without 'until' if the sentence says 'not until 1820'."""
    words = text[date.start : date.end]
    found = [words[:1].upper() + words[1:]]
    if text[: date.start].endswith("not ") and words.startswith("until "):
        found.append(words.removeprefix("until "))
    return tuple(found)


def _main_date(claim: Claim) -> DateMention | None:
    """The most important date of a claim: the first that is neither in brackets nor in a subordinate clause.

    None if the sentence opens with a day without a year: then its dates are those of something else.
    """
    if DAY_ONLY.match(claim.text):
        return None
    text = claim.text
    # Every bracket opened before the date must be closed before it.
    main = [date for date in claim.dates if text.count("(", 0, date.start) <= text.count(")", 0, date.start)]
    primary = [
        date for date in main if not SECONDARY_DATE.search(text[max(date.start - SECONDARY_DATE_CHARS, 0) : date.start])
    ]
    # Each step falls back to the one before it: better an age in brackets than no date.
    exact = [date for date in primary or main if date.when.precision not in ("millennium", "age")]
    return next(iter(exact or primary or main), None)


def mechanisms(merged_claims: Sequence[MergedClaim], weights: ClaimWeights) -> tuple[StatementGroup, ...]:
    """Explanations that the prose leaves out, by the headings of their pages."""
    causal = [
        claim
        for claim in merged_claims
        if "causal" in (claim.best.type, *claim.best.also)
        and not claim.best.depends_on
        and weights.is_about(claim.claims[0])
        and weights.relevance.is_probably_on_aspect(claim.best)
        and weights.relevance.is_like_topic(claim.best)
    ]
    groups: dict[str, list[MergedClaim]] = {}
    kept: list[MergedClaim] = []
    for merged_claim in causal:
        if merged_claim.points < MIN_SHARE * causal[0].points or _repeats_any(merged_claim, kept):
            continue
        heading = merged_claim.best.section or merged_claim.best.page_title
        if len(groups.get(heading, ())) < MAX_IN_GROUP and (heading in groups or len(groups) < MAX_MECHANISMS):
            groups.setdefault(heading, []).append(merged_claim)
            kept.append(merged_claim)
    return tuple(StatementGroup(heading, tuple(map(statement_of, members))) for heading, members in groups.items())


def actors(merged_claims: Sequence[MergedClaim], used: UsedClaims, weights: ClaimWeights) -> tuple[StatementGroup, ...]:
    """People, peoples and organizations that the brief mentions, most frequent first, with who they were."""
    uses = _link_counts(used)
    found: dict[str, MergedClaim] = {}
    for claim in merged_claims:
        name = folded_name(claim.best.page_title)
        if uses[name] and _is_actor(claim) and name not in found and claim.best not in used:
            found[name] = claim
    rows = sorted(found.items(), key=lambda row: (-uses[row[0]], -weights.page_weight(row[1].best.ref), row[1].best.id))
    return tuple(
        StatementGroup(merged_claim.best.subject, (statement_of(merged_claim),))
        for _, merged_claim in rows[:MAX_ACTORS]
    )


def _is_actor(merged: MergedClaim) -> bool:
    """Whether a definition says that its subject is a person, a people or an organization."""
    if not _defines_its_page(merged):
        return False
    after_verb = re.split(r"\b(?:is|was|were|are)\b", merged.best.text, maxsplit=1)[-1]
    # The last word before the first preposition or clause is the kind: 'was an English naturalist who …'.
    what = re.split(r",|;|\(|\b(?:of|in|from|that|which|who|whose|on|at|for|to|by|with)\b", after_verb, maxsplit=1)[0]
    words = re.findall(r"[a-z]+", what.lower())
    return bool(words) and words[-1] in _actor_words("eng")


@cache
def _actor_words(language: str) -> frozenset[str]:
    table = tomllib.loads((files("kiwiresearch.brief") / "data" / f"{language}.toml").read_text(encoding="utf-8"))
    return frozenset(" ".join(table["actors"]).split())


FEW_CLAIMS = 2
MAX_CENTRAL = 5
MAX_HEDGED = 5
MAX_OPEN = 6
MAX_MISSING = 6
CENTRAL_LINKS = 4
"""A page is central if at least this many of the pages read link to it."""
MIN_CENTRAL_WEIGHT = 0.35
"""A page with less than this share of the best page's weight is not central, no matter how many link to it."""


def gaps(
    brief_input: BriefInput,
    merged_claims: Sequence[MergedClaim],
    claims: Sequence[Claim],
    used: UsedClaims,
    weights: ClaimWeights,
    missing: Mapping[str, int],
) -> tuple[Gap, ...]:
    """The gaps that the pages leave; `missing` counts the links to pages that are not in the book."""
    return (
        *_lead_only_gaps(brief_input),
        *_open_questions(merged_claims, used, weights),
        *_thinly_covered_pages(brief_input, claims, weights),
        *_hedged(merged_claims, weights),
        *_missing(missing, brief_input),
    )


def _lead_only_gaps(brief_input: BriefInput) -> Iterator[Gap]:
    for book in brief_input.books:
        if book.lead_only:
            text = f"“{book.title}” contains only the introductions of its articles. The other sections are missing."
            yield Gap("introductions only", Message(text, "gap.introductions", book=book.title))


def _open_questions(merged_claims: Sequence[MergedClaim], used: UsedClaims, weights: ClaimWeights) -> Iterator[Gap]:
    """Sentences about the topic that say something is unknown, and that the brief has not used yet."""
    found: list[MergedClaim] = []
    for merged_claim in merged_claims:
        claim = merged_claim.best
        if len(found) == MAX_OPEN:
            break
        if claim.is_row or claim.depends_on or claim in used or not weights.is_about(merged_claim.claims[0]):
            continue
        is_open = language_words(weights.language(claim.ref)).open_questions.search(claim.text) is not None
        if is_open and not _repeats_any(merged_claim, found):
            found.append(merged_claim)
    for merged_claim in found:
        yield Gap("open", Message(merged_claim.best.text), (merged_claim.best.id,))


def _thinly_covered_pages(brief_input: BriefInput, claims: Sequence[Claim], weights: ClaimWeights) -> Iterator[Gap]:
    """Central pages with hardly any claims about them."""
    visited = brief_input.state.visited
    linked = Counter(
        EntryRef(ref.book, path) for ref, step in visited.items() for path in {offer.path for offer in step.offers}
    )
    claim_counts = Counter(claim.ref for claim in claims)
    subjects = Counter(folded_name(claim.subject) for claim in claims)
    rows = [
        (linked[ref], step.title)
        for ref, step in visited.items()
        if linked[ref] >= CENTRAL_LINKS
        and weights.page_weight(ref) >= MIN_CENTRAL_WEIGHT
        and claim_counts[ref] <= FEW_CLAIMS
        and subjects[folded_name(step.title)] <= FEW_CLAIMS
    ]
    for count, title in sorted(rows, key=lambda row: (-row[0], row[1]))[:MAX_CENTRAL]:
        text = f"{title}: {count} of the pages read link to it, but they say little about it."
        yield Gap("concept", Message(text, "gap.concept", n=count, title=title))


def _hedged(merged_claims: Sequence[MergedClaim], weights: ClaimWeights) -> Iterator[Gap]:
    """Pages about the topic that hedge much of what they say, without references."""
    hedged: dict[str, list[Claim]] = defaultdict(list)
    if not any(merged_claim.best.signals.page_references for merged_claim in merged_claims):
        return  # the book has no references, so their absence means nothing
    for merged_claim in merged_claims:
        for weighed in merged_claim.claims:
            claim = weighed.claim
            if (
                is_hedged(claim)
                and claim.ref in weights.topic_pages
                and not claim.signals.references
                and claim.signals.section_references == 0
            ):
                hedged[claim.page_title].append(claim)
    rows = [
        (weights.page_weight(claims[0].ref) * len(claims), title, claims)
        for title, claims in hedged.items()
        if len(claims) > 1
    ]
    for _, title, claims in sorted(rows, key=lambda row: (-row[0], row[1]))[:MAX_HEDGED]:
        cues = Counter(hedge.cue for claim in claims for hedge in claim.hedges if hedge.kind in DOUBT_KINDS)
        words = ", ".join(f"“{cue}”" for cue, _ in sorted(cues.items(), key=lambda row: (-row[1], row[0]))[:4])
        text = f"{title}: {len(claims)} claims are hedged ({words}) and have no reference nearby."
        message = Message(text, "gap.hedged", n=len(claims), title=title, cues=words)
        yield Gap("hedged", message, tuple(claim.id for claim in claims[:4]))


def _missing(missing: Mapping[str, int], brief_input: BriefInput) -> Iterator[Gap]:
    rows = sorted(missing.items(), key=lambda row: (-row[1], row[0]))[:MAX_MISSING]
    if rows:
        named = tuple(f"{title} ({count})" for title, count in rows)
        which = "book" if len(brief_input.books) == 1 else "books"
        text = (
            f"The most relevant articles link to these pages, which are not in the {which} searched: "
            f"{', '.join(named)}."
        )
        yield Gap("missing page", Message(text, "gap.missing", listed=named))
