"""A tree as GEDCOM 5.5.1 or 7: what was found, with the words of the source under every event.

What GEDCOM cannot say, and is lost when the file is read again:

- our own ids, the offsets of a quote, who read it, by which rule, and what kind of evidence it is;
- the reliability of evidence beyond the four steps of QUAY, and all confidences;
- a status other than 'challenged' of a parent, and whatever is rejected, superseded or a guess;
- the source of a sex, and relatives who are only named;
- whether a marriage was told of one partner or of both;
- 'biological' of one parent, where nothing is said of the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.gedcom.cited import SourcesOut, gedcom_day, write_citations, write_sources
from kiwiresearch.kin.gedcom.couples import LEFT_OUT, Couple, couples_of
from kiwiresearch.kin.gedcom.dates import Version
from kiwiresearch.kin.gedcom.events import SIBLING
from kiwiresearch.kin.gedcom.marriages import marriage_facts, write_family
from kiwiresearch.kin.gedcom.ordered import ordered
from kiwiresearch.kin.gedcom.people import Place, write_person
from kiwiresearch.kin.gedcom.written import Writing
from kiwiresearch.kin.tree import PersonId, Relationship, Tree

HEAD_KEYS = ("version", "date", "file", "submitter", "note")
"""What a caller may say of the file: our version, the ISO day, a file name, who hands it on, and a note."""
PROGRAM = "kiwiresearch"
SUBMITTER = "U1"


def gedcom(tree: Tree, version: Version, *, head: Mapping[str, str]) -> str:
    """The tree as the text of a GEDCOM file: same tree, same bytes.

    People who may be living are expected to be redacted already.
    """
    if version not in ("5.5.1", "7.0"):
        raise BadUsage(f"GEDCOM {version!r} cannot be written.", remedy="Ask for '5.5.1' or '7.0'.")
    unknown = sorted(set(head) - set(HEAD_KEYS))
    if unknown:
        raise BadUsage(f"A GEDCOM file has no place for {unknown[0]!r}.", remedy=f"Use {', '.join(HEAD_KEYS)}.")
    out = Writing(version)
    tree = ordered(tree)
    sources = SourcesOut(tree.sources)
    couples = couples_of(tree)
    xrefs = {person: f"I{at}" for at, person in enumerate(sorted(tree.persons), 1)}
    _write_head(out, head)
    places = _places(couples)
    told, alone = marriage_facts(tree, couples)
    siblings = _siblings(tree)
    for person, xref in xrefs.items():
        place = places.get(person, Place())
        write_person(out, tree, person, xref, place, alone.get(person, ()), sources)
        for tie in siblings.get(person, ()):
            _write_sibling(out, tie, xrefs, sources)
    for at, couple in enumerate(couples):
        write_family(out, couple, f"F{at + 1}", xrefs, told.get(at, ()), sources)
    write_sources(out, sources)
    out.rows.append("0 TRLR")
    return out.whole()


def _write_head(out: Writing, head: Mapping[str, str]) -> None:
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


def _write_version(out: Writing) -> None:
    out.line(1, "GEDC")
    out.line(2, "VERS", out.version)
    if out.version == "5.5.1":
        out.line(2, "FORM", "LINEAGE-LINKED")


def _places(couples: list[Couple]) -> dict[PersonId, Place]:
    """The families each person is a child or a partner of."""
    found: dict[PersonId, Place] = {}
    for at, couple in enumerate(couples):
        for person in couple.members:
            found.setdefault(person, Place()).partner_in.append(f"F{at + 1}")
        for child in couple.children:
            found.setdefault(child.person, Place()).child_in.append((f"F{at + 1}", child))
    return found


def _siblings(tree: Tree) -> dict[PersonId, list[Relationship]]:
    found: dict[PersonId, list[Relationship]] = {}
    for tie in tree.relationships:
        known = tie.first in tree.persons and tie.second in tree.persons and tie.first != tie.second
        if tie.kind == "sibling_of" and known and tie.status not in LEFT_OUT:
            found.setdefault(tie.first, []).append(tie)
    return found


def _write_sibling(out: Writing, tie: Relationship, xrefs: Mapping[PersonId, str], sources: SourcesOut) -> None:
    out.pointer(1, "ASSO", xrefs[tie.second])
    if out.version == "7.0":
        out.line(2, "ROLE", "OTHER")
        out.line(3, "PHRASE", SIBLING)
    else:
        out.line(2, "RELA", SIBLING)
    write_citations(out, 2, sources, [("", tie.evidence)])
