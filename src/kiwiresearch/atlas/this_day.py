"""What a book dates to a day: for each day of the year the events, births and deaths of all years."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kiwiresearch.atlas.atlas import Atlas, Recipe
from kiwiresearch.atlas.database import (
    AtlasDatabase,
    Condition,
    ResultSlice,
    ResultWindow,
    Row,
    save_query,
    select_page,
    sql_title_of_path,
)
from kiwiresearch.bulk import BookIdentity
from kiwiresearch.text.dates import DateRange, DateText, calendar_year, years

MAX_LIFE_YEARS = 110
"""Somebody born longer ago is not living; births of others without a date of death are not listed."""
DAY = r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}"
"""A single day in EDTF, without a sign that says that it is uncertain."""
COLUMNS = ("kind", "path", "title", "text", "section", "start", "end", "disputed", "year")


def _make(database: AtlasDatabase, folder: Path, _book: BookIdentity) -> None:
    """One row for each page and day; sorted by day, so that the rows of one day lie together in the file."""
    titles = next((table for table in ("titles", "pages") if database.has(table)), "")
    title = "coalesce(t.title, a.page_title)" if titles else "a.page_title"
    joined = f"LEFT JOIN (SELECT path, any_value(title) AS title FROM {titles} GROUP BY path) t USING (path)"
    people = f"UNION ALL {PEOPLE}" if database.has("people") else ""
    # Of '-0044-03-15', the last five characters are the day and all but the last six the year.
    save_query(
        database,
        folder,
        "days",
        f"""WITH all_days AS ({CLAIMS} {people})
        SELECT right(edtf, 5) AS day, left(edtf, -6)::BIGINT AS year, a.* EXCLUDE (edtf, page_title, is_own, number),
            {title} AS title
        FROM all_days a {joined if titles else ""}
        QUALIFY row_number() OVER (PARTITION BY path, edtf ORDER BY is_own DESC, kind, number) = 1
        ORDER BY day, earliest, path""",
    )


CLAIMS = f"""SELECT 'event' AS kind, path, {sql_title_of_path("path")} AS page_title, claim AS text, section,
    start, "end", disputed, earliest, edtf, claim_type = 'timeline' AS is_own, number, true AS is_past_life
FROM claims WHERE earliest = latest AND regexp_full_match(edtf, '{DAY}')"""
PEOPLE = f"""SELECT if(field = 'birth_date', 'birth', 'death') AS kind, path, name AS page_title, name AS text,
    '' AS section, start, "end", false AS disputed, earliest, edtf, false AS is_own, number,
    field = 'death_date' OR entry IN (SELECT entry FROM people WHERE field = 'death_date') AS is_past_life
FROM people WHERE field IN ('birth_date', 'death_date') AND earliest = latest AND regexp_full_match(edtf, '{DAY}')"""

DAYS = Recipe("days", ("days",), ("claims",), _make, optional=("titles", "pages", "people"))


def events_on(atlas: Atlas, month: int, day: int, this_year: int, window: ResultWindow) -> ResultSlice:
    """What happened on a day of the year, the earliest year first; births only of people who cannot be living."""
    chosen: list[Condition] = [
        ("day = ?", [f"{month:02}-{day:02}"]),
        ("is_past_life OR year < ?", [this_year - MAX_LIFE_YEARS]),
    ]
    with atlas.database(files=atlas.files(DAYS)) as database:
        found = select_page(database, "days", chosen, "earliest, path", window, COLUMNS)
    return replace(found, rows=tuple(map(_shown, found.rows)))


def _shown(row: Mapping[str, Any]) -> Row:
    """A row with its year in words; EDTF counts 1 BC as year 0."""
    year = calendar_year(int(row["year"]))
    return {**row, "year": year, "when": DateText(DateRange(*years(year, year)))}
