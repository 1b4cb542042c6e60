"""A book's file that changes while it is open: an error that can be read, not the end of the process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kiwiresearch.errors import BookChanged, KiwiError
from kiwiresearch.zim.files import FileGuard
from kiwiresearch.zim.libzim import LibzimArchive

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import BookMaker

LONG_AGO = (1_000_000_000, 1_000_000_000)

# A file cut short while mapped ends the process, so the reading is done in a child.
READER = """
import os, sys
from pathlib import Path
from kiwiresearch.errors import BookChanged
from kiwiresearch.zim.libzim import LibzimArchive

file, change = Path(sys.argv[1]), sys.argv[2]
calls = {
    "read": lambda a: a.read("Sky"),
    "resolve": lambda a: a.resolve("Sky"),
    "search": lambda a: a.search("sky", 5),
    "estimate": lambda a: a.estimate("sky"),
    "suggest": lambda a: a.suggest("Sky", 5),
    "checksum_holds": lambda a: a.checksum_holds(),
}
archive = LibzimArchive(file)
if change == "emptied":
    os.truncate(file, 0)
elif change == "cut":
    os.truncate(file, 4096)
else:
    with file.open("r+b") as stream:
        stream.write(b"other bytes" * (file.stat().st_size // 11))
for name, call in calls.items():
    try:
        call(archive)
        print(name, "answered", flush=True)
    except BookChanged as problem:
        print(name, problem, flush=True)
"""


@pytest.fixture
def sky(sample_zim: Path, tmp_path: Path) -> Path:
    file = tmp_path / "sky.zim"
    shutil.copyfile(sample_zim, file)
    os.utime(file, LONG_AGO)
    return file


@pytest.mark.parametrize("change", ["emptied", "cut", "overwritten"])
def test_changed_file_is_reported_and_survived(sky: Path, change: str) -> None:
    """Whatever is asked of a book whose file was cut or overwritten, the answer is one clear sentence."""
    command = [sys.executable, "-c", READER, str(sky), change]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    output = [line.partition(" (")[0] for line in done.stdout.splitlines()]
    sentence = f"The file {str(sky)!r} was changed while it was open"
    asked = ("read", "resolve", "search", "estimate", "suggest", "checksum_holds")
    assert output == [f"{name} {sentence}" for name in asked]
    assert (done.returncode, done.stderr) == (0, "")


def test_articles_stop_when_the_file_changes(sky: Path) -> None:
    """A walk through all articles ends with an error when the file changes on the way."""
    archive = LibzimArchive(sky)
    walk = archive.articles()
    next(walk)
    os.truncate(sky, sky.stat().st_size - 1)
    with pytest.raises(BookChanged):
        next(walk)


def test_renaming_another_file_into_place_harms_nothing(sky: Path, a_book: BookMaker) -> None:
    """The right way to replace a book: the open one stays readable to its end."""
    archive = LibzimArchive(sky)
    pages = {path: archive.read(path).content for path in archive.articles()}
    newer = a_book({"Sky": "<p>grey</p>"}, name="newer.zim")
    newer.replace(sky)
    assert {path: archive.read(path).content for path in pages} == pages
    assert LibzimArchive(sky).read("Sky").content == b"<p>grey</p>"


def test_unchanged_file_stays_open(sky: Path) -> None:
    """A file that is only read, linked or renamed is unchanged."""
    guard = FileGuard((sky,))
    sky.read_bytes()
    sky.rename(sky.with_name("renamed.zim"))
    guard.check()
    guard.close()


@pytest.mark.parametrize("part", [0, 1, 2])
def test_every_part_of_a_split_book_is_watched(tmp_path: Path, part: int) -> None:
    """A change to any part of a split book is noticed by its size alone, and that part is named."""
    parts = tuple(tmp_path / f"book.zima{letter}" for letter in "abc")
    for file in parts:
        file.write_bytes(b"0123456789")
        os.utime(file, LONG_AGO)
    guard = FileGuard(parts)
    guard.check()
    os.truncate(parts[part], 4)
    os.utime(parts[part], LONG_AGO)
    with pytest.raises(BookChanged) as caught:
        guard.check()
    assert caught.value.message == (
        f"The file {str(parts[part])!r} was changed while it was open (10 bytes before, 4 now)."
    )
    guard.close()


def test_changed_is_a_kiwi_error_with_a_remedy(tmp_path: Path) -> None:
    """The error says how a book is replaced without harm."""
    file = tmp_path / "book.zim"
    file.write_bytes(b"0123456789")
    guard = FileGuard((file,))
    with file.open("ab") as stream:
        stream.write(b"more")
    with pytest.raises(KiwiError) as caught:
        guard.check()
    assert "copy the new file under another name, then rename it" in caught.value.remedy
    guard.close()
