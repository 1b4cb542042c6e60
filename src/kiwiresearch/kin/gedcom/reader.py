"""Reads a GEDCOM file into a tree; the file is not trusted, and its errors are noted."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.gedcom.event_writer import QUOTE_NOTE
from kiwiresearch.kin.gedcom.facts_reader import DATE_NOTE, HASH_NOTE, SCOPE_NOTE, URL_NOTE, GedcomFile
from kiwiresearch.kin.gedcom.family_reader import (
    QUALIFIER_NOTE,
    STATUS_NOTE,
    RelationshipBuilder,
    read_family,
    read_siblings,
)
from kiwiresearch.kin.gedcom.lines import GedcomLine, ImportNotes, decode, records, version_of
from kiwiresearch.kin.gedcom.person_reader import NAME_FORMS, read_person
from kiwiresearch.kin.gedcom.tags import MARRIED, NO_UNION, PARTNERS, UNION_ENDED
from kiwiresearch.kin.tree import Fact, PersonId, Tree

OUR_NOTES = (DATE_NOTE, SCOPE_NOTE, QUOTE_NOTE, URL_NOTE, HASH_NOTE, QUALIFIER_NOTE, STATUS_NOTE, NO_UNION)
"""Prefixes of notes that this program writes and reads."""
EVENT_DETAIL_TAGS = frozenset({"DATE", "PLAC", "SOUR", "NOTE"})
READ_BELOW: dict[str, frozenset[str]] = {
    **dict.fromkeys(("BIRT", "BAPM", "CHR", "DEAT", "BURI", "DIV", "ANUL"), EVENT_DETAIL_TAGS),
    "EVEN": EVENT_DETAIL_TAGS | {"TYPE"},
    "MARR": EVENT_DETAIL_TAGS | {"TYPE"},
    "NAME": frozenset({"GIVN", "SURN", "SOUR", *NAME_FORMS}),
    "OCCU": frozenset({"SOUR"}),
    "TITL": frozenset({"SOUR"}),
    "PLAC": frozenset({"SOUR"}),
    "DATE": frozenset({"PHRASE"}),
    "SOUR": frozenset({"PAGE", "DATA", "TEXT", "QUAY", "NOTE"}),
    "DATA": frozenset({"DATE", "TEXT"}),
}
SOURCE_TAGS = frozenset({"TITL", "ABBR", "NOTE", "REPO"})
PROGRAM_TAGS = frozenset({"CHAN", "CREA", "RIN", "UID", "_UID", "REFN", "EXID", "SUBM"})
NAME_PARTS = ("NPFX", "SPFX", "NSFX")
EVENT_KINDS = tuple(kind.lower() for kind in (UNION_ENDED, MARRIED, PARTNERS))


def note_unread(file: GedcomFile) -> None:
    """Note each unread line below the lines that are read; lines of the records themselves are noted elsewhere."""
    for record in file.records.values():
        if record.tag in ("INDI", "FAM"):
            for line in record.children:
                if line.tag in READ_BELOW and not _is_other_event(line):
                    _note_below(file, line, line.tag)
        elif record.tag == "SOUR":
            for line in record.children:
                if line.tag not in SOURCE_TAGS | PROGRAM_TAGS or _is_unread(file, record, line):
                    file.notes.count_unread(line, f"{record.tag}.{line.tag}")


def _is_other_event(line: GedcomLine) -> bool:
    """Whether an event has a type that is not read; it is noted as one line."""
    return line.tag == "EVEN" and line.get("TYPE").lower() not in EVENT_KINDS


def _note_below(file: GedcomFile, line: GedcomLine, path: str) -> None:
    known = READ_BELOW.get(line.tag, frozenset())
    for below in line.children:
        called = f"{path}.{below.tag}"
        is_part = below.tag in NAME_PARTS and below.value.strip() in line.value
        if (below.tag not in known and not is_part) or _is_unread(file, line, below):
            file.notes.count_unread(below, called)
        else:
            _note_below(file, below, called)


def _is_unread(file: GedcomFile, above: GedcomLine, line: GedcomLine) -> bool:
    """Whether a note is not ours, or a repository has another name than its source."""
    if line.tag == "REPO":
        found = file.records.get(line.points_to)
        return found is not None and found.get("NAME") not in (above.get("ABBR"), above.get("TITL"))
    return line.tag == "NOTE" and not line.value.startswith(OUR_NOTES)


MAX_FILE_BYTES = 64 * 1024 * 1024
GDZ_MEMBER = "gedcom.ged"
ZIP_START = b"PK\x03\x04"
KNOWN_RECORDS = frozenset({"HEAD", "TRLR", "SUBM", "SUBN", "SOUR", "REPO", "INDI", "FAM"})
KNOWN_VERSIONS = ("", "5.3", "5.4", "5.5", "5.5.1", "5.5.5", "5.6")
EXPORT_AGAIN = "Export it from your family tree program as GEDCOM 5.5.1 or 7."


@dataclass(frozen=True, slots=True)
class ReadGedcom:
    """The tree of a file, what could not be read, and the people whom the file marks as private."""

    tree: Tree
    problems: tuple[str, ...]
    """Errors of the file."""
    unread: tuple[str, ...] = ()
    """Tags that a tree cannot represent."""
    restricted: tuple[PersonId, ...] = ()
    home: PersonId = ""
    """The person whom the file calls its home person, or else the first one."""

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.problems, *self.unread)


def read_gedcom(path: Path) -> ReadGedcom:
    """Read GEDCOM 5.5, 5.5.1 or 7; a `.gdz` is unpacked within limits."""
    data = _bytes(path)
    text, said = decode(data)
    notes = ImportNotes()
    found = records(text, notes)
    if not found or found[0].tag != "HEAD" or len(found) < 2:
        raise BadUsage(
            f"{path.name!r} is not a GEDCOM file: it does not start with a HEAD record.", remedy=EXPORT_AGAIN
        )
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    file = GedcomFile(path.name, digest, text, _by_xref(found, notes), notes)
    _note_records(found, version_of(text), notes)
    tree, restricted = _tree(file)
    problems = (*([said] if said else ()), *notes.problems())
    return ReadGedcom(tree, problems, notes.unread_tags(), restricted, _home(file, found[0]))


def _home(file: GedcomFile, head: GedcomLine) -> PersonId:
    named = (file.records.get(line.points_to) for line in head.all("_ROOT", "_HOME", "_HME"))
    home = next(
        (gedcom_line for gedcom_line in (*named, *file.records.values()) if gedcom_line and gedcom_line.tag == "INDI"),
        None,
    )
    return file.id_of("person", home.xref) if home else ""


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as problem:
        why = problem.strerror or "it cannot be opened"
        raise BadUsage(f"{str(path)!r} cannot be read: {why}.", remedy="Choose a GEDCOM file.") from problem
    if data.startswith(ZIP_START):
        data = _unpacked(path)
    if len(data) > MAX_FILE_BYTES:
        raise BadUsage(
            f"{path.name!r} is too large: the limit is {MAX_FILE_BYTES // 1024 // 1024} MB.",
            remedy="Export fewer people, or exclude the pictures.",
        )
    return data


def _unpacked(path: Path) -> bytes:
    """The tree file within a GEDCOM zip; no more than the limit is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(GDZ_MEMBER) as member:
            return member.read(MAX_FILE_BYTES + 1)
    except KeyError as problem:
        raise BadUsage(f"{path.name!r} does not contain {GDZ_MEMBER!r}.", remedy=EXPORT_AGAIN) from problem
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        RuntimeError,
        NotImplementedError,
        EOFError,
        ValueError,
    ) as problem:
        raise BadUsage(
            f"{path.name!r} cannot be unpacked: it is damaged or protected by a password.", remedy=EXPORT_AGAIN
        ) from problem


def _by_xref(found: Iterable[GedcomLine], notes: ImportNotes) -> dict[str, GedcomLine]:
    by_xref: dict[str, GedcomLine] = {}
    for record in found:
        if record.xref in by_xref:
            notes.add(record.number, f"{record.xref!r} was already used; this record was skipped")
        elif record.xref:
            by_xref[record.xref] = record
        elif record.tag in ("INDI", "FAM"):
            notes.add(record.number, f"this {record.tag} has no ID; skipped")
    return by_xref


def _note_records(found: list[GedcomLine], version: str, notes: ImportNotes) -> None:
    if version not in KNOWN_VERSIONS and not version.startswith("7"):
        notes.add(1, f"GEDCOM version {version!r} is not known; read as far as possible")
    if found[-1].tag != "TRLR":
        notes.add(found[-1].number, "the file ends without TRLR, so it may be incomplete")
    for record in found:
        if record.tag not in KNOWN_RECORDS:
            notes.count_unread(record)


def _tree(file: GedcomFile) -> tuple[Tree, tuple[PersonId, ...]]:
    read = [read_person(file, record) for record in file.records.values() if record.tag == "INDI"]
    facts = {person.person.id: person.facts for person in read}
    ties = RelationshipBuilder(file)
    for record in file.records.values():
        if record.tag == "FAM":
            read_family(file, record, facts, ties)
        elif record.tag == "INDI":
            read_siblings(ties, record)
    _note_one_sided(file)
    note_unread(file)
    _note_circles(file, ties)
    all_facts: list[Fact] = [fact for person in read for fact in person.facts.found.values()]
    tree = Tree(
        {person.person.id: person.person for person in sorted(read, key=lambda person: person.person.id)},
        tuple(ties.found[index] for index in sorted(ties.found)),
        tuple(sorted(all_facts, key=lambda fact: fact.id)),
        {index: file.sources[index] for index in sorted(file.sources)},
    )
    return tree, tuple(sorted(person.person.id for person in read if person.restricted))


def _note_circles(file: GedcomFile, ties: RelationshipBuilder) -> None:
    """Note people who would be their own ancestors."""
    pairs = {(tie.first, tie.second) for tie in ties.found.values() if tie.kind == "parent_of"}
    turned = _in_or_below_circles({(child, parent) for parent, child in _in_or_below_circles(pairs)})
    people = {person_id for pair in turned for person_id in pair}
    for record in file.records.values() if people else ():
        if record.tag == "INDI" and file.id_of("person", record.xref) in people:
            file.notes.add(record.number, f"{record.xref!r} is listed as their own ancestor, which is impossible")


def _in_or_below_circles(pairs: set[tuple[PersonId, PersonId]]) -> set[tuple[PersonId, PersonId]]:
    """Remove people without parents repeatedly; the rest are in cycles or below one."""
    parents = Counter(child for _, child in pairs)
    children: dict[PersonId, list[PersonId]] = {}
    for parent, child in pairs:
        children.setdefault(parent, []).append(child)
    waiting = [item for item in children if not parents[item]]
    while waiting:
        for child in children[waiting.pop()]:
            parents[child] -= 1
            if not parents[child] and child in children:
                waiting.append(child)
    return {pair for pair in pairs if all(map(parents.__getitem__, pair))}


def _note_one_sided(file: GedcomFile) -> None:
    """Note a child or partner that only one of the two records names; the family record decides."""
    for record in file.records.values():
        if record.tag != "INDI":
            continue
        for line in record.all("FAMC", "FAMS"):
            family = file.record(line, "FAM")
            tags = ("CHIL",) if line.tag == "FAMC" else ("HUSB", "WIFE")
            if family and not any(member.points_to == record.xref for member in family.all(*tags)):
                file.notes.add(
                    line.number, f"{family.xref!r} does not list {record.xref!r}; this relationship was skipped"
                )
