"""A small book, a finished run over it, and what somebody may do to the run's files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kiwiresearch.brief.brief import brief_from_record, brief_record
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.report_html import report_page
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.document.markdown import markdown
from kiwiresearch.ids import canonical_json, short_hash
from kiwiresearch.runs.manifest import sealed
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.verify.ledger import OUTPUT_FIELDS, Ledger, Verification, open_books, verify_files, verify_manifest
from kiwiresearch.verify.run import verify_parts, verify_run
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.shelf import Shelf

PAGES = {
    "Salt road": """
<table class="infobox"><tr><th>Length</th><td>118 km</td></tr><tr><th>Opened</th><td>1390</td></tr></table>
<p>The Salt road was a trade route of northern Germany, on which salt was carried from <a href="Ostrava">Ostrava</a>
to the harbour of <a href="Lubmin">Lubmin</a>. It was 118 km long from end to end.
It was opened in 1390 by Albert of Mecklen.
Some historians think that an older track existed before 1200.</p>
<h2 id="Trade">Trade</h2>
<p>In 1437 the <a href="Custom_house">custom house</a> was passed by 19,000 tonnes of
salt.<sup class="reference">[1]</sup>
The Salt road was given up because cheaper salt was shipped from France after 1580.
Johannes Brandt argues that wars were the cause. However, Maria Keller argues that wars were not the cause.</p>
<h2 id="Stations">Stations</h2>
<table><tr><th>Station</th><th>Inns</th><th>Founded</th></tr><tr><td>Ostrava</td><td>14</td><td>1201</td></tr>
<tr><td>Lubmin</td><td>23</td><td>1243</td></tr></table>""",
    "Ostrava": """
<p>Ostrava is a town on the <a href="Salt_road">Salt road</a>, founded in 1201. It has 7,400 inhabitants.
The Salt road was 186 km long from end to end.</p>
<h2 id="History">History</h2>
<p>The town burned down in 1512 because a baker left his oven open. It was rebuilt within six years.
Ostrava may have been larger than Lubmin in the 15th century.</p>""",
    "Lubmin": """
<p>Lubmin is a harbour town at the end of the <a href="Salt_road">Salt road</a>. In 1437 it had 23 inns.
Margarete Voss, born in 1411, was its richest merchant. She traded salt with Bergen until 1466.</p>""",
    "Custom house": """
<p>A custom house is a building where duties are paid on goods. The custom house of the <a href="Salt_road">Salt
road</a> was built in 1402 and took 3 shillings for each cart.</p>""",
}
Record = dict[str, Any]
METADATA = {"Name": "road_en", "Title": "Road book", "Language": "eng", "Date": "2026-01-01"}


def a_road_book(file: Path, more: Mapping[str, str] = MappingProxyType({})) -> Path:
    """A book of four pages that speak of the same road, and not always alike; `more` is added to them, or a page."""
    texts = {title: PAGES.get(title, "") + more.get(title, "") for title in {**PAGES, **more}}
    pages = [NewPage(title.replace(" ", "_"), title, html.encode()) for title, html in texts.items()]
    write_book(file, pages, metadata=METADATA)
    return file


def a_finished_run(
    place: Path,
    aspect: str = "",
    topic: str = "Salt road",
    *,
    max_pages: int = 80,
    more: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """A run over the book, both in a folder."""
    book = a_road_book(place / "road.zim", more)
    desk = open_workspace({"KIWIRESEARCH_HOME": str(place / "home")})
    with shelf_of(desk, [str(book)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        settings = CrawlSettings(fast=True, max_pages=max_pages)
        return Research(finder, ResearchTask(topic, settings=settings, aspect=aspect)).run(place / "run").folder


def proved(run: Path, *books: Path) -> Verification:
    """What a proof with some books says of a run; without any, with the book beside it."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(run.parent / "home")})
    with shelf_of(desk, [str(book) for book in books or (run.parent / "road.zim",)]) as shelf:
        return verify_run(run, shelf, desk)


def compared(run: Path, shelf: Shelf | None = None) -> Verification:
    """What comparing the parts of a run says, without repeating its research."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(run.parent / "home")})
    with nullcontext(shelf) if shelf else shelf_of(desk, [str(run.parent / "road.zim")]) as books_here:
        ledger = Ledger()
        manifest = verify_manifest(run, ledger)
        assert manifest is not None
        files = verify_files(run, manifest, ledger)
        verify_parts(manifest, files, open_books(manifest, books_here, ledger), ledger)
    return ledger.result(run)


def record_in(run: Path, name: str) -> Record:
    found: Record = json.loads((run / name).read_bytes())
    return found


def write_manifest(run: Path, **changes: Any) -> None:
    """The manifest with other values, and with the hashes, the fingerprint and the seal that fit them."""
    record = record_in(run, "manifest.json") | changes
    for name in record["outputs"]:
        content = (run / name).read_bytes()
        record["outputs"][name] = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    inputs = {name: value for name, value in record.items() if name not in OUTPUT_FIELDS}
    record["fingerprint"] = short_hash(canonical_json(inputs))
    (run / "manifest.json").write_text(canonical_json(sealed(record), indent=2) + "\n", encoding="utf-8")


def write_brief(run: Path, record: Record) -> None:
    """A brief, and both reports that show it."""
    brief = brief_from_record(record)
    (run / "brief.json").write_text(canonical_json(brief_record(brief), indent=1) + "\n", encoding="utf-8")
    (run / "report.md").write_text(markdown(brief_document(brief)), encoding="utf-8")
    (run / "report.html").write_text(report_page(brief), encoding="utf-8")


def with_inputs(run: Path, **inputs: Any) -> None:
    """The run as if it had been made from other inputs, such as another version, but with the same results."""
    write_manifest(run, **inputs)
    made_from = record_in(run, "manifest.json")
    brief = record_in(run, "brief.json")
    settings = dict(brief["sources"]["settings"])
    settings |= {"kiwiresearch": made_from["version"], "fingerprint": made_from["fingerprint"]}
    brief["sources"]["settings"] = [list(row) for row in settings.items()]
    write_brief(run, brief)
    write_manifest(run)


@contextmanager
def changed(file: Path, content: bytes | None) -> Iterator[None]:
    """A file with another content, or without one, for a while."""
    before = file.read_bytes()
    try:
        if content is None:
            file.unlink()
        else:
            file.write_bytes(content)
        yield
    finally:
        file.write_bytes(before)


@contextmanager
def forged(run: Path, name: str, content: bytes) -> Iterator[None]:
    """A file with another content, and a manifest that was adapted so that every hash in it fits."""
    failure_texts: dict[str, Any] = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    failure_texts["outputs"][name] = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    mended = (canonical_json(sealed(failure_texts), indent=2) + "\n").encode()
    with changed(run / "manifest.json", mended), changed(run / name, content):
        yield


def failure_texts(found: Verification) -> list[str]:
    return [str(failure) for failure in found.failures]
