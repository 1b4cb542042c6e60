"""Published ZIM files of all ages and makers: they open, and every article is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwiresearch.errors import NotABook, PageNotFound
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import LibzimArchive

MAXI_2023 = "wikipedia_en_ray_charles_maxi_2023-09.zim"
OLD_2015 = "wikipedia_en_ray_charles_2015-06.zim"

ARTICLES = {
    "devdocs_en_sqlite_2025-04.zim": 528,
    "kiwix-android_characters_encoding.zim": 1,
    "kiwix-android_testzim.zim": 4,
    "libkiwix_corner_cases.zim": 1,
    "libkiwix_spelling_correction_test.zim": 62,
    "meta.esperanto.stackexchange.com_eng_all_2017-05.zim": 316,
    "wikibooks_be_all_nopic_2017-02.noTitleListingV0.zim": 66,
    "wikibooks_be_all_nopic_2017-02.nons.zim": 66,
    "wikibooks_be_all_nopic_2017-02.withns.zim": 66,
    "wikipedia_en_100_mini_2022-10.zim": 101,
    "wikipedia_en_ray_charles_2015-06.zim": 85,
    "wikipedia_en_ray_charles_maxi_2023-09.zim": 139,
    "wikipedia_en_ray_charles_mini_2020-03.zim": 129,
    "zimply_wiki.zim": 173,
}

EMPTY = ["devdocs_en_sqlite_2025-04.zim: compile", "libkiwix_corner_cases.zim: A/empty.html"]
"""A page that holds nothing but its source, and one of no bytes."""


@pytest.fixture(scope="session")
def real(shared_data: Path) -> Path:
    return shared_data / "zims" / "real"


@pytest.fixture(scope="session")
def maxi(real: Path) -> Iterator[LibzimArchive]:
    archive = LibzimArchive(real / MAXI_2023)
    yield archive
    archive.close()


@pytest.fixture(scope="session")
def old(real: Path) -> Iterator[LibzimArchive]:
    archive = LibzimArchive(real / OLD_2015)
    yield archive
    archive.close()


def test_every_article_of_every_real_book_is_read(real: Path) -> None:
    """Every published file opens, and each of its articles becomes a page with text or links (R32, R33, R34)."""
    files = sorted(real.glob("*.zim"))
    assert {file.name for file in files} >= ARTICLES.keys()
    silent: list[str] = []
    for file in files:
        archive = LibzimArchive(file)
        for path in archive.articles():
            page = open_page(archive, path)
            if not (page.text.strip() or page.links):
                silent.append(f"{file.name}: {path}")
        archive.close()
    assert silent == EMPTY


@pytest.mark.parametrize("name", ARTICLES)
def test_articles_are_counted_and_listed_alike(real: Path, name: str) -> None:
    """A book's own count of articles is the number of pages it lists, each once (R32)."""
    archive = LibzimArchive(real / name)
    paths = list(archive.articles())
    archive.close()
    assert (archive.book.articles, len(paths), len(set(paths))) == (ARTICLES[name],) * 3


@pytest.mark.parametrize("name", ARTICLES)
def test_titles_lead_to_all_articles_and_nothing_else(real: Path, name: str) -> None:
    """The titles that are not aliases are those of the articles, and an alias leads to an article (R32)."""
    archive = LibzimArchive(real / name)
    paths = sorted(archive.articles())
    listed = list(archive.titles())
    archive.close()
    assert sorted(entry.path for entry in listed if not entry.alias) == paths
    assert {entry.path for entry in listed} == set(paths)


def test_redirects_of_a_real_book_are_titles_too(real: Path) -> None:
    """A book of a hundred articles has thousands of other names for them."""
    archive = LibzimArchive(real / "wikipedia_en_100_mini_2022-10.zim")
    assert sum(entry.alias for entry in archive.titles()) == 3_885
    archive.close()


@pytest.mark.parametrize("asked", ["A/Ray_Charles", "Ray_Charles"])
def test_old_files_are_asked_with_or_without_a_letter(maxi: LibzimArchive, asked: str) -> None:
    """Files of the old scheme call their articles 'A/…'; a link without it is understood."""
    assert maxi.book.old_namespaces is True
    assert maxi.read(asked).ref.path == "A/Ray_Charles"
    assert maxi.resolve(asked) == "A/Ray_Charles"


@pytest.mark.parametrize("asked", ["I/Ray_Charles", "M/Ray_Charles", "A/A/Ray_Charles", "Title"])
def test_old_files_keep_their_letters_apart(maxi: LibzimArchive, asked: str) -> None:
    """In the old scheme another letter is another entry, and metadata is not a page."""
    with pytest.raises(PageNotFound):
        maxi.read(asked)


def test_old_redirects_are_followed(maxi: LibzimArchive) -> None:
    """A redirect of an old file leads to its article, and says from where."""
    entry = maxi.read("A/Ray_charles")
    assert (entry.ref.path, entry.via) == ("A/Ray_Charles", ("A/Ray_charles",))
    assert maxi.by_title("Ray charles") == "A/Ray_Charles"


def test_search_in_a_real_book(maxi: LibzimArchive) -> None:
    """The index of a published file is searched, and every hit is a page of it (R236)."""
    found = maxi.search("soul music", 20)
    assert len(found) == 20
    assert all(maxi.resolve(match.path) == match.path and match.title for match in found)
    assert maxi.estimate("soul music") == 107
    assert maxi.search("soul xyzzyx", 20) == ()


def test_suggestions_in_old_books_are_not_repeated(maxi: LibzimArchive) -> None:
    """Old files list every redirect beside its page; a page is suggested once (R236)."""
    paths = [match.path for match in maxi.suggest("Ray Charles", 8)]
    assert len(paths) == len(set(paths)) == 8
    assert "A/Ray_Charles" in paths


@pytest.mark.parametrize(
    "path",
    [
        "foo/part with space/bar?key=value",
        "foo/part%20with%20space/bar%3Fkey%3Dvalue",
        "foo/part/file?question=Is+there+any+%2B+here%3F",
        "imagé.php?path=imagé.png",
        "🥳🥰😘🤩😍🤍🎀🧸🌷🍭",
    ],
)
def test_paths_are_used_unchanged(real: Path, path: str) -> None:
    """Percent signs, question marks and emoji in a published file's paths are letters like any other."""
    archive = LibzimArchive(real / "kiwix-android_characters_encoding.zim")
    assert archive.read(path).ref.path == path
    archive.close()


@pytest.mark.parametrize("name", ["aa", ""])
def test_split_book_is_one_book(shared_data: Path, old: LibzimArchive, name: str) -> None:
    """A book in fifteen parts, named by its first part or its plain name, is the whole book."""
    first = shared_data / "zims" / "split" / f"wikipedia_en_ray_charles_2015-06.zim{name}"
    archive = LibzimArchive(first)
    assert len(archive.parts) == 15
    assert archive.book.size_bytes == old.book.size_bytes
    assert archive.book.id == old.book.id
    assert sorted(archive.articles()) == sorted(old.articles())
    for path in archive.articles():
        assert archive.read(path).content == old.read(path).content
    archive.close()


@pytest.mark.parametrize("missing", ["ab", "ao"])
def test_split_book_with_a_part_missing(shared_data: Path, tmp_path: Path, missing: str) -> None:
    """A split book that lacks a part is reported to be cut short, not read in part."""
    for part in (shared_data / "zims" / "split").iterdir():
        if not part.name.endswith(missing):
            (tmp_path / part.name).symlink_to(part)
    with pytest.raises(NotABook, match="cannot be opened"):
        LibzimArchive(tmp_path / "wikipedia_en_ray_charles_2015-06.zimaa")
