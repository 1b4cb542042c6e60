"""What a run's files say of its pages and links, checked field by field: strangers may have edited them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.errors import RunDamaged, RunNotFound
from kiwiresearch.research.export.row import Row, damaged

GRAPH = "graph.json"
MANIFEST = "manifest.json"
STATES = ("visited", "left")


@dataclass(frozen=True, slots=True)
class RunBook:
    """A book of the run, as the manifest names it."""

    id: str
    title: str
    name: str
    flavour: str
    language: str
    date: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page the run visited or left, and why."""

    ref: str
    page_id: str
    book: RunBook
    path: str
    title: str
    url: str
    state: str
    order: int | None
    depth: int
    priority_score: float
    relevance: float
    lines: str
    reason: str
    cluster: str

    @property
    def label(self) -> str:
        return self.title or self.path

    @property
    def book_title(self) -> str:
        return self.book.title or self.book.name


@dataclass(frozen=True, slots=True)
class RunLink:
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
    pages: tuple[RunPage, ...]
    links: tuple[RunLink, ...]


def read_run(run: Path) -> RunGraph:
    """The graph of a finished run; nothing in it holds a character that XML forbids."""
    _check_folder(run)
    manifest, graph = _load(run / MANIFEST), _load(run / GRAPH)
    books = {book.id: book for book in map(_book, manifest.rows("books", "book"))}
    pages: dict[str, RunPage] = {}
    for row in graph.rows("nodes", "node"):
        page = _page(row, books)
        if page.ref in pages:
            raise row.damaged(f"is a second {page.ref[:80]!r}")
        pages[page.ref] = page
    links = tuple(_link(row, pages) for row in graph.rows("edges", "edge"))
    return RunGraph(graph.text("topic"), tuple(pages.values()), links)


def _check_folder(run: Path) -> None:
    try:
        is_folder, exists = run.is_dir(), run.exists()
        found = [name for name in (GRAPH, MANIFEST) if is_folder and (run / name).exists()]
    except OSError as problem:
        raise RunNotFound(f"The folder {str(run)!r} cannot be opened: {problem.strerror}.") from problem
    if not exists:
        raise RunNotFound(f"There is no folder {str(run)!r}.", remedy="Name the folder that a run has written.")
    if not is_folder:
        raise RunNotFound(f"{str(run)!r} is not a folder.", remedy="Name the folder that a run has written.")
    if not found:
        raise RunNotFound(f"The folder {str(run)!r} holds no run.", remedy="Name the folder that a run has written.")
    if MANIFEST not in found:
        raise RunNotFound(
            f"The run in {str(run)!r} is not finished: it has no {MANIFEST!r}.",
            remedy="Run the topic once more with --resume.",
        )
    if GRAPH not in found:
        raise RunDamaged(f"The run in {str(run)!r} has lost its {GRAPH!r}.", remedy="Run the topic once more.")


def _load(file: Path) -> Row:
    try:
        if not file.is_file():  # reading a pipe would never end
            raise damaged(file, "it is no file")
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as problem:
        raise RunDamaged(f"The run's file {str(file)!r} cannot be read: {problem.strerror}.") from problem
    try:
        values = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise damaged(file, "it is no JSON") from problem
    return Row.of(file, "", values)


def _refuse(constant: str) -> float:
    raise ValueError(constant)  # NaN and Infinity are no JSON, and no graph program expects them


def _book(row: Row) -> RunBook:
    return RunBook(
        id=row.text("id"),
        title=row.text("title"),
        name=row.text("name"),
        flavour=row.text("flavour"),
        language=row.text("language"),
        date=row.text("date"),
    )


def _page(row: Row, books: dict[str, RunBook]) -> RunPage:
    book, state, order = row.text("book"), row.text("state"), row.whole_or_none("order")
    if book not in books:
        raise row.damaged(f"is of a book {book[:80]!r} that {MANIFEST!r} does not name")
    if state not in STATES:
        raise row.damaged(f"is {state[:80]!r}, and not {' or '.join(STATES)}")
    if state == "visited" and order is None:
        raise row.damaged("was visited and has no 'order'")
    lines = row.rows("lines", "line")
    return RunPage(
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
        reason=row.text("reason"),
        cluster=row.text("cluster"),
    )


def _link(row: Row, pages: dict[str, RunPage]) -> RunLink:
    source, target = row.ref("from"), row.ref("to")
    for end in (source, target):
        if end not in pages:
            raise row.damaged(f"joins {end[:80]!r}, which is none of the nodes")
    return RunLink(
        source=source,
        target=target,
        weight=row.real("weight"),
        count=row.whole("count"),
        context=row.real("context"),
        place=row.text("place"),
        section=row.text("section"),
        anchor_text=row.text("anchor_text"),
    )
