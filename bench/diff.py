"""Comparing two editions of a book, claim by claim: CPU time per page and memory, against reading and parsing one.

The older edition has some pages of a real book. The newer ones are made from it: some numbers are changed, some pages
are removed and some renamed. In one of them all other pages have the same bytes; in one they have the same text but
different markup; and in one each has another sentence, so that the claims of all pages must be extracted. Memory is
the peak of the process, and with several processes also that of the largest process it started.
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
SYNTHETIC_SIZES = (5_000, 50_000)
EDITED, REMOVED, RENAMED = 5, 1, 1
"""Of a hundred pages."""
NEW_EDITIONS = {
    "same bytes": b"",
    "same text": b"<!-- made by another program -->",
    "all edited": b" The committee met again on 3 May 2026 and counted 4,711 members.",
}
"""What is added to the first paragraph of each page."""


def run() -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    with tempfile.TemporaryDirectory() as folder:
        return list(_measure_all(file, Path(folder)))


def _measure_all(file: Path, folder: Path) -> list[str]:
    old = _write(folder / "old.zim", _sample_pages(file))
    lines = [_measure("plain read and parse of one edition", "read", old, old)]
    for name, addition in NEW_EDITIONS.items():
        new = write_new_edition(old, folder / f"{name.replace(' ', '_')}.zim", addition)
        lines.append(_measure(f"{name}, 1 process", "diff", old, new, 1))
    lines.append(_measure(f"{name}, 2 processes", "diff", old, new, 2))
    bulk_folders = [folder / book.stem for book in (old, new)]
    for book, bulk_folder in zip((old, new), bulk_folders, strict=True):
        write_bulk(book, ("titles", "pages", "claims"), bulk_folder, version=__version__)
    lines.append(_measure(f"{name}, from bulk folders", "diff", *bulk_folders, 1))
    for entries in SYNTHETIC_SIZES:
        book = big_book(entries)
        lines.append(_measure(f"a synthetic book of {entries:,} entries with itself", "diff", book, book, 1))
    return lines


def _sample_pages(file: Path) -> list[NewPage]:
    """The pages that come first by the hash of their paths."""
    archive = LibzimArchive(file)
    paths = sorted(archive.articles(), key=lambda path: sha256(path.encode()).digest())[:PAGES]
    return [NewPage(path, archive.title(path), archive.read(path).content) for path in sorted(paths)]


def write_new_edition(file: Path, target: Path, addition: bytes) -> Path:
    """Write a later edition of a book, with an addition to each page."""
    archive = LibzimArchive(file)
    pages, redirects = [], []
    for number, path in enumerate(archive.articles()):
        entry = archive.read(path)
        percentile, content = number % 100, entry.content.replace(b"</p>", addition + b"</p>", 1)
        if percentile < REMOVED:
            continue
        if percentile < REMOVED + RENAMED:
            new_path = f"{path}_(renamed)"
            redirects.append(NewRedirect(path, entry.title, new_path))
            pages.append(NewPage(new_path, f"{entry.title} (renamed)", content))
            continue
        if percentile < REMOVED + RENAMED + EDITED:
            content = YEAR.sub(rb"\g<1>99", content, count=1)
        pages.append(NewPage(path, entry.title, content))
    return _write(target, pages, redirects, Date="2026-03-01")


def _write(target: Path, pages: list[NewPage], redirects: Sequence[NewRedirect] = (), **more_metadata: str) -> Path:
    metadata = {"Name": "bench_en", "Title": "Bench book", "Language": "eng", "Date": "2026-01-01"} | more_metadata
    write_book(target, pages, redirects, metadata=metadata, index=False)
    return target


def _measure(label: str, *arguments: object) -> str:
    """Run one measurement in a separate process, whose memory is then its own."""
    command = [sys.executable, "-m", "bench.diff", *map(str, arguments)]
    completed = subprocess.run(command, check=True, capture_output=True, text=True)
    return f"{label:52} {completed.stdout.strip()}"


def _measure_here(task: str, old: Path, new: Path, workers: int = 1) -> str:
    """Read the old edition or compare both in this process, and return the time, the memory and what was counted."""
    counts: Counter[str] = Counter()
    before = _cpu_seconds()
    if task == "read":
        archive = LibzimArchive(old)
        for path in archive.articles():
            open_page(archive, path)
            counts["pages"] += 1
    else:
        with tempfile.TemporaryDirectory() as folder:
            places = [_place(path, Path(folder) / str(number)) for number, path in enumerate((old, new))]
            for change in diff_snapshots(*places, workers=workers, force=True):
                counts["pages"] += 1
                counts["with the same text"] += change.is_same
                counts["changes"] += len(change.changes)
    spent = _cpu_seconds() - before
    summary = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    children = f" and {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f}" if workers > 1 else ""
    return f"{spent / counts['pages'] * 1e3:6.1f} ms per page, {_peak_mb():.0f}{children} MB; {summary}"


def _cpu_seconds() -> float:
    """The CPU time so far of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _peak_mb() -> float:
    """The peak memory of this process; that of getrusage would begin with its parent's."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _place(path: Path, index: Path) -> SnapshotPlace:
    return folder_place(path, EVERYTHING, index) if path.is_dir() else SnapshotPlace(path)


if __name__ == "__main__":
    print(_measure_here(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *map(int, sys.argv[4:])))
