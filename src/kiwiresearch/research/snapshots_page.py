"""One page of two snapshots, claim by claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.bulk.patience import PAGE_S, TookTooLong, patience
from kiwiresearch.claims.claim import Claim
from kiwiresearch.errors import BookChanged, BookDamaged, KiwiError
from kiwiresearch.research.claim_pairs import Compared, Paired, change_of, paired
from kiwiresearch.research.snapshots_change import Change, Moved, PageAt, PageChange
from kiwiresearch.research.snapshots_doubts import contradicted, holding_back, own_doubts
from kiwiresearch.research.snapshots_sides import PageSeen, Side
from kiwiresearch.zim.paths import title_of_path


@dataclass(frozen=True, slots=True)
class Pair:
    """The paths of a page in both snapshots, or in one of them."""

    old: str
    new: str
    moved: Moved = ""
    leads_to: str = ""


def page_change(pair: Pair, old: Side, new: Side) -> PageChange:
    """What became of a page; one that cannot be read, or takes endlessly, is told and is no reason to stop."""
    try:
        with patience():
            return _compared(pair, old, new)
    except BookChanged:
        raise
    except TookTooLong:
        return _unreadable(pair, f"It took more than {PAGE_S:.0f} seconds.")
    except KiwiError as problem:
        return _unreadable(pair, problem.message)
    except Exception as problem:  # whatever is wrong with one page, the others have nothing to do with it
        return _unreadable(pair, f"{type(problem).__name__}: {problem}")


def _compared(pair: Pair, old: Side, new: Side) -> PageChange:
    if pair.old and pair.new and _is_same(pair, old, new):
        at = (PageAt(pair.old, old.title(pair.old)), PageAt(pair.new, new.title(pair.new)))
        return PageChange("both", *at, pair.moved, is_same=True)
    before, after = _look(old, pair.old, "old"), _look(new, pair.new, "new")
    lead_only = old.lead_only != new.lead_only
    if before is None or after is None:
        found = _one_sided(pair, before, after, lead_only=lead_only)
        is_known = found.changes or (old.knows_all and new.knows_all)
        return found if is_known else replace(found, state="leads elsewhere")
    if before.digest and before.digest == after.digest:
        return PageChange("both", _at(before), _at(after), pair.moved, is_same=True)
    claims = [_told(page.claims(), lead_only=lead_only) for page in (before, after)]
    pairs = paired(*([Compared(number, claim) for number, claim in enumerate(side)] for side in claims))
    changes = tuple(_changes(pairs, claims[1], new.language))
    return PageChange("both", _at(before), _at(after), pair.moved, same=len(pairs.same), changes=changes)


def _is_same(pair: Pair, old: Side, new: Side) -> bool:
    """Whether a page is the same byte for byte."""
    try:
        before = old.raw(pair.old)
        return before is not None and before == new.raw(pair.new)
    except BookDamaged:
        return False


def _look(side: Side, path: str, which: str) -> PageSeen | None:
    try:
        return side.look(path) if path else None
    except BookDamaged as problem:  # without the place of the file, which is another on every machine
        reason = f"It cannot be read: {problem.__cause__}." if problem.__cause__ else problem.message
        raise BookDamaged(f"In the {which} snapshot: {reason}") from problem


def _told(claims: Sequence[Claim], *, lead_only: bool) -> Sequence[Claim]:
    """The claims that both sides could have: where one holds introductions only, those."""
    return [claim for claim in claims if not claim.section] if lead_only else claims


def _changes(pairs: Paired, new: Sequence[Claim], language: str) -> Iterator[Change]:
    """In the order of the new page, then what was withdrawn in that of the old one."""
    before = {after.claim.id: one.claim for one, after in pairs.same}
    before |= {after.claim.id: one.claim for one, after, _ in pairs.changed}
    touched = [after.claim for _, after, _ in pairs.changed] + [one.claim for one in pairs.new]
    doubts = contradicted(touched, new, before, language)
    found: list[tuple[int, Change]] = []
    for one, after in pairs.same:
        if told := tuple(own_doubts(one.claim, after.claim)):
            found.append((after.order, Change("disputed", one.claim, after.claim, doubts=told)))
    for one, after, share in pairs.changed:
        how = change_of(one, after, share)
        told = (*own_doubts(one.claim, after.claim), *doubts.get(after.claim.id, ()))
        hedging = holding_back(how.old) != holding_back(how.new)
        change = Change("changed", how.old, how.new, how.numbers, hedging, how.likeness, told)
        found.append((after.order, change))
    found += [
        (one.order, Change("added", None, one.claim, doubts=tuple(doubts.get(one.claim.id, ())))) for one in pairs.new
    ]
    yield from (change for _, change in sorted(found, key=lambda row: row[0]))
    yield from (Change("withdrawn", one.claim, None) for one in pairs.gone)


def _one_sided(pair: Pair, before: PageSeen | None, after: PageSeen | None, *, lead_only: bool) -> PageChange:
    if after is not None:
        changes = tuple(Change("added", None, claim) for claim in _told(after.claims(), lead_only=lead_only))
        return PageChange("added", None, _at(after), changes=changes, digest=after.digest if after.is_telling else "")
    if before is not None:
        changes = tuple(Change("withdrawn", claim, None) for claim in _told(before.claims(), lead_only=lead_only))
        return PageChange("removed", _at(before), None, changes=changes, leads_to=pair.leads_to)
    return PageChange("leads elsewhere", _named(pair.old), _named(pair.new))


def _unreadable(pair: Pair, problem: str) -> PageChange:
    return PageChange("unreadable", _named(pair.old), _named(pair.new), pair.moved, problem=problem)


def _at(seen: PageSeen) -> PageAt:
    return PageAt(seen.path, seen.title)


def _named(path: str) -> PageAt | None:
    return PageAt(path, title_of_path(path)) if path else None


def as_renamed(added: PageChange, old: PageAt) -> PageChange:
    """A page that seemed to be added, where its text stood under another path before."""
    return replace(added, state="both", old=old, moved="text", is_same=True, changes=(), digest="")
