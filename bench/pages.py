"""Full PageDocs against the plain read with libzim and parse with lexbor, and against BeautifulSoup."""

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
SOUP_PAGES = 50
ROUNDS = 3


def run() -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    archive = LibzimArchive(file)
    libzim_archive = libzim.reader.Archive(file)
    paths = list(archive.articles())[:PAGES]

    def content(path: str) -> bytes:
        return bytes(libzim_archive.get_entry_by_path(path).get_item().content)

    def read_page_docs() -> None:
        for path in paths:
            page = read_page(archive.read(path))
            for link in page.links:
                page.sentence(link)

    def read_and_parse(some_paths: list[str]) -> Callable[[], None]:
        def task() -> None:
            for path in some_paths:
                LexborHTMLParser(content(path))

        return task

    def read_with_soup() -> None:
        for path in paths[:SOUP_PAGES]:
            _parse_with_soup(content(path))

    times = best_of(ROUNDS, {"plain": _cold(read_and_parse(paths)), "full": _cold(read_page_docs)})
    soup_times = best_of(1, {"plain": _cold(read_and_parse(paths[:SOUP_PAGES])), "soup": _cold(read_with_soup)})
    soup_ratio = soup_times["soup"] / soup_times["plain"]
    return [
        f"{PAGES} pages of schools-2007.zim in the order of clusters, with an empty cache at the start",
        f"plain read and parse  {times['plain'] / PAGES * 1e3:7.3f} ms per page   1.0x",
        f"full PageDoc          {times['full'] / PAGES * 1e3:7.3f} ms per page   {times['full'] / times['plain']:.1f}x",
        f"BeautifulSoup         {soup_times['soup'] / SOUP_PAGES * 1e3:7.3f} ms per page   {soup_ratio:.0f}x"
        f"   ({SOUP_PAGES} pages)",
    ]


def _cold(task: Callable[[], None]) -> Callable[[], None]:
    """The same task with an empty cluster cache, because reading a whole book meets each cluster only once."""

    def run_cold() -> None:
        size = libzim.reader.get_cluster_cache_max_size()
        libzim.reader.set_cluster_cache_max_size(0)
        libzim.reader.set_cluster_cache_max_size(size)
        task()

    return run_cold


def _parse_with_soup(content: bytes) -> tuple[str, list[tuple[str, str]], list[str]]:
    """What a user of BeautifulSoup would write: the text without references, the links and the headings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        soup = BeautifulSoup(content, "html.parser")
    for node in soup.select("script, style, sup.reference, .navbox, table.infobox, .mw-editsection"):
        node.decompose()
    links = [(str(a["href"]), a.get_text()) for a in soup.find_all("a", href=True)]
    headings = [h.get_text() for h in soup.find_all(["h2", "h3", "h4"])]
    return soup.get_text(" ", strip=True), links, headings
