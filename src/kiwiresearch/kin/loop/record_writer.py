"""Stores a checked record in the case: its person, facts and relatives, with their source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.kin.loop.other_parents import other_parents
from kiwiresearch.kin.loop.record_match import MentionedPerson, cannot_share_person, group_mentions
from kiwiresearch.kin.loop.source_records import CheckedFact, CheckedRecord
from kiwiresearch.kin.names import sex_of_title
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.kin.tree import (
    KIND_OF_FIELD,
    PARENT_FIELDS,
    RELATION_FIELDS,
    SEX_OF_PARENT,
    Directness,
    FieldName,
    InformationKind,
    PersonId,
    SourceId,
    row_id,
)
from kiwiresearch.text import fold
from kiwiresearch.zim import title_of_path

AddressLookup = Callable[[str, str], str | None]
"""The address of the page at a path of a book; None if it does not exist."""

NAME_WITHIN_CHARS = 600
"""How far into a record the name of its person is looked for."""
SURE_OF_NAME = 0.9


@dataclass(frozen=True, slots=True)
class Relative:
    """A relative that a record names."""

    person: PersonId
    field: FieldName
    name: str
    address: str
    """The address of their own page, if the record links to one."""
    relatives: tuple[Relative, ...] = ()
    """Their own relatives in the record, such as a parent's parents."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """The person of a record and the relatives it names, as stored in the case."""

    person: PersonId
    relatives: tuple[Relative, ...]


def person_id_for(address: str) -> PersonId:
    """The id of the person that a page is about."""
    return row_id("person", address)


def store_record(store: CaseStore, record: CheckedRecord, find_address: AddressLookup) -> StoredRecord:
    """Store a record's person, facts and relatives."""
    fetched, reading = record.fetched, record.reading
    summary = {
        "why": reading.why,
        "facts": len(record.facts),
        "rejected": len(record.rejected),
        "notes": list(record.notes),
    }
    source = store.add_source(fetched.source, fetched.text, summary)
    address = fetched.source.url
    person = store.person_by_external_id("record", address) or person_id_for(address)
    store.add_person(person, reading.name or reading.title, reading.sex, {"record": address})
    if fold(reading.title) != fold(reading.name):
        store.add_name_form(person, reading.title, "title")
    # An encyclopedia is secondary: it reports what others witnessed.
    information: InformationKind = "secondary" if fetched.source.form == "authored" else "undetermined"
    writer = _RecordWriter(store, record, find_address, source, information)
    writer.store_name(person)
    related = []
    for checked in record.facts:
        if checked.status == "rejected" or checked.fact.field not in RELATION_FIELDS:
            writer.store_fact(person, checked)
        else:
            related.append(checked)
    mentioned = group_mentions(related, writer.address_of)
    for unclear in mentioned.unclear:
        # Which of several relatives it names is a guess, and so no fact about any of them.
        writer.store_fact(person, replace(unclear, status="hypothesis"))
    relatives = writer.store_relatives(person, mentioned.people, (address,))
    stored = dict(zip(map(id, mentioned.people), relatives, strict=True))
    for found in other_parents(record, mentioned.people):
        for statement in found.statements:
            writer.store_other_parent(stored[id(found.parent)].person, stored[id(found.child)].person, statement)
    return StoredRecord(person, relatives)


@dataclass(frozen=True, slots=True)
class _RecordWriter:
    """Writes one record into the store."""

    store: CaseStore
    record: CheckedRecord
    find_address: AddressLookup
    source: SourceId
    information: InformationKind

    def store_name(self, person: PersonId) -> None:
        """Prefer the name at the start of a person's own record over those in other records."""
        name = self.record.reading.name or self.record.reading.title
        # Further down, the same words may be somebody else's name.
        start = self.record.fetched.text.find(name, 0, NAME_WITHIN_CHARS)
        if start < 0:
            return
        snippet = Snippet(start, start + len(name), name)
        because = "the name at the start of the record"
        fact = ExtractedFact("name", name, snippet, "lead", SURE_OF_NAME, rationale=because)
        fact_id = self.store.assert_fact(person, fact, self.source, status="verified", information=self.information)
        self.store.set_preferred(fact_id, "the name in their own record")

    def store_fact(self, person: PersonId, checked: CheckedFact) -> None:
        self.store.assert_fact(
            person,
            checked.fact,
            self.source,
            status=checked.status,
            confidence=checked.confidence,
            reliability=checked.reliability,
            information=self.information,
        )

    def store_relatives(
        self, person: PersonId, people: Sequence[MentionedPerson], path: tuple[str, ...]
    ) -> tuple[Relative, ...]:
        """The relatives in the record: the people of the pages it links to, or people known only from this record.

        The latter's ids are made from `path`, the record's address and the names on the way; several of one name, such
        as a child named after one who died, are counted in the order of the record.
        """
        paths = [(*path, relative.field, fold(relative.name)) for relative in people]
        alike: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for at in sorted(range(len(people)), key=lambda at: people[at].start):
            # A page has one person, so links to it need no number.
            if not people[at].address:
                alike[paths[at]].append(at)
        for own, places in alike.items():
            for number, at in enumerate(places[1:], 2):
                paths[at] = (*own, str(number))
        return tuple(self._store_relative(person, *pair) for pair in zip(people, paths, strict=True))

    def _store_relative(self, person: PersonId, mentioned_person: MentionedPerson, path: tuple[str, ...]) -> Relative:
        relative = self._person(mentioned_person, path)
        for mention in mentioned_person.mentions:
            if mention.checked.fact.value != mentioned_person.name:
                self.store.add_name_form(relative, mention.checked.fact.value)
            self._store_tie(person, relative, mention.checked)
        about = [
            checked
            for mention in mentioned_person.mentions
            for checked in mention.checked.relative_facts
            if checked.status != "rejected"
        ]
        for checked in about:
            if checked.fact.field not in RELATION_FIELDS:
                self.store_fact(relative, checked)
        above = group_mentions([checked for checked in about if checked.fact.field in RELATION_FIELDS], self.address_of)
        relatives = self.store_relatives(relative, above.people, path)
        return Relative(relative, mentioned_person.field, mentioned_person.name, mentioned_person.address, relatives)

    def _person(self, person: MentionedPerson, path: tuple[str, ...]) -> PersonId:
        known = self.store.person_by_external_id("record", person.address) if person.address else None
        if known is not None:
            return known
        found = person_id_for(person.address) if person.address else row_id("person", *path)
        sex = next(
            (SEX_OF_PARENT[field] for field in person.fields if field in SEX_OF_PARENT), sex_of_title(person.name)
        )
        self.store.add_person(found, person.name, sex, {"record": person.address} if person.address else {})
        return found

    def store_other_parent(self, parent: PersonId, child: PersonId, checked: CheckedFact) -> None:
        self._store_tie(parent, child, checked, "indirect")

    def _store_tie(
        self, person: PersonId, relative: PersonId, checked: CheckedFact, directness: Directness = "direct"
    ) -> None:
        field = checked.fact.field
        first, second = (relative, person) if field in PARENT_FIELDS else (person, relative)
        if self.store.canonical(first) == self.store.canonical(second):
            return
        self.store.assert_tie(
            KIND_OF_FIELD[field],
            first,
            second,
            checked.fact,
            self.source,
            status=checked.status,
            confidence=checked.confidence,
            reliability=checked.reliability,
            information=self.information,
            directness=directness,
        )

    def address_of(self, checked: CheckedFact) -> str:
        """The address that a relation links to; a link to the page itself, or to another's, is ignored."""
        page, own, target = self.record.fetched.page, self.record.fetched.source.url, checked.fact.target
        if not target or cannot_share_person(checked.fact.value, title_of_path(target)):
            return ""
        if page:
            found = self.find_address(page.ref.book, target) or ""
        else:
            found = _sibling_address(target, own, self.record.reading.ref.path)
        return "" if found == own else found


def _sibling_address(target: str, own: str, name: str) -> str:
    """The address of another record of the same source, by its name: 'Q103' for '…/wiki/Q100'."""
    if "://" in target:
        return target
    return f"{own.removesuffix(name)}{target}" if name and own.endswith(f"/{name}") else ""
