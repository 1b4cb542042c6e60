"""Reads people from outside a case: imports a GEDCOM file, or reads a single page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.cases.case import find_person
from kiwiresearch.cases.import_log import ImportRecord, import_entries, media_digest, note_import
from kiwiresearch.cases.import_matching import MatchedPeople, match_people
from kiwiresearch.cases.json_records import PageAssertion, PagePerson, PersonPageRecord
from kiwiresearch.codec import plain
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
from kiwiresearch.kin.gedcom import (
    FILE_SCHEME,
    MediaFile,
    ReadGedcom,
    kept_json,
    read_gedcom,
    with_ids,
)
from kiwiresearch.kin.loop import CheckedRecord, check_record
from kiwiresearch.kin.sources import BookSource, FetchedRecord
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.search import OpenBook
from kiwiresearch.zim import SCHEME, find_path, hidden_page_named_error

CORRECTED = "A later version of the family file no longer says so."
RENAMED = "The name in the latest version of the family file."


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What was imported from a file, and what could not be read."""

    people: int
    new_people: int
    facts: int
    ties: int
    notes: tuple[str, ...]
    persons: tuple[PersonId, ...] = ()
    home: PersonId = ""
    """The person the research starts from; their closest relatives are searched for first."""
    matched: int = 0
    """People whom the case has from an earlier version of the file."""
    corrected: int = 0
    """Facts and relationships that this version of the file no longer has."""
    kept: int = 0
    """Lines that are kept for exports."""
    media: tuple[MediaFile, ...] = ()
    """The pictures and documents of a package."""


def import_gedcom(store: CaseStore, file: Path, person: str = "") -> ImportResult:
    """Import a GEDCOM file into the case, completely or not at all.

    People whom the case has from an earlier version of the file are matched; all others are new. A case without a
    seed gets `person`, or else the file's own home person.
    """
    read = read_gedcom(file)
    chosen = find_person(person, read.tree) if person else read.home
    with store.step("import"):
        # The same bytes again: their people have the same ids, so there is nothing to match.
        is_again = any(entry.source == read.file_source for entry in import_entries(store))
        matched = MatchedPeople() if is_again else match_people(store, read.tree)
        read = _with_known_people(read, matched)
        tree, home = read.tree, matched.people.get(chosen, chosen)
        present = store.tree()
        before = store.assertion_count()
        sources = _add_sources(store, read)
        new = sum(_store_person(store, tree, item) for item in tree.persons)
        for fact in tree.facts:
            _store_fact(store, fact, sources)
        for tie in tree.relationships:
            _store_relationship(store, tree, tie, sources)
        _withhold_restricted(store, read)
        added = store.assertion_count() - before
        corrected = _correct(store, present, tree, matched) if matched.file else 0
        if not is_again:
            note_import(store, read.file_source, read.tree.persons, present.persons)
        # Importing a version with nobody new must not change whom the research starts from.
        if home and (new or person):
            _note_home_person(store, home, is_chosen=bool(person))
    return ImportResult(
        len(tree.persons),
        new,
        added,
        len(tree.relationships),
        read.notes,
        tuple(tree.persons),
        home,
        len(matched.people),
        corrected,
        sum(tag.count for tag in read.kept_tags),
        read.media,
    )


def _with_known_people(read: ReadGedcom, matched: MatchedPeople) -> ReadGedcom:
    """The file with the ids that the case has for the people of an earlier version of it."""
    known = matched.people
    if not known:
        return read

    def current_id(person: PersonId) -> PersonId:
        return known.get(person, person)

    persons = {current_id(item): replace(person, id=current_id(item)) for item, person in read.tree.persons.items()}
    ties = tuple(
        replace(tie, first=current_id(tie.first), second=current_id(tie.second)) for tie in read.tree.relationships
    )
    facts = tuple(replace(fact, person=current_id(fact.person)) for fact in read.tree.facts)
    group = f"{FILE_SCHEME}{matched.file}"
    # Versions of the same file are one origin: that both say the same proves nothing.
    sources = {
        item: replace(source, origin_group=group) if item == read.file_source and matched.file else source
        for item, source in read.tree.sources.items()
    }
    return replace(
        read,
        tree=Tree(persons, ties, facts, sources),
        kept=with_ids(read.kept, current_id),
        restricted=tuple(map(current_id, read.restricted)),
    )


def _add_sources(store: CaseStore, read: ReadGedcom) -> dict[SourceId, SourceId]:
    """Store the sources; what is kept of the file, and the report on it, are stored with the file itself."""
    sources = {
        source.id: store.add_source(source) for source in read.tree.sources.values() if source.id != read.file_source
    }
    kept = with_ids(read.kept, source=lambda item: sources.get(item, item))
    report = ImportRecord(
        read.tree.sources[read.file_source].name,
        len(read.tree.persons),
        read.kept_tags,
        read.dropped_tags,
        read.problems,
    )
    media = {file.name: media_digest(file) for file in read.media}
    file = store.add_source(
        read.tree.sources[read.file_source],
        raw_extracted={"kept": kept_json(kept), "media": media},
        metadata={"report": plain(report)},
    )
    return {**sources, read.file_source: file}


def _correct(store: CaseStore, before: Tree, read: Tree, matched: MatchedPeople) -> int:
    """Supersede what an earlier version of the file said and this one does not; returns how much that is."""
    known = frozenset(matched.people.values())
    start = f"{FILE_SCHEME}{matched.file}"
    earlier = {
        source.id for source in before.sources.values() if source.url == start or source.url.startswith(f"{start}#")
    }

    def is_from_file(evidence: Iterable[Evidence]) -> bool:
        sources = {item.source for item in evidence}
        # What another source says too is not taken back.
        return bool(sources) and sources <= earlier

    said = {(fact.person, fact.field, fact.value) for fact in read.facts}
    ties = {(tie.kind, tie.first, tie.second, tie.qualifier) for tie in read.relationships}
    gone = [
        fact.id
        for fact in before.facts
        if fact.person in known and (fact.person, fact.field, fact.value) not in said and is_from_file(fact.evidence)
    ]
    gone += [
        tie.id
        for tie in before.relationships
        if {tie.first, tie.second} <= known
        and (tie.kind, tie.first, tie.second, tie.qualifier) not in ties
        and is_from_file(tie.evidence)
    ]
    for identity in gone:
        store.set_status(identity, "superseded", CORRECTED)
    _rename(store, before, read, known)
    return len(gone)


def _rename(store: CaseStore, before: Tree, read: Tree, known: frozenset[PersonId]) -> None:
    """Show people under the name that this version of the file gives them."""
    names = {(fact.person, fact.value): fact.id for fact in store.tree().facts if fact.field == "name"}
    for person in sorted(known):
        name = read.persons[person].name
        if name and name != before.persons[person].name and (person, name) in names:
            store.set_preferred(names[person, name], RENAMED)


def _note_home_person(store: CaseStore, home: PersonId, *, is_chosen: bool) -> None:
    """Store whom research on the file starts from; a case that was started with a name keeps its seed."""
    store.set_state("imported", list(dict.fromkeys((*(store.state("imported") or ()), home))))
    if not store.seeds or (is_chosen and not store.settings.get("seeds")):
        store.set_state("seeds", [home])


def _store_person(store: CaseStore, tree: Tree, person_id: PersonId) -> bool:
    person = tree.persons[person_id]
    is_new = store.add_person(person_id, person.name or "?", person.sex, person.external)
    for name in person.names:
        if name.strip():
            store.add_name_form(person_id, name)
    return is_new


def _store_fact(store: CaseStore, fact: Fact, sources: Mapping[SourceId, SourceId]) -> None:
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


def _store_relationship(store: CaseStore, tree: Tree, tie: Relationship, sources: Mapping[SourceId, SourceId]) -> None:
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


def read_named_page(books: Sequence[OpenBook], words: str) -> FetchedRecord:
    """A page by its title or path, in the first book that has it, or by its address."""
    if words.startswith(SCHEME):
        return BookSource(books).fetch(words)
    found = next(_pages_named(books, words), None)
    if found is None:
        raise _no_page(books, words)
    return found[2]


def _pages_named(books: Sequence[OpenBook], words: str) -> Iterator[tuple[OpenBook, str, FetchedRecord]]:
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
