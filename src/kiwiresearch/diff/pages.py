"""Matches the pages of two snapshots, and compares them claim by claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.bulk import PAGE_TIMEOUT_S, PageTimeout, time_limit
from kiwiresearch.claims import TITLE_QUALIFIER, Claim
from kiwiresearch.diff.changes import (
    ClaimChange,
    MovedBy,
    PageChange,
    PageLocation,
    contradicted_claims,
    new_doubts,
)
from kiwiresearch.diff.pairs import (
    OLD_ENDING,
    OLD_NAMESPACE,
    ClaimPairs,
    ComparedClaim,
    describe_change,
    pair_claims,
    plain_path,
)
from kiwiresearch.diff.snapshot import Snapshot, SnapshotPage
from kiwiresearch.errors import BookChanged, BookDamaged, KiwiError, PageNotFound
from kiwiresearch.zim import title_of_path


@dataclass(frozen=True, slots=True)
class PagePair:
    """The paths of a page in both snapshots, or in one of them."""

    old: str
    new: str
    moved: MovedBy = ""
    leads_to: str = ""


def page_change(pair: PagePair, old: Snapshot, new: Snapshot) -> PageChange:
    """How a page changed; one that cannot be read, or takes too long, is reported and does not stop the others."""
    try:
        with time_limit():
            return _compared(pair, old, new)
    except BookChanged:
        raise
    except PageTimeout:
        return _unreadable(pair, f"It took more than {PAGE_TIMEOUT_S:.0f} seconds.")
    except KiwiError as problem:
        return _unreadable(pair, problem.message)
    except Exception as problem:  # a bug triggered by one page must not stop the others
        return _unreadable(pair, f"{type(problem).__name__}: {problem}")


def _compared(pair: PagePair, old: Snapshot, new: Snapshot) -> PageChange:
    # Equal bytes settle it without parsing either page.
    if pair.old and pair.new and _is_same(pair, old, new):
        at = (PageLocation(pair.old, old.title(pair.old)), PageLocation(pair.new, new.title(pair.new)))
        return PageChange("both", *at, pair.moved, is_same=True)
    before, after = _read(old, pair.old, "old"), _read(new, pair.new, "new")
    lead_only = old.lead_only != new.lead_only
    if before is None or after is None:
        found = _one_sided(pair, before, after, lead_only=lead_only)
        # A folder without the table of pages has only pages with claims, so a missing one may just have none.
        is_known = found.changes or (old.has_all_pages and new.has_all_pages)
        return found if is_known else replace(found, state="leads elsewhere")
    if before.digest and before.digest == after.digest:
        return PageChange("both", _location(before), _location(after), pair.moved, is_same=True)
    claims = [_comparable(page.claims(), lead_only=lead_only) for page in (before, after)]
    pairs = pair_claims(*([ComparedClaim(index, claim) for index, claim in enumerate(side)] for side in claims))
    changes = tuple(_changes(pairs, claims[1], new.language))
    return PageChange("both", _location(before), _location(after), pair.moved, same=len(pairs.same), changes=changes)


def _is_same(pair: PagePair, old: Snapshot, new: Snapshot) -> bool:
    """Whether a page is the same byte for byte."""
    try:
        before = old.raw(pair.old)
        return before is not None and before == new.raw(pair.new)
    except BookDamaged:
        return False


def _read(side: Snapshot, path: str, which: str) -> SnapshotPage | None:
    try:
        return side.read(path) if path else None
    except BookDamaged as problem:  # without the path of the file, which differs between machines
        reason = f"It cannot be read: {problem.__cause__}." if problem.__cause__ else problem.message
        raise BookDamaged(f"In the {which} edition: {reason}") from problem


def _comparable(claims: Sequence[Claim], *, lead_only: bool) -> Sequence[Claim]:
    """The claims that both sides could have: only those of introductions, if one side has nothing else."""
    return [claim for claim in claims if not claim.section] if lead_only else claims


def _changes(pairs: ClaimPairs, new: Sequence[Claim], language: str) -> Iterator[ClaimChange]:
    """In the order of the new page, then the withdrawn claims in the order of the old one."""
    before = {after.claim.id: compared_claim.claim for compared_claim, after in pairs.same}
    before |= {after.claim.id: compared_claim.claim for compared_claim, after, _ in pairs.changed}
    touched = [after.claim for _, after, _ in pairs.changed] + [claim.claim for claim in pairs.new]
    doubts = contradicted_claims(touched, new, before, language)
    found: list[tuple[int, ClaimChange]] = []
    for compared_claim, after in pairs.same:
        if doubts_now := tuple(new_doubts(compared_claim.claim, after.claim)):
            found.append(
                (after.position, ClaimChange("disputed", compared_claim.claim, after.claim, doubts=doubts_now))
            )
    for compared_claim, after, share in pairs.changed:
        how = describe_change(compared_claim, after, share)
        doubts_now = (*new_doubts(compared_claim.claim, after.claim), *doubts.get(after.claim.id, ()))
        change = ClaimChange(
            "changed", how.old, how.new, how.numbers_differ, how.hedging_differs, how.similarity, doubts_now
        )
        found.append((after.position, change))
    found += [
        (claim.position, ClaimChange("added", None, claim.claim, doubts=tuple(doubts.get(claim.claim.id, ()))))
        for claim in pairs.new
    ]
    yield from (change for _, change in sorted(found, key=lambda row: row[0]))
    yield from (ClaimChange("withdrawn", claim.claim, None) for claim in pairs.gone)


def _one_sided(
    pair: PagePair, before: SnapshotPage | None, after: SnapshotPage | None, *, lead_only: bool
) -> PageChange:
    if after is not None:
        changes = tuple(ClaimChange("added", None, claim) for claim in _comparable(after.claims(), lead_only=lead_only))
        return PageChange(
            "added", None, _location(after), changes=changes, digest=after.digest if after.is_distinctive else ""
        )
    if before is not None:
        changes = tuple(
            ClaimChange("withdrawn", claim, None) for claim in _comparable(before.claims(), lead_only=lead_only)
        )
        return PageChange("removed", _location(before), None, changes=changes, leads_to=pair.leads_to)
    return PageChange("leads elsewhere", _location_of_path(pair.old), _location_of_path(pair.new))


def _unreadable(pair: PagePair, problem: str) -> PageChange:
    return PageChange(
        "unreadable", _location_of_path(pair.old), _location_of_path(pair.new), pair.moved, problem=problem
    )


def _location(seen: SnapshotPage) -> PageLocation:
    return PageLocation(seen.path, seen.title)


def _location_of_path(path: str) -> PageLocation | None:
    return PageLocation(path, title_of_path(path)) if path else None


def renamed_page(added: PageChange, old: PageLocation) -> PageChange:
    """An added page whose text was under another path before."""
    return replace(added, state="both", old=old, moved="text", is_same=True, changes=(), digest="")


@dataclass(frozen=True, slots=True)
class Moves:
    """Old pages whose path now leads to a page that the old snapshot does not have."""

    by_new: dict[str, str]
    gone: int
    """How many pages of the old snapshot have no counterpart in the new one."""


def find_moves(old: Snapshot, new: Snapshot) -> Moves:
    """Follow the paths of old pages without a counterpart; if several lead to one page, the first counts."""
    by_new: dict[str, str] = {}
    gone = 0
    for path in old.paths():
        if counterpart(path, old, new) is None:
            target = _target_of(path, old, new)
            if target and counterpart(target, new, old) is None and target not in by_new:
                by_new[target] = path
            else:
                gone += 1
    return Moves(by_new, gone)


def page_pairs(old: Snapshot, new: Snapshot, known: Moves) -> Iterator[PagePair]:
    """Each page of the new snapshot, in order, with its counterpart in the old one."""
    for path in new.paths():
        before = counterpart(path, new, old)
        if before is not None:
            yield _same(before, path)
        elif path in known.by_new:
            yield PagePair(known.by_new[path], path, "redirect")
        else:
            yield PagePair("", path)


def removed_pages(old: Snapshot, new: Snapshot, known: Moves) -> Iterator[PagePair]:
    """Each old page that the new snapshot does not have, in order, and where its path leads now."""
    for path in old.paths():
        if counterpart(path, old, new) is None:
            target = _target_of(path, old, new)
            if target is None or known.by_new.get(target) != path:
                yield PagePair(path, "", leads_to=target or "")


def find_page_pair(words: str, old: Snapshot, new: Snapshot) -> PagePair:
    """The page with this title or path, in both snapshots or in one."""
    after = new.find(words)
    if after is not None:
        return _pair_of_new(after, old, new, (words, TITLE_QUALIFIER.sub("", words)))
    before = old.find(words)
    if before is None:
        raise PageNotFound(f"Neither edition has a page named {words!r}.", remedy="Try another title.")
    same = counterpart(before, old, new)
    if same is not None:
        return _same(before, same)
    return PagePair(before, "", leads_to=_target_of(before, old, new) or "")


def _pair_of_new(after: str, old: Snapshot, new: Snapshot, names: Iterable[str]) -> PagePair:
    same = counterpart(after, new, old)
    if same is not None:
        return _same(same, after)
    for name in names:
        before = old.find(name)
        is_free = before is not None and counterpart(before, old, new) is None
        if before is not None and is_free and _target_of(before, old, new) == after:
            return PagePair(before, after, "redirect")
    return PagePair("", after)


def _same(old: str, new: str) -> PagePair:
    return PagePair(old, new, "" if plain_path(old) == plain_path(new) else "title")


def counterpart(path: str, here: Snapshot, there: Snapshot) -> str | None:
    """The same page in the other snapshot, by a spelling of its path or by its title, if both directions agree."""
    # Both directions must agree, or two pages here could have the same counterpart there.
    found = _by_path(path, there)
    if found is None:
        found = _by_title(path, here, there)
        return found if found and _by_path(found, here) is None and _by_title(found, there, here) == path else None
    return found if _by_path(found, here) == path else None


def _by_path(path: str, side: Snapshot) -> str | None:
    """The page of this path, with or without the prefix and suffix of older books."""
    for spelled in _spellings(path):
        found = _resolved(spelled, side)
        # A spelling that redirects to another name is a page that moved, not the same page.
        if found is not None and found.removeprefix(OLD_NAMESPACE) == spelled.removeprefix(OLD_NAMESPACE):
            return found
    return None


def _by_title(path: str, here: Snapshot, there: Snapshot) -> str | None:
    try:
        title = here.title(path)
        found = there.by_title(title) if title else None
        return found if found and there.title(found) == title else None
    except KiwiError:
        return None


def _target_of(path: str, old: Snapshot, new: Snapshot) -> str | None:
    """Where the path of an old page leads in the new snapshot."""
    for spelled in _spellings(path):
        found = _resolved(spelled, new)
        if found is not None:
            return found
    try:
        return new.by_title(old.title(path))
    except KiwiError:
        return None


def _spellings(path: str) -> Iterable[str]:
    """A path unchanged, and as older and newer books spell it."""
    # "A/Moon.html" is also tried as "Moon", "Moon.html" and "A/Moon".
    plain = plain_path(path)
    ended = f"{plain}{OLD_ENDING}"
    return dict.fromkeys((path, plain, ended, f"{OLD_NAMESPACE}{plain}", f"{OLD_NAMESPACE}{ended}"))


def _resolved(path: str, side: Snapshot) -> str | None:
    try:
        return side.resolve(path)
    except KiwiError:
        return None
