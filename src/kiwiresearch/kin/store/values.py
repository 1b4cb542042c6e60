"""Values that the case store accepts and returns: rows, stored dates, and the order of assertions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from kiwiresearch.kin.tree import DISCARDED, PersonId
from kiwiresearch.text.dates import ENDLESS_DAY, Calendar, DateQualifier, DateRange, Precision

if TYPE_CHECKING:
    from sqlalchemy import Row


@dataclass(frozen=True, slots=True)
class MergeCluster:
    """A merge of two people, the reasons for and against it, and whether it is in effect."""

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
class Separation:
    """Two people who must not be merged again."""

    first: PersonId
    second: PersonId
    reason: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """Competing facts of a person and the outcome; all of them stay."""

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
    """How many new values it gave; reports and lists call them new facts."""
    negative: bool
    at: str


@dataclass(frozen=True, slots=True)
class CaseAuditRow:
    """One action, chained to the previous one."""

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


STATUS_RANKS: Mapping[str, int] = {
    "verified": 0,
    "unverified": 1,
    "conflicting": 2,
    "disputed": 3,
    "hypothesis": 4,
    "superseded": 5,
    "rejected": 6,
}


class TieDetails(NamedTuple):
    """The qualifier of a relationship, and when it began and ended."""

    qualifier: str
    start: StoredDate | None
    end: StoredDate | None


def details_with_shadows(tie: Row[Any], shadows: Iterable[Row[Any]]) -> TieDetails:
    """The details of a tie; those that it lacks are taken from the ties that say the same, the best first."""
    counting = [row for row in shadows if row.status not in DISCARDED]
    rows = [tie, *sorted(counting, key=lambda row: (STATUS_RANKS[row.status], row.id))]
    return TieDetails(
        next((row.qualifier for row in rows if row.qualifier), ""),
        next((row.start for row in rows if row.start), None),
        next((row.end for row in rows if row.end), None),
    )


def rank_key(row: Row[Any]) -> tuple[bool, bool, int, float, str]:
    """The order of assertions: active before discarded, preferred first, then by status, confidence and id."""
    # The id last, so that the order is total and the same in every run.
    return row.status in DISCARDED, not row.preferred, STATUS_RANKS[row.status], -row.confidence, row.id


def best_by_field(rows: list[Row[Any]]) -> dict[str, Row[Any]]:
    """The assertion to show for each field."""
    best: dict[str, Row[Any]] = {}
    for row in sorted(rows, key=rank_key):
        if row.status not in DISCARDED:
            best.setdefault(row.field_name, row)
    return best


class Bounds(NamedTuple):
    """The first and last day as Julian Day Numbers; None where a date is open on that side."""

    earliest: int | None
    latest: int | None


class StoredDate(TypedDict):
    """A date as JSON: its days, precision, calendar, EDTF, and the words of the source."""

    earliest_jdn: int
    latest_jdn: int
    precision: Precision
    qualifier: DateQualifier
    calendar: Calendar
    lasts: bool
    edtf: str
    verbatim: str


class StoredValue(TypedDict):
    """The value of an assertion as JSON."""

    value: str
    when: StoredDate | None
    until: StoredDate | None
    qualifier: str
    target: str


def date_to_json(when: DateRange | None, verbatim: str = "") -> StoredDate | None:
    if when is None:
        return None
    return {
        "earliest_jdn": when.earliest,
        "latest_jdn": when.latest,
        "precision": when.precision,
        "qualifier": when.qualifier,
        "calendar": when.calendar,
        "lasts": when.lasts,
        "edtf": when.edtf(),
        "verbatim": verbatim,
    }


def date_from_json(row: StoredDate | None) -> DateRange | None:
    if row is None:
        return None
    return DateRange(
        row["earliest_jdn"], row["latest_jdn"], row["precision"], row["qualifier"], row["calendar"], row["lasts"]
    )


def date_bounds(row: StoredDate | None) -> Bounds:
    """The days that agree with a stored date: 'before 1850' has no first day, 'about' extends further."""
    when = date_from_json(row)
    if when is None:
        return Bounds(None, None)
    earliest, latest = when.possible_days()
    return Bounds(earliest if earliest > -ENDLESS_DAY else None, latest if latest < ENDLESS_DAY else None)
