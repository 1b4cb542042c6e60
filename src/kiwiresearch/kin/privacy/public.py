"""What anybody may see: that there is a living person here, and how they are tied to the dead; nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from urllib.parse import unquote

from kiwiresearch.kin.fields import RELATIONS
from kiwiresearch.kin.privacy.contacts import contacts_in, without_contacts
from kiwiresearch.kin.privacy.hidden import Hidden
from kiwiresearch.kin.privacy.tokens import stands_in
from kiwiresearch.kin.privacy.wording import LIVING_NAME, MARRIAGE, WITHHELD
from kiwiresearch.kin.tree import Evidence, Fact, Person, PersonId, Relationship, Source, SourceId, Tree

POINTER = re.compile(r"@[^@\s]{1,40}@")
"""How a family file points at somebody: whoever has the file knows who it is."""
SHORTEST_PAGE = 4
"""A name elsewhere that is shorter than this says nothing about an address it is part of."""


def public_tree(hidden: Hidden, *, exclude: bool) -> Tree:
    """The tree with 'Living' for whoever is kept back, or without them."""
    return _Public(hidden, exclude=exclude).tree()


class _Public:
    """One redaction for a whole tree: the same person has the same pseudonym everywhere."""

    def __init__(self, hidden: Hidden, *, exclude: bool) -> None:
        self._hidden = hidden
        self._tree = hidden.tree
        self._exclude = exclude
        self._heard: dict[str, bool] = {}
        kept = [person for person in self._tree.persons.values() if hidden.hides(person.id)]
        self._pages = sorted({value for one in kept for value in one.external.values() if len(value) >= SHORTEST_PAGE})
        self._xrefs = {f"@{value.rpartition('#')[2]}@" for one in kept if (value := one.external.get("gedcom"))}
        about = sorted(source.id for source in self._tree.sources.values() if self._speaks(source))
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
        if fact.field in MARRIAGE and self._hidden.shares_marriage(fact.person):
            return None
        named = fact.field in RELATIONS and self._names(fact)
        # Dates and places of the dead are theirs, whoever shares them; other values may name somebody.
        told = fact.field in ("occupation", "title") and self._tells(fact.value, (fact.person,))
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
        return self._hidden.names_hidden(fact) or self._betrays(fact.value)

    def _evidence(
        self, evidence: tuple[Evidence, ...], people: tuple[PersonId, ...], name: str
    ) -> tuple[Evidence, ...]:
        return tuple(self._one(one, people, f"{name}-{at}") for at, one in enumerate(evidence, 1))

    def _one(self, one: Evidence, people: tuple[PersonId, ...], name: str) -> Evidence:
        texts = (one.snippet, one.locator, one.rationale)
        if one.source in self._about or any(self._tells(text, people) for text in texts):
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

    def _tells(self, text: str, people: tuple[PersonId, ...]) -> bool:
        """Whether a text speaks of somebody hidden; of a relative, the first name or a year is enough."""
        if not text or text == WITHHELD:
            return False
        if not self._xrefs.isdisjoint(POINTER.findall(text)):
            return True
        return self._betrays(text) or self._hidden.told_near(text, people, names=True)

    def _betrays(self, text: str) -> bool:
        """Whether a text speaks of somebody hidden, whoever it is about; one line of a book proves many things."""
        if text not in self._heard:
            self._heard[text] = self._hidden.traces.stand_in(text)
        return self._heard[text]

    def _speaks(self, source: Source) -> bool:
        """Whether a source is about somebody hidden: its title or address says so, or it is their page."""
        if source.title == WITHHELD:
            return False
        address = unquote(source.url)
        texts = (source.title, address, source.name, source.origin_group)
        return any(map(self._betrays, texts)) or any(stands_in(page, address) for page in self._pages)

    def _sources(self, shown: list[Evidence]) -> dict[SourceId, Source]:
        """The sources that are still cited, and those that nothing ever cited and that name nobody."""
        cited = {one.source for one in shown}
        before = {one.source for tie in self._tree.relationships for one in tie.evidence}
        before |= {one.source for fact in self._tree.facts for one in fact.evidence}
        found: dict[SourceId, Source] = {}
        for source in self._tree.sources.values():
            name = self._about.get(source.id, source.id)
            if name in cited or not (source.id in before or source.id in self._about):
                found[name] = _nameless(source, name) if source.id in self._about else source
        return dict(sorted(found.items()))


def _nameless(source: Source, name: SourceId) -> Source:
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
