"""The input of a report: a redacted tree, and what the research found and did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kiwiresearch.kin.conflict import Conflict
from kiwiresearch.kin.tree import FieldName, PersonId, Tree


@dataclass(frozen=True, slots=True)
class ShownValue:
    """One of several competing values, and the reason for its rank."""

    facts: tuple[str, ...]
    """The ids of the facts or ties that state it; those missing from the tree are not shown."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ShownConflict:
    """A conflict: values of one field of one person, the best supported first."""

    person: PersonId
    field: FieldName
    ranking: tuple[ShownValue, ...]
    recommended: str = ""
    """The id of the most likely fact; empty if undecided."""
    rationale: str = ""
    status: str = "open"
    """resolved, tentative or open."""
    next_actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeEntry:
    """Records merged into one person, with the arguments for and against."""

    person: PersonId
    names: tuple[str, ...]
    """The names of the person in the records."""
    why: str
    why_not: str
    score: float = 0.0
    decided_by: str = ""
    reverted: bool = False


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """A line of the research log."""

    query: str
    source: str
    hits: int = 0
    new_facts: int = 0
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the research ended."""

    reason: str = ""
    """The name of the condition: budget_exhausted, confidence_achieved …"""
    detail: str = ""


@dataclass(frozen=True)
class ReportInput:
    """The input of a report. Everything in it has already been redacted."""

    tree: Tree
    seeds: tuple[PersonId, ...]
    title: str = ""
    generations: int = 0
    """How many generations the research covers; 0 if not given."""
    conflicts: tuple[ShownConflict, ...] = ()
    merges: tuple[MergeEntry, ...] = ()
    possible_duplicates: tuple[tuple[PersonId, PersonId], ...] = ()
    """Pairs that may be one person, which nobody has decided on."""
    searches: tuple[SearchEntry, ...] = ()
    stop: Stop = Stop()
    kinship: Mapping[PersonId, str] = field(default_factory=dict)
    """The kinship of each person to the first seed: 'grandfather'."""
    privacy: str = ""
    """One sentence on what was left out, and about whom."""


def shown_conflict(conflict: Conflict) -> ShownConflict:
    """A conflict as the report shows it; it must have been found in the tree that is shown."""
    competing = conflict.values
    in_order = sorted(conflict.evidence_ranking, key=lambda value_rank: value_rank.rank)
    ranking = tuple(ShownValue(competing[value_rank.claim_index].facts, value_rank.reason) for value_rank in in_order)
    best = conflict.recommended_index
    return ShownConflict(
        conflict.person,
        conflict.field,
        ranking,
        "" if best is None else competing[best].facts[0],
        conflict.rationale,
        conflict.resolution_status,
        conflict.next_actions,
    )
