"""Two snapshots of a book, claim by claim: processor time a page and memory, against the bare read and parse of one.

The older snapshot is made of some pages of a real book, and newer ones of that: some numbers are others, some pages
are gone, some have another name. In one the rest is the same byte for byte; in one its maker wrote each page
otherwise, with the same text; and in one each page has a sentence more, so that the claims of all are read. Memory is
that of the process, and that of the largest it has started.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from evals.data import SHARED_DATA

from bench.big_book import big_book
from kiwiresearch.bulk.run import write_book as write_bulk
from kiwiresearch.diff.snapshot_comparison import EVERYTHING, SnapshotPlace, diff_snapshots, folder_place
from kiwiresearch.page.parser import open_page
from kiwiresearch.version import __version__
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive

YEAR = re.compile(rb"\b(1[5-9])(\d\d)\b")
PAGES = 600
GROWTH = (5_000, 50_000)
EDITED, GONE, RENAMED = 5, 1, 1
"""Of a hundred pages."""
MADE = {
    "same bytes": b"",
    "same text": b"<!-- made by another program -->",
    "all edited": b" The committee met again on 3 May 2026 and counted 4,711 members.",
}
"""What is put behind the first paragraph of each page."""


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    with tempfile.TemporaryDirectory() as folder:
        return list(_lines(file, Path(folder)))


def _lines(file: Path, folder: Path) -> list[str]:
    old = _written(folder / "old.zim", _drawn(file))
    lines = [_measured("bare read and parse of one snapshot", "read", old, old)]
    for name, behind in MADE.items():
        new = snapshot(old, folder / f"{name.replace(' ', '_')}.zim", behind)
        lines.append(_measured(f"{name}, 1 process", "diff", old, new, 1))
    lines.append(_measured(f"{name}, 2 processes", "diff", old, new, 2))
    places = [folder / book.stem for book in (old, new)]
    for book, place in zip((old, new), places, strict=True):
        write_bulk(book, ("titles", "pages", "claims"), place, version=__version__)
    lines.append(_measured(f"{name}, from folders of claims", "diff", *places, 1))
    for entries in GROWTH:
        book = big_book(entries)
        lines.append(_measured(f"a made-up book of {entries:,} entries with itself", "diff", book, book, 1))
    return lines


def _drawn(file: Path) -> list[NewPage]:
    """The pages that come first by the hash of their paths."""
    archive = LibzimArchive(file)
    paths = sorted(archive.articles(), key=lambda path: sha256(path.encode()).digest())[:PAGES]
    return [NewPage(path, archive.title(path), archive.read(path).content) for path in sorted(paths)]


def snapshot(file: Path, target: Path, behind: bytes) -> Path:
    """A later snapshot of a book."""
    archive = LibzimArchive(file)
    pages, redirects = [], []
    for number, path in enumerate(archive.articles()):
        entry = archive.read(path)
        lot, content = number % 100, entry.content.replace(b"</p>", behind + b"</p>", 1)
        if lot < GONE:
            continue
        if lot < GONE + RENAMED:
            new = f"{path}_(renamed)"
            redirects.append(NewRedirect(path, entry.title, new))
            pages.append(NewPage(new, f"{entry.title} (renamed)", content))
            continue
        if lot < GONE + RENAMED + EDITED:
            content = YEAR.sub(rb"\g<1>99", content, count=1)
        pages.append(NewPage(path, entry.title, content))
    return _written(target, pages, redirects, Date="2026-03-01")


def _written(target: Path, pages: list[NewPage], redirects: Sequence[NewRedirect] = (), **more: str) -> Path:
    metadata = {"Name": "bench_en", "Title": "Bench book", "Language": "eng", "Date": "2026-01-01"} | more
    write_book(target, pages, redirects, metadata=metadata, index=False)
    return target


def _measured(label: str, *arguments: object) -> str:
    """One piece of work in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "bench.diff", *map(str, arguments)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return f"{label:52} {told.stdout.strip()}"


def _work(what: str, old: Path, new: Path, workers: int = 1) -> str:
    counted: Counter[str] = Counter()
    before = _spent_s()
    if what == "read":
        archive = LibzimArchive(old)
        for path in archive.articles():
            open_page(archive, path)
            counted["pages"] += 1
    else:
        with tempfile.TemporaryDirectory() as spare:
            places = [_place(at, Path(spare) / str(number)) for number, at in enumerate((old, new))]
            for change in diff_snapshots(*places, workers=workers, force=True):
                counted["pages"] += 1
                counted["with the same text"] += change.is_same
                counted["changes"] += len(change.changes)
    spent = _spent_s() - before
    told = ", ".join(f"{count:,} {name}" for name, count in counted.items())
    others = f" and {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f}" if workers > 1 else ""
    return f"{spent / counted['pages'] * 1e3:6.1f} ms a page, {_peak_mb():.0f}{others} MB; {told}"


def _spent_s() -> float:
    """Processor time so far, with that of processes that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_mb() -> float:
    """The most memory this process has had; what the system counts for it begins with that of its parent."""
    told = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(told.partition("VmHWM:")[2].split()[0]) / 1024


def _place(at: Path, index: Path) -> SnapshotPlace:
    return folder_place(at, EVERYTHING, index) if at.is_dir() else SnapshotPlace(at)


if __name__ == "__main__":
    print(_work(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *map(int, sys.argv[4:])))
