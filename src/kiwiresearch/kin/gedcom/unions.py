"""The couples of a GEDCOM file: who was married to whom, from when until when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kiwiresearch.kin.fields import RelationKind
from kiwiresearch.kin.gedcom.citations import GedcomFile
from kiwiresearch.kin.gedcom.events import ENDED, MARRIAGE, NO_UNION, NOT_MARRIED, PARTNERS, UNTOLD
from kiwiresearch.kin.gedcom.facts import FactsOfPerson, ReadEvent, read_event
from kiwiresearch.kin.gedcom.lines import Line
from kiwiresearch.kin.gedcom.ties import Family, Member, Ties, partners_part
from kiwiresearch.kin.tree import Evidence, PersonId


def read_couple(
    ties: Ties, family: Family, couple: tuple[Member, Member], facts: Mapping[PersonId, FactsOfPerson]
) -> None:
    file, record = ties.file, family.record
    first, second = (file.id_of("person", one.person.xref) for one in couple)
    marriages = read_marriages(file, family, (facts[first], facts[second]))
    if any(note.value == NO_UNION for note in record.all("NOTE")):
        return
    lived = [read_event(file, record, line) for line in _typed(record, PARTNERS)]
    parting = record.first("DIV", "ANUL")
    ending = parting or next(_typed(record, ENDED), None)
    began = next(iter((*marriages, *lived)), None)
    named = family.evidence(partners_part(couple[0].person.xref, couple[1].person.xref))
    evidence = [*(began.evidence("marriage") if began else ()), *named]
    if not evidence:
        evidence = [file.own_lines(record, record, max((one.line for one in couple), key=lambda line: line.start))]
    ties.add(
        _kind(record, marriages, lived),
        first,
        second,
        evidence if began or parting else [_untold(one) for one in evidence],
        qualifier="divorced" if parting and parting.value.strip().upper() != "N" else "",
        start=began.when if began else None,
        end=read_event(file, record, ending).when if ending else None,
    )


def read_marriages(file: GedcomFile, family: Family, facts: Iterable[FactsOfPerson]) -> list[ReadEvent]:
    """The marriages of a family, as facts of those who married."""
    marriages = [read_event(file, family.record, line) for line in family.record.all("MARR")]
    for one in facts:
        for at, marriage in enumerate(marriages):
            one.add_event(MARRIAGE, marriage, preferred=at == 0)
    return marriages


def _typed(record: Line, kind: str) -> Iterator[Line]:
    return (line for line in record.all("EVEN") if line.get("TYPE").lower() == kind.lower())


def _untold(evidence: Evidence) -> Evidence:
    return replace(evidence, rationale=f"{UNTOLD} {evidence.rationale}".strip())


def _kind(record: Line, marriages: list[ReadEvent], lived: list[ReadEvent]) -> RelationKind:
    """Whether a couple was married; a family record that does not say is taken for one of a marriage."""
    kinds = [line.get("TYPE").lower() for line in record.all("MARR")] + [record.get("_STAT").lower()]
    denied = any(line.value.strip().upper() == "MARR" for line in record.all("NO"))
    is_unmarried = not any(one.when for one in marriages) and any(kind in NOT_MARRIED for kind in kinds)
    return "partner_of" if lived or denied or is_unmarried else "spouse_of"
