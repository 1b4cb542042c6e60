"""Which GEDCOM tags and phrases mean which facts: one table for reading and writing."""

from __future__ import annotations

from typing import NamedTuple

from kiwiresearch.kin.tree import FieldName, Qualifier


class EventFields(NamedTuple):
    """The facts that hold the date and the place of an event."""

    date: FieldName
    place: FieldName


BIRTH = EventFields("birth_date", "birth_place")
BAPTISM = EventFields("baptism_date", "baptism_place")
DEATH = EventFields("death_date", "death_place")
BURIAL = EventFields("burial_date", "burial_place")
MARRIAGE = EventFields("marriage_date", "marriage_place")

EVENTS: dict[str, EventFields] = {"BIRT": BIRTH, "BAPM": BAPTISM, "DEAT": DEATH, "BURI": BURIAL}
"""As they are written, in this order."""
READ_EVENTS = EVENTS | {"CHR": BAPTISM}
ATTRIBUTES: dict[str, FieldName] = {"OCCU": "occupation", "TITL": "title"}
MARRIED = "Marriage"
"""The type of an event of one person who married, we do not know whom."""
PARTNERS = "Partners"
"""The type of an event of two people who lived together, married or not."""
UNION_ENDED = "End of the union"
"""The type of an event that ended a union, and was no divorce."""
NO_UNION = "Whether the parents were a couple is not told."
"""The note of a family record that only says who the parents of a child are."""
SIBLING = "Sibling"
DEATHS = ("DEAT", "BURI", "CREM", "PROB")
"""What happens to the dead alone."""

PEDIGREES: dict[str, Qualifier] = {
    "birth": "biological",
    "natural": "biological",
    "biological": "biological",
    "adopted": "adoptive",
    "adopt": "adoptive",
    "foster": "foster",
    "step": "step",
}
OTHER_QUALIFIERS: tuple[Qualifier, ...] = ("step", "half", "illegitimate", "disputed")
"""Qualifiers that GEDCOM has no word for, and that are written as notes."""
NOT_MARRIED = frozenset({"partners", "unmarried", "not married", "never married", "common law", "unknown", "friends"})

MARRIAGE_NOT_STATED = "A family record that tells of no marriage."
SOURCE_WITHOUT_TEXT = "The file names this source without its words."
"""Reasons of evidence that writing must not take for more than they are."""

QUALITY = {"3": 0.85, "2": 0.65, "1": 0.4, "0": 0.2}
"""How reliable each QUAY is, the best first."""
UNRATED = 0.4


def quality_mark(reliability: float) -> str:
    """The QUAY of a piece of evidence."""
    return next((mark for mark, least in QUALITY.items() if reliability >= least), "0")
