"""A tree as JSON: as GEDCOM X, and in our own complete format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from kiwiresearch.codec import JsonDict
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.gedcom.arrangement import is_written
from kiwiresearch.kin.gedcom.event_writer import EventVersion, event_versions, included_facts
from kiwiresearch.kin.gedcom.person_writer import slashed_name
from kiwiresearch.kin.gedcom.tags import ATTRIBUTES, EVENTS, MARRIAGE, SOURCE_WITHOUT_TEXT
from kiwiresearch.kin.privacy import ShownTree
from kiwiresearch.kin.tree import Evidence, Fact, Person, Qualifier, Relationship, Source
from kiwiresearch.text.dates import DateRange, day_at

SPACE = "http://gedcomx.org/"
EVENT_TYPES = {"BIRT": "Birth", "BAPM": "Baptism", "DEAT": "Death", "BURI": "Burial"}
ATTRIBUTE_TYPES = {"OCCU": "Occupation", "TITL": "Title"}
SEXES = {"male": "Male", "female": "Female", "": "Unknown"}
PARENTAGE: dict[Qualifier, str] = {
    "biological": "BiologicalParent",
    "adoptive": "AdoptiveParent",
    "foster": "FosterParent",
    "step": "StepParent",
}
KINDS = {"parent_of": "ParentChild", "spouse_of": "Couple", "partner_of": "Couple"}
CONFIDENCE_LEVELS = ((0.8, "High"), (0.5, "Medium"))


def tree_gedcomx(tree: ShownTree) -> str:
    """The tree as canonical GEDCOM X JSON; ties between siblings are left out, since the format has none."""
    evidence = _evidence(tree)
    ties = _written_ties(tree)
    value: JsonDict = {
        "lang": "en",
        "persons": [_person(tree, tree.persons[index]) for index in sorted(tree.persons)],
        "relationships": [_relationship(tie) for tie in sorted(ties, key=lambda tie: tie.id)],
        "sourceDescriptions": [
            *(_source(tree.sources[index]) for index in sorted({item.source for item in evidence.values()})),
            *(_quote(evidence[index]) for index in sorted(evidence)),
        ],
    }
    return canonical_json(value, indent=1) + "\n"


def _written_ties(tree: ShownTree) -> list[Relationship]:
    return [tie for tie in tree.relationships if tie.kind in KINDS and is_written(tie, tree)]


def _evidence(tree: ShownTree) -> dict[str, Evidence]:
    """The evidence of everything that is written, by id."""
    named = tree.persons.keys() - tree.anonymous
    facts = (fact.evidence for fact in included_facts(tree.facts) if fact.person in named)
    ties = (tie.evidence for tie in _written_ties(tree))
    every = (item for evidence in (*facts, *ties) for item in evidence if item.source in tree.sources)
    return {item.id: item for item in every}


def _person(tree: ShownTree, person: Person) -> JsonDict:
    facts = () if person.id in tree.anonymous else tree.facts_of(person.id)
    evidence_of: dict[str, Sequence[Evidence]] = {name: () for name in (person.name, *person.names) if name}
    evidence_of |= {fact.value: fact.evidence for fact in included_facts(facts) if fact.field == "name"}
    names = [_name_form(name, evidence, tree) for name, evidence in evidence_of.items()]
    value: JsonDict = {
        "id": person.id,
        "private": person.living == "living",
        "gender": {"type": SPACE + SEXES[person.sex]},
        "names": names,
        "facts": [*_facts(tree, person, facts)],
    }
    if names:
        names[0]["preferred"] = True
    if person.external:
        value["identifiers"] = {f"{SPACE}Other#{kind}": [text] for kind, text in sorted(person.external.items())}
    return value


def _name_form(name: str, evidence: Sequence[Evidence], tree: ShownTree) -> JsonDict:
    marked = slashed_name(name, evidence)
    given, _, rest = marked.partition("/")
    surname, _, suffix = rest.partition("/")
    pieces = (("Given", given), ("Surname", surname), ("Suffix", suffix))
    parts = [{"type": SPACE + kind, "value": text.strip()} for kind, text in pieces if text.strip()]
    return {"nameForms": [{"fullText": name, "parts": parts}], **_sources(evidence, tree.sources)}


def _facts(tree: ShownTree, person: Person, facts: Sequence[Fact]) -> Iterable[JsonDict]:
    for tag, fields in EVENTS.items():
        for at, version in enumerate(event_versions(facts, fields)):
            yield _event(EVENT_TYPES[tag], version, tree, primary=at == 0)
    # For somebody who is known to have died, but not when or where: otherwise programs would take them for living.
    if person.is_dead and not any(fact.field.startswith("death_") for fact in included_facts(facts)):
        yield {"type": SPACE + "Death"}
    for version in event_versions(facts, MARRIAGE):
        yield _event("Marriage", version, tree, primary=False)
    for tag, name in ATTRIBUTES.items():
        for fact in included_facts(facts):
            if fact.field == name:
                yield {
                    "type": SPACE + ATTRIBUTE_TYPES[tag],
                    "value": fact.value,
                    **_sources(fact.evidence, tree.sources),
                }


def _event(kind: str, event_version: EventVersion, tree: ShownTree, *, primary: bool) -> JsonDict:
    facts = [fact for fact in (event_version.date, event_version.place) if fact]
    value: JsonDict = {"type": SPACE + kind, "primary": primary}
    if event_version.date:
        value["date"] = _date(event_version.date.when, event_version.date.value)
    if event_version.place:
        value["place"] = {"original": event_version.place.value}
    value["confidence"] = SPACE + _confidence(min(fact.confidence for fact in facts))
    return value | _sources([each for fact in facts for each in fact.evidence], tree.sources)


def _confidence(confidence: float) -> str:
    return next((name for least, name in CONFIDENCE_LEVELS if confidence >= least), "Low")


def _date(when: DateRange | None, value: str) -> JsonDict:
    if when is None:
        return {"original": value}
    formal = _formal(when)
    return {"original": when.words(), **({"formal": formal} if formal else {})}


def _formal(when: DateRange) -> str:
    """The formal date, which is Gregorian in every case."""
    first, last = _day(when, when.earliest), _day(when, when.latest)
    if not first or not last:
        return ""
    sign = "A" if when.qualifier == "about" else ""
    if when.qualifier == "before":
        return f"/{last}"
    if when.qualifier == "after":
        return f"{first}/"
    return sign + (first if first == last else f"{first}/{last}")


def _day(when: DateRange, number: int) -> str:
    """A day as GEDCOM X writes it. Only a bare year stays in its own calendar; months and days become Gregorian."""
    whole = {"year": 5, "month": 8}.get(when.precision, 11)
    day = day_at(number, when.calendar_on(number) if whole == 5 else "gregorian")
    # GEDCOM X has a year 0, as ISO 8601 does: it is 1 BC.
    year = day.year if day.year > 0 else day.year + 1
    return f"{year:+05}-{day.month:02}-{day.day:02}"[:whole] if abs(year) <= 9999 else ""


def _relationship(tie: Relationship) -> JsonDict:
    facts: list[JsonDict] = []
    if tie.kind == "spouse_of":
        facts.append({"type": SPACE + "Marriage"} | ({"date": _date(tie.start, "")} if tie.start else {}))
    if tie.qualifier == "divorced":
        facts.append({"type": SPACE + "Divorce"} | ({"date": _date(tie.end, "")} if tie.end else {}))
    if tie.qualifier in PARENTAGE:
        facts.append({"type": SPACE + PARENTAGE[tie.qualifier]})
    return {
        "id": tie.id,
        "type": SPACE + KINDS[tie.kind],
        "person1": {"resource": f"#{tie.first}"},
        "person2": {"resource": f"#{tie.second}"},
        "confidence": SPACE + _confidence(tie.confidence),
        "facts": facts,
        "sources": _references(tie.evidence),
    }


def _references(evidence: Iterable[Evidence]) -> list[JsonDict]:
    return [{"description": f"#{index}"} for index in dict.fromkeys(item.id for item in evidence)]


def _sources(evidence: Iterable[Evidence], sources: Mapping[str, Source]) -> JsonDict:
    found = _references(item for item in evidence if item.source in sources)
    return {"sources": found} if found else {}


def _source(source: Source) -> JsonDict:
    title = source.title or source.name
    return {
        "id": source.id,
        "about": source.url,
        "titles": [{"value": title}],
        "citations": [{"value": f"{title}, {source.name}" if source.name != title else title}],
    }


def _quote(evidence: Evidence) -> JsonDict:
    """The quoted words of a source, as a part of it."""
    value: JsonDict = {
        "id": evidence.id,
        "componentOf": {"description": f"#{evidence.source}"},
        "citations": [{"value": evidence.locator}],
    }
    return value if SOURCE_WITHOUT_TEXT in evidence.rationale else value | {"notes": [{"text": evidence.snippet}]}


def tree_json(tree: ShownTree) -> str:
    """The tree as canonical JSON: equal trees give equal bytes."""
    document = {
        "persons": [asdict(tree.persons[index]) for index in sorted(tree.persons)],
        "relationships": [asdict(tie) for tie in sorted(tree.relationships, key=lambda tie: tie.id)],
        "facts": [asdict(fact) for fact in sorted(tree.facts, key=lambda fact: fact.id)],
        "sources": [asdict(tree.sources[index]) for index in sorted(tree.sources)],
        "format": "kiwiresearch-tree",
        "format_version": 1,
    }
    return canonical_json(document, indent=1) + "\n"
