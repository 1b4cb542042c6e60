"""The records that would settle a conflict, by its field and the time of the event."""

from __future__ import annotations

from kiwiresearch.kin.tree import FieldName
from kiwiresearch.messages import Message
from kiwiresearch.text.dates import DateRange

CIVIL_FROM, PARISH_FROM = 1840, 1540
"""Roughly when states, and before them parishes, began to register people in most of Europe."""

RecordedEvent = str
EVENT_OF: dict[FieldName, RecordedEvent] = {
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


def next_steps(field: FieldName, when: DateRange | None, place: str, *, has_primary: bool) -> tuple[Message, ...]:
    """Records to look for; with primary evidence, first the original record itself."""
    found = _records(EVENT_OF[field], _time(when), place)
    first = [Message("Check the original record, not a copy.", "lookup.original")] if has_primary else []
    text = "Check where each source got it from: sources that copy each other count only once."
    return (*first, *found, Message(text, "lookup.origins"))


def _records(event: RecordedEvent, time: str, place: str) -> tuple[Message, ...]:
    """The records that may exist of an event."""
    match event, time:
        case "birth", "civil":
            return _civil_birth(place), Message("Look for a census record that gives the age.", "lookup.census")
        case ("birth", "parish") | ("baptism", "civil" | "parish"):
            return (_parish_baptism(place),)
        case "birth", _:
            text = "Look for a chronicle or charter from the time that records the birth."
            return (Message(text, "lookup.chronicle_birth"),)
        case "baptism", _:
            text = "Look for a chronicle from the time that records the baptism."
            return (Message(text, "lookup.chronicle_baptism"),)
        case "death", "civil":
            return _civil_death(place), Message("Look for an obituary or a probate record.", "lookup.obituary")
        case "death", "parish":
            return _parish_burial(place), Message("Look for a will or a probate record.", "lookup.will")
        case "death", _:
            text = "Look for a chronicle, an obituary roll or an inquisition post mortem."
            return (Message(text, "lookup.chronicle_death"),)
        case "burial", "civil" | "parish":
            register = _cemetery(place) if time == "civil" else _parish_burial(place)
            return register, Message("Look for a photo of the gravestone.", "lookup.gravestone")
        case "burial", _:
            return (Message("Look for a description of the tomb.", "lookup.tomb"),)
        # Nobody knows where a marriage took place if sources disagree on it, so its records have no place.
        case "marriage", "civil":
            register = Message("Look for the civil marriage registration.", "lookup.civil_marriage")
            return register, Message("Look for a marriage notice in a newspaper.", "lookup.marriage_notice")
        case "marriage", "parish":
            text = "Look for the marriage or banns in the parish register."
            settlement = Message("Look for a marriage settlement.", "lookup.marriage_settlement")
            return Message(text, "lookup.parish_marriage"), settlement
        case "marriage", _:
            text = "Look for a marriage contract or a dispensation from the time."
            return (Message(text, "lookup.marriage_contract"),)
        case "parents", "civil":
            return (_civil_parents(place),)
        case "parents", "parish":
            baptism = Message("Look for a baptism record that names the parents.", "lookup.parish_parents")
            return baptism, Message("Look for the presumed parent’s will.", "lookup.will_of_parent")
        case _:
            text = "Look for a charter from the time that names parent and child together."
            return (Message(text, "lookup.charter_parents"),)


def _civil_birth(place: str) -> Message:
    if place:
        return Message(f"Look for the civil birth registration in {place}.", "lookup.civil_birth_in", place=place)
    return Message("Look for the civil birth registration.", "lookup.civil_birth")


def _civil_death(place: str) -> Message:
    if place:
        return Message(f"Look for the civil death registration in {place}.", "lookup.civil_death_in", place=place)
    return Message("Look for the civil death registration.", "lookup.civil_death")


def _civil_parents(place: str) -> Message:
    if place:
        text = f"Look for a civil birth registration in {place} that names the parents."
        return Message(text, "lookup.civil_parents_in", place=place)
    return Message("Look for a civil birth registration that names the parents.", "lookup.civil_parents")


def _parish_baptism(place: str) -> Message:
    if place:
        text = f"Look for the baptism in the parish register in {place}."
        return Message(text, "lookup.parish_baptism_in", place=place)
    return Message("Look for the baptism in the parish register.", "lookup.parish_baptism")


def _parish_burial(place: str) -> Message:
    if place:
        text = f"Look for the burial in the parish register in {place}."
        return Message(text, "lookup.parish_burial_in", place=place)
    return Message("Look for the burial in the parish register.", "lookup.parish_burial")


def _cemetery(place: str) -> Message:
    if place:
        return Message(f"Look for the cemetery register in {place}.", "lookup.cemetery_in", place=place)
    return Message("Look for the cemetery register.", "lookup.cemetery")


def _time(when: DateRange | None) -> str:
    # Without a date, the records of the time for which most families are researched.
    if when is None or when.last_year >= CIVIL_FROM:
        return "civil"
    return "parish" if when.last_year >= PARISH_FROM else "older"
