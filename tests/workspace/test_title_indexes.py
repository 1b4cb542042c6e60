"""Title indexes beside the work: opened, built at once, or built by a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kiwiresearch.search.title_index_builder import main
from kiwiresearch.system import RUNNING, FileLock
from kiwiresearch.workspace import models
from kiwiresearch.workspace.models import TitleIndexes
from kiwiresearch.zim.libzim import LibzimArchive

BookMaker = Callable[..., Path]
PAGES = {f"Stone_{number}": "<p>A stone.</p>" for number in range(5)}


@pytest.fixture
def archive(a_book: BookMaker) -> Iterator[LibzimArchive]:
    opened = LibzimArchive(a_book(PAGES, {"Rock": "Stone_1"}))
    yield opened
    opened.close()


@pytest.fixture
def indexes(tmp_path: Path) -> TitleIndexes:
    return TitleIndexes(tmp_path / "cache" / "titles")


def test_a_small_book_has_its_index_at_once(archive: LibzimArchive, indexes: TitleIndexes) -> None:
    """The first search builds it and has it, the second finds it there (R218)."""
    index = indexes.open(archive)
    assert index
    assert (index.rows, index.complete) == (6, True)
    assert [row.path for row in index.exact("rock")] == ["Stone_1"]
    index.close()
    before = indexes.file(archive).stat()
    again = indexes.open(archive)
    assert again
    again.close()
    assert indexes.file(archive).stat() == before


def test_a_large_book_is_indexed_beside_the_work(
    archive: LibzimArchive, indexes: TitleIndexes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search goes on without the index, and a later one has it (R247)."""
    monkeypatch.setattr(models, "MAX_ENTRIES_TO_INDEX_NOW", 1)
    assert indexes.open(archive) is None
    child = RUNNING.pop()
    assert child.wait(60) == 0
    index = indexes.open(archive)
    assert index
    assert index.complete
    index.close()
    assert RUNNING == []


def test_a_part_of_a_large_book_is_used_meanwhile(
    archive: LibzimArchive, indexes: TitleIndexes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What there is already serves, and the rest is fetched beside the work (R248)."""
    indexes.build(archive, limit=2)
    monkeypatch.setattr(models, "MAX_ENTRIES_TO_INDEX_NOW", 1)
    index = indexes.open(archive)
    assert index
    assert (index.rows, index.complete) == (2, False)
    index.close()
    assert RUNNING.pop().wait(60) == 0
    whole = indexes.open(archive)
    assert whole
    assert whole.complete
    whole.close()


def test_no_second_process_is_started(
    archive: LibzimArchive, indexes: TitleIndexes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a build is under way, another search neither waits for it nor starts one more."""
    monkeypatch.setattr(models, "MAX_ENTRIES_TO_INDEX_NOW", 1)
    file = indexes.file(archive)
    held = FileLock(file.with_name(f"{file.name}.lock"))
    assert held.acquire()
    assert indexes.open(archive) is None
    assert RUNNING == []
    held.release()


def test_a_small_book_that_is_being_indexed_is_searched_without(archive: LibzimArchive, indexes: TitleIndexes) -> None:
    """A search does not wait for another process (R247)."""
    file = indexes.file(archive)
    held = FileLock(file.with_name(f"{file.name}.lock"))
    assert held.acquire()
    assert indexes.open(archive) is None
    held.release()
    index = indexes.open(archive)
    assert index
    index.close()


@pytest.mark.parametrize("at_once", [1, 100_000])
def test_a_folder_that_cannot_be_written_costs_the_index_only(
    archive: LibzimArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """If a file is in the folder's place there is no index, and no error (R247)."""
    monkeypatch.setattr(models, "MAX_ENTRIES_TO_INDEX_NOW", at_once)
    place = tmp_path / "in the way"
    place.write_text("no folder")
    assert TitleIndexes(place).open(archive) is None
    assert RUNNING == []


def test_the_process_beside_the_work_builds_the_index(archive: LibzimArchive, indexes: TitleIndexes) -> None:
    """Given a book and a folder it leaves the whole index there, and says nothing."""
    folder = indexes.file(archive).parent
    command = [sys.executable, "-P", "-m", "kiwiresearch.search.title_index_builder", archive.book.source, str(folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert indexes.build(archive).state == "kept"


def test_the_process_is_silent_about_a_book_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens to it, so it ends without a word and without a file."""
    monkeypatch.setattr(os, "nice", lambda _: 0)  # this process stays as it is
    main([str(tmp_path / "gone.zim"), str(tmp_path / "titles")])
    assert list(tmp_path.iterdir()) == []


def test_a_served_book_has_no_index(
    sample_zim: Path, indexes: TitleIndexes, kiwix_serve: Callable[..., str], tmp_path: Path
) -> None:
    """A server does not give its titles: search works from what it offers (R247)."""
    from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive

    server = KiwixServer(kiwix_serve(sample_zim))
    archive = ServeArchive(server, server.catalogue()[0])
    assert indexes.open(archive) is None
    assert not (tmp_path / "cache").exists()
    archive.close()
