"""The tables of a book: their columns, the rows of a page, their digest, and reading and writing them as Parquet."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from kiwiresearch.errors import BadUsage, KiwiError, RunDamaged
from kiwiresearch.ids import canonical_json, short_hash
from kiwiresearch.page import Link, PageDoc

if TYPE_CHECKING:
    import pyarrow as pa

ColumnKind = Literal["number", "text", "flag", "decimal"]
CellValue = int | str | bool | float | None
Row = tuple[CellValue, ...]
"""The values of one row, in the order of its table's columns."""


class TableColumn(NamedTuple):
    """A column of a table; an optional one may have no value."""

    name: str
    kind: ColumnKind
    meaning: str
    optional: bool = False


ENTRY_COLUMNS = (
    TableColumn("entry", "number", "the number of the entry in its book"),
    TableColumn("path", "text", "the path of the page in its book"),
)
NUMBER_COLUMN = TableColumn("number", "number", "the number of the row within its page, from 0")
DATE_COLUMNS = (
    TableColumn(
        "earliest", "number", "the first day that its first date may mean, as a Julian day number", optional=True
    ),
    TableColumn("latest", "number", "the last such day", optional=True),
    TableColumn("edtf", "text", "the same date in EDTF; empty without one"),
)
QUOTE_COLUMNS = (
    TableColumn("quote", "text", "the quote from the page"),
    TableColumn("start", "number", "where the quote starts in the page's text"),
    TableColumn("end", "number", "where it ends"),
)

TABLES: Mapping[str, tuple[TableColumn, ...]] = {
    "titles": (
        *ENTRY_COLUMNS,
        TableColumn("title", "text", "the title of the article or redirect"),
        TableColumn("redirect_to", "text", "the path of the article that a redirect leads to; empty for an article"),
    ),
    "pages": (
        *ENTRY_COLUMNS,
        TableColumn("title", "text", "the title of the page"),
        TableColumn("kind", "text", "article, disambiguation, list, or redirect"),
        TableColumn("chars", "number", "the number of characters in its text"),
        TableColumn("words", "number", "the number of words"),
        TableColumn("sections", "number", "the number of headings"),
        TableColumn("references", "number", "the number of references"),
        TableColumn("links", "number", "the number of links to pages of the book, including repeated ones"),
        TableColumn("infobox", "flag", "whether it has an infobox"),
        TableColumn("stub", "flag", "whether it is, or looks like, a stub"),
        TableColumn("disputed", "flag", "whether the page is marked as disputed"),
        TableColumn("citation_needed", "number", "the number of places marked 'citation needed'"),
        TableColumn("lead", "text", "its first sentences, at most 500 characters"),
        TableColumn("text_sha", "text", "a hash of its text, tagged with the algorithm"),
    ),
    "links": (
        *ENTRY_COLUMNS,
        NUMBER_COLUMN,
        TableColumn(
            "target", "text", "the path that the link leads to, after redirects; empty if the book does not have it"
        ),
        TableColumn("href_title", "text", "the title that the link names"),
        TableColumn(
            "section", "text", "the heading of the section with the first such link; empty in the introduction"
        ),
        TableColumn("place", "text", "where it is: lead, body, list, table, infobox, see also, navigation …"),
        TableColumn("count", "number", "the number of links on the page that lead there"),
    ),
    "claims": (
        *ENTRY_COLUMNS,
        NUMBER_COLUMN,
        TableColumn("claim_id", "text", "the ID of the claim, the same in every run"),
        TableColumn("claim_type", "text", "definition, causal, numeric, timeline, comparative, disputed or quote"),
        TableColumn("subject", "text", "what it is about"),
        TableColumn("claim", "text", "what it says, as a sentence that can be understood on its own"),
        *QUOTE_COLUMNS,
        TableColumn("section", "text", "the heading of its section; empty in the introduction"),
        TableColumn("anchor", "text", "the anchor of its section"),
        TableColumn("confidence", "decimal", "how sure kiwiresearch is that this is what the page says, from 0 to 1"),
        TableColumn("hedged", "flag", "whether the page itself hedges it (“may”, “some”, “is thought to”)"),
        TableColumn("disputed", "flag", "whether it is about a dispute, or the page marks it as disputed"),
        *DATE_COLUMNS,
        TableColumn("value", "decimal", "the first number it measures; for a range, the lower end", optional=True),
        TableColumn("unit", "text", "the unit of that number; empty for a plain number"),
        TableColumn("what", "text", "what that number measures"),
        TableColumn("record", "text", "the whole claim as JSON, as in `claims.jsonl` of a run"),
    ),
    "people": (
        *ENTRY_COLUMNS,
        NUMBER_COLUMN,
        TableColumn("name", "text", "the person that the page is about"),
        TableColumn("field", "text", "birth_date, death_place, father, spouse, child …"),
        TableColumn("value", "text", "what the page says: a part of the quote, or a date in EDTF"),
        *QUOTE_COLUMNS,
        TableColumn("method", "text", "how it was read: infobox, lead or prose"),
        TableColumn("confidence", "decimal", "how sure kiwiresearch is that this is what the page says, from 0 to 1"),
        TableColumn("qualifier", "text", "biological, adoptive, step, half, disputed …; usually empty"),
        *DATE_COLUMNS,
        TableColumn(
            "target",
            "text",
            "the path of the page that the value links to (of the relative or the place); empty if there is none",
        ),
    ),
    "errors": (
        *ENTRY_COLUMNS,
        TableColumn("what", "text", "the table that lacks its rows; 'read' if the entry itself cannot be read"),
        TableColumn("problem", "text", "what is wrong"),
    ),
}
"""Rows are sorted by entry, then by number."""

CHOICES = tuple(name for name in TABLES if name != "errors")
"""The tables that can be chosen; `errors` is always written."""


def checked_tables(wanted: Iterable[str]) -> tuple[str, ...]:
    """The chosen tables, each once and in their fixed order; BadUsage for an unknown one."""
    names = {name.strip().lower() for name in wanted if name.strip()}
    unknown = sorted(names - set(CHOICES))
    if unknown:
        raise BadUsage(f"Unknown table {unknown[0]!r}.", remedy=f"Use one or more of: {', '.join(CHOICES)}.")
    if not names:
        raise BadUsage("No tables chosen.", remedy=f"Use one or more of: {', '.join(CHOICES)}.")
    return tuple(name for name in CHOICES if name in names)


MAX_LEAD_CHARS = 500

PathResolver = Callable[[str], str]
"""Returns the path at the end of the redirects; empty if the book lacks the path."""


def page_row(page: PageDoc) -> Row:
    """The row of `pages` for a page, without entry and path."""
    signals = page.signals
    return (
        page.title,
        page_kind(page),
        len(page.text),
        len(page.text.split()),
        len(page.sections) - 1,
        signals.references,
        len(page.links),
        bool(page.infoboxes),
        signals.stub.holds,
        signals.disputed.holds,
        sum(mark.kind == "citation needed" for mark in page.marks),
        page_lead(page),
        short_hash(page.text),
    )


def page_kind(page: PageDoc) -> str:
    if page.redirect:
        return "redirect"
    if page.signals.disambiguation.holds:
        return "disambiguation"
    return "list" if page.signals.list_page.holds else "article"


def page_lead(page: PageDoc) -> str:
    """As many of the first sentences as fit; if not even the first one does, its beginning."""
    paragraphs = [block for block in page.blocks if block.kind == "paragraph"]
    if not paragraphs:
        return ""
    start = paragraphs[0].start
    section = max(index for index, item in enumerate(page.sections) if item.heading_start <= start)
    stop = min(start + MAX_LEAD_CHARS, page.sections[section].end)
    ends = [block.end for block in paragraphs] + list(page.sentences)
    end = max((at for at in ends if start < at <= stop), default=stop)
    return " ".join(page.text[start:end].split())


def link_rows(page: PageDoc, resolve: PathResolver) -> Iterator[Row]:
    """One row for each page that this one links to, in the order of the first link; never for itself."""
    found: dict[str, list[Link]] = {}
    ends: dict[str, str] = {}
    for link in page.links:
        if link.target not in ends:
            ends[link.target] = resolve(link.target)
        end = ends[link.target]
        if end != page.ref.path:
            # Missing pages all resolve to nothing; a NUL, which no path has, keeps them apart.
            found.setdefault(end or f"\0{link.target}", []).append(link)
    for index, (end, links) in enumerate(found.items()):
        first = links[0]
        section = page.sections[first.section].heading
        target = "" if end.startswith("\0") else end
        yield index, target, first.target_title, section, first.place, len(links)


# A sum of hashes (an additive multiset hash) does not depend on the order in which pages are read, nor on batches.
MODULUS = 2**256


@dataclass(frozen=True, slots=True)
class RowTally:
    """How many rows there are, and the sum of the hashes of their pages."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: RowTally) -> RowTally:
        return RowTally(self.rows + other.rows, (self.total + other.total) % MODULUS)

    @property
    def digest(self) -> str:
        return "sha256:" + sha256(f"{self.rows}\n{self.total:064x}\n".encode()).hexdigest()


def page_tally(rows: Iterable[Row]) -> RowTally:
    """The tally of all rows of one page in one table."""
    lines = [canonical_json(row) for row in rows]
    if not lines:
        return RowTally()
    return RowTally(len(lines), int.from_bytes(sha256("\n".join(lines).encode()).digest(), "big"))


COMPRESSION_CODEC, COMPRESSION_LEVEL = "zstd", 6
ROWS_AT_ONCE = 4_096


def pyarrow_module() -> Any:
    """The module pyarrow; KiwiError with a remedy if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as problem:
        raise KiwiError(
            "Tables are written as Parquet, which needs pyarrow. It is not installed.",
            remedy="Install it with: pip install 'kiwiresearch[bulk]'",
        ) from problem
    return pyarrow


@cache
def schema_of(table: str) -> pa.Schema:
    """The Parquet schema of a table."""
    module = pyarrow_module()
    kinds: dict[ColumnKind, pa.DataType] = {
        "number": module.int64(),
        "text": module.string(),
        "flag": module.bool_(),
        "decimal": module.float64(),
    }
    return module.schema([module.field(c.name, kinds[c.kind], nullable=c.optional) for c in TABLES[table]])


def to_parquet(table: str, rows: Sequence[Row]) -> bytes:
    """Rows of a table as a Parquet file."""
    module, schema = pyarrow_module(), schema_of(table)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [module.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    target = io.BytesIO()
    module.parquet.write_table(
        module.Table.from_arrays(arrays, schema=schema),
        target,
        compression=COMPRESSION_CODEC,
        compression_level=COMPRESSION_LEVEL,
    )
    return target.getvalue()


def check_schema(table: str, file: Path) -> int:
    """The number of rows of a shard; RunDamaged if it does not have the columns of this table."""
    with _opened(file) as shard:
        if not shard.schema_arrow.equals(schema_of(table)):
            raise RunDamaged(
                f"The file {str(file)!r} does not have the columns of the table {table!r}.",
                remedy="Delete the folder, then run 'kiwiresearch bulk' again.",
            )
        return int(shard.metadata.num_rows)


def from_parquet(table: str, file: Path, names: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a shard, read some at a time; with `names`, only these columns."""
    wanted = list(names) or [column.name for column in TABLES[table]]
    check_schema(table, file)
    with _opened(file) as shard:
        try:
            for batch in shard.iter_batches(batch_size=ROWS_AT_ONCE, columns=wanted):
                yield from zip(*(batch.column(name).to_pylist() for name in wanted), strict=True)
        except _read_errors() as problem:
            raise _unreadable(file, problem) from problem


def _opened(file: Path) -> Any:
    module = pyarrow_module()
    try:
        return module.parquet.ParquetFile(file)
    except _read_errors() as problem:
        raise _unreadable(file, problem) from problem


def _read_errors() -> tuple[type[Exception], ...]:
    """The errors that pyarrow raises for a file that is not Parquet, or has invalid texts."""
    return OSError, UnicodeDecodeError, pyarrow_module().ArrowException


def _unreadable(file: Path, problem: Exception) -> RunDamaged:
    reason = (str(problem).splitlines() or ["no reason is given"])[0].rstrip(".")
    return RunDamaged(
        f"Could not read the file {str(file)!r} as Parquet: {reason}.",
        remedy="Delete the folder, then run 'kiwiresearch bulk' again.",
    )
