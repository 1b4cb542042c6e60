"""Redirects that never arrive: libzim's own writer refuses them, so they are patched into the bytes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import RedirectLoop
from kiwiresearch.zim.archive import MAX_HOPS, Archive
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.listing import HEADER, REDIRECT_TYPE
from kiwiresearch.zim.paths import find_path

if TYPE_CHECKING:
    from tests.conftest import BookMaker

DIRENT = struct.Struct("<HBcII")
CHECKSUM_BYTES = 16


def redirect_in_place(file: Path, changes: Mapping[str, str]) -> None:
    """Make redirects, named by namespace and path ('C/Egg'), point at other entries."""
    data = bytearray(file.read_bytes())
    _, _, _, _, count, _, pointers, _ = HEADER.unpack_from(data, 0)
    number_of: dict[str, int] = {}
    place_of: dict[str, int] = {}
    for number in range(count):
        (place,) = struct.unpack_from("<Q", data, pointers + 8 * number)
        mimetype, _, namespace, _, _ = DIRENT.unpack_from(data, place)
        start = place + (12 if mimetype == REDIRECT_TYPE else 16)
        path = data[start : data.index(0, start)].decode()
        name = f"{namespace.decode()}/{path}"
        number_of[name] = number
        if mimetype == REDIRECT_TYPE:
            place_of[name] = place
    for name, target in changes.items():
        struct.pack_into("<I", data, place_of[name] + 8, number_of[target])
    checksum = hashlib.md5(data[:-CHECKSUM_BYTES], usedforsecurity=False).digest()
    data[-CHECKSUM_BYTES:] = checksum
    file.write_bytes(data)


LOOPS = {"Ouroboros": "Ouroboros", "Egg": "Hen", "Hen": "Egg", "A1": "A2", "A2": "A3", "A3": "A1"}


@pytest.fixture(scope="module")
def circular(tmp_path_factory: pytest.TempPathFactory) -> LibzimArchive:
    file = tmp_path_factory.mktemp("loops") / "loops.zim"
    write_book(
        file,
        [NewPage("Sky", "Sky", b"<p>Blue by day.</p>")],
        [NewRedirect(name, name, "Sky") for name in (*LOOPS, "Heavens")],
        metadata={"Title": "Test book"},
    )
    redirect_in_place(file, {f"C/{name}": f"C/{target}" for name, target in LOOPS.items()})
    return LibzimArchive(file)


@pytest.mark.parametrize("path", LOOPS)
def test_a_circle_is_reported_and_not_followed(circular: LibzimArchive, path: str) -> None:
    """Reading a redirect that leads back to itself, over one or more steps, is a RedirectLoop."""
    with pytest.raises(RedirectLoop) as caught:
        circular.read(path)
    assert caught.value.message == f"The page {path!r} of 'Test book' redirects in a loop."
    assert caught.value.remedy


@pytest.mark.parametrize("path", LOOPS)
def test_a_circle_leads_nowhere(circular: LibzimArchive, path: str) -> None:
    """Finding a path or a title in a circle is the same as not finding it."""
    assert circular.resolve(path) is None
    assert circular.by_title(path) is None
    assert find_path(circular, path) is None


def test_a_circle_is_not_suggested(circular: LibzimArchive) -> None:
    """Suggestions leave out what leads nowhere, and keep the rest."""
    assert circular.suggest("Egg", 5) == ()
    assert [(m.path, m.alias) for m in circular.suggest("Heavens", 5)] == [("Sky", "Heavens")]


def test_the_rest_of_the_book_is_sound(circular: LibzimArchive) -> None:
    """A circle spoils no other page: the file is sound, its articles are listed and read."""
    assert circular.checksum_holds() is True
    assert list(circular.articles()) == ["Sky"]
    assert circular.read("Heavens").via == ("Heavens",)


def test_a_circle_has_no_title(circular: LibzimArchive) -> None:
    """Titles that lead nowhere are not listed."""
    listed = {(entry.title, entry.path, entry.alias) for entry in circular.titles()}
    assert listed == {("Sky", "Sky", False), ("Heavens", "Sky", True)}


def test_a_main_page_in_a_circle_is_not_a_main_page(a_book: BookMaker) -> None:
    """A book whose main page leads only to itself opens all the same."""
    file = a_book({"Sky": "<p>Blue.</p>"}, main_path="Sky")
    assert LibzimArchive(file).book.main_page == "Sky"
    redirect_in_place(file, {"W/mainPage": "W/mainPage"})
    assert LibzimArchive(file).book.main_page == ""


@pytest.mark.parametrize("backend", ["file", "memory"])
def test_long_chains_are_taken_for_loops(a_book: BookMaker, backend: str) -> None:
    """A chain of as many steps as allowed arrives, one of a step more is given up."""
    pages = {"End": "<p>There.</p>"}
    names = [f"Step_{number:02}" for number in range(MAX_HOPS + 1, 0, -1)]
    redirects = dict(zip(names, [*names[1:], "End"], strict=True))
    archive: Archive = MemoryArchive(pages, redirects)
    if backend == "file":
        archive = LibzimArchive(a_book(pages, redirects))
    assert len(archive.read(names[1]).via) == MAX_HOPS
    with pytest.raises(RedirectLoop):
        archive.read(names[0])
    assert archive.resolve(names[0]) is None
    assert len(list(archive.titles())) == 1 + MAX_HOPS


@pytest.mark.parametrize("path", ["Egg", "Hen", "Self"])
def test_memory_archive_guards_against_circles(path: str) -> None:
    """The double for tests knows circles as the real thing does."""
    archive = MemoryArchive({"Sky": "<p>Blue.</p>"}, {"Egg": "Hen", "Hen": "Egg", "Self": "Self"})
    assert archive.resolve(path) is None
    with pytest.raises(RedirectLoop):
        archive.read(path)
