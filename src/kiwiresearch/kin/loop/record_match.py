"""Whether a record is about the person who was searched for, and which mentions in a record mean one relative."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from kiwiresearch.kin.loop.source_records import CheckedFact, CheckedRecord, exact_year
from kiwiresearch.kin.names import PersonName, names_conflict, parse_name, sex_of_name, token_similarity
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.tree import PARENT_FIELDS, RELATION_FIELDS, FieldName, Person
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, date_relation

RECIPROCAL_FIELDS: Mapping[str, tuple[FieldName, ...]] = {
    **dict.fromkeys(PARENT_FIELDS, ("child",)),
    "child": PARENT_FIELDS,
    **dict.fromkeys(("spouse", "partner"), ("spouse", "partner")),
    "sibling": ("sibling",),
}
"""The fields under which a relative's record names the person who led to it: a child's page has its parents."""


def is_about(record: CheckedRecord, context: Mapping[str, Any], leads_back: Callable[[ExtractedFact], bool]) -> bool:
    """Whether a record has the name searched for, and names the relative who led here in the right role.

    `leads_back` says whether a relation of the record links to that relative's own page.
    """
    reading = record.reading
    name = parse_name(str(context.get("name", "")))
    names = [parse_name(item) for item in (reading.name, reading.title) if item]
    if not reading.is_person or not any(is_same_full_name(name, person_name) for person_name in names):
        return False
    fields = RECIPROCAL_FIELDS.get(str(context.get("field")), tuple(sorted(RELATION_FIELDS)))
    relative = parse_name(str(context.get("of_name", "")))
    facts = [checked.fact for checked in record.accepted if checked.fact.field in fields]
    return any(leads_back(fact) or is_same_full_name(relative, parse_name(fact.value)) for fact in facts)


def is_same_full_name(one: PersonName, other: PersonName) -> bool:
    """Whether two full names can be the same person's: the longer has the shorter, not just a first name."""
    if not one.given or not other.given or names_conflict(one, other):
        return False
    mine, theirs = core_words(one), core_words(other)
    if not (mine <= theirs or theirs <= mine):
        return False
    is_same_king = one.regnal > 0 and one.regnal == other.regnal
    is_same_place = bool(one.byname) and fold(one.byname) == fold(other.byname)
    # 'Henry' and 'Henry Pell' share only a first name; 'Henry IV' and 'Henry IV of France' also the number.
    return len(mine & theirs) > 1 or is_same_king or is_same_place


def cannot_share_person(one: str, other: str) -> bool:
    """Whether two names are surely not the same person's: number, 'Jr.', sex or 'Duke of …' differ."""
    first, second = parse_name(one), parse_name(other)
    sexes = {sex_of_name(one), sex_of_name(other)} - {""}
    return len(sexes) > 1 or names_conflict(first, second) or _have_different_territories(first, second)


def _have_different_territories(one: PersonName, other: PersonName) -> bool:
    """Whether both have the same rank in different places: a Duke of York and a Duke of Sussex."""
    mine, theirs = one.territories, other.territories
    return any(mine[rank].isdisjoint(theirs[rank]) for rank in mine.keys() & theirs.keys())


def core_words(name: PersonName) -> frozenset[str]:
    """The words of a given name, surname and maiden name, without titles."""
    return frozenset(fold(" ".join((*name.given, name.surname, name.maiden))).split())


def has_same_name_and_dates(record: CheckedRecord, person: Person) -> bool:
    """Whether name and years of birth and death agree; if the days agree, the first name is enough."""
    if not record.reading.is_person:
        return False
    names = [parse_name(item) for item in (person.name, *person.names)]
    pairs = list(product(names, [parse_name(item) for item in (record.reading.name, record.reading.title) if item]))
    ends: tuple[tuple[FieldName, DateRange | None], ...] = (("birth_date", person.birth), ("death_date", person.death))
    dates = [
        (when, [checked.fact.when for checked in record.accepted if checked.fact.field == field])
        for field, when in ends
    ]
    # Nobody else of that first name was born and died on just these days.
    if all(any(_is_same_day(when, other) for other in others) for when, others in dates):
        return any(_is_same_first_name(person_name, other) for person_name, other in pairs)
    years = all(exact_year(when) in {exact_year(other) for other in others} - {None} for when, others in dates)
    return years and any(is_same_full_name(person_name, other) for person_name, other in pairs)


def _is_same_day(one: DateRange | None, other: DateRange | None) -> bool:
    """Whether both are the same day. `resolve.is_same_day` also allows two calendars: what it finds is reviewed."""
    if one is None or other is None:
        return False
    return one.earliest == one.latest == other.earliest == other.latest


def _is_same_first_name(one: PersonName, other: PersonName) -> bool:
    if not one.given or not other.given or names_conflict(one, other):
        return False
    return fold(one.given[0]) == fold(other.given[0])


PARENT_SPELLING, WIFE_SPELLING = 0.92, 0.96
"""From this similarity two first names are spellings of the same name: for a parent, or a wife with no other name."""


@dataclass(frozen=True, slots=True)
class NamedRelative:
    """A relative as one passage of a record names them."""

    checked: CheckedFact
    address: str
    name: PersonName

    @property
    def kind(self) -> str:
        """The field; a partner may be called a spouse elsewhere in the same record."""
        field = self.checked.fact.field
        return "spouse" if field == "partner" else field


@dataclass(frozen=True, slots=True)
class MentionedPerson:
    """All mentions of a relative, the fullest first."""

    mentions: tuple[NamedRelative, ...]

    @property
    def address(self) -> str:
        return next((mention.address for mention in self.mentions if mention.address), "")

    @property
    def name(self) -> str:
        return self.mentions[0].checked.fact.value

    @property
    def kind(self) -> str:
        return self.mentions[0].kind

    @property
    def field(self) -> FieldName:
        return self.mentions[0].checked.fact.field

    @property
    def start(self) -> int:
        """Where the record first mentions them."""
        return min(mention.checked.fact.snippet.start for mention in self.mentions)

    @property
    def fields(self) -> tuple[FieldName, ...]:
        """The fields of all mentions: 'parent' in one place is 'mother' in another."""
        return tuple(mention.checked.fact.field for mention in self.mentions)


@dataclass(frozen=True, slots=True)
class MentionedPeople:
    """The relatives of a record, and mentions that fit several of them."""

    people: tuple[MentionedPerson, ...]
    unclear: tuple[CheckedFact, ...]


def group_mentions(relations: Sequence[CheckedFact], address_of: Callable[[CheckedFact], str]) -> MentionedPeople:
    """Group mentions by person; a short name that fits several people is unclear."""
    mentions = [NamedRelative(checked, address_of(checked), parse_name(checked.fact.value)) for checked in relations]

    # The fullest names first, so that shorter ones find the person they belong to.
    def fullness(mention: NamedRelative) -> tuple[bool, int, int]:
        length = len(core_words(mention.name)) + bool(mention.name.byname) + bool(mention.name.regnal)
        return not mention.address, -length, mention.checked.fact.snippet.start

    people: list[MentionedPerson] = []
    unclear: list[CheckedFact] = []
    for mention in sorted(mentions, key=fullness):
        fitting = [index for index, person in enumerate(people) if _is_mention_of(mention, person)]
        if len(fitting) > 1:
            unclear.append(mention.checked)
        elif fitting:
            people[fitting[0]] = MentionedPerson((*people[fitting[0]].mentions, mention))
        else:
            people.append(MentionedPerson((mention,)))
    return MentionedPeople(tuple(people), tuple(unclear))


def _is_mention_of(mention: NamedRelative, person: MentionedPerson) -> bool:
    """Whether a mention is of a person mentioned before."""
    kinds = {mention.kind, person.kind}
    # A box says 'Parents' where the text says 'son of A and B'.
    if len(kinds) > 1 and not ("parent" in kinds and kinds <= set(PARENT_FIELDS)):
        return False
    if mention.address and person.address:
        return mention.address == person.address
    if any(_dates_exclude(mention, other) or _are_listed_together(mention, other) for other in person.mentions):
        return False
    return any(
        fold(mention.name.written) == fold(other.name.written) or is_short_form(mention.name, other.name, mention.kind)
        for other in person.mentions
    )


def _dates_exclude(one: NamedRelative, other: NamedRelative) -> bool:
    """Whether the record gives them births or deaths that differ."""
    dates = {
        checked.fact.field: checked.fact.when
        for checked in other.checked.relative_facts
        if checked.status != "rejected"
    }
    return any(
        date_relation(checked.fact.when, when) == "apart"
        for checked in one.checked.relative_facts
        if checked.status != "rejected" and checked.fact.when and (when := dates.get(checked.fact.field))
    )


def _are_listed_together(one: NamedRelative, other: NamedRelative) -> bool:
    """Whether both are in the same row of an infobox under different names: a list names nobody twice."""
    fact, second = one.checked.fact, other.checked.fact
    is_same_row = fact.method == second.method == "infobox" and fact.locator == second.locator
    return is_same_row and fact.snippet.start == second.snippet.start and fold(fact.value) != fold(second.value)


def _is_byname_against_surname(one: PersonName, other: PersonName) -> bool:
    """Whether only one has a byname and only the other a surname: 'Catherine of Aragon', 'Catherine Parr'."""
    places, houses = (bool(one.byname), bool(other.byname)), (bool(one.surname), bool(other.surname))
    return any(places) and any(houses) and places == houses[::-1] and not all(places)


def is_short_form(one: PersonName, other: PersonName, kind: str) -> bool:
    """Whether one is a short form of the other; for a parent the first name is enough."""
    if names_conflict(one, other) or _have_different_territories(one, other) or not one.given or not other.given:
        return False
    mine, theirs = core_words(one), core_words(other)
    bynames = {fold(one.byname), fold(other.byname)} - {""}
    if (mine <= theirs or theirs <= mine) and len(bynames) < 2 and not _is_byname_against_surname(one, other):
        return True
    if fold(one.given[0]) == fold(other.given[0]):
        # Nobody has two fathers of the same name; a wife's surname changes.
        return kind in PARENT_FIELDS or (kind == "spouse" and len(mine & theirs) > 1)
    if len({sex_of_name(one.written), sex_of_name(other.written)} - {""}) > 1:
        return False  # Francis and Frances are a couple
    alike = token_similarity(one.given[0], other.given[0])
    return (kind in PARENT_FIELDS and alike >= PARENT_SPELLING) or (
        kind == "spouse" and alike >= WIFE_SPELLING and len(mine) == len(theirs) == 1
    )
