"""Births, deaths, marriages and the like, as preferred facts and ties tell them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.store.dates import bounds
from kiwiresearch.kin.store.standing import DEAD

Row = Mapping[str, Any]
EVENTS = ("birth", "baptism", "death", "burial")


def of_person(person: str, best: Mapping[str, Row], ties: Sequence[Row]) -> list[dict[str, Any]]:
    """What happened to one person; a marriage only where no spouse is known, as it is the tie's otherwise."""
    married = any(tie["relationship_type"] == "spouse_of" and _counts(tie) for tie in ties)
    kinds = EVENTS if married else (*EVENTS, "marriage")
    found = []
    for kind in kinds:
        day, place = best.get(f"{kind}_date"), best.get(f"{kind}_place")
        sure = [row["confidence"] for row in (day, place) if row is not None]
        if sure:
            when = day["field_value"]["when"] if day is not None else None
            where = place["field_value"]["value"] if place is not None else ""
            people = [{"person_id": person, "role": "principal"}]
            found.append(_event(kind, person, people, when, where, max(sure)))
    return found


def of_tie(tie: Row) -> list[dict[str, Any]]:
    """The marriage of a couple, and its end where it was ended by law."""
    if tie["relationship_type"] != "spouse_of" or not _counts(tie):
        return []
    people = [{"person_id": tie[end], "role": "spouse"} for end in ("person1_id", "person2_id")]
    found = [_event("marriage", tie["id"], people, tie["start"], "", tie["confidence"])]
    if tie["qualifier"] == "divorced":
        found.append(_event("divorce", tie["id"], people, tie["end"], "", tie["confidence"]))
    return found


def _counts(tie: Row) -> bool:
    return not tie["shadowed_by"] and tie["status"] not in DEAD


def _event(
    kind: str, owner: str, people: list[dict[str, str]], when: dict[str, Any] | None, place: str, confidence: float
) -> dict[str, Any]:
    days = bounds(when)
    return {
        "id": id_of("event", kind, owner),
        "owner_id": owner,
        "event_type": kind,
        "date_earliest": days.earliest,
        "date_latest": days.latest,
        "date": when,
        "place": place,
        "participants": people,
        "confidence": confidence,
    }
