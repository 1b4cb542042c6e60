"""Writes the people and families of a tree, with the quotes of the sources under every event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.kin.gedcom.arrangement import (
    Couple,
    CoupleKey,
    build_couples,
    couple_key,
    is_written,
)
from kiwiresearch.kin.gedcom.dates import Version
from kiwiresearch.kin.gedcom.event_writer import (
    CitedSources,
    EventVersion,
    event_versions,
    included_facts,
    write_citations,
    write_date_lines,
    write_event,
)
from kiwiresearch.kin.gedcom.family_reader import parent_scope, partners_scope
from kiwiresearch.kin.gedcom.kept_lines import KeptRecord
from kiwiresearch.kin.gedcom.nodes import GedcomWriter, Node
from kiwiresearch.kin.gedcom.person_writer import FamilyLinks, write_person
from kiwiresearch.kin.gedcom.tags import MARRIAGE, MARRIAGE_NOT_STATED, NO_UNION, PARTNERS, SIBLING, UNION_ENDED
from kiwiresearch.kin.privacy import ShownTree
from kiwiresearch.kin.tree import Evidence, Fact, PersonId, Relationship, Tree

MarriagesOfCouples = dict[int, tuple[EventVersion, ...]]
MarriagesOfSingles = dict[PersonId, tuple[EventVersion, ...]]


def marriage_facts(tree: Tree, couples: Sequence[Couple]) -> tuple[MarriagesOfCouples, MarriagesOfSingles]:
    """The marriages of each couple, by its number, and those of people whose partner is unknown."""
    unions: dict[PersonId, list[int]] = defaultdict(list)
    for at, couple in enumerate(couples):
        for person in couple.members if couple.unions else ():
            unions[person].append(at)
    facts_at: dict[int, list[Fact]] = defaultdict(list)
    alone: MarriagesOfSingles = {}
    for person in sorted(tree.persons):
        facts = [fact for fact in included_facts(tree.facts_of(person)) if fact.field in MARRIAGE]
        rest: list[Fact] = []
        for fact in facts:
            about = _unions(fact, unions.get(person, ()), couples, facts)
            for at, share in about.items():
                if all((fact.field, fact.value) != (other.field, other.value) for other in facts_at[at]):
                    facts_at[at].append(replace(fact, evidence=share))
            rest.extend(() if about else (fact,))
        alone[person] = tuple(event_versions(rest, MARRIAGE))
    return {at: tuple(event_versions(_in_order(facts, couples[at]), MARRIAGE)) for at, facts in facts_at.items()}, alone


def _in_order(facts: list[Fact], couple: Couple) -> list[Fact]:
    """The facts, with the date of the tie before other marriage dates."""
    start = couple.unions[0].start if couple.unions else None
    return sorted(facts, key=lambda fact: start is not None and fact.field == MARRIAGE.date and fact.when != start)


def _unions(
    fact: Fact, unions: Sequence[int], couples: Sequence[Couple], facts: Sequence[Fact]
) -> dict[int, tuple[Evidence, ...]]:
    """The couples a fact is about, and the evidence for each.

    They are those with the same day, those with the same words, or the only one.
    """
    ties = {at: couples[at].unions for at in unions}
    words = {at: _words([item for tie in of_couple for item in tie.evidence]) for at, of_couple in ties.items()}
    own = _words(fact.evidence)
    about = [at for at, of_couple in ties.items() if fact.when and any(fact.when == tie.start for tie in of_couple)]
    about = about or [at for at in ties if own & words[at]]
    about = about or [at for at, of_couple in ties.items() if any(own & _words_of_day(tie, facts) for tie in of_couple)]
    about = [at for at in about if own & words[at]] or about or (list(ties) if len(ties) == 1 else [])
    shares = {
        at: tuple(evidence for evidence in fact.evidence if (evidence.source, evidence.snippet) in words[at])
        for at in about
    }
    return {at: share if share and len(ties) > 1 else fact.evidence for at, share in shares.items()}


def _words(evidence: Sequence[Evidence]) -> set[tuple[str, str]]:
    return {(item.source, item.snippet) for item in evidence}


def _words_of_day(tie: Relationship, facts: Sequence[Fact]) -> set[tuple[str, str]]:
    """The quotes that give the day of the marriage, and may also give its place."""
    dated = (fact for fact in facts if fact.when and fact.when == tie.start)
    found: set[tuple[str, str]] = set()
    return found.union(*(_words(fact.evidence) for fact in dated))


def write_family(
    out: GedcomWriter,
    couple: Couple,
    xref: str,
    xrefs: Mapping[PersonId, str],
    marriages: Sequence[EventVersion],
    sources: CitedSources,
) -> None:
    out.record(xref, "FAM")
    for tag, person in (("HUSB", couple.husband), ("WIFE", couple.wife)):
        if person:
            out.pointer(1, tag, xrefs[person])
    for child in couple.children:
        out.pointer(1, "CHIL", xrefs[child.person])
    parts: list[tuple[str, Sequence[Evidence]]] = []
    unwritten = marriages
    for union in sorted(couple.unions, key=lambda tie: tie.kind != "spouse_of"):
        if _write_union(out, union, unwritten, sources):
            parts.append((partners_scope(xrefs[couple.husband], xrefs[couple.wife]), union.evidence))
        unwritten = ()
    if len(couple.members) == 2 and not couple.unions:
        out.line(1, "NOTE", NO_UNION)
    for child in couple.children:
        parts.extend((parent_scope(xrefs[tie.first], xrefs[child.person]), tie.evidence) for tie in child.ties)
    # The scope is written even if a citation supports all ties: a reader cannot know that it is complete.
    write_citations(out, 1, sources, [*parts, ("", ())])


def _write_union(
    out: GedcomWriter, tie: Relationship, marriages: Sequence[EventVersion], sources: CitedSources
) -> bool:
    """Write the marriage and its end; returns whether the family itself must cite, since no event of it can."""
    untold = (
        not marriages
        and tie.start is None
        and all(MARRIAGE_NOT_STATED in evidence.rationale for evidence in tie.evidence)
    )
    is_untold = untold and bool(tie.evidence) and tie.kind == "spouse_of"
    first, *others = (*marriages, *([] if marriages else [EventVersion()]))
    if tie.kind == "partner_of":
        write_event(out, 1, "EVEN", first, sources, kind=PARTNERS, union=tie.evidence, start=tie.start)
    elif not is_untold:
        write_event(out, 1, "MARR", first, sources, union=tie.evidence, start=tie.start)
    for other in others:
        write_event(out, 1, "MARR", other, sources)
    if tie.qualifier == "divorced":
        out.line(1, "DIV", "" if tie.end else "Y")
        write_date_lines(out, 2, tie.end)
    elif tie.end:
        out.line(1, "EVEN")
        out.line(2, "TYPE", UNION_ENDED)
        write_date_lines(out, 2, tie.end)
    return is_untold


@dataclass(slots=True)
class WrittenTree:
    """The records of a tree, by what they are about."""

    version: Version
    persons: Mapping[PersonId, Node]
    families: Mapping[CoupleKey, Node]
    cited: CitedSources


def write_tree(tree: ShownTree, version: Version, families: Iterable[KeptRecord] = ()) -> WrittenTree:
    """The records of people and families; families of imported files with one parent stay apart."""
    alone = {
        (family.people[0], child): family.id
        for family in families
        if family.kind == "family" and len(family.people) == 1
        for child in family.children
    }
    couples = build_couples(tree, alone)
    people, unions = GedcomWriter(version), GedcomWriter(version)
    sources = CitedSources(tree.sources)
    xrefs = {person: f"I{at}" for at, person in enumerate(sorted(tree.persons), 1)}
    places = _family_links(couples)
    marriages, unpaired = marriage_facts(tree, couples)
    siblings = _siblings(tree)
    for person, xref in xrefs.items():
        place = places.get(person, FamilyLinks())
        write_person(people, tree, person, xref, place, unpaired.get(person, ()), sources)
        for tie in siblings.get(person, ()):
            _write_sibling(people, tie, xrefs, sources)
    for at, couple in enumerate(couples):
        write_family(unions, couple, f"F{at + 1}", xrefs, marriages.get(at, ()), sources)
    keys = [couple_key(couple.members, couple.family) for couple in couples]
    return WrittenTree(
        version,
        dict(zip(xrefs, people.records, strict=True)),
        dict(zip(keys, unions.records, strict=True)),
        sources,
    )


def _family_links(couples: list[Couple]) -> dict[PersonId, FamilyLinks]:
    """The families each person is a child or a partner of."""
    found: dict[PersonId, FamilyLinks] = {}
    for at, couple in enumerate(couples):
        for person in couple.members:
            found.setdefault(person, FamilyLinks()).partner_in.append(f"F{at + 1}")
        for child in couple.children:
            found.setdefault(child.person, FamilyLinks()).child_in.append((f"F{at + 1}", child))
    return found


def _siblings(tree: Tree) -> dict[PersonId, list[Relationship]]:
    found: dict[PersonId, list[Relationship]] = {}
    for tie in tree.relationships:
        if tie.kind == "sibling_of" and is_written(tie, tree):
            found.setdefault(tie.first, []).append(tie)
    return found


def _write_sibling(out: GedcomWriter, tie: Relationship, xrefs: Mapping[PersonId, str], sources: CitedSources) -> None:
    out.pointer(1, "ASSO", xrefs[tie.second])
    if out.version == "7.0":
        out.line(2, "ROLE", "OTHER")
        out.line(3, "PHRASE", SIBLING)
    else:
        out.line(2, "RELA", SIBLING)
    write_citations(out, 2, sources, [("", tie.evidence)])
