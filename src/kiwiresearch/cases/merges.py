"""Merges and possible duplicates of a case, without what only the owner may see."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin import PersonId, row_id
from kiwiresearch.kin.loop import pairs_kept_separate
from kiwiresearch.kin.resolve import ordered_pair
from kiwiresearch.kin.store import CaseStore, MergeCluster
from kiwiresearch.messages import Message, message_in

DEFAULT_REASON = "Set by the user."
"""The reason stored when the user gave none."""


@dataclass(frozen=True, slots=True)
class ProposedMerge:
    """Two records that may be the same person, awaiting the user's decision."""

    id: str
    pair: tuple[PersonId, PersonId]
    score: float
    why: Message
    why_not: Message
    action: str


def stored_proposals(store: CaseStore) -> tuple[ProposedMerge, ...]:
    """The pairs the resolver leaves to the user, the most likely first."""
    found: dict[str, ProposedMerge] = {}
    kept_separate = pairs_kept_separate(store)
    for row in store.state("proposals") or ():
        first, second = (store.canonical(item) for item in row["candidate_pair"])
        # Proposals are those of the last evaluation: since then, a pair may have been merged or separated.
        if first == second or row["recommended_action"] == "separate":
            continue
        if ordered_pair(first, second) in kept_separate:
            continue
        name = row_id("proposal", *sorted((first, second)))
        why, why_not = message_in(row, "merge_rationale"), message_in(row, "why_not_merge")
        score, action = row["similarity_score"], row["recommended_action"]
        found.setdefault(name, ProposedMerge(name, (first, second), score, why, why_not, action))
    return tuple(sorted(found.values(), key=lambda merge: (-merge.score, merge.id)))


def shown_rationale(cluster: MergeCluster) -> str:
    """Why two records were merged, without the user's own words, which are for the owner only."""
    # Cases of earlier versions have the user's words as both reasons.
    is_own_words = cluster.decided_by == "user" and cluster.merge_rationale == cluster.why_not_split
    return DEFAULT_REASON if is_own_words else cluster.merge_rationale
