"""The words of family research: which facts there are, how they are known, and what becomes of them."""

from __future__ import annotations

from typing import Literal

FieldName = Literal[
    "name",
    "sex",
    "birth_date",
    "birth_place",
    "baptism_date",
    "baptism_place",
    "death_date",
    "death_place",
    "burial_date",
    "burial_place",
    "marriage_date",
    "marriage_place",
    "occupation",
    "title",
    "father",
    "mother",
    "parent",
    "spouse",
    "partner",
    "child",
    "sibling",
]
DATES: frozenset[FieldName] = frozenset({"birth_date", "baptism_date", "death_date", "burial_date", "marriage_date"})
PLACES: frozenset[FieldName] = frozenset(
    {"birth_place", "baptism_place", "death_place", "burial_place", "marriage_place"}
)
RELATIONS: frozenset[FieldName] = frozenset({"father", "mother", "parent", "spouse", "partner", "child", "sibling"})

Sex = Literal["male", "female", ""]
Living = Literal["living", "deceased", "unknown"]
"""Unknown counts as living wherever it matters."""

Qualifier = Literal["", "biological", "adoptive", "step", "foster", "half", "illegitimate", "disputed", "divorced"]
Method = Literal["infobox", "lead", "prose", "plugin", "wikidata", "gedcom", "model", "user"]
Status = Literal["verified", "unverified", "conflicting", "disputed", "rejected", "hypothesis", "superseded"]

Form = Literal["original", "derivative", "authored"]
Information = Literal["primary", "secondary", "undetermined"]
Directness = Literal["direct", "indirect", "negative"]

RelationKind = Literal["parent_of", "spouse_of", "partner_of", "sibling_of"]
"""`parent_of` goes from the parent to the child; the others have no direction."""
