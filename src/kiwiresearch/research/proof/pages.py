"""The pages of a run, read again from their books, each once, with the claims that were made of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from kiwiresearch.crawl.walk import OPENING
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.read import open_page
from kiwiresearch.page.record import record_of
from kiwiresearch.research.proof.books import RunBook
from kiwiresearch.research.proof.claims import Filed, Ground, prove_claims
from kiwiresearch.research.proof.files import CORPUS, GRAPH, Row, document, rows_of, written
from kiwiresearch.research.proof.ledger import Ledger, Spot
from kiwiresearch.research.proof.wording import BoxRow
from kiwiresearch.search.hit import Score, ScoreLine
from kiwiresearch.search.senses import first_line
from kiwiresearch.zim.entry import EntryRef

METADATA = "metadata"
AROUND = 24
"""Characters shown before and behind the place where two texts part."""


@dataclass(frozen=True, slots=True)
class RunPage:
    """What other files may say of a page, now that its line in the corpus is proved."""

    ref: EntryRef
    title: str
    metadata: Mapping[str, Any]
    opening: str | None
    """Its first sentence; None if the book is not there."""
    text: str
    language: str


def prove_pages(
    files: Mapping[str, bytes],
    books: Mapping[BookId, RunBook],
    filed: Sequence[Filed],
    ledger: Ledger,
    *,
    again: bool,
    with_model: bool,
) -> list[RunPage]:
    """Read every page of the corpus again, and prove its record and its claims."""
    of_page: dict[EntryRef, list[Filed]] = defaultdict(list)
    for one in filed:
        of_page[one.claim.ref].append(one)
    found = []
    for row in rows_of(CORPUS, files.get(CORPUS, b""), ledger):
        spot = ledger.at(CORPUS, row.line)
        with spot.guarding("it is no page as a run writes it"):
            ref = EntryRef(BookId(row.value["book"]), row.value["path"])
            book = books.get(ref.book)
            if book is None:
                spot.fail(f"its book {ref.book!r} is not one of the manifest's")
                continue
            page = _read(ref, book, spot)
            ground = replace(_ground(row, book, page, again=again), with_model=with_model)
            prove_claims(of_page.pop(ref, []), ground, ledger)
            with ledger.proving("pages") if page is not None else nullcontext():
                _prove_page(row, book, page, spot)
            opening = first_line(page, OPENING) if page is not None else None
            found.append(RunPage(ref, ground.title, row.value[METADATA], opening, ground.text, ground.language))
    for ref, strays in of_page.items():
        for stray in strays:
            stray.spot(ledger).fail(f"its page {ref.path!r} is not in the corpus")
    return found


def _read(ref: EntryRef, book: RunBook, spot: Spot) -> PageDoc | None:
    if book.archive is None:
        return None
    try:
        page = open_page(book.archive, ref.path)
    except KiwiError as problem:
        spot.fail(f"the page {ref.path!r} cannot be read again: {problem.message}")
        return None
    if page.ref != ref:
        spot.fail(f"the path {ref.path!r} leads to the page {page.ref.path!r} in the book")
    return page


def _ground(row: Row, book: RunBook, page: PageDoc | None, *, again: bool) -> Ground:
    """What claims are held against: the page as it was read again, or else what the corpus has of it."""
    if page is None or book.archive is None:
        told = row.value
        rows = [one for box in told["infoboxes"] for one in box["rows"]]
        boxes = [BoxRow(r["start_offset"], r["end_offset"], r["group"], r["key"], r["value"]) for r in rows]
        text, title, language, name, again = told["plain_text"], told["title"], book.language, book.name, False
    else:
        boxes = [BoxRow(r.start, r.end, r.group, r.key, r.value) for box in page.infoboxes for r in box.rows]
        text, title, language, name = page.text, page.title, page.language, book.archive.book.name
    return Ground(_as_written(text), _as_written(title), language, name, tuple(boxes), page, again)


def _as_written(text: str) -> str:
    """Half a surrogate pair cannot be written; whatever stands for it is one character too."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _prove_page(row: Row, book: RunBook, page: PageDoc | None, spot: Spot) -> None:
    found = row.value
    metadata = found[METADATA]
    points = Score(tuple(ScoreLine(line["signal"], line["points"]) for line in metadata["lines"])).total
    if metadata["order"] != row.line:
        spot.fail(f"it is page {row.line} of the run, not {metadata['order']!r}")
    if metadata["priority_score"] != points:
        spot.fail(f"its score is not the sum of its lines, which is {points:g}")
    if not opens(found["url"], EntryRef(book.id, found["path"]), book):
        spot.fail(f"its address is {found['url']!r:.90}")
    right = record_of(page) if page is not None else {name: found[name] for name in found if name != METADATA}
    right |= {"url": found["url"], METADATA: metadata}
    if written(right) == row.raw:
        return
    wrong = [name for name in sorted({*right, *found}) if written(right.get(name)) != written(found.get(name))]
    for name in wrong:
        spot.fail(f"{name} of {found['title']!r} is not what the book has{_parting(found.get(name), right.get(name))}")
    if not wrong:
        spot.fail("it is not written as a run writes it")


def opens(url: str, ref: EntryRef, book: RunBook) -> bool:
    """Whether an address is the page's: by the book's UUID, or at the place that the manifest names."""
    start = book.opens_at
    return url == _as_written(str(ref)) or (
        bool(start) and url.startswith(start) and unquote(url[len(start) :]) == ref.path
    )


def _parting(found: Any, right: Any) -> str:
    """Where two texts part, in words; two records by how they are written."""
    one, other = (value if isinstance(value, str) else written(value).decode("utf-8") for value in (found, right))
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    mine, theirs = (text[max(at - AROUND, 0) : at + AROUND] for text in (one, other))
    return f": {mine!r} instead of {theirs!r}"


def prove_graph(raw: bytes, pages: Sequence[RunPage], ledger: Ledger) -> None:
    """What the graph and the corpus both say of a page must be the same."""
    spot = ledger.at(GRAPH)
    with spot.guarding("it is not as a run writes it"):
        nodes = {node["ref"]: node for node in document(raw)["nodes"] if node["state"] == "visited"}
        for page in pages:
            node = nodes.pop(_as_written(str(page.ref)), None)
            if node is None:
                spot.fail(f"the page {page.title!r} is missing")
                continue
            wrong = list(_other_values(node, page))
            if wrong:
                spot.fail(f"{', '.join(wrong)} of {page.title!r} is not what corpus.jsonl has")
        for ref in nodes:
            spot.fail(f"the page {ref!r} is not in corpus.jsonl")


def _other_values(node: Mapping[str, Any], page: RunPage) -> Iterator[str]:
    told = dict(page.metadata) | {"title": page.title, "book": page.ref.book, "path": page.ref.path}
    yield from (name for name in sorted(told) if written(node.get(name)) != written(told[name]))
