"""What waits in the queues of a case: pages to fetch, clues to follow, sources to ask again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from kiwiresearch.kin.identity import id_of
from kiwiresearch.text.fold import fold

QueueName = Literal["frontier", "clue", "revisit"]
ItemStatus = Literal["pending", "leased", "done", "failed", "dropped"]
QUEUES: tuple[QueueName, ...] = ("frontier", "clue", "revisit")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """What all items have; the store fills in what is left empty."""

    id: str = ""
    priority: float = 0.0
    created_at: str = ""
    retry_count: int = 0
    status: ItemStatus = "pending"
    not_before: str = ""
    lease_until: str = ""
    leased_by: str = ""
    last_error: str = ""

    @property
    def key(self) -> str:
        """What makes it the same as another item of its queue: a second one is not novel."""
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierItem(QueueItem):
    """A page or an entity to fetch."""

    target_entity_id: str = ""
    query_string: str
    source_tiers: tuple[str, ...] = ()
    query_hash: str
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.query_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class ClueItem(QueueItem):
    """A hypothesis worth a search; never a fact."""

    hypothesis_type: str
    hypothesis_text: str
    related_person_id: str = ""
    suggested_queries: tuple[str, ...] = ()
    evidence_hints: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return id_of("clue", self.hypothesis_type, fold(self.hypothesis_text), self.related_person_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisitItem(QueueItem):
    """A source to ask again, with better words."""

    original_source_id: str
    original_query: str
    improved_query: str
    revisit_reason: str
    triggering_clue_id: str = ""

    @property
    def key(self) -> str:
        return id_of("revisit", self.original_source_id, fold(self.improved_query))


Item = FrontierItem | ClueItem | RevisitItem
KINDS: Mapping[QueueName, type[FrontierItem] | type[ClueItem] | type[RevisitItem]] = {
    "frontier": FrontierItem,
    "clue": ClueItem,
    "revisit": RevisitItem,
}
SHARED: frozenset[str] = frozenset(QueueItem.__dataclass_fields__)
"""The fields that are columns of the queue; the others are its payload."""
