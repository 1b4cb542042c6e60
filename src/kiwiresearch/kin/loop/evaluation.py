"""The evaluation of a case: merges, implausible facts, conflicts, and who may be living."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kiwiresearch.kin.conflict import Conflict, find_tree_conflicts
from kiwiresearch.kin.conflict_by_model import review_conflicts
from kiwiresearch.kin.plausibility import find_implausible
from kiwiresearch.kin.privacy import living_verdicts
from kiwiresearch.kin.resolve import MergeProposal, Pair, ordered_pair, propose, review_by_model
from kiwiresearch.kin.store import IMPORTS, CaseStore, ConflictRow
from kiwiresearch.kin.tree import Fact, PersonId, Relationship, Tree
from kiwiresearch.llm import Model
from kiwiresearch.messages import MessageRecord, message_record


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """What an evaluation of a case concluded, for the log."""

    merged: tuple[str, ...] = ()
    proposals: tuple[MergeProposal, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    """Why a model did not help."""


def evaluate(
    store: CaseStore, year: int, *, years_after_death: int = 0, model: Model | None = None
) -> EvaluationResult:
    """Resolve people, mark implausible facts as disputed, rank conflicts and update who may be living, in this order.

    A model is asked between the transactions, so the case is not locked while it answers.
    """
    if model is not None:
        update_living_status(store, year, years_after_death)  # the model may not see people who may be alive
    merged, proposals, notes = resolve(store, model)
    with store.step("verifier"):
        _dispute_implausible(store, store.tree())
    tree = store.tree()
    conflicts = find_tree_conflicts(tree)
    # Outside any transaction: a model may take minutes.
    if model is not None:
        reviewed = review_conflicts(conflicts, tree, model)
        conflicts, notes = reviewed.conflicts, (*notes, *reviewed.notes)
    with store.step("conflict analyst"):
        conflicts = _with_existing_values(store.tree(), conflicts)
        _store_conflicts(store, conflicts)
        _prefer_recommended(store, tree, conflicts)
        _set_living(store, store.tree(), year, years_after_death)
    return EvaluationResult(merged, proposals, conflicts, notes)


def resolve(
    store: CaseStore, model: Model | None = None
) -> tuple[tuple[str, ...], tuple[MergeProposal, ...], tuple[str, ...]]:
    """Merge what is certain; return the merges, the proposals left for the user, and why a model did not help."""
    tree = store.tree()
    proposals = propose(tree, separated=sorted(pairs_kept_separate(store)))
    notes: tuple[str, ...] = ()
    if model is not None:
        reviewed = review_by_model(proposals, tree, model)
        proposals, notes = reviewed.proposals, reviewed.notes
    with store.step("resolver"):
        merged, left = _merge(store, proposals, entered_people(tree))
    return merged, left, notes


def pairs_kept_separate(store: CaseStore) -> frozenset[Pair]:
    """The pairs kept separate, by their current ids: either person may have been merged since."""
    pairs = (
        (store.canonical(separation.first), store.canonical(separation.second))
        for separation in store.merges.separated()
    )
    return frozenset(ordered_pair(*pair) for pair in pairs)


def unconfirmed_pair_check(store: CaseStore) -> Callable[[PersonId, PersonId], bool]:
    """A test for pairs that were first brought together by an import: only the owner may merge them."""
    groups = [
        (frozenset(map(store.canonical, entry["people"])), frozenset(map(store.canonical, entry["before"])))
        for entry in store.state(IMPORTS) or ()
    ]

    def is_unconfirmed(one: PersonId, other: PersonId) -> bool:
        return any(
            (one in people and other in people | before) or (other in people and one in people | before)
            for people, before in groups
        )

    return is_unconfirmed


def survivor_first(store: CaseStore, one: PersonId, other: PersonId) -> Pair:
    """Two people in the order of a merge: the one with their own record survives it, or else with the fuller name."""
    known = {person: store.person(person) for person in (one, other)}
    first, second = sorted(
        known, key=lambda person: ("record" not in known[person].external, -len(known[person].name.split()), person)
    )
    return first, second


def entered_people(tree: Tree) -> frozenset[PersonId]:
    """The people whom somebody entered by hand: anyone who enters two people means two, so only people merge them."""
    return frozenset(fact.person for fact in tree.facts if fact.field == "name" and fact.is_entered)


def _merge(
    store: CaseStore, proposals: Sequence[MergeProposal], entered: frozenset[PersonId]
) -> tuple[tuple[str, ...], tuple[MergeProposal, ...]]:
    merged: list[str] = []
    left = []
    is_unconfirmed = unconfirmed_pair_check(store)
    for proposal in proposals:
        if not all(map(store.is_in_case, proposal.candidate_pair)):  # somebody removed one of them since
            continue
        one, other = (store.canonical(person) for person in proposal.candidate_pair)
        is_sure = proposal.recommended_action == "merge" and not proposal.vetoes and one != other
        is_sure = is_sure and not entered & {one, other, *proposal.candidate_pair}
        # Read again each time, since each merge changes the ids by which separated pairs are known.
        if not is_sure or ordered_pair(one, other) in pairs_kept_separate(store) or is_unconfirmed(one, other):
            left.append(proposal)
            continue
        merged.append(
            store.merges.merge(
                *survivor_first(store, one, other),
                rationale=proposal.merge_rationale,
                why_not_split=proposal.merge_rationale,
                why_not_merge=proposal.why_not_merge,
                features={
                    **{str(feature): score for feature, score in proposal.matching_features.items()},
                    **merge_reasons(proposal.merge_rationale, proposal.why_not_merge),
                },
                score=proposal.similarity_score,
                decided_by=proposal.decided_by,
            )
        )
    return tuple(merged), tuple(left)


def merge_reasons(why: str, why_not: str) -> dict[str, MessageRecord | None]:
    """The reasons of a merge as they are stored beside their English text."""
    return {"why_message": message_record(why), "why_not_message": message_record(why_not)}


def _dispute_implausible(store: CaseStore, tree: Tree) -> None:
    """Mark implausible facts and relationships as disputed; they stay in the case."""
    stated: list[Fact | Relationship] = [*tree.facts, *tree.relationships]
    # What a person says is not disputed by a rule.
    known = {item.id: item.status for item in stated if not (item.decision or item.is_entered)}
    for doubt in find_implausible(tree):
        for identity in (*doubt.facts, *doubt.relationships):
            if known.get(identity) not in (None, "disputed"):
                store.set_status(identity, "disputed", doubt.sentence)


def _store_conflicts(store: CaseStore, found: Sequence[Conflict]) -> None:
    earlier = {row.id for row in store.conflicts()}
    for conflict in found:
        best = conflict.recommended_index
        row = ConflictRow(
            conflict.conflict_id,
            conflict.person,
            conflict.field,
            tuple(fact for value in conflict.values for fact in value.facts),
            tuple(
                {"claim_index": r.claim_index, "rank": r.rank, "reason": r.reason} for r in conflict.evidence_ranking
            ),
            "" if best is None else conflict.values[best].facts[0],
            conflict.confidence,
            "rule" if conflict.decided_by == "rules" else "llm",
            conflict.resolution_status,
            conflict.rationale,
            conflict.next_actions,
        )
        store.put_conflict(row)
    for gone in sorted(earlier - {conflict.conflict_id for conflict in found}):
        store.drop_conflict(gone)


def _with_existing_values(tree: Tree, found: Sequence[Conflict]) -> tuple[Conflict, ...]:
    """The conflicts whose values are all still there: somebody may have changed them while a model was asked."""
    known = {fact.id for fact in tree.facts} | {tie.id for tie in tree.relationships}
    return tuple(conflict for conflict in found if all(known.issuperset(value.facts) for value in conflict.values))


def _prefer_recommended(store: CaseStore, tree: Tree, found: Sequence[Conflict]) -> None:
    """Mark the best-supported value of each conflict as preferred."""
    shown = {fact.id: fact.preferred for fact in tree.facts}
    for conflict in found:
        at = conflict.recommended_index
        best = () if at is None else conflict.values[at].facts
        if best and best[0] in shown and not any(shown.get(fact) for fact in best):
            store.set_preferred(best[0], conflict.rationale)


def update_living_status(store: CaseStore, year: int, years_after_death: int) -> None:
    """Update who may be alive from what is known now."""
    with store.step("privacy"):
        _set_living(store, store.tree(), year, years_after_death)


def _set_living(store: CaseStore, tree: Tree, year: int, years_after_death: int) -> None:
    overrides = store.living_overrides
    verdicts = living_verdicts(tree, year, years_after_death=years_after_death, overrides=overrides)
    for person, verdict in sorted(verdicts.items()):
        if tree.persons[person].living != verdict.status:
            store.set_living(person, verdict.status, {"why": verdict.why})
