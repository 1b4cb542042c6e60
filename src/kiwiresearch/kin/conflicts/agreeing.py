"""Whether two values of a field can both be right: other precision, calendar, spelling or width is no conflict."""

from __future__ import annotations

from typing import Literal

from rapidfuzz.distance import JaroWinkler

from kiwiresearch.kin.conflicts.wide_places import WIDE
from kiwiresearch.kin.fields import DATES, PLACES, FieldName
from kiwiresearch.kin.names import same_name
from kiwiresearch.text.fold import fold
from kiwiresearch.text.when import DateRange, dates_in, relation

Standing = Literal["identical", "subsumed", "calendar", "overlap", "variant", "incomparable", "conflict"]
"""How two values stand to each other; only 'conflict' means that one of them is wrong."""

SPELLED_ALIKE = 0.93
SINGLE: tuple[FieldName, ...] = (
    "sex",
    "birth_date",
    "birth_place",
    "baptism_date",
    "baptism_place",
    "death_date",
    "death_place",
    "burial_date",
    "burial_place",
    "father",
    "mother",
)
"""What a person has one of. Names, titles and children may be many without any conflict."""
OF_ONE_MARRIAGE: tuple[FieldName, ...] = ("marriage_date", "marriage_place")
"""What a person has one of who married once."""
BOTH_WEDDINGS = 31
"""Days within which a couple may have married twice, at the registry and in church."""

_OF_RELATION: dict[str, Standing] = {
    "same": "identical",
    "within": "subsumed",
    "overlap": "overlap",
    "calendar": "calendar",
    "apart": "conflict",
}


def standing(
    field: FieldName, one: str, other: str, when: DateRange | None = None, other_when: DateRange | None = None
) -> Standing:
    """How two values of a field stand to each other."""
    if fold(one) == fold(other):
        return "identical"
    if field in DATES:
        first, second = when or _date_in(one), other_when or _date_in(other)
        if first is None or second is None:
            return "incomparable"
        found = _OF_RELATION[relation(first, second)]
        is_near = abs(first.earliest - second.earliest) <= BOTH_WEDDINGS
        return "overlap" if field == "marriage_date" and found == "conflict" and is_near else found
    if field in PLACES:
        return _places(one, other)
    if field in ("father", "mother", "parent"):
        return "variant" if same_name(one, other) or _is_part(one, other) else "conflict"
    return "conflict"


def _date_in(value: str) -> DateRange | None:
    found = dates_in(value)
    return found[0].when if found else None


def _is_part(one: str, other: str) -> bool:
    """'John' may be 'John of Gaunt', and 'Mary' 'Queen Mary'."""
    words, others = set(fold(one).split()), set(fold(other).split())
    return bool(words and others) and (words <= others or others <= words)


def _places(one: str, other: str) -> Standing:
    first, second = _parts(one), _parts(other)
    if not first or not second:
        return "incomparable"
    narrow, wide = first[0], second[0]
    if _alike(narrow, wide):
        return "variant"
    if any(_alike(narrow, part) for part in second) or any(_alike(wide, part) for part in first):
        return "subsumed"
    if set(narrow.split()) <= set(" ".join(second).split()) or set(wide.split()) <= set(" ".join(first).split()):
        return "subsumed"
    countries = [{part for part in parts if part in WIDE} for parts in (first, second)]
    is_bare = any(all(part in WIDE for part in parts) for parts in (first, second))
    if is_bare and not all(countries):
        # Which country a town lies in takes a gazetteer to know.
        return "incomparable"
    return "conflict"


def _parts(place: str) -> list[str]:
    return [part for part in map(fold, place.replace(";", ",").replace("\n", ",").split(",")) if part]


def _alike(one: str, other: str) -> bool:
    return one == other or float(JaroWinkler.similarity(one, other)) >= SPELLED_ALIKE
