"""The proof of a fact: its values, the words that say so, what kind of evidence that is, and why this value is held."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kiwiresearch.kin.fields import RELATIONS, FieldName, Status
from kiwiresearch.kin.report.document import Line, Shown, Span, Tone, plain, words
from kiwiresearch.kin.report.given import Disagreement, FamilyCase
from kiwiresearch.kin.report.quoting import Quoting
from kiwiresearch.kin.report.words import (
    CHILD,
    FIELDS,
    MANY_VALUED,
    PARENT,
    SIBLING,
    SPOUSE,
    STATUSES,
    name_of,
    one_line,
    value_words,
)
from kiwiresearch.kin.timeline import NOT_HELD, birth_of
from kiwiresearch.kin.tree import Evidence, Fact, PersonId, Relationship, Tree
from kiwiresearch.text.dates.ranges import ENDLESS
from kiwiresearch.text.fold import fold
from kiwiresearch.text.plural import counted

UNSETTLED = ("conflicting", "disputed")
AT_LEAST_TWO = 2


@dataclass(frozen=True, slots=True)
class Standing:
    """How well something is supported, in a few words."""

    words: str
    tone: Tone

    @property
    def is_proved(self) -> bool:
        return self.tone == "good"


def origins(tree: Tree, evidence: Iterable[Evidence]) -> frozenset[str]:
    """The independent origins of evidence: sources that copy from each other are one."""
    sources = (tree.sources.get(one.source) for one in evidence)
    return frozenset(source.origin_group or source.id for source in sources if source)


def standing(tree: Tree, status: Status, evidence: Sequence[Evidence], *, is_contested: bool = False) -> Standing:
    """How well evidence carries a fact.

    Proved means: two independent origins, one original record and one piece of
    primary information among them, and nothing that speaks against it.
    """
    if status in NOT_HELD:
        return Standing(STATUSES[status], "bad")
    if status in UNSETTLED or is_contested:
        return Standing(STATUSES[status] if status in UNSETTLED else STATUSES["conflicting"], "bad")
    if not evidence:
        return Standing("no evidence shown", "bad")
    groups = origins(tree, evidence)
    unverified = "" if status == "verified" else ", not verified"
    forms = {source.form for one in evidence if (source := tree.sources.get(one.source))}
    is_primary = any(one.information == "primary" for one in evidence)
    if len(groups) >= AT_LEAST_TWO and "original" in forms and is_primary and not unverified:
        return Standing("proved", "good")
    if len(groups) >= AT_LEAST_TWO:
        return Standing(f"{len(groups)} independent sources{unverified}", "weak" if unverified else "fair")
    several = len({one.source for one in evidence}) > 1
    return Standing(f"{'sources of one origin' if several else 'one source'}{unverified}", "weak")


class Proofs:
    """The proofs of all people of a case."""

    def __init__(self, case: FamilyCase, anchors: dict[PersonId, str]) -> None:
        self.case, self.tree, self.anchors = case, case.tree, anchors
        self.quoting = Quoting(case.tree)
        self._order = {person: at for at, person in enumerate(anchors)}
        self._against = {(one.person, one.field): one for one in case.disagreements}
        self.facts = {fact.id: fact for fact in case.tree.facts}
        self.ties = {tie.id: tie for tie in case.tree.relationships}
        self._sides = {one: found for found in case.disagreements for side in found.ranking for one in side.facts}
        self._shown_of: dict[PersonId, tuple[Shown, ...]] = {}
        self._ties: dict[PersonId, list[Relationship]] = {}
        for tie in case.tree.relationships:
            for person in dict.fromkeys((tie.first, tie.second)):
                self._ties.setdefault(person, []).append(tie)

    def named(self, person: PersonId) -> Span:
        """A name that leads to its person."""
        anchor = self.anchors.get(person, "")
        return Span(name_of(self.tree, person), f"#{anchor}" if anchor else "", foreign=True)

    def disagreement(self, person: PersonId, field: FieldName) -> Disagreement | None:
        return self._against.get((person, field))

    def of_fact(self, fact: Fact) -> Standing:
        found = self.disagreement(fact.person, fact.field)
        return standing(self.tree, fact.status, fact.evidence, is_contested=_is_open(found))

    def of_person(self, person: PersonId) -> tuple[Shown, ...]:
        """What is known of a person, fact by fact, then tie by tie."""
        if person not in self._shown_of:
            facts: dict[FieldName, list[Fact]] = {}
            for fact in self.tree.facts_of(person):
                if not self._told_by_tie(fact):
                    facts.setdefault(fact.field, []).append(fact)
            shown = [entry for field in FIELDS for entry in self._field(person, field, facts.get(field, []))]
            ties = (self._tie(person, tie) for tie in self._in_order(person))
            self._shown_of[person] = (*shown, *ties)
        return self._shown_of[person]

    def _field(self, person: PersonId, field: FieldName, facts: Sequence[Fact]) -> list[Shown]:
        if not facts:
            return self._bare(person, field)
        if field in MANY_VALUED:
            return [self._shown(fact, ()) for fact in facts]
        held = next((fact for fact in facts if fact.preferred or fact.status not in NOT_HELD), facts[0])
        return [self._shown(held, tuple(fact for fact in facts if fact != held))]

    def _bare(self, person: PersonId, field: FieldName) -> list[Shown]:
        """What the tree tells of a person without a fact of its own."""
        known = self.tree.persons[person]
        when = {"birth_date": known.birth, "death_date": known.death}.get(field)
        place = {"birth_place": known.birth_place, "death_place": known.death_place}.get(field, "")
        value = when.words() if when else one_line(place)
        if not value:
            return []
        return [
            Shown(words(Span(FIELDS[field], strong=True), ": ", Span(value, foreign=True)), "no evidence shown", "bad")
        ]

    def _shown(self, fact: Fact, others: Sequence[Fact]) -> Shown:
        level = self.of_fact(fact)
        notes = [*self._why(fact, others), *map(self._other, others)]
        shared = self.quoting.class_of(one for given in (fact, *others) for one in given.evidence)
        shown = self.quoting.quotes(fact.evidence, shared=shared)
        for other in others:
            shown += self.quoting.quotes(other.evidence, f"says {value_words(other)}", shared)
        line = words(Span(FIELDS[fact.field], strong=True), ": ", Span(value_words(fact), foreign=True))
        return Shown(line, level.words, level.tone, shown, (*notes, *_class(shared)), bool(others))

    def _why(self, fact: Fact, others: Sequence[Fact]) -> list[Line]:
        """Why this value is held, where there is a choice."""
        found = self.disagreement(fact.person, fact.field)
        notes = list(_reasons(found)) if found else []
        if others and not (found and found.rationale):
            reason = "it is preferred" if fact.preferred else "it is the best supported one"
            notes.insert(0, words(Span("Why this value: ", emphasis=True), f"{reason}; nothing was overwritten."))
        return notes

    def _other(self, fact: Fact) -> Line:
        kept = STATUSES[fact.status] if fact.status in NOT_HELD else "kept beside it"
        cites = [plain(self.quoting.cite(one)) for one in fact.evidence]
        said = f" ({'; '.join(cites)})" if cites else ""
        value = Span(value_words(fact), foreign=True)
        return words(Span("Another value: ", emphasis=True), value, f", {kept}{said}")

    def _told_by_tie(self, fact: Fact) -> bool:
        """A relative who is a person of the tree is shown as such, and the fact goes to the tie."""
        return fact.field in RELATIONS and any(self._tells(tie, fact) for tie in self._ties.get(fact.person, []))

    def _tells(self, tie: Relationship, fact: Fact) -> bool:
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
        """Father, mother, partners, children, brothers and sisters, the eldest first; what is not held comes last."""
        ties = [tie for tie in self._ties.get(person, []) if {tie.first, tie.second} <= self.tree.persons.keys()]
        return sorted(ties, key=lambda tie: self._place(person, tie))

    def _place(self, person: PersonId, tie: Relationship) -> tuple[bool, int, int, int, tuple[str, int], str]:
        other, role = self._other_of(person, tie), self._role(person, tie)
        order = ("parent", "spouse_of", "partner_of", "child", "sibling_of")
        sex = ("male", "female", "").index(self.tree.persons[other].sex) if role == "parent" else 0
        when = tie.start if role in ("spouse_of", "partner_of") else birth_of(self.tree, other)
        at = when.earliest if when else ENDLESS
        return tie.status in NOT_HELD, order.index(role), sex, at, self.tree.told_at(person, other), tie.id

    @staticmethod
    def _other_of(person: PersonId, tie: Relationship) -> PersonId:
        return tie.second if tie.first == person else tie.first

    def of_tie(self, tie: Relationship) -> Standing:
        return standing(self.tree, tie.status, self._evidence(tie), is_contested=_is_open(self._sides.get(tie.id)))

    def _evidence(self, tie: Relationship) -> list[Evidence]:
        """What speaks for a tie, the facts of both people that tell it among it."""
        facts = [fact for one in (tie.first, tie.second) for fact in self.tree.facts_of(one)]
        told = [fact for fact in facts if fact.field in RELATIONS and self._tells(tie, fact)]
        return [*tie.evidence, *(one for fact in told for one in fact.evidence)]

    def _tie(self, person: PersonId, tie: Relationship) -> Shown:
        """A tie with its proof, which stands once: with the one of the two who comes first."""
        other, role = self._other_of(person, tie), self._role(person, tie)
        level = self.of_tie(tie)
        label = {"parent": PARENT, "spouse_of": SPOUSE, "child": CHILD, "sibling_of": SIBLING}
        called = label[role][self.tree.persons[other].sex] if role in label else "Partner"
        parts = [f" ({tie.qualifier})" if tie.qualifier else ""]
        if role in ("spouse_of", "partner_of"):
            parts.append(f", {'married' if role == 'spouse_of' else 'from'} {tie.start.words()}" if tie.start else "")
            parts.append(f", ended {tie.end.words()}" if tie.end else "")
        line = words(Span(called, strong=True), ": ", self.named(other), *parts)
        if self._comes_first(tie) != person:
            return Shown(line, level.words, level.tone, mirrored=True)
        evidence = self._evidence(tie)
        shared = self.quoting.class_of(evidence)
        against = self._sides.get(tie.id)
        notes = _reasons(against) if against else ()
        shown = self.quoting.quotes(evidence, shared=shared)
        return Shown(line, level.words, level.tone, shown, (*notes, *_class(shared)), bool(notes))

    def _comes_first(self, tie: Relationship) -> PersonId:
        return min((tie.first, tie.second), key=lambda one: self._order.get(one, len(self._order)))


def _is_open(found: Disagreement | None) -> bool:
    return found is not None and found.status != "resolved" and len(found.ranking) > 1


def _class(shared: str) -> tuple[Line, ...]:
    return (words(Span("Evidence: ", emphasis=True), f"{shared}."),) if shared else ()


def _reasons(found: Disagreement) -> tuple[Line, ...]:
    """What was made of a conflict, and what would settle it."""
    notes = []
    if found.rationale:
        notes.append(words(Span("Why this value: ", emphasis=True), one_line(found.rationale)))
    if found.next_actions:
        actions = " ".join(map(one_line, found.next_actions))
        notes.append(words(Span("To settle it: ", emphasis=True), actions))
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
"""Which ties a fact about a relative may be told by."""


def tally(proofs: Proofs) -> dict[Tone, int]:
    """How many of the facts and ties that are shown stand how well; a tie counts once, though two people have it."""
    found: dict[Tone, int] = dict.fromkeys(TOLD, 0)
    for person in proofs.tree.persons:
        for entry in proofs.of_person(person):
            found[entry.tone] += not entry.mirrored
    return found


TOLD: dict[Tone, tuple[str, str]] = {
    "good": ("is proved", "are proved"),
    "fair": ("is supported by independent sources", "are supported by independent sources"),
    "weak": ("rests on one origin", "rest on one origin"),
    "bad": ("is unsettled or without evidence", "are unsettled or without evidence"),
}


def count_words(found: dict[Tone, int]) -> list[str]:
    """The tally in words, the best supported first."""
    if sum(map(bool, found.values())) == 1:
        return [f"all {TOLD[tone][1]}" for tone in TOLD if found[tone]]
    return [counted(found[tone], *TOLD[tone]) for tone in TOLD if found[tone]]
