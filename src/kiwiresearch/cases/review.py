"""Decisions of the user on a case: who is living, and which records are the same person."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, get_args

from kiwiresearch.cases.json_records import MergeRecord, MergesRecord, NamedPerson, ProposedMergeRecord, SeparatedRecord
from kiwiresearch.cases.merges import DEFAULT_REASON, ProposedMerge, shown_rationale, stored_proposals
from kiwiresearch.codec import Record
from kiwiresearch.errors import BadUsage
from kiwiresearch.ids import is_start_of_id
from kiwiresearch.kin import LivingStatus, PersonId, row_id
from kiwiresearch.kin.loop import merge_reasons, survivor_first
from kiwiresearch.kin.privacy import LIVING_NAME
from kiwiresearch.kin.store import MergeCluster
from kiwiresearch.messages import Message, message_from_record

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case
    from kiwiresearch.kin.privacy import Mask, ShownTree


def set_living(case: Case, person: PersonId, status: str, why: str) -> None:
    """Record what the user says about a person; it overrides every rule until the user changes it."""
    known = next((arg for arg in get_args(LivingStatus) if arg == status), None)
    if known is None:
        raise BadUsage(
            f"{status!r} is not a valid status.", remedy=f"Choose one of: {', '.join(get_args(LivingStatus))}."
        )
    store = case.store
    with store.edits.recording("living", [person], {"living": known}, note=why):
        store.override_living(person, known, why)
        store.set_living(person, known, {"why": why, "by": "user"})
        case.apply_change()


@dataclass(frozen=True, slots=True)
class LivingRecord(Record):
    """Whether a person counts as living, and why."""

    id: str
    name: str
    living: LivingStatus
    why: str
    by_user: bool


def living_record(case: Case, person: PersonId, *, for_owner: bool = True) -> LivingRecord:
    """Whether a person counts as living, and the reason; the user's own words for it only `for_owner`."""
    withheld = case.withheld()
    verdict = withheld.verdicts[person]
    by_user = person in case.store.living_overrides
    why = Message(f"{verdict.why[:1].upper()}{verdict.why[1:]}", verdict.why.kind, **verdict.why.values)
    reason = case.store.living_reasons.get(person, "").rstrip(".: ") if by_user and for_owner else ""
    if reason:
        why = Message(f"Set by hand: {reason}", "living.user_says_why", words=reason)
    return LivingRecord(person, withheld.tree.persons[person].name, verdict.status, why, by_user)


SHOWN_ID_CHARS = 8
# 'the merge 1f2e… was undone', but not a user's 'the merge was undone'.
DEFAULT_UNDO_REASON = re.compile(r"the merge \S+ was undone")
"""The reason stored when a merge is undone without one."""


@dataclass(frozen=True, slots=True)
class SeparatedPair:
    """Two records that must not be merged, by the user's decision or because a merge was undone."""

    id: str
    pair: tuple[PersonId, PersonId]
    why: str
    decided_by: str


Reviewable = TypeVar("Reviewable", ProposedMerge, MergeCluster, SeparatedPair)


def proposed_merges(case: Case) -> tuple[ProposedMerge, ...]:
    """The pairs the resolver leaves to the user, the most likely first."""
    return stored_proposals(case.store)


def accept_merge(case: Case, wanted: str, why: str = "") -> str:
    """Merge two records by the user's decision, and return the id of the merge."""
    proposal = _chosen(wanted, proposed_merges(case), "possible duplicate")
    with case.store.edits.recording("merge", proposal.pair, note=why):
        merge = case.store.merges.merge(
            *survivor_first(case.store, *proposal.pair),
            rationale=proposal.why or DEFAULT_REASON,
            why_not_split=why or DEFAULT_REASON,
            why_not_merge=proposal.why_not,
            features=merge_reasons(proposal.why, proposal.why_not),
            score=proposal.score,
            decided_by="user",
        )
        case.apply_change()
    return merge


def reject_merge(case: Case, wanted: str, why: str = "") -> ProposedMerge:
    """Separate two records by the user's decision; they are not proposed again."""
    proposal = _chosen(wanted, proposed_merges(case), "possible duplicate")
    with case.store.edits.recording("separate", proposal.pair, note=why):
        case.store.merges.separate(*proposal.pair, why or DEFAULT_REASON, "user")
        case.apply_change()
    return proposal


def separated_pairs(case: Case) -> tuple[SeparatedPair, ...]:
    """The pairs that are not proposed again, except those that were merged anyway."""
    separations = [
        separation
        for separation in case.store.merges.separated()
        if case.store.canonical(separation.first) != case.store.canonical(separation.second)
    ]
    return tuple(
        SeparatedPair(
            row_id("apart", separation.first, separation.second),
            (separation.first, separation.second),
            _reason_if_given(separation.reason),
            separation.decided_by,
        )
        for separation in separations
    )


def allow_merge_again(case: Case, wanted: str, why: str = "") -> SeparatedPair:
    """Allow a separated pair, given by id prefix, to be proposed again."""
    separation = _chosen(wanted, separated_pairs(case), "pair that is kept separate")
    with case.store.edits.recording("allow_merge", separation.pair, note=why):
        case.store.merges.withdraw_separation(*separation.pair)
        case.apply_change()
    return separation


def undo_merge(case: Case, wanted: str, why: str = "", *, cascade: bool = False) -> tuple[str, ...]:
    """Undo a merge, given by id prefix; returns the ids of all merges that were undone."""
    merge = _chosen(wanted, case.store.merges.all(), "merge")
    with case.store.edits.recording("unmerge", merge.member_ids, note=why):
        undone = case.store.merges.undo(merge.id, cascade=cascade, why=why)
        case.apply_change()
    return undone


def user_reasons(case: Case) -> dict[str, str]:
    """The user's reasons for merges, by merge id. For the owner only: they may name people in ways no mask knows."""
    given = {
        cluster.id: _reason_if_given(cluster.why_not_split)
        for cluster in case.store.merges.all()
        if cluster.decided_by == "user"
    }
    return {merge: why for merge, why in given.items() if why}


def _reason_if_given(reason: str) -> str:
    """The user's own reason; empty if it is the default one."""
    return "" if reason == DEFAULT_REASON or DEFAULT_UNDO_REASON.fullmatch(reason) else reason


def merges_record(case: Case, tree: ShownTree, mask: Mask) -> MergesRecord:
    """All merges, proposals and separated pairs, as far as the mode allows."""
    store = case.store

    def member(person: PersonId, name_of: Callable[[PersonId], str]) -> NamedPerson:
        # A withheld person has neither id nor name here, nor has a record that was merged into them.
        if store.canonical(person) not in tree.persons:
            return NamedPerson("", LIVING_NAME)
        return NamedPerson(person, mask.text(name_of(person)))

    def name_now(person: PersonId) -> str:
        return store.person(person).name

    made = [
        MergeRecord(
            id=cluster.id,
            state=cluster.state,
            person=person.name if (person := tree.persons.get(store.canonical(cluster.canonical_id))) else LIVING_NAME,
            members=tuple(member(each, store.recorded_name) for each in cluster.member_ids),
            score=cluster.score,
            decided_by=cluster.decided_by,
            why=_masked(message_from_record(shown_rationale(cluster), cluster.features.get("why_message")), mask),
            why_not=_masked(message_from_record(cluster.why_not_merge, cluster.features.get("why_not_message")), mask),
        )
        for cluster in store.merges.all()
    ]
    waiting = [
        ProposedMergeRecord(
            id=merge.id,
            members=tuple(member(each, name_now) for each in merge.pair),
            score=merge.score,
            action=merge.action,
            why=_masked(merge.why, mask),
            why_not=_masked(merge.why_not, mask),
        )
        for merge in proposed_merges(case)
    ]
    separated = [
        SeparatedRecord(
            id=pair.id,
            members=tuple(member(store.canonical(each), name_now) for each in pair.pair),
            decided_by=pair.decided_by,
            # The user's own words may name people in ways that no mask knows.
            why=pair.why if tree.mode == "owner" else "",
        )
        for pair in separated_pairs(case)
    ]
    return MergesRecord(tuple(made), tuple(waiting), tuple(separated))


def _masked(reason: Message, mask: Mask) -> str:
    """A reason without withheld people; one that names them is in English, where the mask knows their names."""
    masked = mask.text(reason)
    return reason if masked == reason else masked


def _chosen(wanted: str, among: Sequence[Reviewable], what: str) -> Reviewable:
    given = wanted.strip().lower()
    found = [item for item in among if is_start_of_id(given, item.id)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise BadUsage(f"No {what} has the ID {wanted!r}.", remedy="To list all IDs: kiwiresearch kin merges")
    several = ", ".join(item.id[:SHOWN_ID_CHARS] for item in found)
    raise BadUsage(f"{wanted!r} matches {len(found)} IDs: {several}.", remedy="Use more characters of the ID.")
