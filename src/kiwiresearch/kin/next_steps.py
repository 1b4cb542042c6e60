"""The records that would settle a conflict, by its field and the time of the event."""

from __future__ import annotations

from kiwiresearch.kin.tree import FieldName
from kiwiresearch.text.dates import DateRange

CIVIL_FROM, PARISH_FROM = 1840, 1540
"""Roughly when states, and before them parishes, began to register people in most of Europe."""

Event = str
EVENT_OF: dict[FieldName, Event] = {
    "birth_date": "birth",
    "birth_place": "birth",
    "baptism_date": "baptism",
    "baptism_place": "baptism",
    "death_date": "death",
    "death_place": "death",
    "burial_date": "burial",
    "burial_place": "burial",
    "marriage_date": "marriage",
    "marriage_place": "marriage",
    "father": "parents",
    "mother": "parents",
    "sex": "birth",
}
STEPS: dict[tuple[Event, str], tuple[str, ...]] = {
    ("birth", "civil"): ("Seek a civil birth registration{where}", "Seek a census return that gives the age"),
    ("birth", "parish"): ("Seek the baptism in the parish register{where}",),
    ("birth", "older"): ("Seek a chronicle or charter of the time that tells the birth",),
    ("baptism", "civil"): ("Seek the baptism in the parish register{where}",),
    ("baptism", "parish"): ("Seek the baptism in the parish register{where}",),
    ("baptism", "older"): ("Seek a chronicle of the time that tells the baptism",),
    ("death", "civil"): ("Seek a civil death registration{where}", "Seek an obituary or a probate record"),
    ("death", "parish"): ("Seek the burial in the parish register{where}", "Seek a will or a probate record"),
    ("death", "older"): ("Seek a chronicle, an obituary roll or an inquisition post mortem",),
    ("burial", "civil"): ("Seek the register of the cemetery{where}", "Seek a photograph of the gravestone"),
    ("burial", "parish"): ("Seek the burial in the parish register{where}", "Seek a photograph of the gravestone"),
    ("burial", "older"): ("Seek a description of the tomb",),
    ("marriage", "civil"): ("Seek a civil marriage registration{where}", "Seek a marriage notice in a newspaper"),
    ("marriage", "parish"): (
        "Seek the marriage or its banns in the parish register{where}",
        "Seek a marriage settlement",
    ),
    ("marriage", "older"): ("Seek a marriage contract or a dispensation of the time",),
    ("parents", "civil"): ("Seek a civil birth registration that names the parents{where}",),
    ("parents", "parish"): ("Seek a baptism that names the parents", "Seek a will of the supposed parent"),
    ("parents", "older"): ("Seek a charter of the time in which parent and child appear together",),
}
"""Records to look for; `{where}` is the place, which matters for registers."""
LAST_STEP = "Compare where each source has it from: sources that copy each other count once"


def next_steps(field: FieldName, when: DateRange | None, place: str, *, has_primary: bool) -> tuple[str, ...]:
    """Records to look for; with primary evidence, first the original record itself."""
    where = f" in {place}" if place else ""
    found = [f"{step.format(where=where)}." for step in STEPS[EVENT_OF[field], _time(when)]]
    first = ["Look at the original record itself, not at a copy of it."] if has_primary else []
    return (*first, *found, f"{LAST_STEP}.")


def _time(when: DateRange | None) -> str:
    if when is None or when.last_year >= CIVIL_FROM:
        return "civil"
    return "parish" if when.last_year >= PARISH_FROM else "older"
