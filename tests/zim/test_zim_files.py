"""The first look at a path: which files are meant, and what they are if they are not books."""

from __future__ import annotations

import os
import string
from typing import TYPE_CHECKING

import pytest

from kiwiresearch.errors import BookNotFound, NotABook
from kiwiresearch.zim.files import ZIM_MAGIC, check_magic, parts_of
from kiwiresearch.zim.libzim import LibzimArchive

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import BookMaker


@pytest.mark.parametrize(
    ("beginning", "meaning"),
    [
        (b"<!DOCTYPE html><html>", "is not a ZIM file. It is a web page: the download probably failed."),
        (b"\n  <HTML><body>", "is not a ZIM file. It is a web page: the download probably failed."),
        (
            b"<?xml version='1.0'?>",
            "is not a ZIM file. It is an XML file (if it is a Kiwix library, rename it to library.xml).",
        ),
        (
            b"d8:announce35:udp://x",
            "is not a ZIM file. It is a torrent file: open it in a torrent program to download the book.",
        ),
        (b"PK\x03\x04rest", "is not a ZIM file. It is a ZIP archive: unpack it first."),
        (b"\x1f\x8b\x08", "is not a ZIM file. It is a gzip archive: unpack it first."),
        (b"version https://git-lfs", "is not a ZIM file. It is a Git LFS pointer: the book itself was not downloaded."),
        (b"Just some words.", "is not a ZIM file."),
        (b"ZIM", "is not a ZIM file."),
        (b"\x00\x00\x00\x00", "is not a ZIM file."),
        (b"", "is empty."),
    ],
)
def test_a_file_that_is_not_a_book_is_identified(tmp_path: Path, beginning: bytes, meaning: str) -> None:
    """A file that is not a ZIM file is called what it looks like."""
    file = tmp_path / "book.zim"
    file.write_bytes(beginning)
    with pytest.raises(NotABook) as caught:
        check_magic((file,))
    assert caught.value.message == f"The file {str(file)!r} {meaning}"


def test_a_file_that_begins_like_a_book_passes(tmp_path: Path) -> None:
    """The first look asks for the first four bytes only."""
    file = tmp_path / "book.zim"
    file.write_bytes(ZIM_MAGIC + b"anything")
    check_magic((file,))


def test_unreadable_file_is_reported(tmp_path: Path) -> None:
    """A file that the system does not let us read is reported with the system's reason."""
    file = tmp_path / "book.zim"
    file.write_bytes(ZIM_MAGIC)
    file.chmod(0)
    if os.access(file, os.R_OK):
        file.unlink()
        file.symlink_to(file)
    with pytest.raises(NotABook, match="Could not read the file") as caught:
        check_magic((file,))
    assert caught.value.remedy == "Check its permissions and the disk."


def test_folder_pipe_and_nothing(tmp_path: Path) -> None:
    """A folder, something that is not a regular file, and nothing at all are three different sentences."""
    pipe = tmp_path / "pipe.zim"
    os.mkfifo(pipe)
    with pytest.raises(NotABook, match="is a folder, not a ZIM file"):
        parts_of(tmp_path)
    with pytest.raises(NotABook, match="is not a regular file"):
        parts_of(pipe)
    with pytest.raises(BookNotFound, match="does not exist"):
        parts_of(tmp_path / "missing.zim")
    with pytest.raises(BookNotFound, match="does not exist"):
        parts_of(tmp_path / "missing.zimaa")


@pytest.mark.parametrize("count", [1, 3, 26, 28])
@pytest.mark.parametrize("named", ["book.zimaa", "book.zim"])
def test_parts_are_found_in_order(tmp_path: Path, count: int, named: str) -> None:
    """All parts of a split book belong to it, also beyond 'az', up to the first that is missing."""
    letters = [f"{a}{b}" for a in string.ascii_lowercase for b in string.ascii_lowercase]
    for suffix in [*letters[:count], letters[count + 1]]:
        (tmp_path / f"book.zim{suffix}").touch()
    parts = parts_of(tmp_path / named)
    assert [part.suffix for part in parts] == [f".zim{suffix}" for suffix in letters[:count]]


def test_whole_file_comes_before_parts(tmp_path: Path) -> None:
    """A file of the name itself is the book, though parts lie beside it."""
    (tmp_path / "book.zim").touch()
    (tmp_path / "book.zimaa").touch()
    assert parts_of(tmp_path / "book.zim") == (tmp_path / "book.zim",)


def test_articles_come_in_the_order_of_their_clusters(a_book: BookMaker) -> None:
    """Articles are listed as they lie in the file, so that no cluster is unpacked twice."""
    # Written last to first, so that the order in the file is not that of the titles.
    names = [f"Page_{number:03}" for number in range(60, 0, -1)]
    file = a_book({name: f"<p>{name}</p>" for name in names})
    assert list(LibzimArchive(file).articles()) == names
