"""Reads a GEDCOM file into a tree; the file is not trusted, and its errors are noted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.gedcom.facts_reader import GedcomFile, recorded_source
from kiwiresearch.kin.gedcom.family_reader import RelationshipBuilder, read_family, read_siblings
from kiwiresearch.kin.gedcom.kept_lines import KeptRecord, TagCount, media_names
from kiwiresearch.kin.gedcom.kept_reader import KeptReader
from kiwiresearch.kin.gedcom.lines import GedcomLine, ImportNotes, decode, records, version_of
from kiwiresearch.kin.gedcom.package import (
    EXPORT_AGAIN,
    MAX_FILE_BYTES,
    ZIP_START,
    MediaFile,
    unpack_gedcom,
    unpack_media,
)
from kiwiresearch.kin.gedcom.person_reader import read_person
from kiwiresearch.kin.tree import Fact, Person, PersonId, Sex, SourceId, Tree

SEX_OF_ROLE: dict[str, Sex] = {"HUSB": "male", "WIFE": "female"}
KNOWN_VERSIONS = ("", "5.3", "5.4", "5.5", "5.5.1", "5.5.5", "5.6")


@dataclass(frozen=True, slots=True)
class ReadGedcom:
    """The tree of a file, what is kept besides it and what is not, and the people whom the file marks as private."""

    tree: Tree
    problems: tuple[str, ...]
    """Errors of the file."""
    kept: tuple[KeptRecord, ...] = ()
    kept_tags: tuple[TagCount, ...] = ()
    """Lines that a tree cannot represent, which are kept and written back."""
    dropped_tags: tuple[TagCount, ...] = ()
    """Lines that are neither read nor kept."""
    restricted: tuple[PersonId, ...] = ()
    home: PersonId = ""
    """The person whom the file calls its home person, or else the first one."""
    file_source: SourceId = ""
    """The file itself, as a source of its tree."""
    media: tuple[MediaFile, ...] = ()
    """The pictures and documents of a package."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The errors of the file, and what is left out of it."""
        left = (
            f"{tag.path} was left out: {tag.count} {'line' if tag.count == 1 else 'lines'}, "
            f"first in line {tag.first_line}."
            for tag in self.dropped_tags
        )
        return (*self.problems, *left)


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
    _note_problems(found, version_of(text), notes)
    tree, restricted = _tree(file)
    kept = KeptReader(file, "7.0" if version_of(text).startswith("7") else "5.5.1")
    kept.read(tree, found)
    media, faults = _media(path, kept)
    return ReadGedcom(
        replace(tree, sources={index: file.sources[index] for index in sorted(file.sources)}),
        (*([said] if said else ()), *notes.problems(), *faults),
        tuple(kept.kept),
        kept.kept_tags.rows(),
        kept.dropped_tags.rows(),
        restricted,
        _home(file, found[0]),
        file.own_source(),
        media,
    )


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
        data = unpack_gedcom(path)
    if len(data) > MAX_FILE_BYTES:
        raise BadUsage(
            f"{path.name!r} is too large: the limit is {MAX_FILE_BYTES // 1024 // 1024} MB.",
            remedy="Export fewer people, or exclude the pictures.",
        )
    return data


def _media(path: Path, kept: KeptReader) -> tuple[tuple[MediaFile, ...], tuple[str, ...]]:
    """The pictures and documents of a package that its records refer to."""
    with path.open("rb") as stream:
        if stream.read(len(ZIP_START)) != ZIP_START:
            return (), ()
    return unpack_media(path, media_names(line for record in kept.kept for line in record.lines))


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


def _note_problems(found: list[GedcomLine], version: str, notes: ImportNotes) -> None:
    if version not in KNOWN_VERSIONS and not version.startswith("7"):
        notes.add(1, f"GEDCOM version {version!r} is not known; read as far as possible")
    if found[-1].tag != "TRLR":
        notes.add(found[-1].number, "the file ends without TRLR, so it may be incomplete")


def _tree(file: GedcomFile) -> tuple[Tree, tuple[PersonId, ...]]:
    file.own_source()
    for record in file.records.values():
        if record.tag == "SOUR":
            recorded_source(file, record)
    read = [read_person(file, record) for record in file.records.values() if record.tag == "INDI"]
    facts = {person.person.id: person.facts for person in read}
    ties = RelationshipBuilder(file)
    for record in file.records.values():
        if record.tag == "FAM":
            read_family(file, record, facts, ties)
        elif record.tag == "INDI":
            read_siblings(ties, record)
    _note_one_sided(file)
    _note_circles(file, ties)
    all_facts: list[Fact] = [fact for person in read for fact in person.facts.found.values()]
    roles = {} if version_of(file.text).startswith("7") else _sexes_by_role(file)
    tree = Tree(
        {
            person.person.id: _with_sex(person.person, roles)
            for person in sorted(read, key=lambda person: person.person.id)
        },
        tuple(ties.found[index] for index in sorted(ties.found)),
        tuple(sorted(all_facts, key=lambda fact: fact.id)),
        {index: file.sources[index] for index in sorted(file.sources)},
    )
    return tree, tuple(sorted(person.person.id for person in read if person.restricted))


def _sexes_by_role(file: GedcomFile) -> dict[PersonId, Sex]:
    """The sex of those who are only husbands or only wives, which version 7 does not say any more.

    Not where the file has a line for the sex: "U" says that it is unknown.
    """
    stated = {file.id_of("person", record.xref) for record in file.records.values() if record.first("SEX")}
    roles: dict[PersonId, set[Sex]] = {}
    for record in file.records.values():
        for line in record.all(*SEX_OF_ROLE) if record.tag == "FAM" else ():
            roles.setdefault(file.id_of("person", line.points_to), set()).add(SEX_OF_ROLE[line.tag])
    return {person: sexes.pop() for person, sexes in roles.items() if len(sexes) == 1 and person not in stated}


def _with_sex(person: Person, roles: Mapping[PersonId, Sex]) -> Person:
    return person if person.sex or person.id not in roles else replace(person, sex=roles[person.id])


def _note_circles(file: GedcomFile, ties: RelationshipBuilder) -> None:
    """Note people who would be their own ancestors."""
    pairs = {(tie.first, tie.second) for tie in ties.found.values() if tie.kind == "parent_of"}
    # Once more upside down, so that those below a circle are removed too.
    turned = _in_or_below_circles({(child, parent) for parent, child in _in_or_below_circles(pairs)})
    people = {person_id for pair in turned for person_id in pair}
    for record in file.records.values() if people else ():
        if record.tag == "INDI" and file.id_of("person", record.xref) in people:
            file.notes.add(record.number, f"{record.xref!r} is listed as their own ancestor, which is impossible")


def _in_or_below_circles(pairs: set[tuple[PersonId, PersonId]]) -> set[tuple[PersonId, PersonId]]:
    """Remove people without parents repeatedly; the rest are in cycles or below one."""
    # Kahn's algorithm for sorting a graph: what it cannot sort is in a circle, or depends on one.
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
