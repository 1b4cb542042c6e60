"""What the store hands out beside the tree: rows of its logs and decisions, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kiwiresearch.kin.tree import PersonId
from kiwiresearch.text.when import DateRange


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to people, derived from what is preferred about them."""

    id: str
    event_type: str
    date_earliest: int | None
    date_latest: int | None
    place: str
    participants: tuple[Mapping[str, str], ...]
    """Each with `person_id` and `role`."""
    confidence: float
    when: DateRange | None = None


@dataclass(frozen=True, slots=True)
class MergeCluster:
    """Two people taken for one, why, why perhaps not, and whether that still holds."""

    id: str
    canonical_id: PersonId
    member_ids: tuple[PersonId, ...]
    merge_rationale: str
    why_not_split: str
    is_reversible: bool
    created_at: str
    why_not_merge: str = ""
    features: Mapping[str, Any] = field(default_factory=dict)
    score: float = 0.0
    decided_by: str = ""
    state: Literal["merged", "reverted"] = "merged"
    reverted_at: str = ""
    seq: int = 0


@dataclass(frozen=True, slots=True)
class CannotLink:
    """Two people who must not be taken for one again."""

    first: PersonId
    second: PersonId
    reason: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """Competing facts of a person and what was made of them; all of them stay."""

    id: str
    entity_id: PersonId
    field: str
    assertion_ids: tuple[str, ...]
    ranking: tuple[Mapping[str, Any], ...] = ()
    recommended_assertion_id: str = ""
    confidence: float = 0.0
    method: Literal["rule", "llm"] = "rule"
    resolution_status: Literal["tentative", "resolved", "open"] = "open"
    rationale: str = ""
    next_actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A line of the research log; `negative` says that nothing was found, which proves nothing."""

    seq: int
    query: str
    canonical: str
    query_hash: str
    source: str
    hits: int
    new_assertions: int
    negative: bool
    at: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One thing that was done, chained to the one before it."""

    seq: int
    id: str
    action_type: str
    entity_id: str
    before_state: Mapping[str, Any] | None
    after_state: Mapping[str, Any] | None
    agent_name: str
    timestamp: str
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class AuditProblem:
    """A row of the audit log that is not as it was written, or is missing."""

    seq: int
    kind: Literal["changed", "removed", "inserted", "reordered"]
    text: str


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """What a server answered, and until when that may be used."""

    url: str
    status: int
    body: bytes
    fetched_at: str
    expires_at: str
    etag: str = ""
    last_modified: str = ""
    body_hash: str = ""


@dataclass(frozen=True, slots=True)
class CachedRobots:
    """The robots.txt of a host; `status` says whether there was one."""

    host: str
    status: int
    body: str
    fetched_at: str
    expires_at: str
