"""A tree as a privacy mode shows it: details of the living left out, replaced or made less exact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, get_args
from urllib.parse import unquote

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.privacy.hidden_people import (
    LIVING_NAME,
    MARRIAGE_FIELDS,
    WITHHELD,
    HiddenPeople,
    find_hidden_people,
)
from kiwiresearch.kin.privacy.living import LivingVerdict
from kiwiresearch.kin.privacy.text_parts import contacts_in, contains_words, region, without_contacts
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    PLACE_FIELDS,
    RELATION_FIELDS,
    Evidence,
    Fact,
    LivingStatus,
    Person,
    PersonId,
    Relationship,
    Source,
    SourceId,
    Tree,
)
from kiwiresearch.messages.message import Message
from kiwiresearch.text.dates.calendar import years
from kiwiresearch.text.dates.ranges import DateRange


def decade(when: DateRange | None) -> DateRange | None:
    """'3 May 1990' as the 1990s; a range as the decades it touches. Open ranges and times before Christ as nothing."""
    if when is None or when.qualifier in ("before", "after") or when.first_year < 1:
        return None
    first, last = (year // 10 * 10 for year in (when.first_year, when.last_year))
    span = years(max(first, 1), last + 9)
    return DateRange(span.earliest, span.latest, "decade", lasts=when.lasts and first != last)


def private_tree(hidden: HiddenPeople) -> Tree:
    """The tree with names and ties of everybody, and no more than a decade and a state of the living."""
    tree = hidden.tree
    persons = {one.id: _person(one) if hidden.hides(one.id) else one for one in tree.persons.values()}
    ties = tuple(_tie(tie, hidden) for tie in tree.relationships)
    facts = tuple(less for fact in tree.facts if (less := _fact(fact, hidden)))
    return Tree(persons, ties, facts, tree.sources)


def _person(person: Person) -> Person:
    return replace(
        person,
        birth=decade(person.birth),
        birth_place=region(person.birth_place),
        death=None,
        death_place="",
        is_dead=False,
        living="living",
        external={},
    )


def _tie(tie: Relationship, hidden: HiddenPeople) -> Relationship:
    if not any(map(hidden.hides, (tie.first, tie.second))):
        evidence = _scrubbed(tie.evidence, hidden, tie.first, tie.second)
        return tie if evidence == tie.evidence else replace(tie, evidence=evidence)
    return replace(tie, start=decade(tie.start), end=decade(tie.end), evidence=tuple(map(_without_words, tie.evidence)))


def _fact(fact: Fact, hidden: HiddenPeople) -> Fact | None:
    """A fact made less exact where it must be; none where nothing would be left, or the birthday be told."""
    shared = fact.field in MARRIAGE_FIELDS and hidden.shares_hidden_marriage(fact.person)
    if not hidden.hides(fact.person) and not shared:
        evidence = _scrubbed(fact.evidence, hidden, fact.person)
        # Of a spouse, the date is that of the marriage.
        theirs = fact.when and fact.field in RELATION_FIELDS and hidden.names_hidden_relative(fact)
        when = decade(fact.when) if theirs else fact.when
        return fact if (evidence, when) == (fact.evidence, fact.when) else replace(fact, evidence=evidence, when=when)
    if fact.field in ("baptism_date", "baptism_place"):
        return None
    less = replace(fact, when=decade(fact.when), evidence=tuple(map(_without_words, fact.evidence)))
    if fact.field in DATE_FIELDS:
        return replace(less, value=less.when.edtf()) if less.when else None
    if fact.field in PLACE_FIELDS:
        place = region(fact.value)
        return replace(less, value=place, when=None) if place else None
    return replace(less, value=WITHHELD if _reveals(fact.value, hidden) else without_contacts(fact.value))


def _scrubbed(evidence: tuple[Evidence, ...], hidden: HiddenPeople, *people: PersonId) -> tuple[Evidence, ...]:
    return tuple(
        _without_words(one) if any(_reveals(text, hidden, *people) for text in (one.snippet, one.rationale)) else one
        for one in evidence
    )


def _reveals(text: str, hidden: HiddenPeople, *people: PersonId) -> bool:
    """Whether a text gives a date or a place of somebody hidden; names may be told here."""
    told = any(trace.kind != "name" for trace in hidden.traces.find(text))
    return told or hidden.reveals_relative(text, people, names=False)


def _without_words(one: Evidence) -> Evidence:
    """Evidence without its words: a snippet repeats just what the field no longer says."""
    return replace(one, snippet=WITHHELD, start=-1, end=-1, locator="", rationale="")


POINTER = re.compile(r"@[^@\s]{1,40}@")
"""How a family file points at somebody: whoever has the file knows who it is."""
SHORTEST_PAGE = 4
"""A name elsewhere that is shorter than this says nothing about an address it is part of."""


def public_tree(hidden: HiddenPeople, *, exclude: bool) -> Tree:
    """The tree with 'Living' for whoever is kept back, or without them."""
    return _PublicRedaction(hidden, exclude=exclude).tree()


class _PublicRedaction:
    """One redaction for a whole tree: the same person has the same pseudonym everywhere."""

    def __init__(self, hidden: HiddenPeople, *, exclude: bool) -> None:
        self._hidden = hidden
        self._tree = hidden.tree
        self._exclude = exclude
        self._checked_texts: dict[str, bool] = {}
        kept = [person for person in self._tree.persons.values() if hidden.hides(person.id)]
        self._pages = sorted({value for one in kept for value in one.external.values() if len(value) >= SHORTEST_PAGE})
        self._xrefs = {f"@{value.rpartition('#')[2]}@" for one in kept if (value := one.external.get("gedcom"))}
        about = sorted(source.id for source in self._tree.sources.values() if self._is_about_hidden(source))
        self._about = {one: f"source-{number}" for number, one in enumerate(about, 1)}

    def tree(self) -> Tree:
        persons = [shown for shown in map(self._person, self._tree.persons.values()) if shown]
        ties = [tie for tie in map(self._tie, self._tree.relationships, count(1)) if tie]
        facts = [fact for fact in map(self._fact, self._tree.facts, count(1)) if fact]
        return Tree(
            {one.id: one for one in sorted(persons, key=lambda one: one.id)},
            tuple(sorted(ties, key=lambda one: one.id)),
            tuple(sorted(facts, key=lambda one: one.id)),
            self._sources(
                [one for item in ties for one in item.evidence] + [one for item in facts for one in item.evidence]
            ),
        )

    def _person(self, person: Person) -> Person | None:
        if not self._hidden.hides(person.id):
            return person
        if self._exclude:
            return None
        return Person(self._hidden.pseudonym(person.id), LIVING_NAME, sex=person.sex, living="living")

    def _tie(self, tie: Relationship, number: int) -> Relationship | None:
        ends = (tie.first, tie.second)
        if not any(map(self._hidden.hides, ends)):
            evidence = self._evidence(tie.evidence, ends, f"tie-{number}")
            return tie if evidence == tie.evidence else replace(tie, evidence=evidence)
        if self._exclude or not set(ends) <= self._tree.persons.keys():
            return None
        first, second = map(self._hidden.pseudonym, ends)
        return Relationship(
            f"tie-{number}", tie.kind, first, second, tie.qualifier, status=tie.status, confidence=tie.confidence
        )

    def _fact(self, fact: Fact, number: int) -> Fact | None:
        if self._hidden.hides(fact.person):
            return None
        if fact.field in MARRIAGE_FIELDS and self._hidden.shares_hidden_marriage(fact.person):
            return None
        named = fact.field in RELATION_FIELDS and self._names(fact)
        # Dates and places of the dead are theirs, whoever shares them; other values may name somebody.
        told = fact.field in ("occupation", "title") and self._reveals(fact.value, (fact.person,))
        if named or told:
            if named and self._exclude:
                return None
            bare = tuple(self._bare(one, f"fact-{number}-{at}") for at, one in enumerate(fact.evidence, 1))
            value = LIVING_NAME if named else WITHHELD
            return replace(fact, id=f"fact-{number}", value=value, when=None, evidence=bare)
        evidence = self._evidence(fact.evidence, (fact.person,), f"fact-{number}")
        return fact if evidence == fact.evidence else replace(fact, evidence=evidence)

    def _names(self, fact: Fact) -> bool:
        """Whether the relative of a fact is hidden, or has the name of somebody who is."""
        if fact.value == LIVING_NAME:
            return False
        return self._hidden.names_hidden_relative(fact) or self._names_hidden_person(fact.value)

    def _evidence(
        self, evidence: tuple[Evidence, ...], people: tuple[PersonId, ...], name: str
    ) -> tuple[Evidence, ...]:
        return tuple(self._one(one, people, f"{name}-{at}") for at, one in enumerate(evidence, 1))

    def _one(self, one: Evidence, people: tuple[PersonId, ...], name: str) -> Evidence:
        texts = (one.snippet, one.locator, one.rationale)
        if one.source in self._about or any(self._reveals(text, people) for text in texts):
            return self._bare(one, name)
        if any(contact.kind in ("e-mail", "handle") for contact in contacts_in(one.snippet)):
            return replace(one, snippet=without_contacts(one.snippet), start=-1, end=-1)
        return one

    def _bare(self, one: Evidence, name: str) -> Evidence:
        """Evidence of which its weight is left. An id made from its words would let them be guessed."""
        source = self._about.get(one.source, one.source)
        return replace(
            one, id=f"evidence-{name}", source=source, snippet=WITHHELD, start=-1, end=-1, locator="", rationale=""
        )

    def _reveals(self, text: str, people: tuple[PersonId, ...]) -> bool:
        """Whether a text speaks of somebody hidden; of a relative, the first name or a year is enough."""
        if not text or text == WITHHELD:
            return False
        if not self._xrefs.isdisjoint(POINTER.findall(text)):
            return True
        return self._names_hidden_person(text) or self._hidden.reveals_relative(text, people, names=True)

    def _names_hidden_person(self, text: str) -> bool:
        """Whether a text speaks of somebody hidden, whoever it is about; one line of a book proves many things."""
        if text not in self._checked_texts:
            self._checked_texts[text] = self._hidden.traces.occur_in(text)
        return self._checked_texts[text]

    def _is_about_hidden(self, source: Source) -> bool:
        """Whether a source is about somebody hidden: its title or address says so, or it is their page."""
        if source.title == WITHHELD:
            return False
        address = unquote(source.url)
        texts = (source.title, address, source.name, source.origin_group)
        return any(map(self._names_hidden_person, texts)) or any(contains_words(page, address) for page in self._pages)

    def _sources(self, shown: list[Evidence]) -> dict[SourceId, Source]:
        """The sources that are still cited, and those that nothing ever cited and that name nobody."""
        cited = {one.source for one in shown}
        before = {one.source for tie in self._tree.relationships for one in tie.evidence}
        before |= {one.source for fact in self._tree.facts for one in fact.evidence}
        found: dict[SourceId, Source] = {}
        for source in self._tree.sources.values():
            name = self._about.get(source.id, source.id)
            if name in cited or not (source.id in before or source.id in self._about):
                found[name] = _anonymous_source(source, name) if source.id in self._about else source
        return dict(sorted(found.items()))


def _anonymous_source(source: Source, name: SourceId) -> Source:
    return Source(
        name,
        url="",
        name="",
        title=WITHHELD,
        tier=source.tier,
        form=source.form,
        official=source.official,
        user_contributed=source.user_contributed,
    )


Mode = Literal["owner", "private", "public", "exclude"]
"""From showing all to leaving the living out; `public` is what exports use unless told otherwise."""
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True)
class RedactedTree(Tree):
    """A tree that may leave the program: a writer that takes this type cannot be handed another."""

    mode: Mode = "public"
    year: int = 0
    hidden: tuple[PersonId, ...] = ()
    """The withheld people, by the ids they have in this tree."""

    @property
    def anonymous(self) -> frozenset[PersonId]:
        """The withheld people of whom only sex and relationships are shown, under a pseudonym."""
        return frozenset(self.hidden) if self.mode == "public" else frozenset()


def redact(
    tree: Tree,
    mode: Mode,
    year: int,
    *,
    years_after_death: int = 0,
    overrides: Mapping[PersonId, LivingStatus] | None = None,
) -> RedactedTree:
    """The tree as the mode allows it to be seen, as of a year.

    | mode    | of people who are living, or may be                                       |
    | ------- | ------------------------------------------------------------------------- |
    | owner   | everything                                                                |
    | private | names and ties; dates by decade, places by state and country, no contacts |
    | public  | that there is somebody, of which sex, and the ties                        |
    | exclude | nothing                                                                   |
    """
    check_mode(mode)
    if isinstance(tree, RedactedTree) and tree.mode != "owner":
        if MODES.index(tree.mode) >= MODES.index(mode):
            return tree
        return redact_hidden(HiddenPeople(tree, year, _earlier_verdicts(tree)), mode)
    return redact_hidden(find_hidden_people(tree, year, years_after_death=years_after_death, overrides=overrides), mode)


def redact_hidden(hidden: HiddenPeople, mode: Mode) -> RedactedTree:
    """The same for a tree of which it is known who is kept back."""
    check_mode(mode)
    tree, year = hidden.tree, hidden.year
    kept = [one for one in sorted(tree.persons) if hidden.hides(one)]
    if mode == "owner":
        return _redacted(tree, mode, year, kept)
    if mode == "private":
        return _redacted(private_tree(hidden), mode, year, kept)
    pseudonyms = [] if mode == "exclude" else sorted(map(hidden.pseudonym, kept))
    return _redacted(public_tree(hidden, exclude=mode == "exclude"), mode, year, pseudonyms)


def check_mode(mode: str) -> None:
    if mode not in MODES:
        raise BadSettings(f"{mode!r} is no privacy mode.", remedy=f"Use one of {', '.join(MODES)}.")


def _redacted(tree: Tree, mode: Mode, year: int, hidden: list[PersonId]) -> RedactedTree:
    return RedactedTree(tree.persons, tree.relationships, tree.facts, tree.sources, mode, year, tuple(hidden))


def _earlier_verdicts(tree: RedactedTree) -> dict[PersonId, LivingVerdict]:
    """A tree that has been redacted no longer shows why somebody is dead: what was found then holds."""
    kept = set(tree.hidden)
    return {
        one: LivingVerdict("living" if one in kept else "deceased", Message("as found before")) for one in tree.persons
    }
