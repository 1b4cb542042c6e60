"""Queries of an atlas: pages by rank, pages at the edges, the timeline, an overview, and hiding by a policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, TypeVar, cast, get_args

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.contradictions import CONTRADICTIONS, contradiction_counts
from kiwiresearch.atlas.database import (
    AtlasDatabase,
    Condition,
    ResultSlice,
    ResultWindow,
    Row,
    clean_row,
    search_words,
    select_page,
    sql_title_of_path,
)
from kiwiresearch.atlas.family_tables import PAGELESS_MARK
from kiwiresearch.atlas.graph import GRAPH
from kiwiresearch.claims import date_from_record
from kiwiresearch.errors import BadUsage, KiwiError, PageHidden
from kiwiresearch.text.dates import DateText, day_at, day_number
from kiwiresearch.zim import HiddenTitles

if TYPE_CHECKING:
    from kiwiresearch.atlas.family_queries import AtlasRelation, Relatives

RankOrder = Literal["authority", "linked", "references"]
RANK_ORDERS: tuple[RankOrder, ...] = get_args(RankOrder)
SQL_ORDERS: dict[RankOrder, str] = {
    "authority": "rank DESC, linked DESC, id",
    "linked": "linked DESC, rank DESC, id",
    "references": '"references" DESC, rank DESC, id',
}
RANK_COLUMNS = ("path", "title", "kind", "words", "references", "linked", "linking", "rank")


def ranked_pages(atlas: Atlas, by: RankOrder, words: str, window: ResultWindow) -> ResultSlice:
    """The pages whose titles contain all words, the most authoritative, most linked or best referenced first."""
    chosen: list[Condition] = [("kind <> 'redirect'", ())]
    chosen += [("contains(lower(title), lower(?))", [word]) for word in search_words(words)]
    with atlas.database(files=atlas.files(GRAPH)) as database:
        return select_page(database, "graph", chosen, SQL_ORDERS[by], window, RANK_COLUMNS)


EdgeKind = Literal["orphans", "islands", "stubs", "wanted"]
EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)
MAX_NAMED = 5
"""How many pages of an island or a region are named."""
PAGE_FIELDS = ("path", "title", "words", "linked", "linking")


def edge_pages(atlas: Atlas, of: EdgeKind, window: ResultWindow) -> ResultSlice:
    """Pages at the edge of the book: orphans, islands, stubs or missing pages, the largest first."""
    with atlas.database(files=atlas.files(GRAPH)) as database:
        if of == "orphans":
            unlinked = [("linked = 0 AND kind NOT IN ('redirect', 'disambiguation')", ())]
            return select_page(database, "graph", unlinked, "words DESC, id", window, PAGE_FIELDS)
        if of == "wanted":
            return select_page(database, "wanted", (), "pages DESC, links DESC, title", window)
        return _islands(database, window) if of == "islands" else _stubs(database, window)


def _page(row: Mapping[str, Any]) -> Row:
    return {name: row[name] for name in PAGE_FIELDS}


def _islands(database: AtlasDatabase, window: ResultWindow) -> ResultSlice:
    """Groups of pages without links to or from the largest group; single pages are orphans instead."""
    database.execute(
        """CREATE VIEW islands AS SELECT island AS first, count(*) AS pages, sum(words)::BIGINT AS words
        FROM graph WHERE kind <> 'redirect' GROUP BY island HAVING count(*) > 1
        QUALIFY row_number() OVER (ORDER BY count(*) DESC, island) > 1"""
    )
    found = select_page(database, "islands", (), "pages DESC, first", window)
    rows = (
        {"pages": row["pages"], "words": row["words"], "named": _top_pages(database, "island", row["first"])}
        for row in found.rows
    )
    return replace(found, rows=tuple(rows))


def _stubs(database: AtlasDatabase, window: ResultWindow) -> ResultSlice:
    found = select_page(database, "regions", (), "pages DESC, region", window)
    rows = (
        {
            "pages": row["pages"],
            "words": int(row["words"]),
            "hub": _hub(database, row["hub"]),
            "around": row["around"] or 0,
            "named": _top_pages(database, "region", row["region"]),
        }
        for row in found.rows
    )
    return replace(found, rows=tuple(rows))


def _hub(database: AtlasDatabase, page: int | None) -> Row | None:
    """The outside page that most pages of a region are linked with."""
    found = [] if page is None else database.rows("SELECT * FROM graph WHERE id = ?", [page])
    return _page(clean_row(found[0])) if found else None


def _top_pages(database: AtlasDatabase, column: Literal["island", "region"], value: int) -> list[Row]:
    query = f"SELECT * FROM graph WHERE {column} = ? AND kind <> 'redirect' ORDER BY rank DESC, id LIMIT {MAX_NAMED}"
    return [_page(clean_row(row)) for row in database.rows(query, [value])]


MIN_YEAR = -20_000_000_000
MAX_YEAR = 100_000
TIMELINE_COLUMNS = (
    "path", "claim_id", "claim_type", "subject", "claim", "quote", "start", "end", "section", "anchor", "confidence",
    "hedged", "disputed", "earliest", "latest", "edtf", "record",
)  # fmt: skip
TIMELINE_ORDER = "earliest, latest, entry, number"


@dataclass(frozen=True, slots=True)
class TimelineFilter:
    """Which moments to list: those that begin within some years. Years BC are negative; year 0 does not exist."""

    first: int | None = None
    last: int | None = None
    subject: str = ""
    """Words of the claim's subject."""
    words: str = ""
    """Words of the claim."""
    page: str = ""
    """The title or path of the claim's page."""

    def __post_init__(self) -> None:
        for year in (self.first, self.last):
            if year is not None and (year == 0 or not MIN_YEAR <= year <= MAX_YEAR):
                raise BadUsage(f"{year} is not a year on the timeline.", remedy="Enter a year such as 1789 or -1200.")


def timeline(atlas: Atlas, filter: TimelineFilter, window: ResultWindow) -> ResultSlice:  # noqa: A002
    """Claims with a date, sorted by their first date, or the beginning of a period."""
    chosen: list[Condition] = [("earliest IS NOT NULL AND latest IS NOT NULL", ())]
    if filter.first is not None:
        chosen.append(("earliest >= ?", [day_number(filter.first)]))
    if filter.last is not None:
        chosen.append(("earliest < ?", [day_number(1 if filter.last == -1 else filter.last + 1)]))  # no year 0 exists
    for column, words in (("subject", filter.subject), ("claim", filter.words)):
        chosen += [(f"contains(lower({column}), lower(?))", [word]) for word in search_words(words)]
    named = [table for table in ("titles", "pages") if atlas.has_tables(table)][:1]
    if filter.page:
        titled = (
            f"path IN (SELECT path FROM {named[0]} WHERE title = ?)" if named else f"{sql_title_of_path('path')} = ?"
        )
        chosen.append((f"path = ? OR {titled}", [filter.page, filter.page]))
    with atlas.database("claims", *named) as database:
        found = select_page(database, "claims", chosen, TIMELINE_ORDER, window, TIMELINE_COLUMNS)
        titles = _titles(database, named[0], {row["path"] for row in found.rows}) if named else {}
    rows = tuple(_shown_row(row, titles.get(row["path"]) or _page_title(row)) for row in found.rows)
    return replace(found, rows=rows)


def _shown_row(row: Mapping[str, Any], title: str) -> Row:
    """A row for display, with its date written out from the complete claim."""
    try:
        words = DateText(date_from_record(json.loads(row["record"])["dates"][0]))
    except (KiwiError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        words = row["edtf"]
    return {**{name: row[name] for name in TIMELINE_COLUMNS if name != "record"}, "when": words, "title": title}


def _page_title(row: Mapping[str, Any]) -> str:
    """The title of a claim's page, by which a policy may hide it; the path if the claim has none."""
    try:
        named = json.loads(row["record"])["page_title"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return str(row["path"])
    return named if isinstance(named, str) and named else str(row["path"])


def _titles(database: AtlasDatabase, table: str, paths: set[str]) -> dict[str, str]:
    if not paths:
        return {}
    blanks = ", ".join("?" * len(paths))
    query = f"SELECT path, title FROM {table} WHERE path IN ({blanks})"
    return dict(database.stream(query, sorted(paths)))


class LinkCounts(TypedDict):
    """The links of a book, and the pages with most authority."""

    links: int
    orphans: int
    wanted: int
    first: list[Row]
    hidden: NotRequired[int]


class BookClaimCounts(TypedDict):
    """The claims of a book, by type, and the years from which to which they are."""

    claims: int
    numbers: int
    dates: int
    hedged: int
    earliest: int | None
    latest: int | None
    types: dict[str, int]


class Overview(TypedDict):
    """Figures about a book."""

    book: dict[str, str]
    tables: dict[str, int]
    pages: NotRequired[dict[str, int]]
    links: NotRequired[LinkCounts]
    claims: NotRequired[BookClaimCounts]
    contradictions: NotRequired[dict[str, int]]
    people: NotRequired[dict[str, int]]


def overview(atlas: Atlas, *, complete: bool = True) -> Overview:
    """Figures about the book; parts whose tables are missing are left out.

    `complete` computes what is not cached yet; else only what is available at once is included.
    """
    manifest = atlas.bulk.manifest
    found: Overview = {
        "book": {"id": manifest.book.id, "name": manifest.book.name, "title": manifest.book.title}
        | {"date": manifest.book.date, "language": manifest.book.language},
        "tables": {name: table.rows for name, table in manifest.tables.items()},
    }
    if atlas.has_tables("pages"):
        found["pages"] = _pages(atlas)
    if atlas.has_tables(*GRAPH.needs) and (complete or atlas.has(GRAPH)):
        found["links"] = _links(atlas)
    if atlas.has_tables("claims"):
        found["claims"] = _claims(atlas)
    if atlas.has_tables(*CONTRADICTIONS.needs) and (complete or atlas.has(CONTRADICTIONS)):
        found["contradictions"] = contradiction_counts(atlas)
    if atlas.has_tables("people"):
        with atlas.database("people") as database:
            found["people"] = {"people": database.scalar("SELECT count(DISTINCT entry) FROM people")}
    return found


def _pages(atlas: Atlas) -> dict[str, int]:
    with atlas.database("pages") as database:
        (counts,) = database.rows(
            """SELECT count(*) FILTER (kind = 'article') AS articles, count(*) FILTER (kind = 'list') AS lists,
                count(*) FILTER (kind = 'disambiguation') AS disambiguations, coalesce(sum(words), 0)::BIGINT AS words,
                coalesce(sum("references"), 0)::BIGINT AS "references", count(*) FILTER (stub) AS stubs,
                count(*) FILTER (disputed) AS disputed
            FROM pages"""
        )
    return cast("dict[str, int]", counts)


def _links(atlas: Atlas) -> LinkCounts:
    with atlas.database(files=atlas.files(GRAPH)) as database:
        ((links, orphans),) = database.stream(
            """SELECT coalesce(sum(linking), 0)::BIGINT,
                count(*) FILTER (linked = 0 AND kind NOT IN ('redirect', 'disambiguation')) FROM graph"""
        )
        wanted = database.scalar("SELECT count(*) FROM wanted")
        first = database.rows("SELECT path, title FROM graph WHERE kind <> 'redirect' ORDER BY rank DESC, id LIMIT 5")
    return {"links": links, "orphans": orphans, "wanted": wanted, "first": first}


def _claims(atlas: Atlas) -> BookClaimCounts:
    with atlas.database("claims") as database:
        ((claims, numbers, dates, hedged, *days),) = database.stream(
            """SELECT count(*), count(value), count(earliest), count(*) FILTER (hedged), min(earliest), max(latest)
            FROM claims"""
        )
        query = "SELECT claim_type, count(*) AS rows FROM claims GROUP BY ALL ORDER BY rows DESC, claim_type"
        types = dict(database.stream(query))
    earliest, latest = (None if day is None else day_at(day).year for day in days)
    return {
        "claims": claims,
        "numbers": numbers,
        "dates": dates,
        "hedged": hedged,
        "earliest": earliest,
        "latest": latest,
        "types": types,
    }


R = TypeVar("R", bound=Mapping[str, object])
PAGE_COLUMNS = ("title", "path", "about", "first_path", "first_title")
"""The columns in which rows name pages."""


@dataclass(frozen=True, slots=True)
class PolicyFilter:
    """Removes what a policy hides from the results of an atlas."""

    titles: HiddenTitles
    whose: str
    """How sentences for readers refer to the policy."""

    def hides(self, row: Mapping[str, object]) -> bool:
        """Whether a row, or anything nested in it, names a hidden page."""
        return bool(self.titles) and any(map(self.titles.has, _pages_in(row)))

    def filter_page(self, found: ResultSlice) -> ResultSlice:
        """The page of results without rows that name hidden pages, which are counted."""
        rows = self._visible(found.rows)
        return replace(found, rows=tuple(rows), hidden=len(found.rows) - len(rows))

    def overview(self, result: Overview) -> Overview:
        """The overview without hidden pages among the first ones, which are counted."""
        if "links" not in result:
            return result
        links = result["links"]
        first = self._visible(links["first"])
        return {**result, "links": {**links, "first": first, "hidden": len(links["first"]) - len(first)}}

    def relatives(self, result: Relatives) -> Relatives:
        """The relatives without those who are hidden or tied by a hidden page; PageHidden if the person is hidden."""
        self._refuse_hidden(result["person"])
        relatives = self._visible(result["relatives"])
        return {**result, "relatives": relatives, "hidden": len(result["relatives"]) - len(relatives)}

    def relation(self, result: AtlasRelation) -> AtlasRelation:
        """The relation, unchanged; PageHidden if one of the two, or a person between them, is hidden."""
        self._refuse_hidden(result)
        return result

    def _visible(self, rows: Sequence[R]) -> list[R]:
        return [row for row in rows if not self.hides(row)]

    def _refuse_hidden(self, result: Mapping[str, object]) -> None:
        if self.hides(result):
            raise PageHidden(
                f"This result is hidden, because one of its pages is hidden by {self.whose}.",
                remedy="Your administrator can allow it with 'hidden' under [policy] in the settings.",
            )


def _pages_in(row: Mapping[str, object]) -> Iterator[str]:
    """The titles and paths of pages that a row names; a person without a page counts as the page that names them."""
    for name, value in row.items():
        if name in PAGE_COLUMNS and isinstance(value, str) and value:
            yield value
        if name == "id" and isinstance(value, str):
            yield value.rpartition(PAGELESS_MARK)[0] or value
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from _pages_in(inner)
