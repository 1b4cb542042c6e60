"""Families: what `read_person` reads from sixty pages, against what a reader found stated on them.

A date is found where a value is as exact as the page; a coarser one that agrees is right, and finds nothing. A person
is found, and a value right, where a name fits one that the page uses. What the labels call unsure does not count.
The mistakes of the half 'held' are never listed, so that nobody fits the reading to them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from evals.data import digest_of
from evals.kin import GROUPS, SCHOOLS, Tally, fits
from kiwiresearch.kin.extract import read_person
from kiwiresearch.kin.source_facts import ExtractedFact, PersonReading
from kiwiresearch.kin.tree import PARENT_FIELDS
from kiwiresearch.page.parser import open_page
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.zim.libzim import LibzimArchive

LABELS = Path(__file__).parent / "labels" / "family_pages.jsonl"
Half = Literal["tune", "held"]
HALVES: tuple[Half, ...] = ("tune", "held")
DATES = ("birth", "death")
FIELDS = GROUPS | {"siblings": ("sibling",)}
RELATIVES = (*FIELDS, "grandparents")
PARTS = {"day": 3, "month": 2}
"""How many parts of a date its precision fixes; a year otherwise."""


@dataclass(frozen=True, slots=True)
class FamilyPage:
    """What one page states: dates, and for each relative the names that it uses."""

    path: str
    half: Half
    dates: dict[str, tuple[str, ...]]
    relatives: dict[str, tuple[tuple[str, ...], ...]]
    unsure: dict[str, tuple[str, ...]]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Recall of each kind in both halves, and precision where anything was read; beside them how many were stated."""
    if not SCHOOLS.is_file():
        return None
    tallies = {f"{half}_{kind}": one for half in HALVES for kind, one in tally(half).items()}
    figures = {f"{name}_recall": one.recall for name, one in tallies.items()}
    figures |= {f"{name}_precision": one.precision for name, one in tallies.items() if one.right or one.wrong}
    return digest_of(LABELS, SCHOOLS), figures, {f"{name}_stated": float(one.stated) for name, one in tallies.items()}


def tally(half: Half) -> dict[str, Tally]:
    """The counts of each kind over the pages of a half."""
    tallies = {kind: Tally() for kind in (*DATES, *RELATIVES)}
    archive = LibzimArchive(SCHOOLS)
    for page in family_pages():
        if page.half == half:
            count(page, read_person(open_page(archive, page.path)), tallies)
    archive.close()
    return tallies


def family_pages() -> Iterator[FamilyPage]:
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        unsure: dict[str, tuple[str, ...]] = defaultdict(tuple)
        for one in row["unsure"]:
            unsure[one["field"]] += tuple(one["names"])
        yield FamilyPage(
            row["path"],
            row["half"],
            {kind: tuple(row[kind]) for kind in DATES},
            {kind: tuple(map(tuple, row[kind])) for kind in RELATIVES},
            unsure,
        )


def count(page: FamilyPage, person: PersonReading, tallies: dict[str, Tally]) -> None:
    """Count what was read from one page."""
    for kind in DATES:
        _dates(page, person, kind, tallies[kind])
    for kind in RELATIVES:
        _relatives(page, person, kind, tallies[kind])


def _dates(page: FamilyPage, person: PersonReading, kind: str, one: Tally) -> None:
    stated = page.dates[kind]
    found = {fact.when: fact.value for fact in person.facts if fact.field == f"{kind}_date" and fact.when}
    for when, value in found.items():
        if any(agrees(when, date) for date in stated):
            one.right += 1
        elif not any(agrees(when, date) for date in page.unsure.get(kind, ())):
            one.wrong.append(f"{page.path}: {kind} {value!r}, stated {list(stated)}")
    one.stated += bool(stated)
    if stated and not any(agrees(when, date, exactly=True) for when in found for date in stated):
        one.missed.append(f"{page.path}: {kind} {list(stated)}, read {list(found.values())}")


def agrees(when: DateRange, date: str, *, exactly: bool = False) -> bool:
    """Whether a value agrees with a date and claims no more than it; if `exactly`, no less either."""
    sign, digits = (-1, date[1:]) if date.startswith("-") else (1, date)
    year, *rest = (int(part) for part in digits.split("-"))
    parts = (sign * year, *rest)
    known = PARTS.get(when.precision, 1)
    if known > len(parts) or (exactly and known < len(parts)):
        return False
    if known == 1:
        return when.first_year <= parts[0] <= when.last_year
    first = when.first_day
    return (first.year, first.month, first.day)[:known] == parts[:known]


def _relatives(page: FamilyPage, person: PersonReading, kind: str, one: Tally) -> None:
    wanted = page.relatives[kind]
    found = list(dict.fromkeys(_read(person, kind)))
    for value in found:
        if any(_is_one_of(value, names, person) for names in wanted):
            one.right += 1
        elif not _is_one_of(value, page.unsure.get(kind, ()), person):
            one.wrong.append(f"{page.path}: {kind} {value!r}, stated {[names[0] for names in wanted]}")
    one.stated += len(wanted)
    one.missed += [
        f"{page.path}: {kind} {names[0]!r}"
        for names in wanted
        if not any(_is_one_of(value, names, person) for value in found)
    ]


def _read(person: PersonReading, kind: str) -> Iterator[str]:
    """The names read for a kind; grandparents are the parents that a passage gives a parent, or facts of their own."""
    fields: Sequence[str] = FIELDS.get(kind, (*PARENT_FIELDS, "grandparent"))
    facts: Iterator[ExtractedFact] = iter(person.facts)
    if kind == "grandparents":
        above = (more for fact in person.facts if fact.field in PARENT_FIELDS for more in fact.relative_facts)
        facts = chain(above, (fact for fact in person.facts if fact.field == "grandparent"))
    return (fact.value for fact in facts if fact.field in fields)


def _is_one_of(value: str, names: Sequence[str], person: PersonReading) -> bool:
    return any(fits(value, name, person.name) for name in names)


def main() -> None:
    """Print the figures of both halves, and the mistakes of the first."""
    for half in HALVES:
        tallies = tally(half)
        for kind, one in tallies.items():
            found = one.right + len(one.wrong)
            print(f"{half} {kind:12} precision {one.precision:.3f} of {found}  recall {one.recall:.3f} of {one.stated}")
        for one in tallies.values() if half == "tune" else ():
            for line in one.wrong:
                print(f"  wrong  {line}")
            for line in one.missed:
                print(f"  missed {line}")


if __name__ == "__main__":
    main()
