"""Reads what a tree cannot represent of a GEDCOM file: the lines to keep, and those that are left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kiwiresearch.kin.gedcom.arrangement import CoupleKey, couple_key
from kiwiresearch.kin.gedcom.dates import Version
from kiwiresearch.kin.gedcom.event_writer import write_source
from kiwiresearch.kin.gedcom.facts_reader import GedcomFile, named_source
from kiwiresearch.kin.gedcom.family_writer import WrittenTree, write_tree
from kiwiresearch.kin.gedcom.kept_lines import KeptKind, KeptRecord, TagCounts, is_reference, reference, remainder
from kiwiresearch.kin.gedcom.lines import VOID, GedcomLine
from kiwiresearch.kin.gedcom.nodes import Node, NodeKind
from kiwiresearch.kin.gedcom.tags import PROGRAM
from kiwiresearch.kin.privacy import ShownTree
from kiwiresearch.kin.tree import PersonId, Tree

FILE_TAGS = frozenset({"SOUR", "DEST", "DATE", "SUBM", "SUBN", "FILE", "GEDC", "CHAR", "_ROOT", "_HOME", "_HME"})
"""Lines of a header that are about the file and the program that wrote it."""
LINKS: dict[str, KeptKind] = {
    "FAMC": "family",
    "FAMS": "family",
    "HUSB": "person",
    "WIFE": "person",
    "CHIL": "person",
}
"""Lines that link people and families, and the kind of record that each must point to."""
REFERRED: dict[str, KeptKind] = {"INDI": "person", "FAM": "family", "SOUR": "source"}


@dataclass(slots=True)
class KeptReader:
    """Subtracts what the writer writes of a tree from the file that the tree was read from."""

    file: GedcomFile
    version: Version
    kept: list[KeptRecord] = field(default_factory=list)
    kept_tags: TagCounts = field(default_factory=TagCounts)
    dropped_tags: TagCounts = field(default_factory=TagCounts)
    _families: dict[str, KeptRecord] = field(default_factory=dict)
    _same_couple: dict[str, str] = field(default_factory=dict)
    """The first family of the couple that a family is of, if the tree has the couple."""
    _written: dict[str, Node] = field(default_factory=dict)
    """What is written of each person, couple and source, by its reference."""

    def read(self, tree: Tree, records: list[GedcomLine]) -> None:
        """Keep what is not written of each record of the file."""
        for record in self.file.records.values():
            if record.tag == "FAM":
                self._families[record.xref] = self._family(record)
        shown = ShownTree(tree.persons, tree.relationships, tree.facts, tree.sources, mode="owner")
        self._take_written(write_tree(shown, self.version, self._families.values()))
        is_ours = records[0].get("SOUR") == PROGRAM
        submitter = next((line.points_to for line in records[0].all("SUBM")), "")
        for record in records:
            if record.tag == "HEAD":
                # The note in the header of our own files is written again, and so is our submitter below.
                tags = FILE_TAGS | {"NOTE"} if is_ours else FILE_TAGS
                self._keep("head", "", [line for line in record.children if line.tag not in tags], record)
            elif self.file.records.get(record.xref) is not record:
                if record.tag != "TRLR":
                    self.dropped_tags.add_all(self._node(record), "")
            elif not (is_ours and record.xref == submitter):
                self._record(record)

    def _take_written(self, written: WrittenTree) -> None:
        by_xref = {node.xref: reference("person", person) for person, node in written.persons.items()}
        by_xref |= {xref: reference("source", source) for source, xref in written.cited.xrefs.items()}
        self._written = {reference("person", person): node for person, node in written.persons.items()}
        for source in self.file.sources:
            self._written[reference("source", source)] = write_source(written.cited, source, self.version)
        first: dict[CoupleKey, str] = {}
        for xref, family in self._families.items():
            key = couple_key(family.people, family.id)
            node = written.families.get(key)
            if node is not None:
                # Several records of the same couple are written as one.
                self._same_couple[xref] = first.setdefault(key, family.reference)
                by_xref[node.xref] = first[key]
                self._written[first[key]] = node
        for node in self._written.values():
            _point_by_reference(node.below, by_xref)

    def _family_reference(self, xref: str) -> str:
        return self._same_couple.get(xref) or self._families[xref].reference

    def _family(self, record: GedcomLine) -> KeptRecord:
        def people(*tags: str) -> tuple[PersonId, ...]:
            found = (self.file.records.get(line.points_to) for line in record.all(*tags))
            xrefs = (person.xref for person in found if person and person.tag == "INDI")
            return tuple(dict.fromkeys(self.file.id_of("person", xref) for xref in xrefs))

        return KeptRecord("family", self.file.id_of("family", record.xref), (), people("HUSB", "WIFE"), people("CHIL"))

    def _record(self, record: GedcomLine) -> None:
        kind = REFERRED.get(record.tag, "record")
        record_id = self.file.id_of(kind, record.xref)
        if kind == "record":
            node = self._node(record)
            self.kept_tags.add_all(node, "")
            self.kept.append(KeptRecord("record", record_id, (node,)))
            return
        family = self._families.get(record.xref) if kind == "family" else None
        target = self._family_reference(record.xref) if family else reference(kind, record_id)
        written = self._written.get(target)
        self._keep(kind, record_id, record.children, record, written, family)

    def _keep(
        self,
        kind: KeptKind,
        record_id: str,
        lines: Iterable[GedcomLine],
        record: GedcomLine,
        written: Node | None = None,
        family: KeptRecord | None = None,
    ) -> None:
        """Keep the lines of a record that are not written, but no link that the tree does not have."""
        rest = remainder(map(self._node, lines), written.below if written else ())
        found = []
        for node in rest:
            if node.tag in LINKS and not node.is_anchor and not self._is_kept_link(node, family, written):
                self.dropped_tags.add_all(node, record.tag)
            else:
                found.append(node)
                self.kept_tags.add_all(node, record.tag)
        people = family.people if family else (record_id,) if kind == "person" else ()
        if found or family:
            children = family.children if family else ()
            self.kept.append(KeptRecord(kind, record_id, tuple(found), people, children))

    def _is_kept_link(self, link: Node, family: KeptRecord | None, written: Node | None) -> bool:
        """Whether a link points to a person or family, and its family is not written from the tree, with all links."""
        if link.kind != "pointer" or (link.value != VOID and not is_reference(LINKS[link.tag], link.value)):
            return False
        return written is None if family is not None else link.value not in self._written

    def _node(self, line: GedcomLine) -> Node:
        """A line with those below it, with references in place of pointers."""
        below = [self._node(each) for each in line.children]
        if line.points_to:
            target = self.file.records.get(line.points_to)
            if target is None:
                return Node(line.tag, line.value, below=below, number=line.number)
            return Node(line.tag, self._reference(target), "pointer", below=below, number=line.number)
        if line.value.strip() == f"@{VOID}@":
            return Node(line.tag, VOID, "pointer", below=below, number=line.number)
        if line.tag == "SOUR" and line.value.strip():
            return self._citation(line, below)
        kind: NodeKind = "date" if line.tag in ("DATE", "SDATE") else "text"
        return Node(line.tag, line.value, kind, below=below, number=line.number)

    def _citation(self, line: GedcomLine, below: list[Node]) -> Node:
        """A citation that describes its source itself, as one that points to a record of the source."""
        texts = [node for node in below if node.tag == "TEXT"]
        data = [Node("DATA", below=texts, number=line.number)] if texts else []
        rest = [node for node in below if node.tag != "TEXT"]
        source = named_source(self.file, line)
        if " ".join(line.value.split()) != self.file.sources[source].name:
            rest.append(Node("NOTE", line.value, number=line.number))
        return Node("SOUR", reference("source", source), "pointer", below=[*data, *rest], number=line.number)

    def _reference(self, target: GedcomLine) -> str:
        kind = REFERRED.get(target.tag, "record")
        if kind == "family":
            return self._family_reference(target.xref)
        return reference(kind, self.file.id_of(kind, target.xref))


def _point_by_reference(lines: Iterable[Node], by_xref: dict[str, str]) -> None:
    for line in lines:
        if line.kind == "pointer":
            line.value = by_xref.get(line.value, "")
        _point_by_reference(line.below, by_xref)
