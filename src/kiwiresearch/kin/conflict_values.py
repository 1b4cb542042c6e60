"""The values that sources give for one field: which are compatible, and which compete."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import JaroWinkler

from kiwiresearch.kin.names import may_be_same_name
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    DISCARDED,
    NOT_BY_BIRTH,
    PARENT_FIELDS,
    PLACE_FIELDS,
    SEX_OF_PARENT,
    Evidence,
    FieldName,
    PersonId,
    Relationship,
    Tree,
)
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, date_relation, dates_in

# As `fold` writes them: "Austria-Hungary" is "austria hungary".
COUNTRIES = """
albania, algeria, argentina, armenia, australia, austria, austria hungary, bavaria, belgium, bohemia, bolivia, brazil,
britain, bulgaria, canada, castile, chile, china, colombia, croatia, cuba, cyprus, denmark, ecuador, egypt, england,
estonia, ethiopia, europe, finland, flanders, france, georgia, german empire, germany, ghana, great britain, greece,
guatemala, haiti, holland, holy roman empire, hungary, iceland, india, indonesia, iran, iraq, ireland, israel, italy,
jamaica, japan, jordan, kenya, kingdom of england, kingdom of france, kingdom of scotland, korea, latvia, lebanon,
libya, lithuania, luxembourg, macedonia, malta, mexico, monaco, morocco, netherlands, new zealand, nigeria,
northern ireland, norway, ottoman empire, pakistan, palestine, panama, persia, peru, philippines, poland, portugal,
prussia, romania, russia, russian empire, saxony, scotland, serbia, sicily, slovakia, slovenia, somalia, south africa,
soviet union, spain, sudan, sweden, switzerland, syria, thailand, tunisia, turkey, uganda, uk, ukraine,
united kingdom, united states, united states of america, uruguay, us, usa, venezuela, vietnam, wales, yugoslavia
"""
WIDE_PLACES = frozenset(" ".join(place.split()) for place in COUNTRIES.split(","))


ValueComparison = Literal["identical", "subsumed", "calendar", "overlap", "variant", "incomparable", "conflict"]
"""How two values relate; only 'conflict' means that one of them is wrong."""

# Jaro-Winkler: Hannover and Hanover are alike (0.97), Hamburg and Homburg are not (0.91).
SPELLED_ALIKE = 0.93
SINGLE_VALUE_FIELDS: tuple[FieldName, ...] = (
    "sex",
    "birth_date",
    "birth_place",
    "baptism_date",
    "baptism_place",
    "death_date",
    "death_place",
    "burial_date",
    "burial_place",
    "father",
    "mother",
)
"""Fields with one true value. A person may have several names, titles and children without any conflict."""
SINGLE_MARRIAGE_FIELDS: tuple[FieldName, ...] = ("marriage_date", "marriage_place")
"""Fields with one true value if the person married once."""
MAX_WEDDING_GAP_DAYS = 31
"""A couple may have married twice within this many days, at the registry and in church."""

DATE_COMPARISONS: dict[str, ValueComparison] = {
    "same": "identical",
    "within": "subsumed",
    "overlap": "overlap",
    "calendar": "calendar",
    "apart": "conflict",
}


def compare_values(
    field: FieldName, one: str, other: str, when: DateRange | None = None, other_when: DateRange | None = None
) -> ValueComparison:
    """Compare two values of a field."""
    if fold(one) == fold(other):
        return "identical"
    if field in DATE_FIELDS:
        first, second = when or _date_in(one), other_when or _date_in(other)
        if first is None or second is None:
            return "incomparable"
        found = DATE_COMPARISONS[date_relation(first, second)]
        is_near = abs(first.earliest - second.earliest) <= MAX_WEDDING_GAP_DAYS
        return "overlap" if field == "marriage_date" and found == "conflict" and is_near else found
    if field in PLACE_FIELDS:
        return _compare_places(one, other)
    if field in PARENT_FIELDS:
        return "variant" if may_be_same_name(one, other) or _is_part(one, other) else "conflict"
    return "conflict"


def _date_in(value: str) -> DateRange | None:
    found = dates_in(value)
    return found[0].when if found else None


def _is_part(one: str, other: str) -> bool:
    """'John' may be 'John of Gaunt', and 'Mary' 'Queen Mary'."""
    words, others = set(fold(one).split()), set(fold(other).split())
    return bool(words and others) and (words <= others or others <= words)


def _compare_places(one: str, other: str) -> ValueComparison:
    first, second = _parts(one), _parts(other)
    if not first or not second:
        return "incomparable"
    narrow, wide = first[0], second[0]
    if _alike(narrow, wide):
        return "variant"
    if any(_alike(narrow, part) for part in second) or any(_alike(wide, part) for part in first):
        return "subsumed"
    # 'Windsor' is within 'Windsor Castle, Berkshire'.
    if set(narrow.split()) <= set(" ".join(second).split()) or set(wide.split()) <= set(" ".join(first).split()):
        return "subsumed"
    countries = [{part for part in parts if part in WIDE_PLACES} for parts in (first, second)]
    is_bare = any(all(part in WIDE_PLACES for part in parts) for parts in (first, second))
    if is_bare and not all(countries):
        # Which country a town is in cannot be known without a gazetteer.
        return "incomparable"
    return "conflict"


def _parts(place: str) -> list[str]:
    return [part for part in map(fold, place.replace(";", ",").replace("\n", ",").split(",")) if part]


def _alike(one: str, other: str) -> bool:
    return one == other or float(JaroWinkler.similarity(one, other)) >= SPELLED_ALIKE


@dataclass(frozen=True, slots=True)
class CompetingFact:
    """A fact, or a tie to a parent, that takes part in a conflict."""

    id: str
    value: str
    when: DateRange | None
    evidence: tuple[Evidence, ...]
    confidence: float
    is_disputed: bool
    is_chosen: bool = False
    """Whether a person accepted it or prefers it."""


@dataclass(frozen=True, slots=True)
class ValueGroup:
    """Facts that agree; the first is the most exact."""

    facts: tuple[CompetingFact, ...]

    @property
    def value(self) -> str:
        return self.facts[0].value

    @property
    def when(self) -> DateRange | None:
        return self.facts[0].when

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple({item.id: item for fact in self.facts for item in fact.evidence}.values())


def birth_parent_ties(tree: Tree) -> dict[PersonId, list[Relationship]]:
    """The ties to parents by birth, by child, ordered by id."""
    found: dict[PersonId, list[Relationship]] = defaultdict(list)
    for tie in sorted(tree.relationships, key=lambda relationship: relationship.id):
        if tie.kind == "parent_of" and tie.status not in DISCARDED and tie.qualifier not in NOT_BY_BIRTH:
            found[tie.second].append(tie)
    return found


def competing_facts(
    tree: Tree, person: PersonId, field: FieldName, ties: Sequence[Relationship] = ()
) -> tuple[CompetingFact, ...]:
    """All that compete for a field: facts, and for parents also ties."""
    facts = [
        CompetingFact(
            fact.id,
            fact.value,
            fact.when,
            fact.evidence,
            fact.confidence,
            fact.status == "disputed",
            bool(fact.decision),
        )
        for fact in tree.facts_of(person, field)
        if fact.status not in DISCARDED and fact.value.strip()
    ]
    return (*facts, *_parents(tree, field, ties))


def _parents(tree: Tree, field: FieldName, ties: Sequence[Relationship]) -> Iterator[CompetingFact]:
    sex = SEX_OF_PARENT.get(field)
    for tie in ties:
        parent = tree.persons.get(tie.first)
        if sex and parent and parent.sex == sex:
            is_disputed = tie.status == "disputed" or tie.qualifier == "disputed"
            yield CompetingFact(
                tie.id, parent.name, None, tie.evidence, tie.confidence, is_disputed, bool(tie.decision)
            )


def group_values(field: FieldName, facts: Sequence[CompetingFact]) -> tuple[ValueGroup, ...]:
    """The competing values; a fact that fits several of them supports none."""
    # The most exact value founds a group, so that '1819' joins '24 May 1819' and not the other way round.
    exact_first = sorted(facts, key=lambda fact: (_width(fact), fact.value, fact.id))
    groups: list[list[CompetingFact]] = []
    for fact in exact_first:
        fitting = [group for group in groups if _fits(field, fact, group[0])]
        if not fitting:
            groups.append([fact])
        elif len(fitting) == 1:
            fitting[0].append(fact)
    return tuple(ValueGroup(tuple(group)) for group in groups)


def _fits(field: FieldName, one: CompetingFact, other: CompetingFact) -> bool:
    return compare_values(field, one.value, other.value, one.when, other.when) != "conflict"


def _width(fact: CompetingFact) -> int:
    """How exact a value is: the number of days of a date; longer names and places are more exact."""
    if fact.when is None:
        return -len(fact.value)
    first, last = fact.when.possible_days()
    return last - first
