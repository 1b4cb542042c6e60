"""Decisions of the user on a case: who is living, and which records are the same person."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from kiwiresearch.codec import Record
from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.loop.decisions import forbidden_pairs
from kiwiresearch.kin.resolve.pairs import ordered_pair
from kiwiresearch.kin.store.values import MergeCluster
from kiwiresearch.kin.tree import LivingStatus, PersonId, row_id
from kiwiresearch.messages.message import Message, rewritten

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case
    from kiwiresearch.kin.privacy.mask import Mask
    from kiwiresearch.kin.privacy.redaction import RedactedTree
    from kiwiresearch.kin.tree import Tree

OVERRIDES_KEY = "living_overrides"
REASONS_KEY = "living_reasons"


def set_living(case: Case, person: PersonId, status: str, why: str) -> None:
    """Note what the user says of a person; it wins over every rule until the user says otherwise."""
    known = next((one for one in get_args(LivingStatus) if one == status), None)
    if known is None:
        raise BadUsage(
            f"{status!r} says nothing of a life.", remedy=f"Use one of: {', '.join(get_args(LivingStatus))}."
        )
    store = case.store
    with store.step("user"):
        store.set_state(OVERRIDES_KEY, {**(store.state(OVERRIDES_KEY) or {}), person: known})
        store.set_state(REASONS_KEY, {**(store.state(REASONS_KEY) or {}), person: why})
        store.set_living(person, known, {"why": why, "by": "user"})
        case.decide()


@dataclass(frozen=True, slots=True)
class LivingRecord(Record):
    """Whether a person is taken for living, and why."""

    id: str
    name: str
    living: LivingStatus
    why: str
    by_user: bool


def living_record(case: Case, person: PersonId) -> LivingRecord:
    """What is thought of a person, and why."""
    known = case.known()
    verdict = known.verdicts[person]
    by_user = person in case.overrides
    reasons = case.store.state(REASONS_KEY) or {}
    why: str = verdict.why
    if by_user and (reason := reasons.get(person, "").rstrip(".: ")):
        why = Message(f"the user says so: {reason}", "living.user_says_why", words=reason)
    why = rewritten(why, lambda text: f"{text[:1].upper()}{text[1:]}".rstrip(".: "))
    return LivingRecord(person, known.tree.persons[person].name, verdict.status, why, by_user)


SHORT = 8
MIN_OF_ID = 4
SAYS_SO = "The user says so."
UNDONE = re.compile(r"the merge \S+ was undone")
"""What is kept as the reason of a decision for which nobody gave one."""


@dataclass(frozen=True, slots=True)
class WaitingMerge:
    """Two records that may mean one person, and wait for the user."""

    id: str
    pair: tuple[PersonId, PersonId]
    score: float
    why: str
    why_not: str
    action: str


@dataclass(frozen=True, slots=True)
class SeparatedPair:
    """Two records that are kept apart, as the user says or since their merge was undone."""

    id: str
    pair: tuple[PersonId, PersonId]
    why: str
    decided_by: str


One = TypeVar("One", WaitingMerge, MergeCluster, SeparatedPair)


def to_review(case: Case) -> tuple[WaitingMerge, ...]:
    """What the resolver leaves to the user, the likeliest first."""
    found: dict[str, WaitingMerge] = {}
    apart = forbidden_pairs(case.store)
    for row in case.store.state("proposals") or ():
        first, second = (case.store.canonical(one) for one in row["candidate_pair"])
        if first == second or row["recommended_action"] == "separate":
            continue
        if ordered_pair(first, second) in apart:
            continue
        name = row_id("proposal", *sorted((first, second)))
        told = row["similarity_score"], row["merge_rationale"], row["why_not_merge"], row["recommended_action"]
        found.setdefault(name, WaitingMerge(name, (first, second), *told))
    return tuple(sorted(found.values(), key=lambda one: (-one.score, one.id)))


def accept_merge(case: Case, wanted: str, why: str = "") -> str:
    """Take the two for one person, as the user says; the id of the merge."""
    one = _chosen(wanted, to_review(case), "proposal")
    first, second = sorted(one.pair, key=lambda person: ("record" not in case.store.person(person).external, person))
    with case.store.step("user"):
        merge = case.store.merges.merge(
            first,
            second,
            rationale=one.why or SAYS_SO,
            why_not_split=why or SAYS_SO,
            why_not_merge=one.why_not,
            score=one.score,
            decided_by="user",
        )
        case.decide()
    return merge


def reject_merge(case: Case, wanted: str, why: str = "") -> WaitingMerge:
    """Keep the two apart, as the user says; they are not proposed again."""
    one = _chosen(wanted, to_review(case), "proposal")
    with case.store.step("user"):
        case.store.merges.forbid(*one.pair, why or SAYS_SO, "user")
        case.decide()
    return one


def separated_pairs(case: Case) -> tuple[SeparatedPair, ...]:
    """The pairs that are not proposed again; those that became one person all the same are none."""
    links = case.store.merges.forbidden()
    apart = [one for one in links if case.store.canonical(one.first) != case.store.canonical(one.second)]
    return tuple(
        SeparatedPair(
            row_id("apart", one.first, one.second), (one.first, one.second), _own_words(one.reason), one.decided_by
        )
        for one in apart
    )


def allow_merge_again(case: Case, wanted: str, why: str = "") -> SeparatedPair:
    """Keep two apart no longer, by the beginning of its id: they are looked at again as if nothing had been said."""
    one = _chosen(wanted, separated_pairs(case), "pair that is kept apart")
    with case.store.step("user"):
        case.store.merges.allow(*one.pair, why)
        case.decide()
    return one


def undo_merge(case: Case, wanted: str, why: str = "", *, cascade: bool = False) -> tuple[str, ...]:
    """Undo a merge, by the beginning of its id; the ids of all that were undone."""
    merge = _chosen(wanted, case.store.merges.all(), "merge")
    with case.store.step("user"):
        undone = case.store.merges.undo(merge.id, cascade=cascade, why=why)
        case.decide()
    return undone


def user_reasons(case: Case) -> dict[str, str]:
    """What the user said to merges, by their ids. It is the owner's: it may name people in words no mask knows."""
    given = {one.id: _own_words(one.why_not_split) for one in case.store.merges.all() if one.decided_by == "user"}
    return {merge: why for merge, why in given.items() if why}


def _own_words(reason: str) -> str:
    """What the user said; what is kept where nothing was said is no reason."""
    return "" if reason == SAYS_SO or UNDONE.fullmatch(reason) else reason


def merges_record(case: Case, tree: RedactedTree, mask: Mask) -> dict[str, Any]:
    """All merges, proposals and pairs kept apart as data, told as far as the mode allows."""
    made = [
        {
            "id": one.id,
            "state": one.state,
            "person": _name(case, tree, one.canonical_id),
            "members": [_member(case, tree, mask, member, case.store.recorded_name) for member in one.member_ids],
            "score": one.score,
            "decided_by": one.decided_by,
            "why": mask.text(one.merge_rationale),
            "why_not": mask.text(one.why_not_merge),
        }
        for one in case.store.merges.all()
    ]

    def called(person: PersonId) -> str:
        return case.store.person(person).name

    waiting = [
        {
            "id": one.id,
            "members": [_member(case, tree, mask, member, called) for member in one.pair],
            "score": one.score,
            "action": one.action,
            "why": mask.text(one.why),
            "why_not": mask.text(one.why_not),
        }
        for one in to_review(case)
    ]
    apart = [
        {
            "id": one.id,
            "members": [_member(case, tree, mask, case.store.canonical(member), called) for member in one.pair],
            "decided_by": one.decided_by,
            # What the user says is the owner's: it may name people in words no mask knows.
            "why": one.why if tree.mode == "owner" else "",
        }
        for one in separated_pairs(case)
    ]
    return {"merges": made, "to_review": waiting, "kept_apart": apart}


def _member(case: Case, tree: Tree, mask: Mask, member: PersonId, called: Callable[[PersonId], str]) -> dict[str, str]:
    """Whoever is kept back has neither id nor name, and nor has a record that was merged into them."""
    shown = case.store.canonical(member) in tree.persons
    return {"id": member if shown else "", "name": mask.text(called(member)) if shown else "Living"}


def _name(case: Case, tree: Tree, person: PersonId) -> str:
    found = tree.persons.get(case.store.canonical(person))
    return found.name if found else "Living"


def _chosen(wanted: str, among: Sequence[One], what: str) -> One:
    given = wanted.strip().lower()
    found = [one for one in among if len(given) >= MIN_OF_ID and one.id.startswith(given)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise BadUsage(f"There is no {what} {wanted!r}.", remedy="'kiwiresearch kin merges' shows them all.")
    several = ", ".join(one.id[:SHORT] for one in found)
    raise BadUsage(f"{wanted!r} may be {len(found)} of them: {several}.", remedy="Give more of the id.")
