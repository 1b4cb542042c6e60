"""GEDCOM X, the JSON of FamilySearch: a person with facts and relatives, each a line that can be quoted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kiwiresearch.errors import SourceUnreachable
from kiwiresearch.ids import BookId
from kiwiresearch.kin.extracted import Extracted, ReadPerson, Snippet
from kiwiresearch.kin.fields import DATES, FieldName, Sex
from kiwiresearch.kin.sources.quotable import quotable
from kiwiresearch.text.when import DateRange, dates_in
from kiwiresearch.zim.entry import EntryRef

EVENTS: dict[str, tuple[FieldName | None, FieldName | None]] = {
    "Birth": ("birth_date", "birth_place"),
    "Christening": ("baptism_date", "baptism_place"),
    "Baptism": ("baptism_date", "baptism_place"),
    "Death": ("death_date", "death_place"),
    "Burial": ("burial_date", "burial_place"),
    "Marriage": ("marriage_date", "marriage_place"),
    "Occupation": (None, None),
}
SEXES: dict[str, Sex] = {"Male": "male", "Female": "female"}
PARENTS: dict[Sex, FieldName] = {"male": "father", "female": "mother", "": "parent"}
MAX_ROWS = 500


@dataclass(frozen=True, slots=True)
class GedcomX:
    """A record as text, and what it says of one person of it."""

    text: str
    read: ReadPerson
    is_living: bool | None
    """As the record says itself; None where it does not."""


def read_gedcomx(content: bytes, person: str, plugin_id: str, weight: float) -> GedcomX:
    """What a document says about a person of it; SourceUnreachable for what is no such document."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise SourceUnreachable(f"The record of {person!r} is no GEDCOM X.") from problem
    people = {str(one.get("id")): one for one in _rows(document, "persons")}
    subject = people.get(person)
    if subject is None:
        raise SourceUnreachable(f"The record does not tell of {person!r}.")
    name = name_of(subject)
    sex = sex_of(subject)
    lines: dict[str, int] = {}
    facts: list[Extracted] = []
    at = 0
    for field, value, line, when, target in _told(document, people, subject, name, sex):
        if line not in lines:
            lines[line] = at
            at += len(line) + 1
        if value and (value in line or when is not None):
            facts.append(_fact(field, value, Snippet(lines[line], lines[line] + len(line), line), weight, when, target))
    living = subject.get("living")
    read = ReadPerson(
        ref=EntryRef(BookId(plugin_id), person),
        title=name or person,
        is_person=bool(name),
        why="a person of a GEDCOM X record" if name else "the person has no name",
        name=name,
        sex=sex,
        facts=tuple(facts),
    )
    return GedcomX("\n".join(lines), read, living if isinstance(living, bool) else None)


def _fact(
    field: FieldName, value: str, snippet: Snippet, weight: float, when: DateRange | None, target: str
) -> Extracted:
    why = "a record in GEDCOM X"
    return Extracted(field, value, snippet, "plugin", weight, when, target=target, rationale=why)


Told = tuple[FieldName, str, str, DateRange | None, str]


def _told(
    document: Any, people: Mapping[str, dict[str, Any]], subject: dict[str, Any], name: str, sex: Sex
) -> Iterator[Told]:
    yield "name", name, quotable("", "name", name, {}), None, ""
    if sex:
        yield "sex", sex, quotable(name, "sex", sex, {}), None, ""
    for fact in _rows(subject, "facts"):
        yield from _event(fact, name)
    me = str(subject.get("id"))
    for tie in _rows(document, "relationships"):
        first, second = _id_in(tie.get("person1")), _id_in(tie.get("person2"))
        other = second if first == me else first if second == me else ""
        kind = str(tie.get("type", "")).rpartition("/")[2]
        if other not in people or kind not in ("ParentChild", "Couple"):
            continue
        if people[other].get("living") is not False:
            continue  # nobody who may be alive is taken over
        field: FieldName = "spouse" if kind == "Couple" else "child" if first == me else PARENTS[sex_of(people[other])]
        theirs = name_of(people[other])
        row = quotable(name, field, theirs, {"id": other})
        yield field, theirs, row, None, other
        if kind == "Couple":
            for fact in _rows(tie, "facts"):
                yield from _event(fact, name)


def _event(fact: dict[str, Any], name: str) -> Iterator[Told]:
    kind = str(fact.get("type", "")).rpartition("/")[2]
    date, place = _original(fact.get("date")), _original(fact.get("place"))
    if kind not in EVENTS:
        return
    value = " ".join(str(fact.get("value") or "").split())[:300]
    line = quotable(name, kind.lower(), ", ".join(part for part in (date, place, value) if part), {})
    on, where = EVENTS[kind]
    found = dates_in(date)
    if on in DATES and found:
        yield on, found[0].when.edtf(), line, found[0].when, ""
    if where is not None and place:
        yield where, place, line, None, ""
    if kind == "Occupation" and value:
        yield "occupation", value, line, None, ""


def name_of(person: Mapping[str, Any]) -> str:
    """The preferred name in full, else the first."""
    names = sorted(_rows(person, "names"), key=lambda row: row.get("preferred") is not True)
    for row in names:
        for form in _rows(row, "nameForms"):
            full = " ".join(str(form.get("fullText") or "").split())
            if full:
                return full[:300]
    return ""


def sex_of(person: Mapping[str, Any]) -> Sex:
    gender = person.get("gender")
    kind = str(gender.get("type", "")).rpartition("/")[2] if isinstance(gender, dict) else ""
    return SEXES.get(kind, "")


def _original(value: Any) -> str:
    return " ".join(str(value.get("original") or "").split())[:300] if isinstance(value, dict) else ""


def _id_in(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return str(value.get("resourceId") or str(value.get("resource") or "").rpartition("#")[2].rpartition("/")[2])


def _rows(value: Any, key: str) -> list[dict[str, Any]]:
    found = value.get(key) if isinstance(value, dict) else None
    return [row for row in found[:MAX_ROWS] if isinstance(row, dict)] if isinstance(found, list) else []
