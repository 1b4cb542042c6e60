"""The timeline of everything: what the pages of a book date, in the order of time, back to the beginning of it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import Database
from kiwiresearch.atlas.part import Condition, Part, Row, Window, bare, part, words_of
from kiwiresearch.claims.record import when_of
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.text.dates.days import day_number

FURTHEST_BACK = -20_000_000_000
LATEST = 100_000
COLUMNS = (
    "path", "claim_id", "claim_type", "subject", "claim", "quote", "start", "end", "section", "anchor", "confidence",
    "hedged", "disputed", "earliest", "latest", "edtf", "record",
)  # fmt: skip
ORDER = "earliest, latest, entry, number"


@dataclass(frozen=True, slots=True)
class Wish:
    """Which moments are wanted: those that begin in some years; years before Christ are negative, and none is 0."""

    first: int | None = None
    last: int | None = None
    subject: str = ""
    """Words of what a claim is about."""
    words: str = ""
    """Words of the claim."""
    page: str = ""
    """The title or path of the page that says it."""

    def __post_init__(self) -> None:
        for year in (self.first, self.last):
            if year is not None and (year == 0 or not FURTHEST_BACK <= year <= LATEST):
                raise BadUsage(f"{year} is no year of the timeline.", remedy="Give one such as 1789 or -1200.")


def timeline(atlas: Atlas, wish: Wish, window: Window) -> Part:
    """Claims that name a date, by their first date; what lasted begins where it began."""
    chosen: list[Condition] = [("earliest IS NOT NULL AND latest IS NOT NULL", ())]
    if wish.first is not None:
        chosen.append(("earliest >= ?", [day_number(wish.first)]))
    if wish.last is not None:
        chosen.append(("earliest < ?", [day_number(_following(wish.last))]))
    for column, words in (("subject", wish.subject), ("claim", wish.words)):
        chosen += [(f"contains(lower({column}), lower(?))", [word]) for word in words_of(words)]
    named = [table for table in ("titles", "pages") if atlas.has_tables(table)][:1]
    if wish.page:
        titled = f"path IN (SELECT path FROM {named[0]} WHERE title = ?)" if named else f"{bare('path')} = ?"
        chosen.append((f"path = ? OR {titled}", [wish.page, wish.page]))
    with atlas.database("claims", *named) as database:
        found = part(database, "claims", chosen, ORDER, window, COLUMNS)
        titles = _titles(database, named[0], {row["path"] for row in found.rows}) if named else {}
    rows = tuple(_told(row, titles.get(row["path"]) or _named(row)) for row in found.rows)
    return Part(rows, found.total, found.offset)


def _told(row: Row, title: str) -> Row:
    """A row as it is shown: with its date in words, which the whole claim tells."""
    try:
        words = when_of(json.loads(row["record"])["dates"][0]).words()
    except (KiwiError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        words = row["edtf"]
    return {name: row[name] for name in COLUMNS if name != "record"} | {"when": words, "title": title}


def _named(row: Row) -> str:
    """What a claim calls its page, by which a policy may hide it; the path where it does not tell."""
    try:
        named = json.loads(row["record"])["page_title"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return str(row["path"])
    return named if isinstance(named, str) and named else str(row["path"])


def _titles(database: Database, table: str, paths: set[str]) -> dict[str, str]:
    if not paths:
        return {}
    blanks = ", ".join("?" * len(paths))
    query = f"SELECT path, title FROM {table} WHERE path IN ({blanks})"
    return {row["path"]: row["title"] for row in database.rows(query, sorted(paths))}


def _following(year: int) -> int:
    return 1 if year == -1 else year + 1
