"""Files that grow by whole lines: a line is there whole, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kiwiresearch.errors import RunDamaged
from kiwiresearch.runs import journal as module
from kiwiresearch.runs.journal import GrowingFile


def test_lines_are_added_and_cut(tmp_path: Path) -> None:
    """What was added is there for the next process, up to where it was cut."""
    part = GrowingFile(tmp_path / "lines")
    part.append(b"one\n")
    part.append(b"two\nthree\n")
    part.truncate(4)
    part.append(b"2\n")
    assert part.size == 6
    part.close()
    again = GrowingFile(tmp_path / "lines")
    assert again.size == 6
    assert b"".join(again.chunks()) == b"one\n2\n"
    again.close()


def test_half_a_line_is_a_bug(tmp_path: Path) -> None:
    """A line without its newline would run into the next one, and a cut cannot make a file longer."""
    part = GrowingFile(tmp_path / "lines")
    with pytest.raises(ValueError, match="incomplete line: b'half'"):
        part.append(b"half")
    with pytest.raises(ValueError, match="1 is not between 0 and 0"):
        part.truncate(1)
    part.close()


def test_a_large_file_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus need not fit the memory, and what is after the last whole line is not a part of it."""
    monkeypatch.setattr(module, "CHUNK_BYTES", 4)
    part = GrowingFile(tmp_path / "lines")
    part.append(b"123456789\n")
    with part.path.open("ab") as behind:
        behind.write(b"rubbish")
    assert list(part.chunks()) == [b"1234", b"5678", b"9\n"]
    part.close()


def test_a_file_cut_by_another_is_noticed(tmp_path: Path) -> None:
    """A corpus that is shorter than what was written to it is not passed on as the whole."""
    part = GrowingFile(tmp_path / "lines")
    part.append(b"123456789\n")
    os.truncate(part.path, 5)
    with pytest.raises(RunDamaged, match="was shortened while the run was in progress"):
        list(part.chunks())
    part.close()


SHORT_OF_ROOM = """
import resource, sys
from pathlib import Path
from kiwiresearch.errors import CannotWrite
from kiwiresearch.runs.journal import GrowingFile
part = GrowingFile(Path(sys.argv[1]))
part.append(b"first\\n")
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
try:
    part.append(b"second\\n")
except CannotWrite as problem:
    print(problem)
print(part.size, part.path.read_bytes())
part.append(b"3rd\\n")
print(part.size, part.path.read_bytes())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on the size of files")
def test_a_line_that_does_not_fit_leaves_no_trace(tmp_path: Path) -> None:
    """Of a line for which only half the room was left nothing stays, and a shorter one still fits."""
    command = [sys.executable, "-c", SHORT_OF_ROOM, str(tmp_path / "lines")]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert output[0].startswith(f"Could not write to the folder {str(tmp_path)!r}: File too large. Free up disk space")
    assert output[1:] == ["6 b'first\\n'", "10 b'first\\n3rd\\n'"]
