"""Several mentions of one relative in one record: 'Anne Boleyn', and 'Anne Boleyn, Marchioness of Pembroke'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.loop.fitting import core
from kiwiresearch.kin.loop.verifying import Checked
from kiwiresearch.kin.names import PersonName, clash, parse_name, sex_of, token_likeness
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import relation

PARENTS: tuple[FieldName, ...] = ("father", "mother", "parent")
KINDS: dict[FieldName, str] = {
    "father": "father",
    "mother": "mother",
    "parent": "parent",
    "spouse": "spouse",
    "partner": "spouse",
    "child": "child",
    "sibling": "sibling",
}
"""Relations that one person may be told under."""
SPELLED, HARDLY_OTHERWISE = 0.92, 0.96
"""From here on two first names are one that is spelled otherwise: of a father, and of a wife who has no other name."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A relative as one place of a record tells it."""

    checked: Checked
    address: str
    name: PersonName

    @property
    def kind(self) -> str:
        return KINDS[self.checked.fact.field]


@dataclass(frozen=True, slots=True)
class OnePerson:
    """All mentions of one relative, the fullest first."""

    mentions: tuple[Mention, ...]

    @property
    def address(self) -> str:
        return next((one.address for one in self.mentions if one.address), "")

    @property
    def name(self) -> str:
        return self.mentions[0].checked.fact.value

    @property
    def field(self) -> FieldName:
        return self.mentions[0].checked.fact.field

    @property
    def fields(self) -> tuple[FieldName, ...]:
        """What all mentions call the person: 'parent' in one place is 'mother' in another."""
        return tuple(one.checked.fact.field for one in self.mentions)


@dataclass(frozen=True, slots=True)
class Told:
    """The relatives of a record, and mentions that may be of several of them."""

    people: tuple[OnePerson, ...]
    unclear: tuple[Checked, ...]


def told_people(relations: Sequence[Checked], address_of: Callable[[Checked], str]) -> Told:
    """Put mentions together; a short name that fits several people is left aside, since it may be any of them."""
    mentions = [Mention(one, address_of(one), parse_name(one.fact.value)) for one in relations]
    fullest = sorted(mentions, key=lambda one: (not one.address, -_size(one.name), one.checked.fact.snippet.start))
    people: list[OnePerson] = []
    unclear: list[Checked] = []
    for mention in fullest:
        fitting = [number for number, person in enumerate(people) if _is_of(mention, person)]
        if len(fitting) > 1:
            unclear.append(mention.checked)
        elif fitting:
            number = fitting[0]
            people[number] = replace(people[number], mentions=(*people[number].mentions, mention))
        else:
            people.append(OnePerson((mention,)))
    return Told(tuple(people), tuple(unclear))


def _size(name: PersonName) -> int:
    return len(core(name)) + bool(name.byname) + bool(name.regnal)


def _is_of(mention: Mention, person: OnePerson) -> bool:
    """Whether a mention is of a person told already."""
    if not _is_same_role(mention.kind, person.mentions[0].kind):
        return False
    if mention.address and person.address:
        return mention.address == person.address
    if any(_lived_apart(mention, other) for other in person.mentions):
        return False
    return any(_is_same(mention.name, other.name, mention.kind) for other in person.mentions)


def _lived_apart(one: Mention, other: Mention) -> bool:
    """Whether the record gives them births or deaths that cannot be one."""
    told = {fact.fact.field: fact.fact.when for fact in other.checked.told if fact.status != "rejected"}
    return any(
        relation(fact.fact.when, when) == "apart"
        for fact in one.checked.told
        if fact.status != "rejected" and fact.fact.when and (when := told.get(fact.fact.field))
    )


def _is_same_role(one: str, other: str) -> bool:
    """A box says 'Parents' where the text says 'son of A and B'."""
    return one == other or (one in PARENTS and other in PARENTS and "parent" in (one, other))


def _is_named_otherwise(one: PersonName, other: PersonName) -> bool:
    """'Catherine of Aragon' is no shorter form of 'Catherine Howard', nor of 'Catherine Parr'."""
    places, houses = (bool(one.byname), bool(other.byname)), (bool(one.surname), bool(other.surname))
    return any(places) and any(houses) and places == houses[::-1] and not all(places)


def _is_same(one: PersonName, other: PersonName, kind: str) -> bool:
    """A shorter form of the other; of a father, who is one, the first name is enough."""
    if clash(one, other) or not one.given or not other.given:
        return False
    mine, theirs = core(one), core(other)
    bynames = {fold(one.byname), fold(other.byname)} - {""}
    if (mine <= theirs or theirs <= mine) and len(bynames) < 2 and not _is_named_otherwise(one, other):
        return True
    if fold(one.given[0]) == fold(other.given[0]):
        return kind in PARENTS  # nobody has two fathers of one name
    if len({sex_of(one.written), sex_of(other.written)} - {""}) > 1:
        return False  # Francis and Frances are a couple
    alike = token_likeness(one.given[0], other.given[0])
    return (kind in PARENTS and alike >= SPELLED) or (
        kind == "spouse" and alike >= HARDLY_OTHERWISE and len(mine) == len(theirs) == 1
    )
