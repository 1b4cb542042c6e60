"""The work of a run: one process at a time, and of journal, corpus and claims what fits together."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kiwiresearch.errors import FolderTaken
from kiwiresearch.runs.unfinished_run import (
    PARTS,
    FolderLock,
    OpenWork,
    append_lines,
    open_work,
    remove_leftovers,
    take_lock,
)

HEADER = {"fingerprint": "f1", "topic": "Stone"}
LINES = [b"one\n", b"", b"three\n", b"four four\n"]


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be removed there")
def test_a_lock_on_a_file_that_is_gone_is_none(tmp_path: Path) -> None:
    """A process that gets the lock after its file was removed must try again, since another may lock the new file."""
    late, first = FolderLock(tmp_path / "lock"), FolderLock(tmp_path / "lock")
    assert late.acquire()
    assert late.is_current()
    late.path.unlink()
    assert not late.is_current()
    assert first.acquire()
    assert (late.is_current(), first.is_current()) == (False, True)
    late.release()
    assert not late.is_current()
    assert first.is_current()
    first.release()


def test_files_in_use_are_not_cleaned_up(tmp_path: Path) -> None:
    """Cleaning up after a killed run leaves a run alone that is alive."""
    work = _work(tmp_path)
    remove_leftovers(tmp_path)
    assert (tmp_path / ".journal" / "steps").exists()
    work.close()
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_is_never_removed(tmp_path: Path) -> None:
    """What somebody put among the files of the work stays."""
    _work(tmp_path).close()
    (tmp_path / ".journal" / "notes").write_text("mine")
    remove_leftovers(tmp_path)
    assert [file.name for file in (tmp_path / ".journal").iterdir()] == ["notes"]


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_hidden_folder_of_another_is_refused(tmp_path: Path, kind: str) -> None:
    """A name that another program uses the same way is not taken over."""
    hidden, elsewhere = tmp_path / "run" / ".journal", tmp_path / "elsewhere"
    hidden.parent.mkdir()
    elsewhere.mkdir()
    if kind == "file":
        hidden.write_text("dear diary")
    elif kind == "link":
        hidden.symlink_to(elsewhere)
    else:
        hidden.mkdir()
        (hidden / "monday.txt").write_text("dear diary")
    with pytest.raises(FolderTaken, match=r"contains files that do not belong to a run, such as '\.journal'"):
        take_lock(hidden.parent)
    assert list(elsewhere.iterdir()) == []


def _work(folder: Path) -> OpenWork:
    return open_work(folder, HEADER, take_lock(folder))


@pytest.fixture(params=PARTS)
def name(request: pytest.FixtureRequest) -> str:
    """What grows with every page: the corpus or the claims."""
    return str(request.param)


def _four_steps(folder: Path, name: str) -> None:
    """A step with a line, one without, and two with a line again."""
    work = _work(folder)
    for number, line in enumerate(LINES):
        row: dict[str, object] = {"number": number}
        if line:
            row |= append_lines(name, work.parts[name], line)
        work.journal.append(row)
    work.close()


def _kept(folder: Path, name: str) -> tuple[int, bytes]:
    work = _work(folder)
    work.close()
    assert len(work.journal) == len(work.journal.rows)
    return len(work.journal), work.parts[name].path.read_bytes()


def test_all_that_fits_is_kept(tmp_path: Path, name: str) -> None:
    """A run that was killed between two steps loses nothing."""
    _four_steps(tmp_path, name)
    assert _kept(tmp_path, name) == (4, b"".join(LINES))


@pytest.mark.parametrize(("size", "steps"), [(0, 0), (3, 0), (4, 2), (5, 2), (9, 2), (10, 3), (19, 3), (20, 4)])
def test_a_part_that_is_behind_cuts_the_journal(tmp_path: Path, name: str, size: int, steps: int) -> None:
    """Steps whose lines did not reach the disk are taken again, whether the rest is missing or zeros."""
    for folder, rest in ((tmp_path / "short", b""), (tmp_path / "zeros", bytes(20 - size))):
        _four_steps(folder, name)
        part = folder / ".journal" / name
        part.write_bytes(part.read_bytes()[:size] + rest)
        assert _kept(folder, name) == (steps, b"".join(LINES[:steps]))


def test_a_part_that_is_ahead_is_cut(tmp_path: Path, name: str) -> None:
    """Lines whose step was not written any more are gone, so that they do not come twice."""
    _four_steps(tmp_path, name)
    steps = tmp_path / ".journal" / "steps"
    steps.write_bytes(b"".join(steps.read_bytes().splitlines(keepends=True)[:3]))
    assert _kept(tmp_path, name) == (2, b"one\n")


def test_a_part_without_steps_is_empty(tmp_path: Path, name: str) -> None:
    """If the journal is lost, the run begins again."""
    _four_steps(tmp_path, name)
    (tmp_path / ".journal" / "steps").write_bytes(bytes(100))
    assert _kept(tmp_path, name) == (0, b"")


def test_a_step_may_leave_out_the_mark(tmp_path: Path, name: str) -> None:
    """With the size alone, the length of the part decides."""
    work = _work(tmp_path)
    for line in (b"one\n", b"two\n"):
        work.parts[name].append(line)
        work.journal.append({f"{name}_size": work.parts[name].size})
    work.close()
    assert _kept(tmp_path, name) == (2, b"one\ntwo\n")
    (tmp_path / ".journal" / name).write_bytes(b"one\ntw")
    assert _kept(tmp_path, name) == (1, b"one\n")


@pytest.mark.parametrize("behind", PARTS)
def test_a_step_without_its_page_or_claims_is_repeated(tmp_path: Path, behind: str) -> None:
    """A step counts only if the page and its claims are both there: otherwise both are taken again."""
    work = _work(tmp_path)
    for page, entry in ((b"page 1\n", b"claim 1\n"), (b"page 2\n", b""), (b"page 3\n", b"claim 2\nclaim 3\n")):
        work.journal.append(
            append_lines("corpus", work.parts["corpus"], page) | append_lines("claims", work.parts["claims"], entry)
        )
    work.close()
    part = tmp_path / ".journal" / behind
    part.write_bytes(part.read_bytes()[:-3])
    assert _kept(tmp_path, "corpus") == (2, b"page 1\npage 2\n")
    assert _kept(tmp_path, "claims") == (2, b"claim 1\n")
