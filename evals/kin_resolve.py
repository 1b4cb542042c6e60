"""Resolving: are records of one person found, and nobody taken for somebody else?

Two halves of a real family tree, damaged by rule; and person records without
relatives, made by Febrl. The rules were tuned on mistakes made on royal92; pres2020,
Febrl and other damage to the same halves of royal92 ('three') were only measured.
Beside them stands the harder split, which tears families apart.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from evals.data import SHARED_DATA, digest_of
from evals.kin_records import Column, link
from evals.kin_trees import Halves, halves
from kiwiresearch.kin.conflict_values import compare_values
from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.resolve.proposal import DEFAULT_SETTINGS, ResolveSettings
from kiwiresearch.kin.resolve.resolver import propose
from kiwiresearch.kin.tree import Tree
from kiwiresearch.text.dates import calendar as units
from kiwiresearch.text.dates.calendar import Calendar, day_number
from kiwiresearch.text.dates.ranges import DateRange

GEDCOM = SHARED_DATA / "kin" / "gedcom"


def shares(right: int, found: int, wanted: int) -> dict[str, float]:
    return {
        "precision": right / max(found, 1),
        "recall": right / max(wanted, 1),
        "f1": 2 * right / max(found + wanted, 1),
    }


def tree_figures(split: Halves, settings: ResolveSettings = DEFAULT_SETTINGS) -> dict[str, float]:
    """Pairwise figures of all pairs worth a look, and of those that would be merged unattended."""
    proposals = propose(split.tree, settings=settings)
    likely = {one.candidate_pair for one in proposals if one.recommended_action != "separate"}
    merged = {one.candidate_pair for one in proposals if one.recommended_action == "merge"}
    figures = shares(len(likely & split.pairs), len(likely), len(split.pairs))
    auto = shares(len(merged & split.pairs), len(merged), len(split.pairs))
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


def rows_of(file: Path) -> dict[str, dict[str, str]]:
    """A Febrl file, by the ids of its rows."""
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, skipinitialspace=True))
    return {row["rec_id"].strip(): {key: (value or "").strip() for key, value in row.items()} for row in rows}


def febrl_4(folder: Path) -> dict[str, float]:
    """Originals against copies: rows of the same number belong together."""
    first, second = rows_of(folder / "dataset4a.csv"), rows_of(folder / "dataset4b.csv")
    found = {one.pair for one in link(first, second, COLUMNS)}
    wanted = {(one, one.replace("-org", "-dup-0")) for one in first}
    return shares(len(found & wanted), len(found), len(wanted))


def febrl_3(folder: Path) -> dict[str, float]:
    """One list with up to five copies of a row."""
    rows = rows_of(folder / "dataset3.csv")
    found = {one.pair for one in link(rows, None, COLUMNS)}
    same: dict[str, list[str]] = {}
    for one in sorted(rows):
        same.setdefault(one.split("-")[1], []).append(one)
    wanted = {pair for group in same.values() for pair in combinations(group, 2)}
    return shares(len(found & wanted), len(found), len(wanted))


FEBRL = SHARED_DATA / "kin" / "febrl"
FILES = (
    *(GEDCOM / f"{name}.ged" for name in ("royal92", "pres2020")),
    *(FEBRL / f"dataset{name}.csv" for name in ("3", "4a", "4b")),
)
LAST_OLD_STYLE = 1752
"""Until then Britain wrote dates in the Julian calendar."""


def calendar_figures(whole: Tree) -> dict[str, float]:
    """Dates as two sources write them: what only differs in calendar or precision, and what really differs."""
    days = [
        when
        for person in whole.persons.values()
        for when in (person.birth, person.death)
        if when and when.precision == "day" and not when.qualifier and when.first_year <= LAST_OLD_STYLE
    ]
    same = [(when, other) for when in days for other in _other_writings(when)]
    different = [(when, _later(when, by)) for when in days for by in (2, 400, -800)]
    return {
        "no_false_conflict": 1 - sum(map(_is_conflict, same)) / max(len(same), 1),
        "conflicts_found": sum(map(_is_conflict, different)) / max(len(different), 1),
    }


def _other_writings(when: DateRange) -> Iterator[DateRange]:
    """The same day as a Gregorian date, as Wikidata gives it; its year; and the year with 'about'."""
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
    one, other = pair
    return compare_values("birth_date", "one", "other", one, other) == "conflict"


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """What the rules were tuned on, with floors; beside it, what they were not."""
    if not all(file.is_file() for file in FILES):
        return None
    royal = read_gedcom(FILES[0]).tree
    figures = {
        **_named("royal", tree_figures(halves(royal, "one"))),
        **_named("febrl_4", febrl_4(FEBRL)),
        **calendar_figures(royal),
    }
    beside = {
        **_named("royal_scattered", tree_figures(halves(royal, "one", scattered=True))),
    }
    return digest_of(*FILES), figures, beside


def _named(name: str, figures: dict[str, float]) -> dict[str, float]:
    return {f"{name}_{figure}": value for figure, value in figures.items()}
