"""Families as GEDCOM writes them, and the marriages that the facts of each partner tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kiwiresearch.kin.gedcom.cited import SourcesOut, write_citations
from kiwiresearch.kin.gedcom.couples import Couple
from kiwiresearch.kin.gedcom.events import ENDED, MARRIAGE, NO_UNION, PARTNERS, UNTOLD
from kiwiresearch.kin.gedcom.happenings import Happening, happenings, kept, write_happening, write_when
from kiwiresearch.kin.gedcom.ties import parent_part, partners_part
from kiwiresearch.kin.gedcom.written import Writing
from kiwiresearch.kin.tree import Evidence, Fact, PersonId, Relationship, Tree

Told = dict[int, tuple[Happening, ...]]
Alone = dict[PersonId, tuple[Happening, ...]]


def marriage_facts(tree: Tree, couples: Sequence[Couple]) -> tuple[Told, Alone]:
    """The marriages told of each couple, by its number, and those of one person whose partner is not known."""
    unions: dict[PersonId, list[int]] = defaultdict(list)
    for at, couple in enumerate(couples):
        for person in couple.members if couple.union else ():
            unions[person].append(at)
    told: dict[int, list[Fact]] = defaultdict(list)
    alone: Alone = {}
    for person in sorted(tree.persons):
        facts = [fact for fact in kept(tree.facts_of(person)) if fact.field in MARRIAGE]
        rest: list[Fact] = []
        for fact in facts:
            about = _unions(fact, unions.get(person, ()), couples, facts)
            for at, share in about.items():
                if not any(_same(fact, other) for other in told[at]):
                    told[at].append(replace(fact, evidence=share))
            rest.extend(() if about else (fact,))
        alone[person] = tuple(happenings(rest, MARRIAGE))
    return {at: tuple(happenings(_in_order(facts, couples[at]), MARRIAGE)) for at, facts in told.items()}, alone


def _same(fact: Fact, other: Fact) -> bool:
    return (fact.field, fact.value) == (other.field, other.value)


def _in_order(facts: list[Fact], couple: Couple) -> list[Fact]:
    """The date that the tie has comes first."""
    start = couple.union.start if couple.union else None
    return sorted(facts, key=lambda fact: start is not None and fact.field == MARRIAGE.date and fact.when != start)


def _unions(
    fact: Fact, unions: Sequence[int], couples: Sequence[Couple], facts: Sequence[Fact]
) -> dict[int, tuple[Evidence, ...]]:
    """The couples a fact is about, and the evidence for each.

    They are those of the same day, those of the same words, or the only one.
    """
    ties = {at: tie for at in unions if (tie := couples[at].union)}
    words = {at: _words(tie.evidence) for at, tie in ties.items()}
    own = _words(fact.evidence)
    about = [at for at, tie in ties.items() if fact.when and fact.when == tie.start]
    about = about or [at for at in ties if own & words[at]]
    about = about or [at for at, tie in ties.items() if own & _words_of_day(tie, facts)]
    about = [at for at in about if own & words[at]] or about or (list(ties) if len(ties) == 1 else [])
    shares = {at: tuple(one for one in fact.evidence if (one.source, one.snippet) in words[at]) for at in about}
    return {at: share if share and len(ties) > 1 else fact.evidence for at, share in shares.items()}


def _words(evidence: Sequence[Evidence]) -> set[tuple[str, str]]:
    return {(one.source, one.snippet) for one in evidence}


def _words_of_day(tie: Relationship, facts: Sequence[Fact]) -> set[tuple[str, str]]:
    """The words that tell the day of the marriage, for they may tell its place as well."""
    dated = (fact for fact in facts if fact.when and fact.when == tie.start)
    found: set[tuple[str, str]] = set()
    return found.union(*(_words(fact.evidence) for fact in dated))


def write_family(
    out: Writing,
    couple: Couple,
    xref: str,
    xrefs: Mapping[PersonId, str],
    told: Sequence[Happening],
    sources: SourcesOut,
) -> None:
    out.record(xref, "FAM")
    for tag, person in (("HUSB", couple.husband), ("WIFE", couple.wife)):
        if person:
            out.pointer(1, tag, xrefs[person])
    for child in couple.children:
        out.pointer(1, "CHIL", xrefs[child.person])
    parts: list[tuple[str, Sequence[Evidence]]] = []
    if couple.union and _write_union(out, couple.union, told, sources):
        parts.append((partners_part(xrefs[couple.husband], xrefs[couple.wife]), couple.union.evidence))
    elif len(couple.members) == 2 and not couple.union:
        out.line(1, "NOTE", NO_UNION)
    for child in couple.children:
        parts.extend((parent_part(xrefs[tie.first], xrefs[child.person]), tie.evidence) for tie in child.ties)
    # What is told of all ties alike still says so: a reader cannot know that there are no others.
    write_citations(out, 1, sources, [*parts, ("", ())])


def _write_union(out: Writing, tie: Relationship, told: Sequence[Happening], sources: SourcesOut) -> bool:
    """The marriage and its end; whether the family itself must cite, since no event of it can."""
    untold = not told and tie.start is None and all(UNTOLD in one.rationale for one in tie.evidence)
    is_untold = untold and bool(tie.evidence) and tie.kind == "spouse_of"
    first, *others = (*told, *([] if told else [Happening()]))
    if tie.kind == "partner_of":
        write_happening(out, 1, "EVEN", first, sources, kind=PARTNERS, union=tie.evidence, start=tie.start)
    elif not is_untold:
        write_happening(out, 1, "MARR", first, sources, union=tie.evidence, start=tie.start)
    for other in others:
        write_happening(out, 1, "MARR", other, sources)
    if tie.qualifier == "divorced":
        out.line(1, "DIV", "" if tie.end else "Y")
        write_when(out, 2, tie.end)
    elif tie.end:
        out.line(1, "EVEN")
        out.line(2, "TYPE", ENDED)
        write_when(out, 2, tie.end)
    return is_untold
