"""On this day: what a book dates to a day of the year, of all years."""

from __future__ import annotations

from pathlib import Path

from kiwiresearch.atlas import ResultWindow
from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import open_database, parquet_source
from kiwiresearch.atlas.this_day import DAYS, events_on
from kiwiresearch.bulk import BookIdentity
from kiwiresearch.ids import BookId


def on(atlas: Atlas, month: int, day: int, this_year: int = 2026) -> list[tuple[int, str]]:
    found = events_on(atlas, month, day, this_year, ResultWindow(limit=100))
    return [(row["year"], row["title"]) for row in found.rows]


def test_events_of_a_day_come_by_year_and_each_page_once(elm_atlas: Atlas) -> None:
    """Ada Rowe was born on 3 May 1815 or 1816, as her page says in two places; her death is shown once."""
    assert on(elm_atlas, 6, 9) == [(1885, "Ada Rowe")]
    assert (1815, "Ada Rowe") in on(elm_atlas, 5, 3)
    assert on(elm_atlas, 5, 4) == on(elm_atlas, 2, 29) == []
    (death,) = events_on(elm_atlas, 6, 9, 2026, ResultWindow()).rows
    assert death["end"] > death["start"] >= 0
    assert str(death["when"]) == "1885"


def test_of_two_places_that_give_a_birth_the_first_on_the_page_is_kept(tmp_path: Path) -> None:
    """Whatever the order of the rows: the same tables give the same days."""
    with open_database("elm", {}, tmp_path) as database:
        database._tables = ("people", "claims")
        columns = "'Ada' AS path, 1 AS entry, 'Ada' AS name, '1815-05-03' AS edtf, 1 AS earliest, 1 AS latest"
        database.execute(
            f"""CREATE TABLE people AS SELECT {columns}, 'birth_date' AS field, number, number * 10 AS start,
            number * 10 + 5 AS "end" FROM (SELECT 30 - range AS number FROM range(30))"""
        )
        database.execute("""CREATE TABLE claims AS SELECT path, '' AS claim, '' AS section, start, "end",
            false AS disputed, earliest, latest, edtf, '' AS claim_type, number FROM people WHERE false""")
        DAYS.make(database, tmp_path, BookIdentity(BookId("elm"), "", "", "", "", "", ""))
        (row,) = database.rows(f"SELECT start FROM {parquet_source([tmp_path / 'days.parquet'])}")
    assert row["start"] == 10


def test_only_days_are_listed_and_no_years(elm_atlas: Atlas) -> None:
    """What is dated to a year ('founded in 1204') has no day to be remembered on."""
    with elm_atlas.database(files=elm_atlas.files(DAYS)) as database:
        days = [day for (day,) in database.stream("SELECT day FROM days")]
    assert days == sorted(days)
    assert "01-01" not in days
    assert on(elm_atlas, 1, 1) == on(elm_atlas, 12, 31) == []


def test_births_of_people_who_may_be_living_are_not_listed(elm_atlas: Atlas) -> None:
    """A birth without a death counts only when nobody lives that long."""
    with elm_atlas.database(files=elm_atlas.files(DAYS)) as database:
        rows = list(database.stream("SELECT day, year FROM days WHERE kind = 'birth' AND NOT is_past_life"))
    for date, born in rows:
        month, day = map(int, date.split("-"))
        assert born not in [year for year, _ in on(elm_atlas, month, day, born + 80)]
