"""What sources do not agree on: values that contradict each other, and views that are set against each other."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kiwiresearch.brief.brief import Dispute, View
from kiwiresearch.brief.stating import stated
from kiwiresearch.brief.support import Said
from kiwiresearch.brief.themes import LEAST
from kiwiresearch.brief.views import calls_disputed, holder_in, is_opposing, is_view, two_sides
from kiwiresearch.brief.weighing import Scales
from kiwiresearch.brief.wording import likeness, names_in, without_article
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.claims.conflicts.compare import compare
from kiwiresearch.claims.conflicts.saying import Disagreement

MOST_COMPARED = 200
MOST_CONTRADICTIONS = 8
MOST_DISPUTES = 8
MOST_ONE_SIDED = 5
NEAR_CHARS = 500
"""Two views that stand no further apart than this on one page can be set against each other."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two things said that disagree, and how."""

    one: Said
    other: Said
    disagreement: Disagreement


def conflicts(said: Sequence[Said], scales: Scales) -> list[Conflict]:
    """Disagreements among the claims that matter most, the clearest first."""
    about = (
        one
        for one in said
        if (one.best.measures or one.best.dates) and not one.best.depends_on and scales.is_about(one.claims[0])
    )
    by_subject: dict[str, list[Said]] = defaultdict(list)
    for one in itertools.islice(about, MOST_COMPARED):
        by_subject[without_article(one.best.subject)].append(one)
    found = [
        Conflict(one, other, how)
        for several in by_subject.values()
        for one, other in itertools.combinations(several[:MOST_OF_SUBJECT], 2)
        if (how := compare(one.claims[0].saying, other.claims[0].saying)) is not None and how.strength >= STRONG
    ]
    found.sort(key=lambda one: (one.disagreement.kind != "contradiction", -one.disagreement.strength, one.one.best.id))
    return [one for one in found if _is_clear(one)]


MOST_OF_SUBJECT = 60
STRONG = 0.6
"""Among all claims of a run few contradict, so weak signs are left out that count where two texts were picked."""


def _is_clear(conflict: Conflict) -> bool:
    one, other = conflict.one, conflict.other
    if one.best.ref == other.best.ref:
        return False  # on one page it is another case: black tea, green tea
    return is_clear(one.best, other.best, likeness(one.stems, other.stems))


def is_clear(one: Claim, other: Claim, alike: float) -> bool:
    """Whether two claims are about the same thing by name and words: a doubtful conflict is worse than none."""
    if without_article(one.subject) != without_article(other.subject) or alike < CLEAR:
        return False
    if _label(one) != _label(other) or (_label(one) and one.ref == other.ref):
        return False  # two rows of tables are of different things, or their labels would be the same
    return not (names_in(one.text) ^ names_in(other.text)) - MONTHS


def _label(claim: Claim) -> str:
    """Of what comes from a table: all before the value."""
    return claim.text.rpartition(": ")[0] if " — " in claim.text and ": " in claim.text else ""


CLEAR = 0.3
MONTHS = frozenset(
    ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
     "December", "BC", "AD", "BCE", "CE")
)  # fmt: skip


def disputes(said: Sequence[Said], found: Sequence[Conflict], scales: Scales) -> tuple[Dispute, ...]:
    """Contradictions, then views against views."""
    if not said:
        return ()
    least = LEAST * said[0].points
    contradictions = [
        _of_conflict(one)
        for one in found
        if one.disagreement.kind == "contradiction" and max(one.one.points, one.other.points) >= least
    ]
    held = [one for one in said if one.points >= least and _is_view(one, scales) and scales.is_about(one.claims[0])]
    theories = _theories(held)
    told = {view.statement.text for view in (theories.views if theories else ())}
    views = _views([one for one in held if one.best.text not in told])
    two_sided = [dispute for dispute in views if len(dispute.views) > 1]
    one_sided = [one for one in views if len(one.views) == 1 and is_view(one.views[0].statement.text)]
    explained = (theories,) if theories else ()
    return (
        *contradictions[:MOST_CONTRADICTIONS],
        *explained,
        *two_sided[:MOST_DISPUTES],
        *one_sided[:MOST_ONE_SIDED],
    )


def _theories(held: Sequence[Said]) -> Dispute | None:
    """Explanations that several people give, each his own, side by side."""
    by_holder: dict[str, Said] = {}
    for one in held:
        holder = _holder(one)
        if (
            holder
            and holder[0].isupper()
            and "causal" in (one.best.type, *one.best.also)
            and not two_sides(one.best.text)
        ):
            by_holder.setdefault(holder.split()[-1], one)
    if len(by_holder) < 2:
        return None
    chosen = list(by_holder.values())[:MOST_THEORIES]
    return Dispute("What explains it", tuple(View(_holder(one), stated(one), _cues(one)) for one in chosen))


MOST_THEORIES = 5


def _is_view(said: Said, scales: Scales) -> bool:
    """Whether a claim is somebody's view, or says that there are several."""
    claim = said.best
    if claim.depends_on and not is_opposing(claim.text):
        return False
    holder = _holder(said)
    if holder and scales.is_topic(holder):
        return False  # what a person believed is no dispute in a brief about that person
    if claim.signals.disputed and claim.section:
        return True
    return bool(holder) or two_sides(claim.text) is not None or calls_disputed(claim.text)


def _of_conflict(conflict: Conflict) -> Dispute:
    how = conflict.disagreement
    views = tuple(View("", stated(one), _cues(one)) for one in (conflict.one, conflict.other))
    return Dispute(conflict.one.best.subject, views, f"{how.kind}: {how.why}")


def _views(disputed: Sequence[Said]) -> list[Dispute]:
    """Views of the same section that stand near each other, the second of which turns against the first."""
    by_section: dict[tuple[str, str, str], list[Said]] = defaultdict(list)
    for one in disputed:
        by_section[(one.best.ref.book, one.best.ref.path, one.best.section)].append(one)
    found: list[tuple[float, Dispute]] = []
    used: set[ClaimId] = set()
    for one in disputed:
        if one.best.id in used:
            continue
        sides = two_sides(one.best.text)
        if sides:
            used.add(one.best.id)
            found.append((one.points + 2, Dispute(_about(one), tuple(_side(one, text) for text in sides))))
            continue
        section = by_section[(one.best.ref.book, one.best.ref.path, one.best.section)]
        other = _against(one, [two for two in section if two is not one and two.best.id not in used])
        if other is None and one.best.depends_on:
            continue  # 'Others reject it', without what they reject
        pair = [one] if other is None else sorted((one, other), key=lambda said: said.best.quotes[0].start)
        used |= {said.best.id for said in pair}
        views = tuple(View(_holder(said), stated(said), _cues(said)) for said in pair)
        found.append((one.points + len(pair), Dispute(_about(one), views)))
    return [dispute for _, dispute in sorted(found, key=lambda row: (len(row[1].views) < 2, -row[0]))]


def _side(said: Said, text: str) -> View:
    """One half of a sentence that gives two views."""
    statement = replace(stated(said), text=text, sureness="disputed")
    cues = tuple(cue for cue in _cues(said) if cue in text.lower())
    return View(holder_in(text, with_beliefs=True), statement, cues)


def _against(one: Said, others: Sequence[Said]) -> Said | None:
    """The nearest view that opposes this one, or that this one opposes."""
    start = one.best.quotes[0].start
    near = [
        (abs(other.best.quotes[0].start - start), other)
        for other in others
        if abs(other.best.quotes[0].start - start) <= NEAR_CHARS
        and _holder(other)
        and _holder(one)
        and is_opposing(max(one, other, key=lambda said: said.best.quotes[0].start).best.text)
        and likeness(one.stems, other.stems) > 0
    ]
    return min(near, key=lambda row: (row[0], row[1].best.id))[1] if near else None


def _holder(said: Said) -> str:
    return holder_in(said.best.text)


def _cues(said: Said) -> tuple[str, ...]:
    claim = said.best
    marks = ("marked as disputed",) if claim.signals.disputed else ()
    return (*dict.fromkeys(hedge.cue for hedge in claim.hedges), *marks)


def _about(said: Said) -> str:
    claim = said.best
    return f"{claim.page_title}: {claim.section}" if claim.section else claim.subject
