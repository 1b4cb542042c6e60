"""A check of the GEDCOM files we write that needs no other program: which lines are allowed where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from kiwiresearch.kin.gedcom.dates import Version, other_calendar, read_date
from kiwiresearch.kin.gedcom.lines import GedcomLine, ImportNotes, records, version_of

MAX_OLD_LINE = 255
EVENT_PARTS = "TYPE? DATE? PLAC? SOUR* NOTE*"
RECORDS = frozenset({"HEAD", "SUBM", "INDI", "FAM", "SOUR", "REPO", "TRLR"})
COMMON: dict[str, str] = {
    "HEAD": "GEDC! SOUR! DATE? SUBM? NOTE?",
    "HEAD.SOUR": "VERS? NAME?",
    "SUBM": "NAME!",
    "INDI": "RESN? NAME* SEX? BIRT* BAPM* DEAT* BURI* EVEN* OCCU* TITL* FAMC* FAMS* ASSO* REFN* EXID* _UID* UID*",
    "NAME": "SOUR* NOTE*",
    "BIRT": EVENT_PARTS,
    "BAPM": EVENT_PARTS,
    "DEAT": EVENT_PARTS,
    "BURI": EVENT_PARTS,
    "MARR": EVENT_PARTS,
    "DIV": EVENT_PARTS,
    "EVEN": EVENT_PARTS.replace("TYPE?", "TYPE!"),
    "OCCU": "SOUR*",
    "TITL": "SOUR*",
    "FAM": "HUSB? WIFE? CHIL* MARR* DIV* EVEN* SOUR* NOTE*",
    "SOUR": "TITL? ABBR? REPO* NOTE*",
    "SOUR.TITL": "",
    "*.SOUR": "PAGE? DATA? NOTE* QUAY?",
    "SOUR.DATA": "DATE? TEXT*",
    "REPO": "NAME!",
    "HEAD.SUBM": "",
    "SOUR.REPO": "",
    "SUBM.NAME": "",
    "REPO.NAME": "",
    "HEAD.SOUR.NAME": "",
    "REFN": "TYPE?",
}
OLD = COMMON | {
    "HEAD": "SOUR! DATE? SUBM! FILE? GEDC! CHAR! NOTE?",
    "GEDC": "VERS! FORM!",
    "FAMC": "PEDI? NOTE*",
    "ASSO": "RELA! SOUR*",
}
NEW = COMMON | {
    "GEDC": "VERS!",
    "FAMC": "PEDI? STAT? NOTE*",
    "PEDI": "PHRASE?",
    "ASSO": "ROLE! SOUR*",
    "ROLE": "PHRASE?",
    "EXID": "TYPE!",
    "DATE": "PHRASE?",
}
TABLES = {"5.5.1": OLD, "7.0": NEW}
VALUES = {
    "SEX": "M F U",
    "QUAY": "0 1 2 3",
    "PEDI": "birth adopted foster BIRTH ADOPTED FOSTER OTHER",
    "STAT": "CHALLENGED",
    "RESN": "confidential CONFIDENTIAL",
    "ROLE": "OTHER",
}
POINTERS = {"HUSB": "INDI", "WIFE": "INDI", "CHIL": "INDI", "ASSO": "INDI", "FAMC": "FAM", "FAMS": "FAM"}
POINTERS |= {"REPO": "REPO", "SUBM": "SUBM"}
CARDINALITY = re.compile(r"(\w+)([?!*])")


class Check(NamedTuple):
    """The records of a file by their xrefs, and the table of its version."""

    by_xref: dict[str, GedcomLine]
    table: dict[str, str]
    version: Version


def problems(text: str) -> list[str]:
    """What is wrong with a GEDCOM file of ours; nothing, if all is well."""
    notes = ImportNotes()
    found = records(text, notes)
    version: Version = "7.0" if version_of(text).startswith("7") else "5.5.1"
    check = Check({record.xref: record for record in found if record.xref}, TABLES[version], version)
    wrong = [*notes.problems(), *_ends(text, found)]
    if version == "5.5.1":
        lines = enumerate(text.split("\r\n"), 1)
        wrong += [f"Line {at}: longer than {MAX_OLD_LINE}" for at, line in lines if len(line) > MAX_OLD_LINE]
    for record in found:
        if record.tag not in RECORDS:
            wrong.append(f"Line {record.number}: no record is called {record.tag!r}")
        wrong.extend(_wrong(check, record, ()))
    return wrong


def _ends(text: str, found: list[GedcomLine]) -> Iterator[str]:
    if not text.endswith("\r\n") or text.count("\n") != text.count("\r\n"):
        yield "Not every line ends with CR and LF."
    if not found or found[0].tag != "HEAD" or found[-1].tag != "TRLR":
        yield "The file does not begin with HEAD and end with TRLR."


def _wrong(check: Check, line: GedcomLine, above: tuple[str, ...]) -> Iterator[str]:
    path = (*above, line.tag)
    allowed = dict(CARDINALITY.findall(_allowed(check, path)))
    counts = Counter(below.tag for below in line.children)
    for tag in sorted(counts.keys() - allowed.keys()):
        yield f"Line {line.number}: {tag} may not stand under {'.'.join(path)}"
    for tag, many in allowed.items():
        if (many == "!" and counts[tag] != 1) or (many == "?" and counts[tag] > 1):
            yield f"Line {line.number}: {counts[tag]} times {tag} under {'.'.join(path)}"
    yield from _wrong_value(check, line, above)
    for below in line.children:
        yield from _wrong(check, below, path)


def _allowed(check: Check, path: tuple[str, ...]) -> str:
    """The row for a line: the longest end of its path that the table has."""
    for start in range(len(path)):
        found = check.table.get(".".join(path[start:]))
        if found is not None and (start == 0 or len(path) - start > 1 or f"*.{path[-1]}" not in check.table):
            return found
    return check.table.get(f"*.{path[-1]}", "")


def _wrong_value(check: Check, line: GedcomLine, above: tuple[str, ...]) -> Iterator[str]:
    if line.tag in VALUES and line.value not in VALUES[line.tag].split():
        yield f"Line {line.number}: {line.tag} may not be {line.value!r}"
    kind = POINTERS.get(line.tag) or ("SOUR" if line.tag == "SOUR" and above[:1] != ("HEAD",) else "")
    if above and kind:
        target = check.by_xref.get(line.points_to)
        if target is None or target.tag != kind:
            yield f"Line {line.number}: {line.tag} points to {line.value!r}, which is no {kind}"
    if line.tag == "DATE" and not _is_date(line.value, check.version):
        yield f"Line {line.number}: {line.value!r} is no date"


def _is_date(value: str, version: Version) -> bool:
    is_phrase = version == "5.5.1" and value.startswith("(") and value.endswith(")")
    return is_phrase or read_date(value) is not None or bool(other_calendar(value, version))
