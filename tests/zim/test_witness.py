"""What the next start knows of a process that died while its book was cut short."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kiwiresearch.zim.files import CrashReport, OpenFileNotes

READER = """
import sys
from pathlib import Path
from kiwiresearch.zim.files import OpenFileNotes

witness = OpenFileNotes(Path(sys.argv[1]))
witness.note_open(tuple(Path(name) for name in sys.argv[2:]))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    file = tmp_path / "book.zim"
    file.write_bytes(b"x" * 5000)
    return file


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "open"


def reader(notes: Path, *files: Path) -> subprocess.Popen[str]:
    """A process that has noted the files as open and waits for its input to end."""
    command = [sys.executable, "-c", READER, str(notes), *map(str, files)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def end(process: subprocess.Popen[str], *, kill: bool) -> None:
    if kill:
        process.kill()
    process.communicate()


def test_a_killed_process_and_a_file_cut_short_are_shown_once(notes: Path, book: Path) -> None:
    """A process that died while its file was cut is reported at the next start, and only then."""
    process = reader(notes, book)
    os.truncate(book, 1200)
    end(process, kill=True)
    accidents = OpenFileNotes(notes).crash_reports()
    assert accidents == [CrashReport(str(book), 5000, 1200)]
    assert str(accidents[0]) == (
        f"An earlier command stopped while reading {str(book)!r}: the file had 5,000 bytes and now has 1,200."
        " To replace a book, copy the new file under another name, then rename it. Saved work is not lost."
    )
    assert OpenFileNotes(notes).crash_reports() == []
    assert list(notes.iterdir()) == []


def test_a_file_that_is_gone_is_reported(notes: Path, book: Path) -> None:
    """A file that was removed under a process that died is reported as gone."""
    process = reader(notes, book)
    book.unlink()
    end(process, kill=True)
    (accident,) = OpenFileNotes(notes).crash_reports()
    assert "the file had 5,000 bytes and is now missing." in str(accident)


def test_a_killed_process_with_its_file_unchanged_is_not_an_accident(notes: Path, book: Path) -> None:
    """A process may be killed for any reason; if its files are unchanged, nothing is reported."""
    end(reader(notes, book), kill=True)
    assert OpenFileNotes(notes).crash_reports() == []
    assert list(notes.iterdir()) == []


def test_a_process_that_ends_in_order_leaves_no_note(notes: Path, book: Path) -> None:
    """A process that ends by itself puts its note away, though the file changed."""
    process = reader(notes, book)
    os.truncate(book, 1)
    end(process, kill=False)
    assert list(notes.iterdir()) == []
    assert OpenFileNotes(notes).crash_reports() == []


def test_a_process_that_still_runs_is_left_alone(notes: Path, book: Path) -> None:
    """The note of a living process is not taken for that of a dead one."""
    process = reader(notes, book)
    os.truncate(book, 1)
    assert OpenFileNotes(notes).crash_reports() == []
    end(process, kill=True)
    assert [accident.bytes_now for accident in OpenFileNotes(notes).crash_reports()] == [1]


def test_only_the_changed_file_is_named(notes: Path, book: Path) -> None:
    """Of several open files, the one that changed is named."""
    other = book.with_name("other.zim")
    other.write_bytes(b"y" * 70)
    process = reader(notes, book, other)
    os.truncate(other, 7)
    end(process, kill=True)
    assert [accident.file for accident in OpenFileNotes(notes).crash_reports()] == [str(other)]


@pytest.mark.parametrize("written", ["", "[]", "{", '{"a": 1}', '{"a": ["x"]}', "null", '{"a": [1, 2, 3]}'])
def test_broken_notes_are_put_away(notes: Path, written: str) -> None:
    """A note that cannot be understood is removed without a word."""
    notes.mkdir()
    (notes / "123.json").write_text(written, encoding="utf-8")
    assert OpenFileNotes(notes).crash_reports() == []
    assert list(notes.iterdir()) == []


def test_no_notes_no_accidents(notes: Path) -> None:
    """The first start ever has nothing to report, and creates no folder."""
    assert OpenFileNotes(notes).crash_reports() == []
    assert not notes.exists()


def test_a_home_that_cannot_be_written_is_not_an_error(tmp_path: Path, book: Path) -> None:
    """The note is a courtesy: where it cannot be written, books are read all the same."""
    (tmp_path / "file").touch()
    witness = OpenFileNotes(tmp_path / "file" / "open")
    witness.note_open((book,))
    witness.remove_note()
    assert OpenFileNotes(tmp_path / "file" / "open").crash_reports() == []
