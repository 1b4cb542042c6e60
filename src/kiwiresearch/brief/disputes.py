"""Disagreements between sources: contradicting values and opposing views."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kiwiresearch.brief.brief import Dispute, DisputeView, ValueDifference
from kiwiresearch.brief.importance import ClaimWeights, capitalized_words, without_article
from kiwiresearch.brief.parts import MIN_SHARE
from kiwiresearch.brief.support import MergedClaim, statement_of
from kiwiresearch.claims import Claim, ClaimId
from kiwiresearch.claims.conflicts import Disagreement, compare_sentences
from kiwiresearch.text import jaccard, language_words
from kiwiresearch.text.dates import ENGLISH_MONTHS

ARGUING = (
    r"argue|claim|suggest|contend|propose|maintain|assert|question|criticise|criticize|caution|"
    r"reject|dispute|disagree|deny|den|refute|challenge|doubt|oppose|object"
)
OPPOSED = r"reject|dispute|disagree|deny|den|refute|challenge|doubt|oppose|object"
BELIEVING = r"believe|hold|held|consider|think|thought|say|said|see|saw|view|regard|prefer|answer|point|blame|attribute"
# Completes 'argue' to 'argues' and 'argued', and 'den' to 'denied'; the lookahead excludes 'object-oriented'.
VERB_ENDING = r"(?:s|d|es|ed|ied|ies)?\b(?![\w-])"
ADVERBS = r"(?:also\s+|still\s+|have\s+|has\s+|had\s+)*"
PEOPLE = (
    r"(?:historians|scholars|scientists|critics|experts|researchers|people|authors|archaeologists|economists|"
    r"supporters|opponents|advocates|proponents|physicists|biologists|geologists|writers|sources|observers|linguists|"
    r"philosophers|theorists|astronomers|analysts|commentators|sceptics|skeptics|doctors|groups|theologians|"
    r"paleontologists)"
)
QUANTIFIER = r"(?:(?:[Ss]ome|[Mm]any|[Mm]ost|[Ss]everal|[Cc]ertain|[Ff]ew|[Oo]ther|[Mm]odern)\s+)+(?:[\w-]+\s+){0,2}?"
STANDALONE_HOLDERS = (
    r"[Ss]ome|[Mm]any|[Oo]thers|[Ss]ome others|[Cc]ritics|[Oo]pponents|[Ss][ck]eptics|[Pp]roponents|[Hh]istorians|"
    r"[Ss]cholars"
)
NAME = r"(?:[A-Z][\w.’'-]*\s+(?:(?:and|of|de|von|van|the)\s+)?){0,4}?[A-Z][\w.’-]*"

HOLDER = re.compile(
    rf"According to\s+(?P<source>[^,]{{3,60}}),|"
    rf"(?P<group>{QUANTIFIER}{PEOPLE}|[A-Z][\w-]+\s+{PEOPLE}|{STANDALONE_HOLDERS})\s+{ADVERBS}(?:{ARGUING}|{BELIEVING}){VERB_ENDING}|"
    rf"(?P<name>{NAME})\s+{ADVERBS}(?:(?:{ARGUING}){VERB_ENDING} that\b|(?:{OPPOSED})(?:s|d|es|ed|ied|ies)\b)"
)
"""Who holds a view, at the start of a sentence. A belief of one named person is not yet a dispute."""

BELIEVER = re.compile(rf"(?P<name>(?:[A-Z][\w.’-]*\s+){{1,4}}){ADVERBS}(?:{ARGUING}|{BELIEVING}){VERB_ENDING}")
OPENING = re.compile(r"^(?:However|But|In contrast|By contrast|On the other hand|Conversely|Today|Nevertheless),? ")
MAX_HOLDER_WORDS = 6
NOT_HOLDERS = frozenset(
    ("it", "they", "he", "she", "this", "these", "there", "which", "that", "evidence", "recent", "in", "although",
     "while", "when", "if", "as", "his", "her", "their", "what", "we", "studies", "one", "research", "both")
)  # fmt: skip


def holder_in(text: str, *, with_beliefs: bool = False) -> str:
    """The holder of the view a sentence starts with, or ""; `with_beliefs` includes 'Ebba Lind holds that …'."""
    text = OPENING.sub("", text)
    found = HOLDER.match(text)
    if found is None:
        believer = BELIEVER.match(text) if with_beliefs else None
        return believer["name"].strip() if believer else ""
    who = (found["source"] or found["group"] or found["name"]).strip()
    is_thing = found["name"] is not None and who.split()[0].lower() in NOT_HOLDERS
    return "" if is_thing or len(who.split()) > MAX_HOLDER_WORDS else who


# A sentence is split into two views only if both halves are this long and name a holder.
MIN_SIDE_CHARS = 25
# Both halves are checked for holders, because ', and' or ', but' alone seldom separates two views.
OTHER_SIDE = re.compile(r"[,;] (?:while|whereas|but|although|though|and|however,) (?=\w)")


def two_sides(text: str) -> tuple[str, str] | None:
    """A sentence that gives one view and then another: 'X argues …, while others …'."""
    for found in OTHER_SIDE.finditer(text):
        first, second = text[: found.start()], text[found.end() :]
        second = f"{second[:1].upper()}{second[1:]}"
        is_long = min(len(first), len(second)) >= MIN_SIDE_CHARS
        if is_long and holder_in(first) and holder_in(second, with_beliefs=True):
            return f"{first}.", second
    return None


OPPOSING = re.compile(
    r"^(?:However|But|In contrast|By contrast|On the other hand|Conversely|Others?|Critics|Opponents|S[ck]eptics)\b"
    rf"|^[^,;]{{0,60}}?\b(?:{OPPOSED}|question){VERB_ENDING}"
)


def is_opposing(text: str) -> bool:
    """Whether a sentence starts like a view that opposes the one before it."""
    return OPPOSING.search(text) is not None


DEBATE = r"(?:debate|dispute|controversy|disagreement)"
DISPUTED = re.compile(
    r"\b(?:is|are|remains?|has been|have been|continues? to be)\s+(?:\w+\s+){0,2}?"
    r"(?:controversial|disputed|debated|contested|contentious|"
    rf"(?:a|the)\s+(?:matter|subject|source|topic)\s+of\s+(?:\w+\s+){{0,2}}?{DEBATE})\b|"
    r"\b(?:no|little)\s+(?:\w+\s+)?consensus\b|"
    rf"\bthere\s+(?:is|are|has been|remains)\s+(?:\w+\s+){{0,2}}?{DEBATE}|"
    rf"\b{PEOPLE}\s+(?:still\s+)?(?:disagree|differ|debate)\b",
    re.IGNORECASE,
)


def calls_disputed(text: str) -> bool:
    """Whether a sentence calls something disputed today."""
    return DISPUTED.search(text) is not None


def states_view(text: str) -> bool:
    """Whether a sentence is a view or calls something disputed; 'According to' alone only names a source."""
    return calls_disputed(text) or not text.startswith("According to ")


MAX_COMPARED = 200
MAX_CONTRADICTIONS = 8
MAX_DISPUTES = 8
MAX_ONE_SIDED = 5
MAX_DISTANCE_CHARS = 500
"""The largest distance between two opposing views on one page."""
MAX_PER_SUBJECT = 60
MAX_THEORIES = 5
MIN_DISPUTE_STRENGTH = 0.6
"""Contradictions are rare among the claims of a run, so weaker signs are ignored here."""
MIN_OVERLAP = 0.3
MONTHS_AND_ERAS = frozenset((*ENGLISH_MONTHS, "BC", "AD", "BCE", "CE"))
"""Capitalized words that may be in only one of two claims about the same thing."""


@dataclass(frozen=True, slots=True)
class ClaimDisagreement:
    """Two merged claims that disagree, and how."""

    one: MergedClaim
    other: MergedClaim
    disagreement: Disagreement


def comparable_claims(merged_claims: Sequence[MergedClaim], weights: ClaimWeights) -> list[MergedClaim]:
    """The claims with a number or date that could disagree with each other, those that matter most first."""
    return [
        claim
        for claim in merged_claims
        if (claim.best.measures or claim.best.dates) and not claim.best.depends_on and weights.is_about(claim.claims[0])
    ]


def within_limits(comparable: Sequence[MergedClaim]) -> list[MergedClaim]:
    """Those of the claims that are compared; half of each limit is kept from any single page, for the others."""
    chosen: list[MergedClaim] = []
    counts: Counter[object] = Counter()
    for claim in comparable:
        ref, subject = claim.best.ref, without_article(claim.best.subject)
        limits: dict[object, int] = {
            ref: MAX_COMPARED // 2,
            subject: MAX_PER_SUBJECT,
            (ref, subject): MAX_PER_SUBJECT // 2,
        }
        if len(chosen) < MAX_COMPARED and all(counts[key] < limit for key, limit in limits.items()):
            chosen.append(claim)
            counts.update(limits.keys())
    return chosen


def find_claim_disagreements(compared: Sequence[MergedClaim]) -> list[ClaimDisagreement]:
    """Disagreements among claims, the clearest first."""
    by_subject: dict[str, list[MergedClaim]] = defaultdict(list)
    for merged_claim in compared:
        by_subject[without_article(merged_claim.best.subject)].append(merged_claim)
    found = [
        ClaimDisagreement(one, other, how)
        for several in by_subject.values()
        for one, other in itertools.combinations(several, 2)
        if (how := compare_sentences(one.claims[0].compared, other.claims[0].compared)) is not None
        and how.strength >= MIN_DISPUTE_STRENGTH
    ]
    found.sort(
        key=lambda conflict: (
            conflict.disagreement.kind != "contradiction",
            -conflict.disagreement.strength,
            conflict.one.best.id,
        )
    )
    return [conflict for conflict in found if _is_clear_pair(conflict.one, conflict.other)]


def _is_clear_pair(one: MergedClaim, other: MergedClaim) -> bool:
    if one.best.ref == other.best.ref:
        return False  # two values on one page are for two cases: black tea, green tea
    return is_clear_conflict(one.best, other.best, jaccard(one.stems, other.stems))


def is_clear_conflict(one: Claim, other: Claim, overlap: float) -> bool:
    """Whether two claims are about the same thing by name and words: a doubtful conflict is worse than none."""
    if without_article(one.subject) != without_article(other.subject) or overlap < MIN_OVERLAP:
        return False
    if _label(one) != _label(other) or (_label(one) and one.ref == other.ref):
        return False  # rows of tables with different labels are about different things
    # A name that only one of them has makes it doubtful that both are about the same thing.
    return not (capitalized_words(one.text) ^ capitalized_words(other.text)) - MONTHS_AND_ERAS


def _label(claim: Claim) -> str:
    """All before the value, if the claim is a row of a table."""
    return claim.text.rpartition(": ")[0] if " — " in claim.text and ": " in claim.text else ""


def disputes(
    merged_claims: Sequence[MergedClaim], conflicts: Sequence[ClaimDisagreement], weights: ClaimWeights
) -> tuple[Dispute, ...]:
    """Contradictions, then opposing views."""
    if not merged_claims:
        return ()
    min_points = MIN_SHARE * merged_claims[0].points
    contradictions = [
        _contradiction(conflict)
        for conflict in conflicts
        if conflict.disagreement.kind == "contradiction"
        and max(conflict.one.points, conflict.other.points) >= min_points
    ]
    held = [
        claim
        for claim in merged_claims
        if claim.points >= min_points and _belongs_in_disputes(claim, weights) and weights.is_about(claim.claims[0])
    ]
    theories = _theories(held, _explanations(merged_claims, min_points, weights))
    used = {view.statement.text for view in (theories.views if theories else ())}
    views = _views([merged_claim for merged_claim in held if merged_claim.best.text not in used])
    two_sided = [dispute for dispute in views if len(dispute.views) > 1]
    one_sided = [item for item in views if len(item.views) == 1 and states_view(item.views[0].statement.text)]
    return (
        *contradictions[:MAX_CONTRADICTIONS],
        *((theories,) if theories else ()),
        *two_sided[:MAX_DISPUTES],
        *one_sided[:MAX_ONE_SIDED],
    )


def _explanations(merged_claims: Sequence[MergedClaim], min_points: float, weights: ClaimWeights) -> list[MergedClaim]:
    """What people held to be causes, if a brief is about causes: then a belief of one person is an explanation."""
    asked = weights.relevance.aspect.lower().split()
    if language_words("eng").aspects["causes"].naming_words.isdisjoint(asked):
        return []
    return [
        claim
        for claim in merged_claims
        if claim.points >= min_points
        and not claim.best.depends_on
        and {"causal", "disputed"} & {claim.best.type, *claim.best.also}
        and weights.is_about(claim.claims[0])
        and weights.relevance.is_probably_on_aspect(claim.best)
    ]


def _theories(held: Sequence[MergedClaim], explanations: Sequence[MergedClaim]) -> Dispute | None:
    """Different explanations that several people give."""
    causal = [claim for claim in held if "causal" in (claim.best.type, *claim.best.also)]
    by_holder: dict[str, DisputeView] = {}
    for merged_claim, with_beliefs in (
        *((claim, False) for claim in causal),
        *((claim, True) for claim in explanations),
    ):
        holder = _holder(merged_claim, with_beliefs=with_beliefs)
        # Named people only; 'some historians' may be the same people twice.
        if holder and holder[0].isupper() and not two_sides(merged_claim.best.text):
            # By the last word, so that 'Wegener' and 'Alfred Wegener' are one holder.
            by_holder.setdefault(holder.split()[-1], _view(merged_claim, holder))
    if len(by_holder) < 2:
        return None
    return Dispute("What explains it", tuple(by_holder.values())[:MAX_THEORIES])


def _view(merged: MergedClaim, holder: str = "") -> DisputeView:
    return DisputeView(holder or _holder(merged), statement_of(merged), _cues(merged))


def _belongs_in_disputes(merged: MergedClaim, weights: ClaimWeights) -> bool:
    """Whether a claim is someone's view, or says that there are several."""
    claim = merged.best
    if claim.depends_on and not is_opposing(claim.text):
        return False
    holder = _holder(merged)
    if holder and weights.is_topic(holder):
        return False  # in a brief about a person, what that person believed is not a dispute
    # In an introduction the mark may be about the whole article.
    if claim.signals.disputed and claim.section:
        return True
    return bool(holder) or two_sides(claim.text) is not None or calls_disputed(claim.text)


def _contradiction(conflict: ClaimDisagreement) -> Dispute:
    how = conflict.disagreement
    views = tuple(
        DisputeView("", statement_of(merged_claim), _cues(merged_claim))
        for merged_claim in (conflict.one, conflict.other)
    )
    return Dispute(conflict.one.best.subject, views, ValueDifference(how.kind, how.why))


def _views(disputed: Sequence[MergedClaim]) -> list[Dispute]:
    """Pairs of nearby views in a section, the second opposing the first; all others are one-sided."""
    by_section: dict[tuple[str, str, str], list[MergedClaim]] = defaultdict(list)
    for merged_claim in disputed:
        by_section[(merged_claim.best.ref.book, merged_claim.best.ref.path, merged_claim.best.section)].append(
            merged_claim
        )
    found: list[tuple[float, Dispute]] = []
    used: set[ClaimId] = set()
    for merged_claim in disputed:
        if merged_claim.best.id in used:
            continue
        sides = two_sides(merged_claim.best.text)
        if sides:
            used.add(merged_claim.best.id)
            found.append(
                (
                    # One point for each view, as below, so that both sides come before a single view.
                    merged_claim.points + 2,
                    Dispute(_about(merged_claim), tuple(_side(merged_claim, text) for text in sides)),
                )
            )
            continue
        section = by_section[(merged_claim.best.ref.book, merged_claim.best.ref.path, merged_claim.best.section)]
        other = _nearest_opposing(
            merged_claim,
            [candidate for candidate in section if candidate is not merged_claim and candidate.best.id not in used],
        )
        if other is None and merged_claim.best.depends_on:
            continue  # 'Others reject it', without what they reject
        pair = (
            [merged_claim]
            if other is None
            else sorted((merged_claim, other), key=lambda view: view.best.quotes[0].start)
        )
        used |= {view.best.id for view in pair}
        found.append((merged_claim.points + len(pair), Dispute(_about(merged_claim), tuple(map(_view, pair)))))
    return [dispute for _, dispute in sorted(found, key=lambda row: (len(row[1].views) < 2, -row[0]))]


def _side(merged: MergedClaim, text: str) -> DisputeView:
    """One half of a sentence that gives two views."""
    statement = replace(statement_of(merged), text=text, sureness="disputed")
    cues = tuple(cue for cue in _cues(merged) if cue in text.lower())
    return DisputeView(holder_in(text, with_beliefs=True), statement, cues)


def _nearest_opposing(one: MergedClaim, others: Sequence[MergedClaim]) -> MergedClaim | None:
    """The nearest view that opposes this one, or that this one opposes."""
    start = one.best.quotes[0].start
    near = [
        (abs(other.best.quotes[0].start - start), other)
        for other in others
        if abs(other.best.quotes[0].start - start) <= MAX_DISTANCE_CHARS
        and _holder(other)
        and _holder(one)
        # Only the later of two views can refer to the earlier one.
        and is_opposing(max(one, other, key=lambda view: view.best.quotes[0].start).best.text)
        and jaccard(one.stems, other.stems) > 0
    ]
    return min(near, key=lambda row: (row[0], row[1].best.id))[1] if near else None


def _holder(merged: MergedClaim, *, with_beliefs: bool = False) -> str:
    return holder_in(merged.best.text, with_beliefs=with_beliefs)


def _cues(merged: MergedClaim) -> tuple[str, ...]:
    claim = merged.best
    marks = ("marked as disputed",) if claim.signals.disputed else ()
    return (*dict.fromkeys(hedge.cue for hedge in claim.hedges), *marks)


def _about(merged: MergedClaim) -> str:
    claim = merged.best
    return f"{claim.page_title}: {claim.section}" if claim.section else claim.subject
