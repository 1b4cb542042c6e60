"""Two snapshots of the road book, two months apart, and runs over them."""

from __future__ import annotations

from pathlib import Path

from tests.verify.verified_runs import METADATA, PAGES

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book

EDITS = {
    "It was 118 km long from end to end.": "It was 121 km long from end to end.",
    "Ostrava may have been larger than Lubmin in": "Ostrava was larger than Lubmin in",
    "Some historians think that an older track existed before 1200.": "",
    "until 1466.</p>": "until 1466.</p><p>A lighthouse was built in Lubmin in 1490 by order of the town council.</p>",
    "was its richest merchant": "was its richest and best known merchant",
}
"""What the editors of the book changed between the two snapshots."""


def snapshot(file: Path, date: str, edits: dict[str, str] | None = None) -> Path:
    """The road book of a day."""
    pages = dict(PAGES)
    for title, html in pages.items():
        for before, after in (edits or {}).items():
            html = html.replace(before, after)
        pages[title] = html
    made = [NewPage(title.replace(" ", "_"), title, html.encode()) for title, html in pages.items()]
    write_book(file, made, metadata=METADATA | {"Date": date})
    return file


def run_over(book: Path, out: Path, topic: str = "Salt road", **settings: int) -> Path:
    """A finished run over one book."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(out.parent / "home")})
    with shelf_of(desk, [str(book)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        task = ResearchTask(topic, settings=CrawlSettings(fast=True, **settings))  # type: ignore[arg-type]
        return Research(finder, task).run(out).folder


def two_snapshots(place: Path) -> tuple[Path, Path]:
    """A run over the older snapshot, and the same over the newer one."""
    old = snapshot(place / "road_2026-01.zim", "2026-01-01")
    new = snapshot(place / "road_2026-03.zim", "2026-03-01", EDITS)
    return run_over(old, place / "old"), run_over(new, place / "new")
