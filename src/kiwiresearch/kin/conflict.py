"""The conflicts of a tree: competing values ranked by their evidence, with the records that would settle them.

Finding, ranking and describing use the same values, so they are in one module.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.kin.conflict_values import (
    SINGLE_MARRIAGE_FIELDS,
    SINGLE_VALUE_FIELDS,
    ValueGroup,
    birth_parent_ties,
    competing_facts,
    group_values,
)
from kiwiresearch.kin.evidence_phrases import INFORMATION_PHRASES, source_phrases
from kiwiresearch.kin.next_steps import next_steps
from kiwiresearch.kin.plausibility import date_problem
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    Evidence,
    EvidenceType,
    FieldName,
    PersonId,
    Source,
    SourceId,
    Tree,
    row_id,
)
from kiwiresearch.messages import Message, message_record
from kiwiresearch.text.dates import DateText

ResolutionStatus = Literal["resolved", "tentative", "open"]


@dataclass(frozen=True, slots=True)
class CompetingValue:
    """One value and all facts that state it."""

    value: str
    facts: tuple[str, ...]
    """Ids of the facts or, for a parent, of the ties."""
    sources: tuple[str, ...]
    source_tier: int
    evidence_type: EvidenceType
    confidence: float
    evidence_class: tuple[int, ...]
    """The class of its evidence: lower is better, and a model may only reorder values of the same class."""
    problem: str = ""
    """Why it is implausible, whatever its evidence."""


@dataclass(frozen=True, slots=True)
class ValueRank(Record):
    """A place in the ranking: `claim_index` counts the competing values from 0, `rank` from 1."""

    claim_index: int
    rank: int
    reason: str
    reason_message: Mapping[str, object] | None = dataclasses.field(default=None, metadata=OMIT_DEFAULT, kw_only=True)

    @classmethod
    def of(cls, claim_index: int, rank: int, reason: str) -> Self:
        """A place whose reason may be a message."""
        return cls(claim_index, rank, reason, reason_message=message_record(reason))


@dataclass(frozen=True, slots=True)
class CompetingAssertionRecord(Record):
    """A competing value as JSON, with its confidence."""

    value: str
    source_tier: int
    confidence: float


@dataclass(frozen=True, slots=True)
class CompetingClaimRecord(Record):
    """A competing value as JSON, with the evidence for it."""

    value: str
    source: str
    tier: int
    evidence_type: EvidenceType


@dataclass(frozen=True, slots=True)
class ConflictAnalysis(Record):
    """The ranking of competing values, with the JSON keys that the specification requires (docs/design/kin.md)."""

    evidence_ranking: tuple[ValueRank, ...]
    recommended_value: str | None
    rationale: str
    next_actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConflictRecord(Record):
    """A conflict as JSON."""

    conflict_id: str
    person: PersonId
    field: FieldName
    competing_assertions: tuple[CompetingAssertionRecord, ...]
    competing_claims: tuple[CompetingClaimRecord, ...]
    """The same values in the same order."""
    llm_analysis: ConflictAnalysis
    analysis: str
    evidence_ranking: tuple[ValueRank, ...]
    recommended_value: str | None
    confidence: float
    is_tentative: bool
    next_actions: tuple[str, ...]
    resolution_status: ResolutionStatus
    preserve_alternatives: Literal[True]
    decided_by: str
    analysis_message: Mapping[str, object] | None = dataclasses.field(default=None, metadata=OMIT_DEFAULT, kw_only=True)
    next_actions_messages: tuple[Mapping[str, object] | None, ...] = dataclasses.field(
        default=(), metadata=OMIT_DEFAULT, kw_only=True
    )


@dataclass(frozen=True, slots=True)
class Conflict:
    """Values of one field of one person that cannot both be right; none of them is ever dropped."""

    conflict_id: str
    person: PersonId
    field: FieldName
    values: tuple[CompetingValue, ...]
    evidence_ranking: tuple[ValueRank, ...]
    recommended_index: int | None
    rationale: Message
    confidence: float
    resolution_status: ResolutionStatus
    next_actions: tuple[Message, ...]
    decided_by: str = "rules"

    @property
    def recommended_value(self) -> str | None:
        """The value with the best evidence; None if the evidence decides nothing."""
        index = self.recommended_index
        return None if index is None else self.values[index].value

    @property
    def is_tentative(self) -> bool:
        return self.resolution_status != "resolved"

    def record(self) -> ConflictRecord:
        """The conflict as data; the specification has two names for some keys, so both are given."""
        ranking, value, actions = self.evidence_ranking, self.recommended_value, self.next_actions
        return ConflictRecord(
            conflict_id=self.conflict_id,
            person=self.person,
            field=self.field,
            competing_assertions=tuple(
                CompetingAssertionRecord(competing_value.value, competing_value.source_tier, competing_value.confidence)
                for competing_value in self.values
            ),
            competing_claims=tuple(
                CompetingClaimRecord(
                    competing_value.value,
                    "; ".join(competing_value.sources),
                    competing_value.source_tier,
                    competing_value.evidence_type,
                )
                for competing_value in self.values
            ),
            llm_analysis=ConflictAnalysis(ranking, value, self.rationale, actions),
            analysis=self.rationale,
            evidence_ranking=ranking,
            recommended_value=value,
            confidence=self.confidence,
            is_tentative=self.is_tentative,
            next_actions=actions,
            resolution_status=self.resolution_status,
            preserve_alternatives=True,
            decided_by=self.decided_by,
            analysis_message=message_record(self.rationale),
            next_actions_messages=tuple(map(message_record, actions)),
        )


INFORMATION_RANK = {"primary": 0, "secondary": 1, "undetermined": 2}
FORM_RANK = {"original": 0, "derivative": 1, "authored": 2}
METHOD_RANK = {"user": 0, "lead": 0, "plugin": 1, "wikidata": 1, "gedcom": 1, "infobox": 1, "prose": 2, "model": 3}
"""Where the opening sentence of a page and its infobox differ, the sentence is right five times out of six."""
PRECISION_RANK = {"day": 0, "month": 1, "season": 2, "year": 3, "decade": 4, "century": 5, "millennium": 6, "age": 7}
UNSEEN_VALUE_SHARE = 0.15
"""The share of confidence reserved for values that have not been found."""
# The highest confidence of a value, without and with an original record of the event.
MAX_SHARE_WITHOUT_RECORD, MAX_SHARE = 0.75, 0.95
UNKNOWN_SOURCE = Source("", "", Message("an unknown source", "conflict.unknown_source"))


@dataclass(frozen=True, slots=True)
class EvidenceWeight:
    """The weight of the evidence for a value; smaller classes and sort keys are better."""

    evidence_class: tuple[int, ...]
    sort_key: tuple[float, ...]
    support: float
    origins: int
    evidence_type: EvidenceType
    tier: int
    sources: tuple[str, ...]
    has_record: bool
    """Whether some evidence is a record of the event, made at the time."""
    reason: Message


def weigh(tree: Tree, group: ValueGroup, problem: str) -> EvidenceWeight:
    """The weight of one value."""
    evidence = group.evidence
    best = min(evidence, key=lambda item: _class_of(tree, item), default=None)
    source = _source(tree, best.source) if best else UNKNOWN_SOURCE
    information, form, official = _class_of(tree, best) if best else (2, 2, 1)
    is_disputed = all(fact.is_disputed for fact in group.facts)
    origins = _origins(tree, evidence)
    support = _support(origins, max((fact.confidence for fact in group.facts), default=0.0))
    is_chosen = any(fact.is_chosen for fact in group.facts)
    # Compared element by element: each criterion counts only if all before it are equal.
    evidence_class = (int(not is_chosen), int(bool(problem) or is_disputed), information, form, official)
    method = min((METHOD_RANK[item.method] for item in evidence), default=3)
    order = (
        *evidence_class,
        -len(origins),
        PRECISION_RANK.get(group.when.precision, 3) if group.when else 0,
        method,
        -max((item.reliability for item in evidence), default=0.0),
    )
    kind: EvidenceType = (
        "primary" if information == 0 else "authored" if form == 2 and information == 2 else "secondary"
    )
    return EvidenceWeight(
        evidence_class,
        order,
        support,
        len(origins),
        kind,
        min((_source(tree, item.source).tier for item in evidence), default=0),
        tuple(sorted({_source(tree, item.source).name for item in evidence})),
        information == 0 and form == 0,
        _reason(source, best, len(origins), problem, is_disputed=is_disputed),
    )


def confidences(weights: list[EvidenceWeight]) -> list[float]:
    """The confidence of each value, in the order given."""
    whole = sum(weight.support for weight in weights) + UNSEEN_VALUE_SHARE
    return [
        round(min(weight.support / whole, MAX_SHARE if weight.has_record else MAX_SHARE_WITHOUT_RECORD), 4)
        for weight in weights
    ]


def _source(tree: Tree, source: SourceId) -> Source:
    return tree.sources.get(source, UNKNOWN_SOURCE)


def _class_of(tree: Tree, evidence: Evidence) -> tuple[int, int, int]:
    source = _source(tree, evidence.source)
    official = 0 if source.official else 2 if source.user_contributed else 1
    return INFORMATION_RANK[evidence.information], FORM_RANK[source.form], official


def _origins(tree: Tree, evidence: tuple[Evidence, ...]) -> dict[str, float]:
    """The best evidence from each group of sources that copy from each other."""
    found: dict[str, float] = defaultdict(float)
    for item in evidence:
        origin = _source(tree, item.source).origin or item.source
        found[origin] = max(found[origin], item.reliability)
    return found


def _support(origins: dict[str, float], confidence: float) -> float:
    against = 1.0
    for reliability in origins.values():
        # Noisy-or: `against` is the chance that all independent origins are wrong.
        against *= 1 - min(max(reliability, 0.0), 1.0)
    return 1 - against if origins else confidence / 2


def _reason(source: Source, best: Evidence | None, origins: int, problem: str, *, is_disputed: bool) -> Message:
    if best is None:
        return Message("no evidence", "conflict.no_evidence")
    information, kinds = INFORMATION_PHRASES[best.information], source_phrases(source)
    kind = Message(", ".join(kinds), "evidence.class", parts=kinds)
    name = source.name if isinstance(source.name, Message) else f"“{source.name}”"
    text = f"{information} from {name} ({kind})"
    parts = [Message(text, "conflict.from", information=information, source=source.name, kind=kind)]
    if origins > 1:
        parts.append(Message(f"{origins} independent sources agree", "conflict.agree", n=origins))
    if best.method in METHOD_PHRASES:
        parts.append(METHOD_PHRASES[best.method])
    if is_disputed:
        parts.append(Message("disputed", "conflict.disputed"))
    if problem:
        parts.append(Message(f"but {problem}", "conflict.but", problem=problem))
    return Message(", ".join(parts), "conflict.reason", parts=tuple(parts))


METHOD_PHRASES = {
    "lead": Message("found in the introduction", "conflict.in_lead"),
    "infobox": Message("found in the infobox", "conflict.in_infobox"),
    "prose": Message("found in the article text", "conflict.in_prose"),
    "model": Message("found by a model in the article text", "conflict.in_model"),
}
"""Where on a page a value was found."""
CLEAR_MARGIN = 0.25
"""The margin in confidence that settles a conflict between values of the same evidence class."""


def find_tree_conflicts(tree: Tree) -> tuple[Conflict, ...]:
    """All fields with values that cannot both be right, in the order of people and fields."""
    found: list[Conflict] = []
    ties = birth_parent_ties(tree)
    for person in sorted(tree.persons):
        for field in (
            (*SINGLE_VALUE_FIELDS, *SINGLE_MARRIAGE_FIELDS) if len(tree.spouses(person)) == 1 else SINGLE_VALUE_FIELDS
        ):
            groups = group_values(field, competing_facts(tree, person, field, ties.get(person, ())))
            if len(groups) > 1:
                found.append(_conflict(tree, person, field, groups))
    return tuple(found)


def _conflict(tree: Tree, person: PersonId, field: FieldName, groups: tuple[ValueGroup, ...]) -> Conflict:
    problems = [date_problem(tree, person, field, group.when) for group in groups]
    weights = [weigh(tree, group, problem) for group, problem in zip(groups, problems, strict=True)]
    # Value and id make the order total, so that equal evidence gives the same order in every run.
    order = sorted(range(len(groups)), key=lambda at: (weights[at].sort_key, groups[at].value, groups[at].facts[0].id))
    weights = [weights[at] for at in order]
    confidence_values = confidences(weights)
    competing = tuple(
        _competing(field, groups[at], weight, confidence, problems[at])
        for at, weight, confidence in zip(order, weights, confidence_values, strict=True)
    )
    status = _status(weights, confidence_values)
    winner = groups[order[0]]
    place = _place(tree, person, field)
    return Conflict(
        row_id("conflict", person, field),
        person,
        field,
        competing,
        tuple(ValueRank.of(at, at + 1, weight.reason) for at, weight in enumerate(weights)),
        None if status == "open" else 0,
        _rationale(status, [groups[at] for at in order], weights),
        confidence_values[0],
        status,
        next_steps(field, winner.when or tree.persons[person].birth, place, has_primary=weights[0].has_record),
    )


def _competing(
    field: FieldName, group: ValueGroup, weight: EvidenceWeight, confidence: float, problem: str
) -> CompetingValue:
    return CompetingValue(
        DateText(group.when) if group.when and field in DATE_FIELDS else group.value,
        tuple(fact.id for fact in group.facts),
        weight.sources,
        weight.tier,
        weight.evidence_type,
        confidence,
        weight.evidence_class,
        problem,
    )


def _status(weights: list[EvidenceWeight], confidence_values: list[float]) -> ResolutionStatus:
    first, second = weights[0], weights[1]
    if first.evidence_class < second.evidence_class or confidence_values[0] - confidence_values[1] >= CLEAR_MARGIN:
        return "resolved"
    return "tentative" if first.sort_key < second.sort_key else "open"


def _rationale(status: ResolutionStatus, groups: list[ValueGroup], weights: list[EvidenceWeight]) -> Message:
    best, other = (DateText(group.when) if group.when else group.value for group in groups[:2])
    if status == "open":
        text = f"Cannot decide between “{best}” and “{other}”: the evidence for both is equally good."
        return Message(text, "conflict.open", best=best, other=other)
    why = _deciding_criterion(weights[0], weights[1])
    if status == "tentative":
        text = f"“{best}” is preferred to “{other}” for now because {why}."
        return Message(text, "conflict.tentative", best=best, other=other, why=why)
    return Message(
        f"“{best}” is preferred to “{other}” because {why}.", "conflict.resolved", best=best, other=other, why=why
    )


RANKING_CRITERIA = (
    Message("you chose it", "conflict.by_choice"),
    Message("nothing contradicts it", "conflict.by_plausibility"),
    Message("its information comes from someone closer to the event", "conflict.by_information"),
    Message("its source is closer to the original record", "conflict.by_form"),
    Message("its source has a more trustworthy author", "conflict.by_author"),
    Message("more independent sources agree on it", "conflict.by_origins"),
    Message("it is more exact", "conflict.by_precision"),
    Message("it was found in a more reliable place on the page", "conflict.by_place"),
    Message("its source is more reliable", "conflict.by_reliability"),
)
"""What decides between two values, in the order of the sort key of their evidence."""


def _deciding_criterion(first: EvidenceWeight, second: EvidenceWeight) -> Message:
    pairs = zip(RANKING_CRITERIA, first.sort_key, second.sort_key, strict=True)
    overall = Message("its evidence is better overall", "conflict.by_total")
    return next((criterion for criterion, one, other in pairs if one != other), overall)


def _place(tree: Tree, person: PersonId, field: FieldName) -> str:
    known = tree.persons[person]
    if field in SINGLE_MARRIAGE_FIELDS:
        return ""
    return known.death_place if field.startswith(("death", "burial")) else known.birth_place
