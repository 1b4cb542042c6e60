"""How good the evidence for each value is: by class first, then by how many independent sources agree."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from kiwiresearch.kin.conflicts.claims import Group
from kiwiresearch.kin.conflicts.conflict import EvidenceType
from kiwiresearch.kin.tree import Evidence, Source, SourceId, Tree

INFORMATION = {"primary": 0, "secondary": 1, "undetermined": 2}
FORM = {"original": 0, "derivative": 1, "authored": 2}
METHOD = {"user": 0, "lead": 0, "plugin": 1, "wikidata": 1, "gedcom": 1, "infobox": 1, "prose": 2, "model": 3}
"""Where the opening sentence of a page and its box differ, the sentence is right five times out of six."""
PRECISION = {"day": 0, "month": 1, "season": 2, "year": 3, "decade": 4, "century": 5, "millennium": 6, "age": 7}
DOUBT = 0.15
"""A part of the belief always stays with values that nobody has found yet."""
BEST_WITHOUT_RECORD, BEST = 0.75, 0.95
UNKNOWN_SOURCE = Source("", "", "an unknown source")


@dataclass(frozen=True, slots=True)
class Weight:
    """What speaks for a value; `standing` is its class, `order` the whole key, the smaller the better."""

    standing: tuple[int, ...]
    order: tuple[float, ...]
    support: float
    origins: int
    evidence_type: EvidenceType
    tier: int
    sources: tuple[str, ...]
    has_record: bool
    """Some evidence is a record of the event itself, made then."""
    reason: str


def weighed(tree: Tree, group: Group, problem: str) -> Weight:
    """The weight of one value."""
    evidence = group.evidence
    best = min(evidence, key=lambda one: _class_of(tree, one), default=None)
    source = _source(tree, best.source) if best else UNKNOWN_SOURCE
    information, form, official = _class_of(tree, best) if best else (2, 2, 1)
    is_disputed = all(one.is_disputed for one in group.said)
    origins = _origins(tree, evidence)
    support = _support(origins, max((one.confidence for one in group.said), default=0.0))
    standing = (int(bool(problem) or is_disputed), information, form, official)
    method = min((METHOD[one.method] for one in evidence), default=3)
    order = (
        *standing,
        -len(origins),
        PRECISION.get(group.when.precision, 3) if group.when else 0,
        method,
        -max((one.reliability for one in evidence), default=0.0),
    )
    kind: EvidenceType = (
        "primary" if information == 0 else "authored" if form == 2 and information == 2 else "secondary"
    )
    return Weight(
        standing,
        order,
        support,
        len(origins),
        kind,
        min((_source(tree, one.source).tier for one in evidence), default=0),
        tuple(sorted({_source(tree, one.source).name for one in evidence})),
        information == 0 and form == 0,
        _reason(source, best, kind, len(origins), problem, is_disputed=is_disputed),
    )


def confidences(weights: list[Weight]) -> list[float]:
    """How far each value is to be believed, in the order given."""
    whole = sum(weight.support for weight in weights) + DOUBT
    return [
        round(min(weight.support / whole, BEST if weight.has_record else BEST_WITHOUT_RECORD), 4) for weight in weights
    ]


def _source(tree: Tree, source: SourceId) -> Source:
    return tree.sources.get(source, UNKNOWN_SOURCE)


def _class_of(tree: Tree, evidence: Evidence) -> tuple[int, int, int]:
    source = _source(tree, evidence.source)
    official = 0 if source.official else 2 if source.user_contributed else 1
    return INFORMATION[evidence.information], FORM[source.form], official


def _origins(tree: Tree, evidence: tuple[Evidence, ...]) -> dict[str, float]:
    """The best evidence of each group of sources that copy from each other."""
    found: dict[str, float] = defaultdict(float)
    for one in evidence:
        origin = _source(tree, one.source).origin_group or one.source
        found[origin] = max(found[origin], one.reliability)
    return found


def _support(origins: dict[str, float], confidence: float) -> float:
    against = 1.0
    for reliability in origins.values():
        against *= 1 - min(max(reliability, 0.0), 1.0)
    return 1 - against if origins else confidence / 2


def _reason(source: Source, best: Evidence | None, kind: str, origins: int, problem: str, *, is_disputed: bool) -> str:
    if best is None:
        return "no evidence is given"
    by = (
        "official"
        if source.official
        else "user-contributed"
        if source.user_contributed
        else "neither official nor user-contributed"
    )
    parts = [f"{kind} evidence in {source.form} form from {source.name!r}, {by}"]
    if origins > 1:
        parts.append(f"{origins} independent sources agree")
    if best.method in ("lead", "infobox", "prose", "model"):
        parts.append(f"read from the {best.method}")
    if is_disputed:
        parts.append("it is disputed")
    if problem:
        parts.append(f"but {problem}")
    return ", ".join(parts)
