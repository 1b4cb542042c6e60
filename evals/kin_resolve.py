"""Resolving: are records of the same person found, and is nobody taken for somebody else?

The records are two halves of a real family tree, damaged by rules, and records without relatives that Febrl generated.
The rules were tuned on mistakes made on royal92. pres2020, Febrl and other damage to the same halves of royal92
('three') were only used for measurements. The figures of a harder split, which tears families apart, are not pinned.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from evals.data import SHARED_DATA, digest_of
from evals.kin_records import Column, link
from evals.kin_trees import Halves, split_tree
from kiwiresearch.kin.conflict_values import compare_values
from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.resolve.proposal import DEFAULT_SETTINGS, ResolveSettings
from kiwiresearch.kin.resolve.resolver import propose
from kiwiresearch.kin.tree import Tree
from kiwiresearch.text.dates import calendar as units
from kiwiresearch.text.dates.calendar import Calendar, day_number
from kiwiresearch.text.dates.ranges import DateRange

GEDCOM = SHARED_DATA / "kin" / "gedcom"


def scores(right: int, found: int, wanted: int) -> dict[str, float]:
    return {
        "precision": right / max(found, 1),
        "recall": right / max(wanted, 1),
        "f1": 2 * right / max(found + wanted, 1),
    }


def measure_tree(split: Halves, settings: ResolveSettings = DEFAULT_SETTINGS) -> dict[str, float]:
    """Pairwise figures of all proposed pairs, and of those that would be merged automatically."""
    proposals = propose(split.tree, settings=settings)
    likely = {proposal.candidate_pair for proposal in proposals if proposal.recommended_action != "separate"}
    merged = {proposal.candidate_pair for proposal in proposals if proposal.recommended_action == "merge"}
    figures = scores(len(likely & split.pairs), len(likely), len(split.pairs))
    auto = scores(len(merged & split.pairs), len(merged), len(split.pairs))
    return {**figures, "auto_precision": auto["precision"], "auto_recall": auto["recall"]}


COLUMNS = (
    Column("given_name", "name"),
    Column("surname", "name", -2.5),
    Column("street_number", "number", -1.0),
    Column("address_1", "text", -1.5),
    Column("address_2", "text", -0.8),
    Column("suburb", "text", -1.2),
    Column("postcode", "number", -1.2),
    Column("state", "text", -0.8, 0.6),
    Column("date_of_birth", "number", -2.5),
    Column("soc_sec_id", "number", -2.5),
)


def load_febrl(file: Path) -> dict[str, dict[str, str]]:
    """The rows of a Febrl file by their IDs."""
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, skipinitialspace=True))
    return {row["rec_id"].strip(): {key: (value or "").strip() for key, value in row.items()} for row in rows}


def measure_febrl_4(folder: Path) -> dict[str, float]:
    """Linking a list of originals with a list of copies: rows with the same number belong together."""
    first, second = load_febrl(folder / "dataset4a.csv"), load_febrl(folder / "dataset4b.csv")
    found = {linked.pair for linked in link(first, second, COLUMNS)}
    wanted = {(row_id, row_id.replace("-org", "-dup-0")) for row_id in first}
    return scores(len(found & wanted), len(found), len(wanted))


FEBRL = SHARED_DATA / "kin" / "febrl"
FILES = (
    *(GEDCOM / f"{name}.ged" for name in ("royal92", "pres2020")),
    *(FEBRL / f"dataset{name}.csv" for name in ("3", "4a", "4b")),
)
LAST_JULIAN_YEAR = 1752
"""The last year in which Britain used the Julian calendar."""


def measure_calendars(whole: Tree) -> dict[str, float]:
    """Whether dates that differ only in calendar or precision are accepted, and really different ones are found."""
    days = [
        when
        for person in whole.persons.values()
        for when in (person.birth, person.death)
        if when and when.precision == "day" and not when.qualifier and when.first_year <= LAST_JULIAN_YEAR
    ]
    same = [(when, other) for when in days for other in _equivalent_dates(when)]
    different = [(when, _later(when, days_later)) for when in days for days_later in (2, 400, -800)]
    return {
        "no_false_conflict": 1 - sum(map(_is_conflict, same)) / max(len(same), 1),
        "conflicts_found": sum(map(_is_conflict, different)) / max(len(different), 1),
    }


def _equivalent_dates(when: DateRange) -> Iterator[DateRange]:
    """The same day as a Julian and as a Gregorian date (as in Wikidata), its year, and the year with "about"."""
    day = when.first_day
    julian, gregorian = (day_number(*day, calendar) for calendar in CALENDARS)
    yield replace(when, earliest=julian, latest=julian, calendar="julian")
    yield replace(when, earliest=gregorian, latest=gregorian, calendar="gregorian")
    first, last = units.years(day.year, day.year)
    yield DateRange(first, last, calendar=when.calendar)
    yield DateRange(first, last, qualifier="about", calendar=when.calendar)


CALENDARS: tuple[Calendar, Calendar] = ("julian", "gregorian")


def _later(when: DateRange, days: int) -> DateRange:
    return replace(when, earliest=when.earliest + days, latest=when.latest + days)


def _is_conflict(pair: tuple[DateRange, DateRange]) -> bool:
    first, second = pair
    return compare_values("birth_date", "one", "other", first, second) == "conflict"


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The figures of the data that the rules were tuned on; those of the harder split are not pinned."""
    if not all(file.is_file() for file in FILES):
        return None
    royal = read_gedcom(FILES[0]).tree
    figures = {
        **_with_prefix("royal", measure_tree(split_tree(royal, "one"))),
        **_with_prefix("febrl_4", measure_febrl_4(FEBRL)),
        **measure_calendars(royal),
    }
    unpinned = {
        **_with_prefix("royal_scattered", measure_tree(split_tree(royal, "one", scattered=True))),
    }
    return digest_of(*FILES), figures, unpinned


def _with_prefix(name: str, figures: dict[str, float]) -> dict[str, float]:
    return {f"{name}_{figure}": value for figure, value in figures.items()}
