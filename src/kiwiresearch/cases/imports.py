"""Reads people from outside a case: imports a GEDCOM file, or reads a single page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.cases.case import find_person
from kiwiresearch.cases.record_types import PageAssertion, PagePerson, PersonPageRecord
from kiwiresearch.errors import KiwiError, NothingFound
from kiwiresearch.kin import (
    FIELD_OF_KIND,
    PARENT_FIELDS,
    Evidence,
    ExtractedFact,
    Fact,
    FieldName,
    PersonId,
    Relationship,
    Snippet,
    SourceId,
    Tree,
)
from kiwiresearch.kin.gedcom import ReadGedcom, read_gedcom
from kiwiresearch.kin.loop import CheckedRecord, check_record
from kiwiresearch.kin.sources import BookSource, Fetched
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.search import OpenBook
from kiwiresearch.zim import SCHEME, find_path, hidden_page_named_error


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported from a file, and what could not be read."""

    people: int
    new_people: int
    facts: int
    ties: int
    notes: tuple[str, ...]
    persons: tuple[PersonId, ...] = ()
    home: PersonId = ""
    """The person the research starts from; their closest relatives are searched for first."""


def import_gedcom(store: CaseStore, file: Path, person: str = "") -> Imported:
    """Import a GEDCOM file into the case, completely or not at all.

    A case without a seed gets `person`, or else the file's own home person.
    """
    read = read_gedcom(file)
    tree = read.tree
    home = find_person(person, tree) if person else read.home
    with store.step("import"):
        before = store.assertion_count()
        sources = {source.id: store.add_source(source) for source in tree.sources.values()}
        new = sum(_person(store, tree, item) for item in tree.persons)
        for fact in tree.facts:
            _fact(store, fact, sources)
        for tie in tree.relationships:
            _relationship(store, tree, tie, sources)
        _withhold_restricted(store, read)
        added = store.assertion_count() - before
        if home and (new or person):
            _note_home_person(store, home, is_chosen=bool(person))
    return Imported(len(tree.persons), new, added, len(tree.relationships), read.notes, tuple(tree.persons), home)


def _note_home_person(store: CaseStore, home: PersonId, *, is_chosen: bool) -> None:
    """Store whom research on the file starts from; a case that was started with a name keeps its seed."""
    store.set_state("imported", list(dict.fromkeys((*(store.state("imported") or ()), home))))
    if not store.seeds or (is_chosen and not store.settings.get("seeds")):
        store.set_state("seeds", [home])


def _person(store: CaseStore, tree: Tree, person_id: PersonId) -> bool:
    person = tree.persons[person_id]
    is_new = store.add_person(person_id, person.name or "?", person.sex, person.external)
    for name in person.names:
        if name.strip():
            store.add_name_form(person_id, name)
    return is_new


def _fact(store: CaseStore, fact: Fact, sources: Mapping[SourceId, SourceId]) -> None:
    for evidence in _quoted(fact.evidence):
        extracted = _extracted(fact.field, fact.value, evidence, fact.confidence)
        store.assert_fact(
            fact.person,
            replace(extracted, when=fact.when),
            sources[evidence.source],
            status=fact.status,
            reliability=evidence.reliability,
            information=evidence.information,
            directness=evidence.directness,
        )


def _relationship(store: CaseStore, tree: Tree, tie: Relationship, sources: Mapping[SourceId, SourceId]) -> None:
    if store.canonical(tie.first) == store.canonical(tie.second):
        return
    field, named = FIELD_OF_KIND[tie.kind], tree.persons[tie.second].name or "?"
    for evidence in _quoted(tie.evidence):
        extracted = _extracted(field, named, evidence, tie.confidence)
        store.assert_tie(
            tie.kind,
            tie.first,
            tie.second,
            replace(extracted, when=tie.start, until=tie.end, qualifier=tie.qualifier),
            sources[evidence.source],
            status=tie.status,
            reliability=evidence.reliability,
            information=evidence.information,
            directness=evidence.directness,
        )


def _extracted(field: FieldName, value: str, evidence: Evidence, confidence: float) -> ExtractedFact:
    snippet, why = Snippet(evidence.start, evidence.end, evidence.snippet), evidence.rationale
    return ExtractedFact(field, value, snippet, "gedcom", confidence, locator=evidence.locator, rationale=why)


def _quoted(evidence: Iterable[Evidence]) -> Iterable[Evidence]:
    return (item for item in evidence if item.snippet.strip() and item.directness != "negative")


def _withhold_restricted(store: CaseStore, read: ReadGedcom) -> None:
    """Treat people whom the file marks as confidential as living, whatever their dates are."""
    if read.restricted:
        for person in sorted(read.restricted):
            store.override_living(person, "living", "")


def page_record(books: Sequence[OpenBook], words: str) -> PersonPageRecord:
    """The person a page is about, found by its path or title, and every assertion with its quote."""
    for book, path, fetched in _pages_named(books, words):
        record = check_record(fetched)
        if record is not None:
            return _page_record(record, path, book.book.name)
    raise _no_page(books, words)


def find_page(books: Sequence[OpenBook], words: str) -> Fetched:
    """A page by its title or path, in the first book that has it, or by its address."""
    if words.startswith(SCHEME):
        return BookSource(books).fetch(words)
    found = next(_pages_named(books, words), None)
    if found is None:
        raise _no_page(books, words)
    return found[2]


def _pages_named(books: Sequence[OpenBook], words: str) -> Iterator[tuple[OpenBook, str, Fetched]]:
    source = BookSource(books)
    for book in books:
        if path := find_path(book.archive, words):
            yield book, path, source.fetch(f"{SCHEME}{book.id}/{path}")


def _no_page(books: Sequence[OpenBook], words: str) -> KiwiError:
    return hidden_page_named_error([book.archive for book in books], words) or NothingFound(
        f"No page named {words!r} was found in your books.", remedy="Search for it with 'kiwiresearch search'."
    )


def _page_record(record: CheckedRecord, path: str, book: str) -> PersonPageRecord:
    reading = record.reading
    accepted = sorted(record.accepted, key=lambda checked: -checked.confidence)

    def values(*fields: FieldName) -> tuple[str, ...]:
        return tuple(dict.fromkeys(checked.fact.value for checked in accepted if checked.fact.field in fields))

    person = PagePerson(
        name=reading.name or reading.title,
        sex=reading.sex,
        birth=next(iter(values("birth_date")), ""),
        death=next(iter(values("death_date")), ""),
        parents=values(*PARENT_FIELDS),
        spouses=values("spouse", "partner"),
        children=values("child"),
    )
    assertions = tuple(
        PageAssertion(
            field=checked.fact.field,
            value=checked.fact.value,
            quote=checked.fact.snippet.words,
            start=checked.fact.snippet.start,
            end=checked.fact.snippet.end,
            status=checked.status,
            confidence=checked.confidence,
            qualifier=checked.fact.qualifier,
            method=checked.fact.method,
            why_rejected="; ".join(map(str, checked.violations)),
        )
        for checked in record.facts
    )
    return PersonPageRecord(path, book, reading.title, person if reading.is_person else None, reading.why, assertions)
