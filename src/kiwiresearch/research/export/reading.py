"""What a run's files say of its pages and links, checked field by field: strangers may have edited them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.research.export.folder import GRAPH, MANIFEST, check_folder, load
from kiwiresearch.research.export.row import Row

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
    check_folder(run, GRAPH)
    manifest, graph = load(run / MANIFEST), load(run / GRAPH)
    books = {book.id: book for book in map(_book, manifest.rows("books", "book"))}
    pages: dict[str, RunPage] = {}
    for row in graph.rows("nodes", "node"):
        page = _page(row, books)
        if page.ref in pages:
            raise row.damaged(f"is a second {page.ref[:80]!r}")
        pages[page.ref] = page
    links = tuple(_link(row, pages) for row in graph.rows("edges", "edge"))
    return RunGraph(graph.text("topic"), tuple(pages.values()), links)


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
