"""Families: what `read_person` reads from sixty pages, against what an annotator found stated on them.

A date is found if a value is as exact as the page. A less exact value that agrees is right, but does not find the date.
A person is found, and a value is right, if a name matches one that the page uses. What the labels call unsure does not
count. Mistakes in the half 'held' are never listed, so that nobody tunes the reading on them.
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
from evals.kin import GROUPS, SCHOOLS, Tally, names_match
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
PARTS_KNOWN = {"day": 3, "month": 2}
"""How many parts of a date are known at a precision; only the year for any other."""


@dataclass(frozen=True, slots=True)
class FamilyPage:
    """What one page states: dates, and the names that it uses for each relative."""

    path: str
    half: Half
    dates: dict[str, tuple[str, ...]]
    relatives: dict[str, tuple[tuple[str, ...], ...]]
    unsure: dict[str, tuple[str, ...]]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Recall of each kind in both halves, and precision where anything was read; the counts are not pinned."""
    if not SCHOOLS.is_file():
        return None
    tallies = {f"{half}_{kind}": kind_tally for half in HALVES for kind, kind_tally in tally(half).items()}
    figures = {f"{name}_recall": kind_tally.recall for name, kind_tally in tallies.items()}
    figures |= {
        f"{name}_precision": kind_tally.precision
        for name, kind_tally in tallies.items()
        if kind_tally.right or kind_tally.wrong
    }
    return (
        digest_of(LABELS, SCHOOLS),
        figures,
        {f"{name}_stated": float(kind_tally.stated) for name, kind_tally in tallies.items()},
    )


def tally(half: Half) -> dict[str, Tally]:
    """The counts of each kind over the pages of a half."""
    tallies = {kind: Tally() for kind in (*DATES, *RELATIVES)}
    archive = LibzimArchive(SCHOOLS)
    for page in family_pages():
        if page.half == half:
            count_page(page, read_person(open_page(archive, page.path)), tallies)
    archive.close()
    return tallies


def family_pages() -> Iterator[FamilyPage]:
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        unsure: dict[str, tuple[str, ...]] = defaultdict(tuple)
        for value in row["unsure"]:
            unsure[value["field"]] += tuple(value["names"])
        yield FamilyPage(
            row["path"],
            row["half"],
            {kind: tuple(row[kind]) for kind in DATES},
            {kind: tuple(map(tuple, row[kind])) for kind in RELATIVES},
            unsure,
        )


def count_page(page: FamilyPage, person: PersonReading, tallies: dict[str, Tally]) -> None:
    """Count what was read from one page."""
    for kind in DATES:
        _count_dates(page, person, kind, tallies[kind])
    for kind in RELATIVES:
        _count_relatives(page, person, kind, tallies[kind])


def _count_dates(page: FamilyPage, person: PersonReading, kind: str, tally: Tally) -> None:
    stated = page.dates[kind]
    found = {fact.when: fact.value for fact in person.facts if fact.field == f"{kind}_date" and fact.when}
    for when, value in found.items():
        if any(agrees(when, date) for date in stated):
            tally.right += 1
        elif not any(agrees(when, date) for date in page.unsure.get(kind, ())):
            tally.wrong.append(f"{page.path}: {kind} {value!r}, stated {list(stated)}")
    tally.stated += bool(stated)
    if stated and not any(agrees(when, date, exactly=True) for when in found for date in stated):
        tally.missed.append(f"{page.path}: {kind} {list(stated)}, read {list(found.values())}")


def agrees(when: DateRange, date: str, *, exactly: bool = False) -> bool:
    """Whether a value agrees with a date and is not more exact; if `exactly`, also not less exact."""
    sign, digits = (-1, date[1:]) if date.startswith("-") else (1, date)
    year, *rest = (int(part) for part in digits.split("-"))
    parts = (sign * year, *rest)
    known = PARTS_KNOWN.get(when.precision, 1)
    if known > len(parts) or (exactly and known < len(parts)):
        return False
    if known == 1:
        return when.first_year <= parts[0] <= when.last_year
    first = when.first_day
    return (first.year, first.month, first.day)[:known] == parts[:known]


def _count_relatives(page: FamilyPage, person: PersonReading, kind: str, tally: Tally) -> None:
    stated = page.relatives[kind]
    found = list(dict.fromkeys(_names_read(person, kind)))
    for value in found:
        if any(_matches_any(value, names, person) for names in stated):
            tally.right += 1
        elif not _matches_any(value, page.unsure.get(kind, ()), person):
            tally.wrong.append(f"{page.path}: {kind} {value!r}, stated {[names[0] for names in stated]}")
    tally.stated += len(stated)
    tally.missed += [
        f"{page.path}: {kind} {names[0]!r}"
        for names in stated
        if not any(_matches_any(value, names, person) for value in found)
    ]


def _names_read(person: PersonReading, kind: str) -> Iterator[str]:
    """The names read for a kind of relative; grandparents are also read as parents of a parent."""
    fields: Sequence[str] = FIELDS.get(kind, (*PARENT_FIELDS, "grandparent"))
    facts: Iterator[ExtractedFact] = iter(person.facts)
    if kind == "grandparents":
        parents_of_parents = (
            fact_of_parent
            for fact in person.facts
            if fact.field in PARENT_FIELDS
            for fact_of_parent in fact.relative_facts
        )
        facts = chain(parents_of_parents, (fact for fact in person.facts if fact.field == "grandparent"))
    return (fact.value for fact in facts if fact.field in fields)


def _matches_any(value: str, names: Sequence[str], person: PersonReading) -> bool:
    return any(names_match(value, name, person.name) for name in names)


def main() -> None:
    """Print the figures of both halves, and the mistakes of the first."""
    for half in HALVES:
        tallies = tally(half)
        for kind, kind_tally in tallies.items():
            found = kind_tally.right + len(kind_tally.wrong)
            precision = f"precision {kind_tally.precision:.3f} of {found}"
            print(f"{half} {kind:12} {precision}  recall {kind_tally.recall:.3f} of {kind_tally.stated}")
        for kind_tally in tallies.values() if half == "tune" else ():
            for line in kind_tally.wrong:
                print(f"  wrong  {line}")
            for line in kind_tally.missed:
                print(f"  missed {line}")


if __name__ == "__main__":
    main()
