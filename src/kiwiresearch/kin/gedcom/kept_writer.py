"""Puts what is kept of imported files back in place among the records that are written from a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from kiwiresearch.kin.gedcom.arrangement import CoupleKey, couple_key
from kiwiresearch.kin.gedcom.conversion import Converter
from kiwiresearch.kin.gedcom.event_writer import write_source
from kiwiresearch.kin.gedcom.facts_reader import FILE_SCHEME
from kiwiresearch.kin.gedcom.family_writer import WrittenTree
from kiwiresearch.kin.gedcom.kept_lines import SEPARATOR, KeptRecord, put_back
from kiwiresearch.kin.gedcom.nodes import GedcomWriter, Node
from kiwiresearch.kin.gedcom.tags import NAME_FORMS, plain_name
from kiwiresearch.kin.privacy import ShownTree
from kiwiresearch.kin.tree import PersonId, SourceId

LETTERS = {"OBJE": "O", "NOTE": "N", "SNOTE": "N", "REPO": "RK", "SUBM": "UK"}
"""How the xrefs of records begin; those of the tree itself have other letters."""


@dataclass(slots=True)
class OtherRecords:
    """The records of a file besides its people and the families of its tree."""

    head: list[Node] = field(default_factory=list)
    families: list[Node] = field(default_factory=list)
    sources: list[Node] = field(default_factory=list)
    records: list[Node] = field(default_factory=list)


def put_back_records(written: WrittenTree, tree: ShownTree, kept: Iterable[KeptRecord]) -> OtherRecords:
    """Add kept lines to the people and families that are written, and return all other records."""
    return _KeptWriter(written, tree, tuple(kept)).write()


class _KeptWriter:
    def __init__(self, written: WrittenTree, tree: ShownTree, kept: tuple[KeptRecord, ...]) -> None:
        self._written, self._tree, self._kept = written, tree, kept
        self._convert = Converter(written.version, self._xref, self._known_xref, self._new_record)
        self._records = {record.reference: record for record in kept if record.kind == "record"}
        self._xrefs: dict[str, str] = {f"person{SEPARATOR}{one}": node.xref for one, node in written.persons.items()}
        self._waiting: list[tuple[str, Node]] = []
        """The records still to be written, with their xrefs."""
        self._made: list[Node] = []
        self._counts: dict[str, int] = {}
        self._own_families = list(self._place_families())
        """Families that only the files have, such as brothers and sisters without parents."""

    def write(self) -> OtherRecords:
        found = OtherRecords()
        by_person: dict[PersonId, list[KeptRecord]] = defaultdict(list)
        by_couple: dict[CoupleKey, list[KeptRecord]] = defaultdict(list)
        for record in self._kept:
            if record.kind == "person":
                by_person[record.id].append(record)
            elif record.kind == "family":
                by_couple[couple_key(record.people, record.id)].append(record)
            elif record.kind == "head":
                new = [node for line in record.lines for node in self._convert.lines(line, "HEAD")]
                found.head += [node for node in new if node.tag not in {other.tag for other in found.head}]
        # In the order of the file, so that xrefs do not depend on that of the imports.
        for person, node in self._written.persons.items():
            for record in by_person[person]:
                self._put(record, node)
            _drop_repeated_names(node)
        for key, node in self._written.families.items():
            for record in by_couple[key]:
                self._put(record, node)
        for record in self._own_families:
            node = Node("FAM", xref=self._xrefs[record.reference])
            self._put(record, node)
            found.families.append(node)
        found.sources, found.records = self._rest()
        return found

    def _place_families(self) -> Iterator[KeptRecord]:
        """Give each kept family its xref: that of its couple, or one of its own if the tree does not have it."""
        count = len(self._written.families)
        for record in self._kept:
            if record.kind != "family":
                continue
            couple = self._couple(record)
            if couple is None and not (record.lines and self._is_shown(record)):
                continue
            if couple is None:
                count += 1
                yield record
            self._xrefs[record.reference] = couple.xref if couple else f"F{count}"

    def _couple(self, record: KeptRecord) -> Node | None:
        return self._written.families.get(couple_key(record.people, record.id))

    def _is_shown(self, record: KeptRecord) -> bool:
        return all(person in self._tree.persons for person in record.people)

    def _put(self, record: KeptRecord, into: Node) -> None:
        put_back(record.lines, into, self._convert)

    def _known_xref(self, reference: str) -> str:
        kind, _, record_id = reference.partition(SEPARATOR)
        return self._written.cited.xrefs.get(record_id, "") if kind == "source" else self._xrefs.get(reference, "")

    def _xref(self, reference: str) -> str:
        """The xref of what a kept pointer refers to; empty if that is not written."""
        kind, _, record_id = reference.partition(SEPARATOR)
        if kind == "source":
            return self._written.cited.xref(record_id) if record_id in self._tree.sources else ""
        if reference in self._records and reference not in self._xrefs:
            self._xrefs[reference] = self._next_xref(self._records[reference].lines[0].tag)
            self._waiting.append((self._xrefs[reference], self._records[reference].lines[0]))
        return self._xrefs.get(reference, "")

    def _next_xref(self, tag: str) -> str:
        letter = LETTERS.get(tag, "X")
        self._counts[letter] = self._counts.get(letter, 0) + 1
        return f"{letter}{self._counts[letter]}"

    def _new_record(self, node: Node) -> str:
        """Write a record for what a file had in the middle of another one."""
        known = next((made for made in self._made if (made.tag, made.below) == (node.tag, node.below)), None)
        if known is None:
            known = replace(node, xref=self._next_xref(node.tag))
            self._made.append(known)
            self._waiting.append((known.xref, node))
        return known.xref

    def _rest(self) -> tuple[list[Node], list[Node]]:
        """All sources and records that something refers to, or all there are for the owner."""
        if self._tree.mode == "owner":
            for source_id, source in sorted(self._tree.sources.items()):
                if source.url.startswith(FILE_SCHEME) and "#" in source.url:
                    self._written.cited.xref(source_id)
            for reference in self._records:
                self._xref(reference)
        sources: dict[SourceId, Node] = {}
        records: list[Node] = []
        kept = [record for record in self._kept if record.kind == "source"]
        # Records refer to sources and sources to records, so until nothing new is referred to.
        while self._waiting or len(sources) < len(self._written.cited.xrefs):
            for source_id in [item for item in self._written.cited.xrefs if item not in sources]:
                sources[source_id] = write_source(self._written.cited, source_id, self._written.version)
                for record in kept:
                    if record.id == source_id:
                        self._put(record, sources[source_id])
            waiting, self._waiting = self._waiting, []
            for xref, lines in waiting:
                node = self._convert.record(lines)
                node.xref = xref
                records.append(node)
        out = GedcomWriter(self._written.version)
        for name, xref in self._written.cited.repositories.items():
            out.record(xref, "REPO")
            out.line(1, "NAME", name)
        return list(sources.values()), [*out.records, *records]


def _drop_repeated_names(person: Node) -> None:
    """Leave out a name that stands below another one as its nickname or married name, and cites nothing else."""
    names = list(person.all("NAME"))
    for name in names:
        for form in name.all(*NAME_FORMS):
            for other in names:
                is_same = other is not name and plain_name(other.value) == plain_name(form.value)
                if is_same and all(line in name.below for line in other.below):
                    person.below = [line for line in person.below if line is not other]
