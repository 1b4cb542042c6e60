"""A GEDCOM X record of an invented family, in the shape that FamilySearch's documents show."""

from __future__ import annotations

from typing import Any

TYPES = "http://gedcomx.org/"


def a_person(person: str, name: str, sex: str, *facts: dict[str, Any], living: bool | None = False) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": person,
        "gender": {"type": TYPES + sex},
        "names": [{"nameForms": [{"fullText": "Wrong Name"}]}, {"preferred": True, "nameForms": [{"fullText": name}]}],
        "facts": list(facts),
    }
    return values if living is None else values | {"living": living}


def a_fact(kind: str, date: str = "", place: str = "", value: str = "") -> dict[str, Any]:
    values: dict[str, Any] = {"type": TYPES + kind}
    values |= {"date": {"original": date}} if date else {}
    values |= {"place": {"original": place}} if place else {}
    return values | ({"value": value} if value else {})


def a_tie(kind: str, first: str, second: str, *facts: dict[str, Any]) -> dict[str, Any]:
    ends = {"person1": {"resourceId": first}, "person2": {"resource": f"https://api.example/persons/{second}"}}
    return {"type": TYPES + kind, "facts": list(facts), **ends}


RECORD = {
    "persons": [
        a_person(
            "AAAA-111",
            'Osric "Oz" Vane',
            "Male",
            a_fact("Birth", "12 May 1842", "Wexcombe, Wiltshire"),
            a_fact("Christening", "June 1842"),
            a_fact("Death", "about 1911", "Port Aldous"),
            a_fact("Occupation", value="clockmaker"),
            a_fact("Residence", "1881", "Wexcombe"),
        ),
        a_person("AAAA-112", "Maud Harrow", "Female"),
        a_person("AAAA-113", "Linnet Vane", "Female"),
        a_person("AAAA-114", "Piers Vane", "Male"),
        a_person("AAAA-115", "Ada Living", "Female", living=True),
    ],
    "relationships": [
        a_tie("Couple", "AAAA-111", "AAAA-112", a_fact("Marriage", "3 Aug 1866", "Wexcombe")),
        a_tie("ParentChild", "AAAA-111", "AAAA-113"),
        a_tie("ParentChild", "AAAA-114", "AAAA-111"),
        a_tie("ParentChild", "AAAA-111", "AAAA-115"),
        a_tie("ParentChild", "AAAA-111", "AAAA-999"),
        {"type": TYPES + "Couple", "person1": 7},
    ],
}
