"""The proof of a fact: its values, its quotes, the class of evidence, and why this value is preferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.document import FactEntry, Line, Quotation, Span, Tone, line_of, plain_text
from kiwiresearch.kin.evidence_phrases import evidence_phrase
from kiwiresearch.kin.report.labels import (
    CHILD_LABELS,
    FIELD_LABELS,
    METHOD_LABELS,
    PARENT_LABELS,
    SIBLING_LABELS,
    SPOUSE_LABELS,
    STATUS_LABELS,
    display_name,
    value_phrase,
)
from kiwiresearch.kin.report.report_input import ReportInput, ShownConflict
from kiwiresearch.kin.timeline import birth_of
from kiwiresearch.kin.tree import (
    DISCARDED,
    MANY_VALUED,
    RELATION_FIELDS,
    UNSETTLED,
    Evidence,
    Fact,
    FieldName,
    PersonId,
    Relationship,
    Source,
    SourceId,
    Status,
    Tree,
)
from kiwiresearch.text import count_of, fold, one_line
from kiwiresearch.text.dates import ENDLESS_DAY

SOURCE_ANCHOR = "source"
"""The prefix of the anchors of the sources."""
RULE_METHODS = ("infobox", "lead", "prose")
"""Methods whose rule itself names the part of the page it read."""


def source_title(source: Source) -> str:
    return one_line(source.title) or one_line(source.name) or one_line(source.url)


def source_numbers(sources: Mapping[SourceId, Source]) -> dict[SourceId, int]:
    """The numbers by which a report cites its sources, in the order of the source list."""
    order = sorted(sources.values(), key=lambda item: (item.name, item.title, item.id))
    return {source.id: number for number, source in enumerate(order, start=1)}


class QuoteBuilder:
    """The quotes of a tree."""

    def __init__(self, tree: Tree) -> None:
        self._sources = tree.sources
        self._numbers = source_numbers(tree.sources)

    def cite(self, evidence: Evidence) -> Line:
        """The title of the source, the position in it, and a link to the list of sources."""
        source = self._sources.get(evidence.source)
        if source is None:
            return line_of("a hidden source")
        number = self._numbers[evidence.source]
        where = f", at “{one_line(evidence.locator)}”" if evidence.locator else ""
        return line_of(
            Span(source_title(source), foreign=True),
            f"{where}, ",
            Span(f"source {number}", f"#{SOURCE_ANCHOR}-{number}"),
        )

    def class_of(self, evidence: Iterable[Evidence]) -> str:
        """The class of evidence, if several quotes share it; otherwise each quote shows its own."""
        some = _distinct(evidence)
        classes = {evidence_phrase(item, self._sources.get(item.source)) for item in some}
        return classes.pop() if len(some) > 1 and len(classes) == 1 else ""

    def quotes(self, evidence: Iterable[Evidence], says: str = "", shared: str = "") -> tuple[Quotation, ...]:
        """The quotes, each with its location, its class unless `shared` is set, and its value if different."""
        found = []
        for item in _distinct(evidence):
            kind = evidence_phrase(item, self._sources.get(item.source))
            rule = one_line(item.rationale)
            method = "" if rule and item.method in RULE_METHODS else METHOD_LABELS[item.method]
            notes = (says, "" if kind == shared else kind, method, rule)
            found.append(Quotation(item.snippet, self.cite(item), tuple(filter(None, notes))))
        return tuple(found)


def _distinct(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Evidence without repetitions of the same words at the same place, in the order of the source."""
    met: dict[tuple[str, str, str], Evidence] = {}
    for item in evidence:
        met.setdefault((item.source, " ".join(item.snippet.split()), item.locator), replace(item, id=""))
    return sorted(met.values(), key=lambda item: (item.source, item.start))


MIN_ORIGINS = 2


@dataclass(frozen=True, slots=True)
class Support:
    """How well something is supported, as a short phrase."""

    words: str
    tone: Tone


def origins(tree: Tree, evidence: Iterable[Evidence]) -> frozenset[str]:
    """The independent origins of evidence: sources that copy from each other count as one."""
    sources = (tree.sources.get(item.source) for item in evidence)
    return frozenset(source.origin for source in sources if source)


def support_for(tree: Tree, status: Status, evidence: Sequence[Evidence], *, is_contested: bool = False) -> Support:
    """How well evidence supports a fact.

    Proved means: two independent origins, including one original record and one piece of
    primary information, and no evidence against it.
    """
    # From the strongest reason on: what was rejected or is contested cannot be proved, whatever its sources are.
    if status in DISCARDED:
        return Support(STATUS_LABELS[status], "bad")
    if status in UNSETTLED or is_contested:
        return Support(STATUS_LABELS[status] if status in UNSETTLED else STATUS_LABELS["conflicting"], "bad")
    if any(item.method == "user" for item in evidence):
        return Support(METHOD_LABELS["user"], "fair")
    if not evidence:
        return Support("no evidence to show", "bad")
    groups = origins(tree, evidence)
    unverified = "" if status == "verified" else ", not verified"
    forms = {source.form for item in evidence if (source := tree.sources.get(item.source))}
    is_primary = any(item.information == "primary" for item in evidence)
    if len(groups) >= MIN_ORIGINS and "original" in forms and is_primary and not unverified:
        return Support("proved", "good")
    if len(groups) >= MIN_ORIGINS:
        return Support(f"{len(groups)} independent sources{unverified}", "weak" if unverified else "fair")
    several = len({item.source for item in evidence}) > 1
    return Support(f"{'several sources with the same origin' if several else 'one source'}{unverified}", "weak")


class Proofs:
    """The proofs of all people of a case."""

    def __init__(self, case: ReportInput, anchors: dict[PersonId, str]) -> None:
        self.case, self.tree, self.anchors = case, case.tree, anchors
        self.quoting = QuoteBuilder(case.tree)
        self._order = {person: at for at, person in enumerate(anchors)}
        self._against = {(conflict.person, conflict.field): conflict for conflict in case.conflicts}
        self.facts = {fact.id: fact for fact in case.tree.facts}
        self.ties = {tie.id: tie for tie in case.tree.relationships}
        self._sides = {item: found for found in case.conflicts for side in found.ranking for item in side.facts}
        self._shown_of: dict[PersonId, tuple[FactEntry, ...]] = {}
        self._ties: dict[PersonId, list[Relationship]] = {}
        for tie in case.tree.relationships:
            for person in dict.fromkeys((tie.first, tie.second)):
                self._ties.setdefault(person, []).append(tie)

    def person_link(self, person: PersonId) -> Span:
        """A name that links to its person."""
        anchor = self.anchors.get(person, "")
        return Span(display_name(self.tree, person), f"#{anchor}" if anchor else "", foreign=True)

    def conflict_about(self, person: PersonId, field: FieldName) -> ShownConflict | None:
        return self._against.get((person, field))

    def support_of_fact(self, fact: Fact) -> Support:
        found = self.conflict_about(fact.person, fact.field)
        return support_for(self.tree, fact.status, fact.evidence, is_contested=_is_contested(found))

    def entries_for(self, person: PersonId) -> tuple[FactEntry, ...]:
        """The facts of a person, then the ties."""
        if person not in self._shown_of:
            facts: dict[FieldName, list[Fact]] = {}
            for fact in self.tree.facts_of(person):
                if not self._is_covered_by_tie(fact):
                    facts.setdefault(fact.field, []).append(fact)
            shown = [entry for field in FIELD_LABELS for entry in self._field(person, field, facts.get(field, []))]
            ties = (self._tie(person, tie) for tie in self._in_order(person))
            self._shown_of[person] = (*shown, *ties)
        return self._shown_of[person]

    def _field(self, person: PersonId, field: FieldName, facts: Sequence[Fact]) -> list[FactEntry]:
        if not facts:
            return self._bare(person, field)
        if field in MANY_VALUED:
            return [self._shown(fact, ()) for fact in facts]
        held = next((fact for fact in facts if fact.preferred or fact.status not in DISCARDED), facts[0])
        return [self._shown(held, tuple(fact for fact in facts if fact != held))]

    def _bare(self, person: PersonId, field: FieldName) -> list[FactEntry]:
        """A value of the person that has no fact."""
        known = self.tree.persons[person]
        when = {"birth_date": known.birth, "death_date": known.death}.get(field)
        place = {"birth_place": known.birth_place, "death_place": known.death_place}.get(field, "")
        value = when.words() if when else one_line(place)
        if not value:
            return []
        return [
            FactEntry(
                line_of(Span(FIELD_LABELS[field], strong=True), ": ", Span(value, foreign=True)),
                "no evidence to show",
                "bad",
            )
        ]

    def _shown(self, fact: Fact, others: Sequence[Fact]) -> FactEntry:
        level = self.support_of_fact(fact)
        notes = [*self._why(fact, others), *map(self._other, others)]
        shared = self.quoting.class_of(evidence for given in (fact, *others) for evidence in given.evidence)
        shown = self.quoting.quotes(fact.evidence, shared=shared)
        for other in others:
            shown += self.quoting.quotes(other.evidence, f"says {value_phrase(other)}", shared)
        line = line_of(Span(FIELD_LABELS[fact.field], strong=True), ": ", Span(value_phrase(fact), foreign=True))
        return FactEntry(line, level.words, level.tone, shown, (*notes, *_class(shared)), bool(others))

    def _why(self, fact: Fact, others: Sequence[Fact]) -> list[Line]:
        """Why this value is preferred, if there is a choice."""
        found = self.conflict_about(fact.person, fact.field)
        notes = list(_reasons(found)) if found else []
        if others and not (found and found.rationale):
            reason = "it is preferred" if fact.preferred else "it has the best evidence"
            notes.insert(0, line_of(Span("Why this value: ", emphasis=True), f"{reason}. The other values are kept."))
        return notes

    def _other(self, fact: Fact) -> Line:
        kept = STATUS_LABELS[fact.status] if fact.status in DISCARDED else "kept as an alternative"
        cites = [plain_text(self.quoting.cite(evidence)) for evidence in fact.evidence]
        said = f" ({'; '.join(cites)})" if cites else ""
        value = Span(value_phrase(fact), foreign=True)
        return line_of(Span("Another value: ", emphasis=True), value, f", {kept}{said}")

    def _is_covered_by_tie(self, fact: Fact) -> bool:
        """Whether a tie to a person of the tree states the same as the fact, which is then shown with the tie."""
        return fact.field in RELATION_FIELDS and any(
            self._tie_states(tie, fact) for tie in self._ties.get(fact.person, [])
        )

    def _tie_states(self, tie: Relationship, fact: Fact) -> bool:
        other = tie.second if tie.first == fact.person else tie.first
        person = self.tree.persons.get(other)
        if person is None or self._role(fact.person, tie) not in ROLES[fact.field]:
            return False
        return fold(fact.value) in {fold(name) for name in (person.name, *person.names)}

    def _role(self, person: PersonId, tie: Relationship) -> str:
        if tie.kind == "parent_of":
            return "child" if tie.first == person else "parent"
        return tie.kind

    def _in_order(self, person: PersonId) -> list[Relationship]:
        """Father, mother, partners, children and siblings, the eldest first; rejected ones come last."""
        ties = [tie for tie in self._ties.get(person, []) if {tie.first, tie.second} <= self.tree.persons.keys()]
        return sorted(ties, key=lambda tie: self._place(person, tie))

    def _place(self, person: PersonId, tie: Relationship) -> tuple[bool, int, int, int, tuple[str, int], str]:
        other, role = self._other_of(person, tie), self._role(person, tie)
        order = ("parent", "spouse_of", "partner_of", "child", "sibling_of")
        sex = ("male", "female", "").index(self.tree.persons[other].sex) if role == "parent" else 0
        when = tie.start if role in ("spouse_of", "partner_of") else birth_of(self.tree, other)
        at = when.earliest if when else ENDLESS_DAY
        return tie.status in DISCARDED, order.index(role), sex, at, self.tree.evidence_position(person, other), tie.id

    @staticmethod
    def _other_of(person: PersonId, tie: Relationship) -> PersonId:
        return tie.second if tie.first == person else tie.first

    def support_of_tie(self, tie: Relationship) -> Support:
        return support_for(
            self.tree, tie.status, self._evidence(tie), is_contested=_is_contested(self._sides.get(tie.id))
        )

    def _evidence(self, tie: Relationship) -> list[Evidence]:
        """The evidence of a tie, including that of facts which state it."""
        facts = [fact for item in (tie.first, tie.second) for fact in self.tree.facts_of(item)]
        stating = [fact for fact in facts if fact.field in RELATION_FIELDS and self._tie_states(tie, fact)]
        return [*tie.evidence, *(evidence for fact in stating for evidence in fact.evidence)]

    def _tie(self, person: PersonId, tie: Relationship) -> FactEntry:
        """A tie; its proof is shown with the first of the two people only."""
        other, role = self._other_of(person, tie), self._role(person, tie)
        level = self.support_of_tie(tie)
        label = {
            "parent": PARENT_LABELS,
            "spouse_of": SPOUSE_LABELS,
            "child": CHILD_LABELS,
            "sibling_of": SIBLING_LABELS,
        }
        called = label[role][self.tree.persons[other].sex] if role in label else "Partner"
        parts = [f" ({tie.qualifier})" if tie.qualifier else ""]
        if role in ("spouse_of", "partner_of"):
            parts.append(f", {'married' if role == 'spouse_of' else 'from'} {tie.start.words()}" if tie.start else "")
            parts.append(f", ended {tie.end.words()}" if tie.end else "")
        line = line_of(Span(called, strong=True), ": ", self.person_link(other), *parts)
        if self._comes_first(tie) != person:
            return FactEntry(line, level.words, level.tone)
        evidence = self._evidence(tie)
        shared = self.quoting.class_of(evidence)
        against = self._sides.get(tie.id)
        notes = _reasons(against) if against else ()
        shown = self.quoting.quotes(evidence, shared=shared)
        return FactEntry(line, level.words, level.tone, shown, (*notes, *_class(shared)), bool(notes))

    def _comes_first(self, tie: Relationship) -> PersonId:
        return min((tie.first, tie.second), key=lambda item: self._order.get(item, len(self._order)))


def _is_contested(found: ShownConflict | None) -> bool:
    return found is not None and found.status != "resolved" and len(found.ranking) > 1


def _class(shared: str) -> tuple[Line, ...]:
    return (line_of(Span("Evidence: ", emphasis=True), f"{shared}."),) if shared else ()


def _reasons(found: ShownConflict) -> tuple[Line, ...]:
    """The outcome of a conflict, and what would settle it."""
    notes = []
    if found.rationale:
        notes.append(line_of(Span("Why this value: ", emphasis=True), one_line(found.rationale)))
    if found.next_actions:
        actions = " ".join(map(one_line, found.next_actions))
        notes.append(line_of(Span("To settle it: ", emphasis=True), actions))
    return tuple(notes)


ROLES: dict[FieldName, tuple[str, ...]] = {
    "father": ("parent",),
    "mother": ("parent",),
    "parent": ("parent",),
    "spouse": ("spouse_of", "partner_of"),
    "partner": ("spouse_of", "partner_of"),
    "child": ("child",),
    "sibling": ("sibling_of",),
}
"""The ties that can state the same as a fact about a relative."""


def count_by_tone(proofs: Proofs) -> dict[Tone, int]:
    """The number of facts and ties by level of support; a tie counts once."""
    found: dict[Tone, int] = dict.fromkeys(TONE_PHRASES, 0)
    for person in proofs.tree.persons:
        for entry in proofs.entries_for(person):
            found[entry.tone] += 1
    for tie in proofs.tree.relationships:
        if tie.first != tie.second and {tie.first, tie.second} <= proofs.tree.persons.keys():
            found[proofs.support_of_tie(tie).tone] -= 1  # it was counted with both people
    return found


TONE_PHRASES: dict[Tone, tuple[str, str]] = {
    "good": ("is proved", "are proved"),
    "fair": ("is supported by independent sources", "are supported by independent sources"),
    "weak": ("has only one independent origin", "have only one independent origin"),
    "bad": ("is disputed or has no evidence", "are disputed or have no evidence"),
}


def tone_phrases(found: dict[Tone, int]) -> list[str]:
    """The counts as text, the best supported first."""
    if sum(map(bool, found.values())) == 1:
        return [f"all {TONE_PHRASES[tone][1]}" for tone in TONE_PHRASES if found[tone]]
    return [count_of(found[tone], *TONE_PHRASES[tone]) for tone in TONE_PHRASES if found[tone]]
