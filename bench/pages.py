"""Full PageDocs against the bare limit (libzim reads, lexbor parses) and against BeautifulSoup by hand."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import libzim.reader
from bs4 import BeautifulSoup  # noqa: TID251
from evals.data import SHARED_DATA
from selectolax.lexbor import LexborHTMLParser

from bench.timing import best_of
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = 1_000
BY_HAND = 50
ROUNDS = 3


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    archive = LibzimArchive(file)
    raw = libzim.reader.Archive(file)
    paths = list(archive.articles())[:PAGES]

    def content(path: str) -> bytes:
        return bytes(raw.get_entry_by_path(path).get_item().content)

    def full() -> None:
        for path in paths:
            page = read_page(archive.read(path))
            for link in page.links:
                page.sentence(link)

    def bare(some: list[str]) -> Callable[[], None]:
        def work() -> None:
            for path in some:
                LexborHTMLParser(content(path))

        return work

    def by_hand() -> None:
        for path in paths[:BY_HAND]:
            _by_hand(content(path))

    times = best_of(ROUNDS, {"bare": _cold(bare(paths)), "full": _cold(full)})
    few = best_of(1, {"bare": _cold(bare(paths[:BY_HAND])), "hand": _cold(by_hand)})
    return [
        f"{PAGES} pages of schools-2007.zim in the order of clusters, none of them cached at the start",
        f"bare read and parse   {times['bare'] / PAGES * 1e3:7.3f} ms a page   1.0",
        f"full PageDoc          {times['full'] / PAGES * 1e3:7.3f} ms a page   {times['full'] / times['bare']:.1f}",
        f"BeautifulSoup by hand {few['hand'] / BY_HAND * 1e3:7.3f} ms a page   {few['hand'] / few['bare']:.0f}"
        f"   ({BY_HAND} pages)",
    ]


def _cold(work: Callable[[], None]) -> Callable[[], None]:
    """The same work with an empty cluster cache, since bulk reading meets each cluster once."""

    def fresh() -> None:
        size = libzim.reader.get_cluster_cache_max_size()
        libzim.reader.set_cluster_cache_max_size(0)
        libzim.reader.set_cluster_cache_max_size(size)
        work()

    return fresh


def _by_hand(content: bytes) -> tuple[str, list[tuple[str, str]], list[str]]:
    """What a user would write: the text without notes, the links, the headings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        soup = BeautifulSoup(content, "html.parser")
    for node in soup.select("script, style, sup.reference, .navbox, table.infobox, .mw-editsection"):
        node.decompose()
    links = [(str(a["href"]), a.get_text()) for a in soup.find_all("a", href=True)]
    headings = [h.get_text() for h in soup.find_all(["h2", "h3", "h4"])]
    return soup.get_text(" ", strip=True), links, headings
