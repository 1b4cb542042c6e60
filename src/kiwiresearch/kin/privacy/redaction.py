"""A tree as a privacy mode shows it: details of withheld people left out, replaced or made less exact."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, get_args
from urllib.parse import unquote

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.privacy.living import LivingVerdict
from kiwiresearch.kin.privacy.text_parts import contacts_in, contains_words, region, without_contacts
from kiwiresearch.kin.privacy.withheld_people import (
    LIVING_NAME,
    MARRIAGE_FIELDS,
    WITHHELD,
    WithheldPeople,
    find_withheld,
)
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    NAMED_RELATIVE_FIELDS,
    PLACE_FIELDS,
    RELATION_FIELDS,
    Evidence,
    Fact,
    Person,
    PersonId,
    Relationship,
    Source,
    SourceId,
    Tree,
)
from kiwiresearch.messages import Message
from kiwiresearch.text.dates import DateRange, years


def decade(when: DateRange | None) -> DateRange | None:
    """'3 May 1990' as the 1990s; a range as the decades it touches. None for open ranges and years BC."""
    if when is None or when.qualifier in ("before", "after") or when.first_year < 1:
        return None
    first, last = (year // 10 * 10 for year in (when.first_year, when.last_year))
    span = years(max(first, 1), last + 9)
    return DateRange(span.earliest, span.latest, "decade", lasts=when.lasts and first != last)


def _private_tree(withheld: WithheldPeople) -> Tree:
    """The tree with everybody's names and ties, and for the living only decades and states."""
    tree = withheld.tree
    persons = {
        person.id: _person(person) if withheld.withholds(person.id) else person for person in tree.persons.values()
    }
    ties = tuple(_tie(tie, withheld) for tie in tree.relationships)
    facts = tuple(coarser for fact in tree.facts if (coarser := _fact(fact, withheld)))
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


def _tie(tie: Relationship, withheld: WithheldPeople) -> Relationship:
    if not any(map(withheld.withholds, (tie.first, tie.second))):
        evidence = _scrubbed(tie.evidence, withheld, tie.first, tie.second)
        return tie if evidence == tie.evidence else replace(tie, evidence=evidence)
    return replace(tie, start=decade(tie.start), end=decade(tie.end), evidence=tuple(map(_without_words, tie.evidence)))


def _fact(fact: Fact, withheld: WithheldPeople) -> Fact | None:
    """A fact made less exact if necessary; None if nothing would be left, or the birthday could be guessed."""
    shared = fact.field in MARRIAGE_FIELDS and withheld.shares_withheld_marriage(fact.person)
    if not withheld.withholds(fact.person) and not shared:
        evidence = _scrubbed(fact.evidence, withheld, fact.person)
        # For a spouse, the date is that of the marriage.
        is_private_date = fact.when and fact.field in RELATION_FIELDS and withheld.names_withheld_relative(fact)
        when = decade(fact.when) if is_private_date else fact.when
        return fact if (evidence, when) == (fact.evidence, fact.when) else replace(fact, evidence=evidence, when=when)
    # Most people were baptised soon after birth and in the same place, so this would give the birthday away.
    if fact.field in ("baptism_date", "baptism_place"):
        return None
    coarser = replace(fact, when=decade(fact.when), evidence=tuple(map(_without_words, fact.evidence)))
    if fact.field in DATE_FIELDS:
        return replace(coarser, value=coarser.when.edtf()) if coarser.when else None
    if fact.field in PLACE_FIELDS:
        place = region(fact.value)
        return replace(coarser, value=place, when=None) if place else None
    return replace(coarser, value=WITHHELD if _reveals(fact.value, withheld) else without_contacts(fact.value))


def _scrubbed(evidence: tuple[Evidence, ...], withheld: WithheldPeople, *people: PersonId) -> tuple[Evidence, ...]:
    return tuple(
        _without_words(item)
        if any(_reveals(text, withheld, *people) for text in (item.snippet, item.rationale))
        else item
        for item in evidence
    )


def _reveals(text: str, withheld: WithheldPeople, *people: PersonId) -> bool:
    """Whether a text gives a date or a place of a withheld person; names may be shown in this mode."""
    has_trace = any(trace.kind != "name" for trace in withheld.traces.find(text))
    return has_trace or withheld.reveals_relative(text, people, by_name=False)


def _without_words(evidence: Evidence) -> Evidence:
    """Evidence without its words: the snippet repeats exactly what the field must not show."""
    return replace(evidence, snippet=WITHHELD, start=-1, end=-1, locator="", rationale="")


POINTER = re.compile(r"@[^@\s]{1,40}@")
"""How a GEDCOM file points at a person: anyone with the file can look them up."""
MIN_EXTERNAL_ID_CHARS = 4
"""A shorter external id occurs in addresses by chance."""


class _AnonymousRedaction:
    """Builds the tree with 'Living' for each withheld person, or without them; pseudonyms are the same throughout."""

    def __init__(self, withheld: WithheldPeople, *, exclude: bool) -> None:
        self._withheld = withheld
        self._tree = withheld.tree
        self._exclude = exclude
        self._checked_texts: dict[str, bool] = {}
        people = [person for person in self._tree.persons.values() if withheld.withholds(person.id)]
        self._has_withheld = bool(people)
        self._external_ids = sorted(
            {value for item in people for value in item.external.values() if len(value) >= MIN_EXTERNAL_ID_CHARS}
        )
        self._xrefs = {f"@{value.rpartition('#')[2]}@" for item in people if (value := item.external.get("gedcom"))}
        about = sorted(source.id for source in self._tree.sources.values() if self._is_about_withheld(source))
        self._about = {source_id: f"source-{number}" for number, source_id in enumerate(about, 1)}

    def tree(self) -> Tree:
        persons = [shown for shown in map(self._person, self._tree.persons.values()) if shown]
        ties = [tie for tie in map(self._tie, self._tree.relationships, count(1)) if tie]
        facts = [fact for fact in map(self._fact, self._tree.facts, count(1)) if fact]
        return Tree(
            {person.id: person for person in sorted(persons, key=lambda person: person.id)},
            tuple(sorted(ties, key=lambda relationship: relationship.id)),
            tuple(sorted(facts, key=lambda entry: entry.id)),
            self._sources(
                [evidence for item in ties for evidence in item.evidence]
                + [evidence for item in facts for evidence in item.evidence]
            ),
        )

    def _person(self, person: Person) -> Person | None:
        if not self._withheld.withholds(person.id):
            return self._without_traces(person)
        if self._exclude:
            return None
        return Person(self._withheld.pseudonym(person.id), LIVING_NAME, sex=person.sex, living="living")

    def _without_traces(self, person: Person) -> Person:
        """A person who is shown, without places and ids that name a withheld person."""
        external = {key: value for key, value in person.external.items() if not self._names_withheld_person(value)}
        birth_place, death_place = (
            "" if self._is_named_after_withheld(place) else place for place in (person.birth_place, person.death_place)
        )
        shown = replace(person, external=external, birth_place=birth_place, death_place=death_place)
        return person if shown == person else shown

    def _is_named_after_withheld(self, place: str) -> bool:
        """Whether a place says whose it is: 'Anne Hay's house'. One word may be the name of both."""
        traces = self._withheld.traces.find(place)
        return any(trace.kind == "name" and " " in place[trace.start : trace.end] for trace in traces)

    def _tie(self, tie: Relationship, number: int) -> Relationship | None:
        ends = (tie.first, tie.second)
        if not any(map(self._withheld.withholds, ends)):
            evidence = self._evidence(tie.evidence, ends, f"tie-{number}")
            return tie if evidence == tie.evidence else replace(tie, evidence=evidence)
        if self._exclude or not set(ends) <= self._tree.persons.keys():
            return None
        first, second = map(self._withheld.pseudonym, ends)
        return Relationship(
            f"tie-{number}", tie.kind, first, second, tie.qualifier, status=tie.status, confidence=tie.confidence
        )

    def _fact(self, fact: Fact, number: int) -> Fact | None:
        if self._withheld.withholds(fact.person):
            return None
        if fact.field in MARRIAGE_FIELDS and self._withheld.shares_withheld_marriage(fact.person):
            return None
        is_named = fact.field in NAMED_RELATIVE_FIELDS and self._names(fact)
        # Dates and places of the dead are shown even if a living person shares them; other values may name a person.
        is_revealing = (
            self._is_named_after_withheld(fact.value)
            if fact.field in PLACE_FIELDS
            else fact.field in ("occupation", "title") and self._reveals(fact.value, (fact.person,))
        )
        if is_named or is_revealing:
            if is_named and self._exclude:
                return None
            bare = tuple(self._bare(item, f"fact-{number}-{at}") for at, item in enumerate(fact.evidence, 1))
            value = LIVING_NAME if is_named else WITHHELD
            return replace(fact, id=f"fact-{number}", value=value, when=None, evidence=bare)
        evidence = self._evidence(fact.evidence, (fact.person,), f"fact-{number}")
        return fact if evidence == fact.evidence else replace(fact, evidence=evidence)

    def _names(self, fact: Fact) -> bool:
        """Whether the relative of a fact is withheld, or has the name of a withheld person."""
        if fact.value == LIVING_NAME:
            return False
        return self._withheld.names_withheld_relative(fact) or self._names_withheld_person(fact.value)

    def _evidence(
        self, evidence: tuple[Evidence, ...], people: tuple[PersonId, ...], name: str
    ) -> tuple[Evidence, ...]:
        return tuple(self._redacted_item(item, people, f"{name}-{at}") for at, item in enumerate(evidence, 1))

    def _redacted_item(self, evidence: Evidence, people: tuple[PersonId, ...], name: str) -> Evidence:
        texts = (evidence.snippet, evidence.locator, evidence.rationale)
        if evidence.source in self._about or any(self._reveals(text, people) for text in texts):
            return self._bare(evidence, name)
        if any(contact.kind in ("e-mail", "handle") for contact in contacts_in(evidence.snippet)):
            return replace(evidence, snippet=without_contacts(evidence.snippet), start=-1, end=-1)
        return evidence

    def _bare(self, evidence: Evidence, name: str) -> Evidence:
        """Evidence reduced to its weight. An id made from its words would let them be guessed."""
        source = self._about.get(evidence.source, evidence.source)
        return replace(
            evidence, id=f"evidence-{name}", source=source, snippet=WITHHELD, start=-1, end=-1, locator="", rationale=""
        )

    def _reveals(self, text: str, people: tuple[PersonId, ...]) -> bool:
        """Whether a text mentions a withheld person; for a relative, a given name or a year is enough."""
        if not text or text == WITHHELD:
            return False
        if not self._xrefs.isdisjoint(POINTER.findall(text)):
            return True
        return self._names_withheld_person(text) or self._withheld.reveals_relative(text, people, by_name=True)

    def _names_withheld_person(self, text: str) -> bool:
        """Whether a text mentions any withheld person; cached, since one line of a book supports many facts."""
        if text not in self._checked_texts:
            self._checked_texts[text] = self._withheld.traces.has_any(text)
        return self._checked_texts[text]

    def _is_about_withheld(self, source: Source) -> bool:
        """Whether a source is about a withheld person: its title or address says so, or it is their page."""
        if source.title == WITHHELD:
            return False
        address = unquote(source.url)
        texts = (source.title, address, source.name, source.origin_group)
        return any(map(self._names_withheld_person, texts)) or any(
            contains_words(external_id, address) for external_id in self._external_ids
        )

    def _sources(self, shown: list[Evidence]) -> dict[SourceId, Source]:
        """The sources that are still cited. One that never was may be about a withheld person, if there is any."""
        cited = {evidence.source for evidence in shown}
        # A source that was cited and is not any more had been cited for withheld people only.
        before = {evidence.source for tie in self._tree.relationships for evidence in tie.evidence}
        before |= {evidence.source for fact in self._tree.facts for evidence in fact.evidence}
        found: dict[SourceId, Source] = {}
        for source in self._tree.sources.values():
            name = self._about.get(source.id, source.id)
            was_never_cited = not self._has_withheld and source.id not in before and source.id not in self._about
            if name in cited or was_never_cited:
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


PrivacyMode = Literal["owner", "private", "public", "exclude"]
"""From showing everything to leaving withheld people out; exports are `public` unless another mode is chosen."""
PRIVACY_MODES: tuple[PrivacyMode, ...] = get_args(PrivacyMode)


@dataclass(frozen=True)
class ShownTree(Tree):
    """A tree as its `mode` shows it; for `owner` that is everything.

    Writers of files take this type, so that they cannot be given a tree for which nobody chose a mode.
    """

    mode: PrivacyMode = "public"
    year: int = 0
    withheld: tuple[PersonId, ...] = ()
    """The withheld people, by the ids they have in this tree."""

    @property
    def anonymous(self) -> frozenset[PersonId]:
        """The withheld people of whom only sex and relationships are shown, under a pseudonym."""
        return frozenset(self.withheld) if self.mode == "public" else frozenset()


def redact(tree: Tree, mode: PrivacyMode, year: int) -> ShownTree:
    """The tree as a mode shows it, as of a year.

    | mode    | shown of people who may be living                                         |
    | ------- | ------------------------------------------------------------------------- |
    | owner   | everything                                                                |
    | private | names and ties; dates by decade, places by state and country, no contacts |
    | public  | sex and ties, under a pseudonym                                           |
    | exclude | nothing                                                                   |
    """
    check_mode(mode)
    if isinstance(tree, ShownTree) and tree.mode != "owner":
        if PRIVACY_MODES.index(tree.mode) >= PRIVACY_MODES.index(mode):
            return tree
        # A redacted tree no longer shows why a person counts as dead, so the earlier verdicts stay.
        why, withheld = Message("as found before"), set(tree.withheld)
        verdicts = {
            person: LivingVerdict("living" if person in withheld else "deceased", why) for person in tree.persons
        }
        return shown_tree(WithheldPeople(tree, year, verdicts), mode)
    return shown_tree(find_withheld(tree, year), mode)


def shown_tree(withheld: WithheldPeople, mode: PrivacyMode) -> ShownTree:
    """The tree of `withheld` as a mode shows it, for these withheld people."""
    check_mode(mode)
    tree, ids = withheld.tree, [person for person in sorted(withheld.tree.persons) if withheld.withholds(person)]
    if mode == "private":
        tree = _private_tree(withheld)
    elif mode != "owner":
        tree = _AnonymousRedaction(withheld, exclude=mode == "exclude").tree()
        ids = [] if mode == "exclude" else sorted(map(withheld.pseudonym, ids))
    return ShownTree(tree.persons, tree.relationships, tree.facts, tree.sources, mode, withheld.year, tuple(ids))


def check_mode(mode: str) -> None:
    if mode not in PRIVACY_MODES:
        raise BadSettings(f"{mode!r} is not a privacy mode.", remedy=f"Choose one of: {', '.join(PRIVACY_MODES)}.")
