"""What an unfinished run has done so far, read from its journal while somebody else writes it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.runs.journal import Journal
from kiwiresearch.runs.progress import CrawlProgress, JournalFollower, VisitedPage, journal_file

HEADER = {"fingerprint": "sha256:1", "topic": "Bronze Age collapse"}


def a_page(title: str, points: float) -> dict[str, Any]:
    known = {"book": "b", "path": title.replace(" ", "_"), "title": title, "depth": 1, "reason": f"why {title}"}
    return {"step": "visited", "lines": [["names the topic", points], ["length", 1.0]], **known}


def a_look(title: str, *, gone: bool) -> dict[str, Any]:
    return {"step": "looked", "book": "b", "path": title, "title": title, "gone": gone}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal_file(tmp_path).parent.mkdir()
    with contextlib.closing(Journal(journal_file(tmp_path), HEADER)) as journal:
        yield journal


def numbers(pages: tuple[VisitedPage, ...]) -> list[tuple[int, str]]:
    return [(page.number, page.title) for page in pages]


def test_pages_come_as_they_are_written(journal: Journal, tmp_path: Path) -> None:
    """Each page has its number, score and reason; those left for good are counted once; the end says why."""
    steps, followed = journal_file(tmp_path), JournalFollower()
    assert followed.read_progress(steps) == CrawlProgress()
    journal.append({"step": "begun"})
    journal.append(a_page("Ugarit", 3.5))
    (first,) = followed.read_progress(steps).pages
    assert (first.number, first.ref.path, first.points, first.reason) == (1, "Ugarit", 4.5, "why Ugarit")
    for row in (a_look("Cups", gone=False), a_look("Cups", gone=True), a_page("Sea Peoples", 2)):
        journal.append(row)
    assert numbers(followed.read_progress(steps).pages) == [(1, "Ugarit"), (2, "Sea Peoples")]
    assert (followed.read_progress(steps).dropped, followed.read_progress(steps).ended) == (1, "")
    journal.append({"step": "ended", "why": "2 pages were taken", "left": 7})
    assert followed.read_progress(steps).ended == "2 pages were taken"
    assert followed.read_progress(steps) == JournalFollower().read_progress(steps)


def test_a_line_that_is_not_whole_yet_is_not_read(journal: Journal, tmp_path: Path) -> None:
    """Reading neither waits for the writer nor changes what it wrote."""
    steps, followed = journal_file(tmp_path), JournalFollower()
    journal.append(a_page("Ugarit", 3))
    assert len(followed.read_progress(steps).pages) == 1
    whole = steps.read_bytes()
    steps.write_bytes(whole + b'0123456789abcdef {"step": "vis')
    assert len(followed.read_progress(steps).pages) == 1
    assert steps.read_bytes().startswith(whole)


def test_a_journal_that_was_cut_is_read_again(journal: Journal, tmp_path: Path) -> None:
    """A run that is resumed may cut its last steps and take others: the page shows what is there."""
    steps, followed = journal_file(tmp_path), JournalFollower(max_followed=1)
    for title in ("Ugarit", "Hattusa", "Tin"):
        journal.append(a_page(title, 3))
    assert len(followed.read_progress(steps).pages) == 3
    journal.truncate(1)
    assert numbers(followed.read_progress(steps).pages) == [(1, "Ugarit")]
    for title in ("Cyprus", "Sea Peoples"):
        journal.append(a_page(title, 3))
    assert len(followed.read_progress(steps).pages) == 3
    journal.truncate(1)
    for title in ("Canaan", "Mycenaean Greece and all of its palaces"):
        journal.append(a_page(title, 3))
    assert [title for _, title in numbers(followed.read_progress(steps).pages)][1] == "Canaan"


def test_a_run_without_a_journal_has_done_nothing(tmp_path: Path) -> None:
    """One that waits in line has no folder yet, and one that is done has no journal any more."""
    followed = JournalFollower(max_followed=1)
    for name in ("nowhere", "elsewhere"):
        assert followed.read_progress(journal_file(tmp_path / name)) == CrawlProgress()
