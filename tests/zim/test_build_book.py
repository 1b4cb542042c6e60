"""Writing a book: the same bytes each time, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive

SKY = NewPage("Sky", "Sky", b"<title>Sky</title><p>Blue by day.</p>")
METADATA = {"Title": "Built", "Language": "eng"}


def test_same_pages_give_the_same_bytes(tmp_path: Path) -> None:
    """Two books of the same pages are equal byte for byte, UUID, indexes and checksum included."""
    for name in ("one.zim", "two.zim"):
        write_book(tmp_path / name, [SKY], [NewRedirect("Heavens", "Heavens", "Sky")], metadata=METADATA)
    assert (tmp_path / "one.zim").read_bytes() == (tmp_path / "two.zim").read_bytes()
    archive = LibzimArchive(tmp_path / "one.zim")
    assert archive.checksum_holds() is True
    assert [match.path for match in archive.search("blue", 5)] == ["Sky"]
    assert [match.path for match in archive.suggest("heav", 5)] == ["Sky"]


def test_other_pages_give_another_uuid(tmp_path: Path) -> None:
    """The UUID is that of the content: a changed word or title makes another book."""
    contents = (SKY, NewPage("Sky", "Sky", b"<p>Red.</p>"), NewPage("Sky", "The sky", SKY.content))
    for number, page in enumerate(contents):
        write_book(tmp_path / f"{number}.zim", [page], metadata=METADATA)
    assert len({LibzimArchive(tmp_path / f"{number}.zim").book.id for number in range(3)}) == 3


def _interrupted() -> Iterator[NewPage]:
    yield SKY
    raise InterruptedError("while writing")


@pytest.mark.parametrize("before", [None, b"the older book"])
@pytest.mark.parametrize("failure", ["a page that fails", "the same path twice"])
def test_failure_leaves_no_half_file(tmp_path: Path, before: bytes | None, failure: str) -> None:
    """When writing fails nothing new is in the folder, and an older book is as it was."""
    target = tmp_path / "book.zim"
    if before is not None:
        target.write_bytes(before)
    pages = _interrupted() if failure == "a page that fails" else iter([SKY, SKY])
    with pytest.raises((InterruptedError, RuntimeError)):
        write_book(target, pages, metadata=METADATA)
    assert [file.name for file in tmp_path.iterdir()] == ([] if before is None else ["book.zim"])
    assert before is None or target.read_bytes() == before


def test_older_book_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Writing over a book that is open leaves the reader of the old one alone."""
    target = tmp_path / "deep" / "er" / "book.zim"
    write_book(target, [SKY], metadata=METADATA)
    reader = LibzimArchive(target)
    write_book(target, [NewPage("Sea", "Sea", b"<p>Salt.</p>")], metadata=METADATA)
    assert reader.read("Sky").content == SKY.content
    assert list(LibzimArchive(target).articles()) == ["Sea"]
    assert [file.name for file in target.parent.iterdir()] == ["book.zim"]


paths = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(paths, st.binary(max_size=200), min_size=1, max_size=8))
def test_any_pages_come_back(tmp_path: Path, contents: dict[str, bytes]) -> None:
    """Whatever is written under whatever path is read under that path, byte for byte (R32, R33)."""
    target = tmp_path / "any.zim"
    write_book(target, [NewPage(p, f"T{n}", c) for n, (p, c) in enumerate(contents.items())], metadata=METADATA)
    archive = LibzimArchive(target)
    assert {path: archive.read(path).content for path in contents} == contents
    assert sorted(archive.articles()) == sorted(contents)
    archive.close()
