"""The files of a finished run read as typed values, without trusting them: brief, claims, pictures and graph."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from kiwiresearch.brief import Brief, Images, brief_from_record, pictures_from_record
from kiwiresearch.claims import CLAIM_TYPES, Claim, claim_from_record
from kiwiresearch.errors import KiwiError, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.messages import Message, message_from_record
from kiwiresearch.runs.manifest import MANIFEST, BookEdition
from kiwiresearch.search import ScoreTerm
from kiwiresearch.text.dates import ENDLESS_DAY
from kiwiresearch.zim import EntryRef

NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 forbids even when escaped: most control characters, and surrogates."""

REPLACEMENT = "\ufffd"

MAX_INTEGER = 2**31 - 1
"""Graph programs store integers in 32 bits."""


def xml_safe(text: str) -> str:
    """A text with U+FFFD for each character that XML forbids."""
    return NOT_IN_XML.sub(REPLACEMENT, text)


MAX_BYTES = 2**29
"""No run writes a larger file, and a larger one is not read."""

MALFORMED_RECORD_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    KiwiError,
)
"""The exceptions that reading an edited record can raise."""


def damaged(file: Path, problem: str) -> RunDamaged:
    return RunDamaged(
        f"The run's file {str(file)!r} is damaged or was changed: {problem}.",
        remedy="Research the topic again.",
        problem=problem,
    )


def file_content(file: Path) -> bytes:
    """The bytes of a file of a run; RunDamaged if they cannot be read."""
    try:
        if not file.is_file():  # reading a pipe would never end
            raise damaged(file, "it is not a file" if file.exists() or file.is_symlink() else "it is missing")
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise damaged(file, f"it has {size:,} bytes, which is more than any run writes")
        return file.read_bytes()
    except OSError as problem:
        raise RunDamaged(
            f"The run's file {str(file)!r} cannot be read: {problem.strerror}.",
            problem=f"it cannot be read: {problem.strerror}",
        ) from problem


def json_value(raw: bytes) -> Any:
    """A JSON value; ValueError also for NaN and Infinity, which other programs do not expect."""
    return json.loads(raw.decode("utf-8"), parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object of a file, with a name for it in errors."""

    file: Path
    name: str
    values: Mapping[str, object]

    @classmethod
    def of(cls, file: Path, name: str, value: object) -> Self:
        if not isinstance(value, dict):
            raise damaged(file, f"{name or 'it'} is not a JSON object")
        return cls(file, name, value)

    def damaged(self, problem: str) -> RunDamaged:
        return damaged(self.file, f"{self.name or 'it'} {problem}")

    def text(self, key: str) -> str:
        """A text, with U+FFFD for each character that XML forbids."""
        return xml_safe(self._text(key))

    def ref(self, key: str) -> str:
        """The name of a page, with forbidden characters percent-encoded, so that two names stay different."""
        name = self._text(key)
        if not name:
            raise self.damaged(f"has an empty {key!r}")
        return NOT_IN_XML.sub(_percent, name)

    def integer(self, key: str) -> int:
        value = self.integer_or_none(key)
        if value is None:
            raise self._wrong(key, "a whole number")
        return value

    def integer_or_none(self, key: str) -> int | None:
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > MAX_INTEGER:
            raise self._wrong(key, "a whole number")
        return value

    def number(self, key: str) -> float:
        value = self._value(key)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_INTEGER:
            return float(value)
        if not isinstance(value, float) or not math.isfinite(value):
            raise self._wrong(key, "a number")
        return value

    def rows(self, key: str, name: str) -> tuple[JsonObject, ...]:
        """The objects of a list, named by their position."""
        value = self._value(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        of = f" of {self.name}" if self.name else ""
        return tuple(JsonObject.of(self.file, f"{name} {number}{of}", item) for number, item in enumerate(value, 1))

    def _text(self, key: str) -> str:
        value = self._value(key)
        if not isinstance(value, str):
            raise self._wrong(key, "text")
        return value

    def _value(self, key: str) -> object:
        if key not in self.values:
            raise self.damaged(f"has no {key!r}")
        return self.values[key]

    def _wrong(self, key: str, kind: str) -> RunDamaged:
        return self.damaged(f"has a {key!r} that is not {kind}")


def _percent(found: re.Match[str]) -> str:
    letter = found[0]
    # a byte of the book that is not UTF-8 was read as a surrogate: encode the byte itself
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", errors))


def load_json(file: Path) -> JsonObject:
    return JsonObject.of(file, "", _parsed(file, file_content(file), "it"))


def load_json_lines(file: Path) -> Iterator[JsonObject]:
    """The objects of a file of JSON lines, named by their line numbers."""
    for number, line in enumerate(file_content(file).split(b"\n"), start=1):
        if line.strip():
            yield JsonObject.of(file, f"line {number}", _parsed(file, line, f"line {number}"))


def _parsed(file: Path, raw: bytes, name: str) -> object:
    try:
        return json_value(raw)
    except (ValueError, RecursionError) as problem:
        raise damaged(file, f"{name} is not JSON") from problem


def read_brief(file: Path) -> Brief:
    """A brief whose claims, pages, books, links and dates fit together."""
    row = load_json(file)
    try:
        brief = brief_from_record(row.values)
    except MALFORMED_RECORD_ERRORS as problem:
        raise row.damaged("is not a brief") from problem
    listed = {source.ref for source in brief.sources.pages}
    books = {book.id for book in brief.sources.books}
    ends = range(len(brief.sources.pages))
    if not all(has_valid_types(claim) and claim.ref in listed for claim in brief.claims.values()):
        raise row.damaged("is based on a claim that is missing or not from one of its pages")
    if len(listed) != len(ends) or not all(ref.book in books for ref in listed):
        raise row.damaged("lists a page twice, or a page of an unknown book")
    if not all(end in ends for link in brief.sources.links for end in link):
        raise row.damaged("has a link to a page that is not listed")
    if not all(abs(day) < ENDLESS_DAY for moment in brief.timeline for day in (moment.earliest, moment.latest)):
        raise row.damaged("has a date that does not exist")
    return brief


def read_claims(file: Path) -> tuple[Claim, ...]:
    """All claims, in the order of the run's pages."""
    return tuple(map(_claim, load_json_lines(file)))


def _claim(row: JsonObject) -> Claim:
    try:
        claim = claim_from_record(row.values)
    except MALFORMED_RECORD_ERRORS as problem:
        raise row.damaged("is not a claim") from problem
    if not has_valid_types(claim):
        raise row.damaged("is not a claim")
    return claim


TEXT_FIELDS = ("text", "subject", "scope", "page_title", "section", "anchor", "book_name")


def has_valid_types(claim: Claim) -> bool:
    """Whether every field that users see has its declared type."""
    texts = [getattr(claim, name) for name in TEXT_FIELDS]
    texts += [*claim.tags, *claim.names, *(hedge.cue for hedge in claim.hedges)]
    texts += [quote.text for quote in claim.quotes] + [term.signal for term in claim.score.terms]
    texts += [claim.ref.book, claim.ref.path]
    places = [place for quote in claim.quotes for place in (quote.start, quote.end)]
    points = [term.points for term in claim.score.terms]
    return (
        claim.type in CLAIM_TYPES
        and claim.origin in ("rule", "model")
        and all(isinstance(text, str) for text in texts)
        # Not `isinstance`: true and false are integers in Python, but not places in a text.
        and all(type(place) is int for place in places)
        and all(type(point) in (int, float) and math.isfinite(point) for point in points)
    )


def read_images(file: Path) -> Images:
    row = load_json(file)
    try:
        return pictures_from_record(row.values)
    except ValueError as problem:
        raise row.damaged("does not contain valid pictures") from problem


def page_text(corpus: Path, ref: EntryRef) -> str:
    """The text of a page in a corpus; empty if the page is not there or cannot be read."""
    # Only lines that can be the page's are parsed: a corpus may be large.
    signs = (f'"path":{canonical_json(ref.path)}', f'"book":{canonical_json(ref.book)}')
    try:
        with corpus.open(encoding="utf-8", newline="\n") as lines:
            for line in lines:
                if all(sign in line for sign in signs):
                    row = json.loads(line)
                    if (row["book"], row["path"]) == (ref.book, ref.path):
                        return str(row["plain_text"])
    except (OSError, *MALFORMED_RECORD_ERRORS):
        return ""
    return ""


PAGE_STATES = ("visited", "left")


@dataclass(frozen=True, slots=True)
class RunGraphPage:
    """A page that the run read or skipped, and why."""

    ref: str
    page_id: str
    book: BookEdition
    path: str
    title: str
    url: str
    state: str
    order: int | None
    depth: int
    priority_score: float
    relevance: float
    terms: tuple[ScoreTerm, ...]
    """The terms that its priority score is the sum of."""
    reason: Message
    cluster: str
    """The branch of the crawl that it is in; run files call it a cluster."""

    @property
    def label(self) -> str:
        return self.title or self.path

    @property
    def lines(self) -> str:
        """The terms of its score as a text."""
        return ", ".join(f"{term.signal} {term.points:+g}" for term in self.terms)

    @property
    def book_title(self) -> str:
        return self.book.title or self.book.name


@dataclass(frozen=True, slots=True)
class RunGraphLink:
    """A link from one page of the run to another."""

    source: str
    target: str
    weight: float
    count: int
    context: float
    place: str
    section: str
    anchor_text: str


@dataclass(frozen=True, slots=True)
class RunGraph:
    """The pages and links of a run; every link joins two of the pages."""

    topic: str
    pages: tuple[RunGraphPage, ...]
    links: tuple[RunGraphLink, ...]


def read_graph(file: Path) -> RunGraph:
    """The graph of a finished run, without characters that XML forbids."""
    manifest, graph = load_json(file.with_name(MANIFEST)), load_json(file)
    books = {book.id: book for book in map(_book, manifest.rows("books", "book"))}
    pages: dict[str, RunGraphPage] = {}
    for row in graph.rows("nodes", "node"):
        page = _page(row, books)
        if page.ref in pages:
            raise row.damaged(f"repeats {page.ref[:80]!r}")
        pages[page.ref] = page
    links = tuple(_link(row, pages) for row in graph.rows("edges", "edge"))
    return RunGraph(graph.text("topic"), tuple(pages.values()), links)


def _book(row: JsonObject) -> BookEdition:
    return BookEdition(*(row.text(field.name) for field in fields(BookEdition)))


def _page(row: JsonObject, books: dict[str, BookEdition]) -> RunGraphPage:
    book, state, order = row.text("book"), row.text("state"), row.integer_or_none("order")
    if book not in books:
        raise row.damaged(f"belongs to the book {book[:80]!r}, which {MANIFEST!r} does not list")
    if state not in PAGE_STATES:
        raise row.damaged(f"is {state[:80]!r} instead of {' or '.join(PAGE_STATES)}")
    if state == "visited" and order is None:
        raise row.damaged("was visited but has no 'order'")
    return RunGraphPage(
        ref=row.ref("ref"),
        page_id=row.text("page_id"),
        book=books[book],
        path=row.text("path"),
        title=row.text("title"),
        url=row.text("url"),
        state=state,
        order=order,
        depth=row.integer("depth"),
        priority_score=row.number("priority_score"),
        relevance=row.number("relevance"),
        terms=tuple(ScoreTerm(line.text("signal"), line.number("points")) for line in row.rows("lines", "line")),
        reason=message_from_record(row.text("reason"), row.values.get("reason_message")),
        cluster=row.text("cluster"),
    )


def _link(row: JsonObject, pages: dict[str, RunGraphPage]) -> RunGraphLink:
    source, target = row.ref("from"), row.ref("to")
    for end in (source, target):
        if end not in pages:
            raise row.damaged(f"links {end[:80]!r}, which is not one of the nodes")
    return RunGraphLink(
        source=source,
        target=target,
        weight=row.number("weight"),
        count=row.integer("count"),
        context=row.number("context"),
        place=row.text("place"),
        section=row.text("section"),
        anchor_text=row.text("anchor_text"),
    )
