"""ZIM files with odd titles, odd types or damage: counts agree, titles lead to pages, nothing crashes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import BookMaker

from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.paths import find_path

LONG_AGO = (1_000_000_000, 1_000_000_000)

# A file cut short while mapped ends the process, so the reading is done in a child.
READER = """
import os, sys
from pathlib import Path
from kiwiresearch.errors import BookChanged
from kiwiresearch.zim.libzim import LibzimArchive

calls = {"by_title": lambda a: a.by_title("Sky"), "articles": lambda a: list(a.articles())}
file = Path(sys.argv[1])
archive = LibzimArchive(file)
os.truncate(file, 4096)
try:
    calls[sys.argv[2]](archive)
except BookChanged:
    print("told")
"""


@pytest.mark.parametrize("call", ["by_title", "articles"])
def test_looking_into_a_file_cut_short_is_survived(sample_zim: Path, tmp_path: Path, call: str) -> None:
    """Looking up a title or listing all articles of a file that was cut short is an error, not a crash."""
    file = tmp_path / "cut.zim"
    shutil.copyfile(sample_zim, file)
    os.utime(file, LONG_AGO)
    command = [sys.executable, "-c", READER, str(file), call]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "told\n", "")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("E = mc<sup>2</sup>", "E = mc2"),
        ("<i>Homo</i> erectus &amp; co", "Homo erectus & co"),
    ],
)
def test_title_as_shown_finds_its_page(a_book: BookMaker, written: str, shown: str) -> None:
    """The title that a reader sees finds the page, also where the file has markup in it."""
    archive = LibzimArchive(a_book({"P": "<p>x</p>"}, titles={"P": written}))
    assert archive.read("P").title == shown
    assert find_path(archive, shown) == "P"


@pytest.mark.parametrize(("index", "hits"), [(True, ["Sky"]), (False, [])], ids=["index", "no index"])
def test_a_title_that_is_not_utf8_is_taken_from_the_path(a_book: BookMaker, index: bool, hits: list[str]) -> None:
    """A page whose title cannot be decoded is still read, searched and suggested, under its path's name."""
    file = a_book({"Sky": "<p>blue</p>"}, titles={"Sky": "Marker title"}, index=index)
    whole = file.read_bytes()
    assert whole.count(b"Sky\0Marker title\0") == 1
    file.write_bytes(whole.replace(b"Sky\0Marker title\0", b"Sky\0\xff\xfe\xfdker title\0"))
    archive = LibzimArchive(file)
    assert archive.read("Sky").title == "Sky"
    assert [match.title for match in archive.search("blue", 3)] == hits
    assert [match.title for match in archive.suggest("Marker", 3)] == ["Sky"]
