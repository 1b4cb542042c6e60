from __future__ import annotations

from pathlib import Path

import pytest

from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.directory import ENTRIES_PER_BLOCK, directory_of
from kiwiresearch.zim.libzim import LibzimArchive

REAL = (
    "squad.zim",
    "real/wikipedia_en_100_mini_2022-10.zim",
    "real/wikipedia_en_ray_charles_2015-06.zim",
    "real/wikipedia_en_ray_charles_maxi_2023-09.zim",
    "real/wikibooks_be_all_nopic_2017-02.noTitleListingV0.zim",
    "real/devdocs_en_sqlite_2025-04.zim",
    "split/wikipedia_en_ray_charles_2015-06.zimaa",
)


def same(file: Path) -> None:
    archive = LibzimArchive(file)
    found = archive.directory()
    titles = list(archive.titles())
    assert [archive.path_at(int(number)) for number in found.articles] == list(archive.articles())
    assert list(map(int, found.redirects)) == [one.number for one in titles if one.alias]
    for one in titles:
        named = archive.name_at(one.number)
        assert (named.title, named.target if one.alias else named.path) == (one.title, one.path)
    archive.close()


@pytest.mark.parametrize("name", REAL)
def test_the_directory_of_a_real_book_matches_its_entries(shared_data: Path, name: str) -> None:
    """Old and new files, split ones and those without a list: articles, their order and redirects are the same."""
    same(shared_data / "zims" / name)


def test_a_book_of_many_blocks_is_one_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries are looked at block by block, and redirects lead across them."""
    pages = [NewPage(f"P{n}", f"P{n}", b"<p>x</p>" * (n % 5)) for n in range(40)]
    redirects = [NewRedirect(f"R{n}", f"R{n}", f"R{n + 1}" if n % 3 else f"P{n}") for n in range(30)]
    metadata = {"Name": "n", "Title": "T", "Language": "eng", "Date": "2026-01-01"}
    write_book(tmp_path / "b.zim", pages, redirects, metadata=metadata, index=False)
    monkeypatch.setattr("kiwiresearch.zim.directory.ENTRIES_PER_BLOCK", 7)
    same(tmp_path / "b.zim")
    monkeypatch.setattr("kiwiresearch.zim.directory.MAX_BLOCK_BYTES", 10)
    same(tmp_path / "b.zim")
    assert ENTRIES_PER_BLOCK > 7


def test_pointers_that_lead_nowhere_are_damaged_articles() -> None:
    """A file whose header promises more than it has gives damaged entries, never an internal error."""
    import numpy as np

    from kiwiresearch.zim.directory import HEADER
    from kiwiresearch.zim.listing import MAGIC

    head = HEADER.pack(MAGIC, 6, 0, bytes(16), 3, 1, 80, 0, 0, 90, 0, 0, 0)
    data = head + (2**63).to_bytes(8, "little") + b"\xff" * 5
    found = directory_of(lambda at, n: data[at : at + n], len(data), np.zeros(0, np.uint32), count=3, old=False)
    assert sorted(map(int, found.articles)) == [0, 1, 2]
    assert not len(found.redirects)
