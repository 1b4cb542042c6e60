"""Writes a tree as GEDCOM 5.5.1 or 7, with what is kept of imported files in place."""

from __future__ import annotations

from collections.abc import Mapping

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.gedcom.arrangement import with_stable_ids
from kiwiresearch.kin.gedcom.dates import Version
from kiwiresearch.kin.gedcom.event_writer import gedcom_day
from kiwiresearch.kin.gedcom.family_writer import write_tree
from kiwiresearch.kin.gedcom.kept_lines import with_ids
from kiwiresearch.kin.gedcom.kept_privacy import NOTHING_KEPT, ShownRecords
from kiwiresearch.kin.gedcom.kept_writer import put_back_records
from kiwiresearch.kin.gedcom.nodes import GedcomWriter
from kiwiresearch.kin.gedcom.tags import PROGRAM
from kiwiresearch.kin.privacy import ShownTree

HEAD_KEYS = ("version", "date", "file", "submitter", "note")
"""Details of the file: our version, the ISO day, a file name, the submitter, and a note."""
SUBMITTER = "U1"


def tree_gedcom(
    tree: ShownTree, version: Version, *, head: Mapping[str, str], kept: ShownRecords = NOTHING_KEPT
) -> str:
    """The tree as the text of a GEDCOM file with what is kept of imported ones; the same tree gives the same bytes."""
    if version not in ("5.5.1", "7.0"):
        raise BadUsage(f"GEDCOM {version!r} cannot be written.", remedy="Use '5.5.1' or '7.0'.")
    unknown = sorted(set(head) - set(HEAD_KEYS))
    if unknown:
        raise BadUsage(
            f"The header of a GEDCOM file has no field {unknown[0]!r}.", remedy=f"Use only: {', '.join(HEAD_KEYS)}."
        )
    stable, persons, sources = with_stable_ids(tree)
    records = with_ids(kept.records, lambda person: persons.get(person, ""), lambda source: sources.get(source, ""))
    written = write_tree(stable, version, records)
    out = GedcomWriter(version)
    _write_head(out, head)
    others = put_back_records(written, stable, records)
    out.records[0].below += others.head
    out.records += (*written.persons.values(), *written.families.values(), *others.families)
    out.records += (*others.sources, *others.records)
    out.line(0, "TRLR")
    return out.content()


def _write_head(out: GedcomWriter, head: Mapping[str, str]) -> None:
    is_old = out.version == "5.5.1"
    out.line(0, "HEAD")
    if not is_old:
        _write_version(out)
    out.line(1, "SOUR", PROGRAM)
    if head.get("version"):
        out.line(2, "VERS", head["version"])
    out.line(2, "NAME", PROGRAM)
    if gedcom_day(head.get("date", "")):
        out.date(1, gedcom_day(head["date"]))
    out.pointer(1, "SUBM", SUBMITTER)
    if is_old and head.get("file"):
        out.line(1, "FILE", head["file"])
    if is_old:
        _write_version(out)
        out.line(1, "CHAR", "UTF-8")
    if head.get("note"):
        out.text(1, "NOTE", head["note"])
    out.record(SUBMITTER, "SUBM")
    out.line(1, "NAME", head.get("submitter") or PROGRAM)


def _write_version(out: GedcomWriter) -> None:
    out.line(1, "GEDC")
    out.line(2, "VERS", out.version)
    if out.version == "5.5.1":
        out.line(2, "FORM", "LINEAGE-LINKED")
