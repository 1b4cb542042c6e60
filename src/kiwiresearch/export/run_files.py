"""The files of a run, read without trusting them; its graph of pages and links."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kiwiresearch.errors import RunDamaged, RunNotFound
from kiwiresearch.messages.message import Message, message_from_record

FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped: most control characters and halves of letters."""

REPLACEMENT = "\ufffd"

LARGEST = 2**31 - 1
"""Graph programs keep whole numbers in 32 bits."""


def xml_safe(text: str) -> str:
    """A text with U+FFFD for each character that XML forbids."""
    return FORBIDDEN.sub(REPLACEMENT, text)


def damaged(file: Path, problem: str) -> RunDamaged:
    return RunDamaged(
        f"The run's file {str(file)!r} is not as it was written: {problem}.", remedy="Research the topic again."
    )


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object of a file, and what to call it when something is wrong with it."""

    file: Path
    name: str
    values: Mapping[str, object]

    @classmethod
    def of(cls, file: Path, name: str, value: object) -> Self:
        if not isinstance(value, dict):
            raise damaged(file, f"{name or 'it'} is no object")
        return cls(file, name, value)

    def damaged(self, problem: str) -> RunDamaged:
        return damaged(self.file, f"{self.name or 'it'} {problem}")

    def text(self, key: str) -> str:
        """A text, with U+FFFD for each character that XML forbids."""
        return xml_safe(self._text(key))

    def ref(self, key: str) -> str:
        """A name of a page, in which such characters become '%00': two names stay two."""
        name = self._text(key)
        if not name:
            raise self.damaged(f"has an empty {key!r}")
        return FORBIDDEN.sub(_percent, name)

    def whole(self, key: str) -> int:
        value = self.whole_or_none(key)
        if value is None:
            raise self._wrong(key, "a whole number")
        return value

    def whole_or_none(self, key: str) -> int | None:
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) > LARGEST:
            raise self._wrong(key, "a whole number")
        return value

    def real(self, key: str) -> float:
        value = self._value(key)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
            return float(value)
        if not isinstance(value, float) or not math.isfinite(value):
            raise self._wrong(key, "a number")
        return value

    def rows(self, key: str, name: str) -> tuple[JsonObject, ...]:
        """The objects in a list, named by their place in it."""
        value = self._value(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        of = f" of {self.name}" if self.name else ""
        return tuple(JsonObject.of(self.file, f"{name} {number}{of}", one) for number, one in enumerate(value, 1))

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
    # a byte that was no UTF-8 in the book comes as a surrogate: then the byte is what the name holds
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", errors))


BRIEF = "brief.json"
CLAIMS = "claims.jsonl"
GRAPH = "graph.json"
MANIFEST = "manifest.json"
PICTURES = "pictures.json"
PARTS = (GRAPH, BRIEF, CLAIMS)
NAME_IT = "Name the folder that a run has written."


def check_folder(run: Path, *needed: str) -> None:
    """Refuse what is no folder of a finished run, or has lost one of the files that are needed."""
    try:
        is_folder, exists = run.is_dir(), run.exists()
        found = {name for name in (MANIFEST, *PARTS) if is_folder and (run / name).exists()}
    except OSError as problem:
        raise RunNotFound(f"The folder {str(run)!r} cannot be opened: {problem.strerror}.") from problem
    if not exists:
        raise RunNotFound(f"There is no folder {str(run)!r}.", remedy=NAME_IT)
    if not is_folder:
        raise RunNotFound(f"{str(run)!r} is not a folder.", remedy=NAME_IT)
    if not found:
        raise RunNotFound(f"The folder {str(run)!r} holds no run.", remedy=NAME_IT)
    if MANIFEST not in found:
        raise RunNotFound(
            f"The run in {str(run)!r} is not finished: it has no {MANIFEST!r}.",
            remedy="Start it once more: it goes on where it stopped.",
        )
    for name in needed:
        if name not in found:
            raise RunDamaged(f"The run in {str(run)!r} has lost its {name!r}.", remedy="Research the topic again.")


def load(file: Path) -> JsonObject:
    """The object that a file of JSON holds."""
    return JsonObject.of(file, "", _parsed(file, _text(file), "it"))


def load_lines(file: Path) -> Iterator[JsonObject]:
    """The objects of a file that has one on each line, named by their lines."""
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if line.strip():
            yield JsonObject.of(file, f"line {number}", _parsed(file, line, f"line {number}"))


def _text(file: Path) -> str:
    try:
        if not file.is_file():  # reading a pipe would never end
            raise damaged(file, "it is no file")
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as problem:
        raise RunDamaged(f"The run's file {str(file)!r} cannot be read: {problem.strerror}.") from problem


def _parsed(file: Path, text: str, name: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise damaged(file, f"{name} is no JSON") from problem


def _refuse(constant: str) -> float:
    raise ValueError(constant)  # NaN and Infinity are no JSON, and no graph program expects them


STATES = ("visited", "left")


@dataclass(frozen=True, slots=True)
class RunGraphBook:
    """A book of the run, as the manifest names it."""

    id: str
    title: str
    name: str
    flavour: str
    language: str
    date: str


@dataclass(frozen=True, slots=True)
class RunGraphPage:
    """A page the run visited or left, and why."""

    ref: str
    page_id: str
    book: RunGraphBook
    path: str
    title: str
    url: str
    state: str
    order: int | None
    depth: int
    priority_score: float
    relevance: float
    lines: str
    reason: Message
    cluster: str

    @property
    def label(self) -> str:
        return self.title or self.path

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


def read_run_graph(run: Path) -> RunGraph:
    """The graph of a finished run; nothing in it holds a character that XML forbids."""
    check_folder(run, GRAPH)
    manifest, graph = load(run / MANIFEST), load(run / GRAPH)
    books = {book.id: book for book in map(_book, manifest.rows("books", "book"))}
    pages: dict[str, RunGraphPage] = {}
    for row in graph.rows("nodes", "node"):
        page = _page(row, books)
        if page.ref in pages:
            raise row.damaged(f"is a second {page.ref[:80]!r}")
        pages[page.ref] = page
    links = tuple(_link(row, pages) for row in graph.rows("edges", "edge"))
    return RunGraph(graph.text("topic"), tuple(pages.values()), links)


def _book(row: JsonObject) -> RunGraphBook:
    return RunGraphBook(
        id=row.text("id"),
        title=row.text("title"),
        name=row.text("name"),
        flavour=row.text("flavour"),
        language=row.text("language"),
        date=row.text("date"),
    )


def _page(row: JsonObject, books: dict[str, RunGraphBook]) -> RunGraphPage:
    book, state, order = row.text("book"), row.text("state"), row.whole_or_none("order")
    if book not in books:
        raise row.damaged(f"is of a book {book[:80]!r} that {MANIFEST!r} does not name")
    if state not in STATES:
        raise row.damaged(f"is {state[:80]!r}, and not {' or '.join(STATES)}")
    if state == "visited" and order is None:
        raise row.damaged("was visited and has no 'order'")
    lines = row.rows("lines", "line")
    return RunGraphPage(
        ref=row.ref("ref"),
        page_id=row.text("page_id"),
        book=books[book],
        path=row.text("path"),
        title=row.text("title"),
        url=row.text("url"),
        state=state,
        order=order,
        depth=row.whole("depth"),
        priority_score=row.real("priority_score"),
        relevance=row.real("relevance"),
        lines=", ".join(f"{line.text('signal')} {line.real('points'):+g}" for line in lines),
        reason=message_from_record(row.text("reason"), row.values.get("reason_message")),
        cluster=row.text("cluster"),
    )


def _link(row: JsonObject, pages: dict[str, RunGraphPage]) -> RunGraphLink:
    source, target = row.ref("from"), row.ref("to")
    for end in (source, target):
        if end not in pages:
            raise row.damaged(f"joins {end[:80]!r}, which is none of the nodes")
    return RunGraphLink(
        source=source,
        target=target,
        weight=row.real("weight"),
        count=row.whole("count"),
        context=row.real("context"),
        place=row.text("place"),
        section=row.text("section"),
        anchor_text=row.text("anchor_text"),
    )
