"""What stands below the lines of a file that are read, and is left out: it is told by its path, such as BIRT.NOTE."""

from __future__ import annotations

from kiwiresearch.kin.gedcom.citations import HASH, SPEAKS_FOR, URL, GedcomFile
from kiwiresearch.kin.gedcom.cited import QUOTE
from kiwiresearch.kin.gedcom.events import ENDED, MARRIED, NO_UNION, PARTNERS
from kiwiresearch.kin.gedcom.facts import AS_READ
from kiwiresearch.kin.gedcom.families import QUALIFIER, STATUS
from kiwiresearch.kin.gedcom.lines import Line
from kiwiresearch.kin.gedcom.persons import NAME_FORMS

OUR_NOTES = (AS_READ, SPEAKS_FOR, QUOTE, URL, HASH, QUALIFIER, STATUS, NO_UNION)
"""How notes begin that this program writes, and reads."""
EVENT = frozenset({"DATE", "PLAC", "SOUR", "NOTE"})
READ_BELOW: dict[str, frozenset[str]] = {
    **dict.fromkeys(("BIRT", "BAPM", "CHR", "DEAT", "BURI", "DIV", "ANUL"), EVENT),
    "EVEN": EVENT | {"TYPE"},
    "MARR": EVENT | {"TYPE"},
    "NAME": frozenset({"GIVN", "SURN", "SOUR", *NAME_FORMS}),
    "OCCU": frozenset({"SOUR"}),
    "TITL": frozenset({"SOUR"}),
    "PLAC": frozenset({"SOUR"}),
    "DATE": frozenset({"PHRASE"}),
    "SOUR": frozenset({"PAGE", "DATA", "TEXT", "QUAY", "NOTE"}),
    "DATA": frozenset({"DATE", "TEXT"}),
}
SOURCE_RECORD = frozenset({"TITL", "ABBR", "NOTE", "REPO"})
OF_THE_PROGRAM = frozenset({"CHAN", "CREA", "RIN", "UID", "_UID", "REFN", "EXID", "SUBM"})
NAME_PARTS = ("NPFX", "SPFX", "NSFX")
EVENT_KINDS = tuple(kind.lower() for kind in (ENDED, MARRIED, PARTNERS))


def note_unread(file: GedcomFile) -> None:
    """Note each line below what is read that no rule looks at; lines of the records themselves are noted elsewhere."""
    for record in file.records.values():
        if record.tag in ("INDI", "FAM"):
            for line in record.below:
                if line.tag in READ_BELOW and not _is_other_event(line):
                    _note_below(file, line, line.tag)
        elif record.tag == "SOUR":
            for line in record.below:
                if line.tag not in SOURCE_RECORD | OF_THE_PROGRAM or _is_lost(file, record, line):
                    file.notes.leave_out(line, f"{record.tag}.{line.tag}")


def _is_other_event(line: Line) -> bool:
    """An event of a type that is not read is noted as a whole."""
    return line.tag == "EVEN" and line.get("TYPE").lower() not in EVENT_KINDS


def _note_below(file: GedcomFile, line: Line, path: str) -> None:
    known = READ_BELOW.get(line.tag, frozenset())
    for below in line.below:
        called = f"{path}.{below.tag}"
        is_part = below.tag in NAME_PARTS and below.value.strip() in line.value
        if (below.tag not in known and not is_part) or _is_lost(file, line, below):
            file.notes.leave_out(below, called)
        else:
            _note_below(file, below, called)


def _is_lost(file: GedcomFile, above: Line, line: Line) -> bool:
    """A note that is not of ours, or a repository of another name than its source."""
    if line.tag == "REPO":
        found = file.records.get(line.points_to)
        return found is not None and found.get("NAME") not in (above.get("ABBR"), above.get("TITL"))
    return line.tag == "NOTE" and not line.value.startswith(OUR_NOTES)
