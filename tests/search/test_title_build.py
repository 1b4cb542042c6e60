"""Building a title index: in part, again, by two at once, killed, and where there is no room."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import BadSettings, BadUsage, NotOffered
from kiwiresearch.search import title_index_builder
from kiwiresearch.search.title_index_builder import IndexBuild, build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.archive import TitleEntry
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = 400
ENTRIES = 2 * PAGES


@pytest.fixture(scope="module")
def zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("build") / "numbers.zim"
    write_book(
        target,
        [NewPage(f"Number_{n}", f"Number {n}", b"<p>a number</p>") for n in range(PAGES)],
        [NewRedirect(f"Figure_{n}", f"Figure {n}", f"Number_{n}") for n in range(PAGES)],
        metadata={"Name": "numbers_en", "Title": "Numbers"},
        index=False,
    )
    return target


@pytest.fixture
def archive(zim: Path) -> Iterator[LibzimArchive]:
    opened = LibzimArchive(zim)
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "titles" / "titles.sqlite"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_one_file_a_book(archive: LibzimArchive, tmp_path: Path) -> None:
    """The index is one SQLite file named by the book's UUID, with full-text search over titles (R218, R237)."""
    target = titles_file(tmp_path, archive.book)
    assert target.name == f"titles-{archive.book.id}.sqlite"
    assert build_titles(archive, target) == IndexBuild(target, ENTRIES, complete=True, state="built")
    assert names(tmp_path) == [target.name, f"{target.name}.lock"]
    connection = sqlite3.connect(target)
    found = connection.execute('SELECT count(*) FROM held WHERE held MATCH \'"7" OR "11"\'').fetchone()
    connection.close()
    assert found == (4,)


def test_same_book_same_bytes(archive: LibzimArchive, tmp_path: Path) -> None:
    """Two indexes of one book are the same, byte for byte."""
    for name in ("one", "two"):
        build_titles(archive, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_complete_index_is_kept(archive: LibzimArchive, file: Path) -> None:
    """Building what is built does nothing."""
    build_titles(archive, file)
    before = file.stat().st_mtime_ns
    assert build_titles(archive, file).state == "kept"
    assert build_titles(archive, file, limit=3).state == "kept"
    assert file.stat().st_mtime_ns == before


def test_a_limit_gives_a_partial_index_that_can_be_extended(archive: LibzimArchive, file: Path) -> None:
    """A partial index is of the first titles and says so; a higher limit, or none, extends it (R244, R248)."""
    assert build_titles(archive, file, limit=10) == IndexBuild(file, 10, complete=False, state="built")
    index = open_titles(file, archive.book)
    assert index
    assert (index.rows, index.complete) == (10, False)
    assert [row.path for row in index.exact("Figure 0")] == ["Number_0"]
    assert index.exact("Number 0") == ()
    index.close()
    assert build_titles(archive, file, limit=5) == IndexBuild(file, 10, complete=False, state="kept")
    reports: list[int] = []
    assert build_titles(archive, file, limit=25, progress=lambda done, _: reports.append(done)).rows == 25
    assert reports[0] == ENTRIES, "fifteen more were one batch"
    assert build_titles(archive, file) == IndexBuild(file, ENTRIES, complete=True, state="built")
    fresh = file.with_name("fresh")
    build_titles(archive, fresh)
    assert file.read_bytes() == fresh.read_bytes()


@pytest.mark.parametrize("limit", [ENTRIES, ENTRIES + 1])
def test_a_limit_beyond_the_book_is_reached(archive: LibzimArchive, file: Path, limit: int) -> None:
    """A limit of all titles or more gives all of them, and building without one ends it."""
    assert build_titles(archive, file, limit=limit).rows == ENTRIES
    assert build_titles(archive, file).complete is True


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_is_refused(archive: LibzimArchive, file: Path, limit: int) -> None:
    """An index of no titles is a mistake."""
    with pytest.raises(BadUsage, match=f"Cannot index {limit} titles"):
        build_titles(archive, file, limit=limit)


def test_progress_goes_from_little_to_all(archive: LibzimArchive, file: Path) -> None:
    """Progress never goes back and ends with everything done."""
    reports: list[tuple[int, int]] = []
    build_titles(archive, file, progress=lambda done, total: reports.append((done, total)))
    assert reports == sorted(reports)
    assert (reports[-1], {total for _, total in reports}) == ((2 * ENTRIES, 2 * ENTRIES), {2 * ENTRIES})


CHILD = """
import os, signal, sys
from pathlib import Path
from kiwiresearch.errors import KiwiError
from kiwiresearch.search import title_index_builder
from kiwiresearch.zim.libzim import LibzimArchive
title_index_builder.TITLES_PER_BATCH = 50
zim, file, task, at = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
def progress(done, total):
    if task == "die" and done >= at:
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "wait" and done >= at:
        print("waiting", flush=True)
        sys.stdin.readline()
if task == "full":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (at, at))
try:
    print(title_index_builder.build_titles(LibzimArchive(zim), file, progress=progress).state)
except KiwiError as problem:
    print(problem)
"""


def child(zim: Path, file: Path, task: str, at: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(zim), str(file), task, str(at)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system kills otherwise")
@pytest.mark.parametrize("at", [1, ENTRIES // 2, ENTRIES + 200, 2 * ENTRIES], ids=str)
def test_a_killed_build_goes_on_where_it_was(
    zim: Path, archive: LibzimArchive, file: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build killed at any moment leaves nothing half-made, and the next one does the rest only (R248)."""
    with child(zim, file, "die", at) as process:
        assert process.wait() == -signal.SIGKILL
    assert open_titles(file, archive.book) is None
    started: list[int] = []
    listed = archive.titles

    def watched(start: int = 0) -> Iterator[TitleEntry]:
        started.append(start)
        return listed(start)

    monkeypatch.setattr(archive, "titles", watched)
    assert build_titles(archive, file) == IndexBuild(file, ENTRIES, complete=True, state="built")
    assert started == [min(max(at, 50), ENTRIES)]
    fresh = file.with_name("fresh")
    build_titles(archive, fresh)
    assert file.read_bytes() == fresh.read_bytes()
    assert names(file.parent) == ["fresh", "fresh.lock", "titles.sqlite", "titles.sqlite.lock"]


def test_two_at_once_do_not_disturb_each_other(zim: Path, archive: LibzimArchive, file: Path) -> None:
    """While one process builds, another one leaves it alone, with a message."""
    with child(zim, file, "wait", 2 * ENTRIES) as process:
        assert process.stdout
        assert process.stdout.readline() == "waiting\n"
        before = names(file.parent)
        assert build_titles(archive, file) == IndexBuild(file, 0, complete=False, state="busy")
        assert names(file.parent) == before
        assert process.communicate("go on\n")[0] == "built\n"
    assert build_titles(archive, file) == IndexBuild(file, ENTRIES, complete=True, state="kept")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on the size of files")
@pytest.mark.parametrize("room", [0, 9_000, 30_000])
def test_a_full_disk_is_reported(zim: Path, archive: LibzimArchive, file: Path, room: int) -> None:
    """If a file cannot grow, the error names it and says what to do; with room the build goes on."""
    with child(zim, file, "full", room) as process:
        result = process.communicate()[0]
    assert result.startswith(f"The title index {str(file)!r} cannot be written: ")
    assert "then run 'kiwiresearch books index numbers_en' again" in result
    assert open_titles(file, archive.book) is None
    assert build_titles(archive, file).rows == ENTRIES


def test_a_folder_that_cannot_be_made_is_reported(archive: LibzimArchive, tmp_path: Path) -> None:
    """A file where the folder should be is an error with a remedy, not a traceback."""
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(BadSettings, match="cannot be written") as caught:
        build_titles(archive, tmp_path / "taken" / "titles.sqlite")
    assert "permissions" in caught.value.remedy


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_reported(archive: LibzimArchive, tmp_path: Path) -> None:
    """A folder that cannot be written to is an error with a remedy."""
    tmp_path.chmod(0o555)
    with pytest.raises(BadSettings, match="cannot be written"):
        build_titles(archive, tmp_path / "titles.sqlite")
    tmp_path.chmod(0o755)


def test_an_index_of_another_book_is_replaced(archive: LibzimArchive, file: Path) -> None:
    """The index of another book that is there, finished or not, is built again."""
    other = MemoryArchive({"Sky": "<p>blue</p>", "Sea": "<p>deep</p>"})
    build_titles(other, file, limit=1)
    assert build_titles(archive, file) == IndexBuild(file, ENTRIES, complete=True, state="built")


@pytest.mark.parametrize("suffix", ["", ".rows", ".new"])
def test_rubbish_is_replaced(archive: LibzimArchive, file: Path, suffix: str) -> None:
    """Damaged index files, or remains of a build, do not prevent building."""
    file.parent.mkdir()
    file.with_name(file.name + suffix).write_bytes(b"no database" * 1_000)
    assert build_titles(archive, file).rows == ENTRIES


def test_gathered_rows_that_cannot_be_read_are_gathered_again(
    archive: LibzimArchive, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the rows of an earlier build turn out to be damaged, the build begins again."""
    monkeypatch.setattr(title_index_builder, "TITLES_PER_BATCH", 50)
    build_titles(archive, file, limit=300)
    rows = file.with_name(file.name + ".rows")
    data = bytearray(rows.read_bytes())
    data[3 * 4096 : 5 * 4096] = b"\xff" * 8192
    rows.write_bytes(data)
    assert build_titles(archive, file) == IndexBuild(file, ENTRIES, complete=True, state="built")


def test_titles_that_cannot_be_written_are_left_out(file: Path) -> None:
    """Half characters and titles of nothing do not stop a build."""
    archive = MemoryArchive({"Sky": "", "Half_\ud800": "", "\ud800": "", "Sea": "<title>Se\ud800a</title>"})
    assert build_titles(archive, file).rows == 2
    index = open_titles(file, archive.book)
    assert index
    assert [row.path for row in index.exact("sky")] == ["Sky"]
    index.close()


class Unlisted(MemoryArchive):
    """A book that cannot be listed, as those of a server."""

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        raise NotOffered("No list.")


def test_a_book_that_cannot_be_listed_leaves_nothing_behind(file: Path) -> None:
    """The error of a server's book comes through, and no index appears."""
    with pytest.raises(NotOffered):
        build_titles(Unlisted({}), file)
    assert not file.exists()


def test_a_book_without_titles_has_an_empty_index(file: Path) -> None:
    """No titles are not an error."""
    archive = MemoryArchive({})
    assert build_titles(archive, file) == IndexBuild(file, 0, complete=True, state="built")
    index = open_titles(file, archive.book)
    assert index
    assert (index.exact("Sky"), index.by_words(["sky"], 5), index.correct("skies")) == ((), (), ())
    index.close()
