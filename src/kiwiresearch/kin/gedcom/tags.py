"""Which GEDCOM tags and phrases mean which facts: one table for reading and writing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from kiwiresearch.kin.tree import FieldName, Qualifier


class EventFields(NamedTuple):
    """The facts with the date and the place of an event."""

    date: FieldName
    place: FieldName


BIRTH = EventFields("birth_date", "birth_place")
BAPTISM = EventFields("baptism_date", "baptism_place")
DEATH = EventFields("death_date", "death_place")
BURIAL = EventFields("burial_date", "burial_place")
MARRIAGE = EventFields("marriage_date", "marriage_place")

EVENTS: dict[str, EventFields] = {"BIRT": BIRTH, "BAPM": BAPTISM, "DEAT": DEATH, "BURI": BURIAL}
"""In the order they are written."""
EVENT_TAGS = frozenset(
    tomllib.loads((Path(__file__).with_name("data") / "versions.toml").read_text(encoding="utf-8"))["events"]
)
"""Events and attributes, which have a date and a place."""
READ_EVENTS = EVENTS | {"CHR": BAPTISM}
ATTRIBUTES: dict[str, FieldName] = {"OCCU": "occupation", "TITL": "title"}
MARRIED = "Marriage"
"""The event type for a marriage whose spouse is unknown."""
PARTNERS = "Partners"
"""The event type for a couple who lived together, married or not."""
UNION_ENDED = "End of the union"
"""The event type for the end of a union other than a divorce."""
NO_UNION = "The file does not say whether the parents were a couple."
"""The note of a family record that only says who the parents of a child are."""
PROGRAM = "kiwiresearch"
"""The program that wrote a file, in its header."""
SIBLING = "Sibling"
NAME_FORMS = ("NICK", "_MARNM", "_AKA", "ROMN", "FONE", "TRAN")
"""Other forms of a name, below it."""
DEATH_TAGS = ("DEAT", "BURI", "CREM", "PROB")
"""Events that only the dead have."""

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
"""Qualifiers that GEDCOM cannot express, written as notes."""
NOT_MARRIED = frozenset({"partners", "unmarried", "not married", "never married", "common law", "unknown", "friends"})

MARRIAGE_NOT_STATED = "A family record without a marriage."
SOURCE_WITHOUT_TEXT = "The file names this source without quoting it."
"""Rationales of evidence that must not be upgraded when written."""

QUALITY = {"3": 0.85, "2": 0.65, "1": 0.4, "0": 0.2}
"""The reliability of each QUAY, the best first."""
# A citation without QUAY counts as one with QUAY 1.
UNRATED = 0.4


def quality_mark(reliability: float) -> str:
    """The QUAY of a piece of evidence."""
    return next((mark for mark, least in QUALITY.items() if reliability >= least), "0")


UID, UNTYPED = "uid", "refn"
"""The kinds of an identifier that stays the same in all versions of a file, and of a number without a type."""

RESTRICTED = ("confidential", "privacy")


def is_for_owner(notice: str) -> bool:
    """Whether a RESN says that only the owner of the file may see what it is about."""
    return any(word in notice.lower() for word in RESTRICTED)


def is_address(kind: str) -> bool:
    """Whether the kind of an identifier is the address of who gives it."""
    return "://" in kind


def plain_name(written: str) -> str:
    """A name without its slashes."""
    return " ".join(written.replace("/", " ").split()).replace(" ,", ",")
