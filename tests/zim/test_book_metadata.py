"""The many spellings of metadata, made one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.zim.archive import book_kind, clean_metadata, flavour_of, languages_of, tags_of
from kiwiresearch.zim.libzim import LibzimArchive

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import BookMaker


@pytest.mark.parametrize(
    ("written", "languages"),
    [
        ("en", "eng"),
        ("eng", "eng"),
        ("=en", "eng"),
        ("EN", "eng"),
        (" eng ", "eng"),
        ("en-GB", "eng"),
        ("en_US", "eng"),
        ("zh-Hant", "zho"),
        ("eng,fra", "eng fra"),
        ("eng, fra", "eng fra"),
        ("en;fr", "eng fra"),
        ("fr en", "fra eng"),
        ("eng,en,eng", "eng"),
        ("de", "deu"),
        ("be", "bel"),
        ("tum", "tum"),
        ("zzz", "zzz"),
        ("", ""),
        ("=", ""),
        ("english", ""),
        ("mul,eng", "mul eng"),
        ("?", ""),
        ("рус", ""),
        ("e\x00n", ""),
    ],
)
def test_languages_become_three_letters(written: str, languages: str) -> None:
    """However a book writes its languages, they are ISO 639-3 codes, in its order, each once."""
    assert " ".join(languages_of(written)) == languages


@given(st.text(max_size=40))
def test_languages_of_anything_are_codes(written: str) -> None:
    """Whatever is written, only lower-case codes of two or three letters come out, and they stay."""
    found = languages_of(written)
    assert all(code.isascii() and code.isalpha() and code.islower() and len(code) in (2, 3) for code in found)
    assert len(set(found)) == len(found)
    assert languages_of(",".join(found)) == found


@pytest.mark.parametrize(
    ("metadata", "tags", "filename", "flavour"),
    [
        ("_mini", "", "", "mini"),
        ("mini", "", "", "mini"),
        ("Maxi", "", "", "maxi"),
        ("=nopic", "", "", "nopic"),
        ("nopic", "", "wikipedia_en_all_maxi_2024-01", "nopic"),
        ("", "nopic", "", "nopic"),
        ("", "wikipedia;nodet", "", "nodet"),
        ("", "_pictures:no;_details:no", "", "mini"),
        ("", "_pictures:no;_details:yes", "", ""),
        ("", "_pictures:no;_details:no", "wikipedia_en_all_nopic_2024-01", "mini"),
        ("", "", "wikipedia_en_ray_charles_maxi_2023-09", "maxi"),
        ("", "", "wikipedia_en_all_novid_2018-10", "novid"),
        ("", "", "wikibooks_be_all_nopic_2017-02.withns", "nopic"),
        ("", "", "WIKIPEDIA_EN_MINI_2020-03", "mini"),
        ("", "", "wikipedia_en_minimal_2020-03", ""),
        ("", "", "maximum", ""),
        ("", "", "", ""),
    ],
)
def test_flavour_from_metadata_then_tags_then_name(metadata: str, tags: str, filename: str, flavour: str) -> None:
    """A flavour is taken from its own field, else from the tags, else from the file's name."""
    assert flavour_of(metadata, tags_of(tags), filename) == flavour


@pytest.mark.parametrize(
    ("metadata", "filename", "kind"),
    [
        ({"Name": "wikipedia_en_all"}, "", "wikipedia"),
        ({"Creator": "Wikipedia"}, "", "wikipedia"),
        ({"Tags": "wikipedia;_category:wikipedia"}, "", "wikipedia"),
        ({"Source": "https://en.wikipedia.org/"}, "", "wikipedia"),
        ({}, "wikipedia_en_ray_charles_2015-06", "wikipedia"),
        ({"Creator": "Stack Exchange"}, "", "stackexchange"),
        ({"Name": "cooking.stackexchange.com_en_all"}, "", "stackexchange"),
        ({"Scraper": "sotoki 2.0"}, "", "stackexchange"),
        ({"Name": "devdocs_en_sqlite"}, "", "devdocs"),
        ({"Tags": "devdocs;sqlite"}, "", "devdocs"),
        ({"Name": "gutenberg_en_all"}, "", "gutenberg"),
        ({"Creator": "gutenberg.org"}, "", "gutenberg"),
        ({"Name": "ted_en_business"}, "", "ted"),
        ({"Scraper": "ted2zim 3.0"}, "", "ted"),
        ({"Name": "wikibooks_be_all"}, "", "wiki"),
        ({"Name": "kiwix.wikivoyage_en"}, "", "wiki"),
        ({"Creator": "Wiktionary"}, "", "wiki"),
        ({"Scraper": "mwoffliner 1.13.0"}, "", "wiki"),
        ({"Scraper": "zimit 2.0.4"}, "", "website"),
        ({"Scraper": "warc2zim 2.0"}, "", "website"),
        ({"Name": "example_en"}, "", "other"),
        ({"Name": "="}, "wikipedia_fr_all", "wikipedia"),
        ({}, "", "other"),
    ],
)
def test_kind_of_book(metadata: dict[str, str], filename: str, kind: str) -> None:
    """The family of site that a book comes from is found in any field that shows it."""
    assert book_kind(metadata, filename) == kind


@pytest.mark.parametrize(
    ("written", "cleaned"),
    [
        ("=ZIM corner cases", "ZIM corner cases"),
        ("= spaced", "spaced"),
        ("  padded ", "padded"),
        ("two\nlines", "two lines"),
        ("nul\x00 and tab\t", "nul  and tab"),
        ("a=b", "a=b"),
        ("=", ""),
        ("", ""),
    ],
)
def test_metadata_is_cleaned(written: str, cleaned: str) -> None:
    """Control characters and the lone '=' of broken scrapers are not part of what was meant."""
    assert clean_metadata(written) == cleaned


def test_tags_are_split_and_cleaned() -> None:
    """Tags come apart at semicolons, without empty ones."""
    assert tags_of("wikipedia; _ftindex:yes;;=x; ") == ("wikipedia", "_ftindex:yes", "x")
    assert tags_of("") == ()


def test_data_sheet_of_a_book(a_book: BookMaker) -> None:
    """Every field of the data sheet is read from the file (R32)."""
    book = LibzimArchive(
        a_book(
            {"Sky": "<p>blue</p>", "Sea": "<p>too</p>"},
            {"Heavens": "Sky"},
            name="sheet.zim",
            main_path="Sky",
            Name="wikipedia_en_sheet",
            Title="=The_Sheet",
            Description="All of it",
            Language="en,fr",
            Flavour="_mini",
            Creator="Wikipedia",
            Publisher="openZIM",
            Date="2024-02-03",
            Scraper="mwoffliner 1.14",
            Tags="wikipedia;_category:wikipedia;_ftindex:yes",
        )
    ).book
    assert (book.name, book.title, book.description) == ("wikipedia_en_sheet", "The Sheet", "All of it")
    assert (book.languages, book.language, book.flavour) == (("eng", "fra"), "eng", "mini")
    assert (book.creator, book.publisher, book.scraper) == ("Wikipedia", "openZIM", "mwoffliner 1.14")
    assert (book.date, book.main_page, book.old_namespaces) == ("2024-02-03", "Sky", False)
    assert (book.articles, book.entries, book.media) == (2, 3, 0)
    assert (book.kind, book.is_wikipedia, book.lead_only) == ("wikipedia", True, True)
    assert book.tags == ("wikipedia", "_category:wikipedia", "_ftindex:yes")


def test_a_book_without_metadata_is_called_by_its_file(a_book: BookMaker) -> None:
    """If a book has no name or title, its file's name is used; no language is not a language."""
    file = a_book({"Sky": "<p>blue</p>"}, name="nameless_nopic_2020-01.zim", Name="", Title="=", Language="")
    book = LibzimArchive(file).book
    assert (book.name, book.title) == ("nameless_nopic_2020-01", "nameless_nopic_2020-01")
    assert (book.languages, book.language, book.flavour) == ((), "", "nopic")
    assert (book.main_page, book.is_wikipedia, book.lead_only) == ("", False, False)


REAL = {
    "devdocs_en_sqlite_2025-04.zim": "SQLite Docs | eng |  | devdocs | new",
    "foo-zstd.zim": "foo-zstd |  |  | other | old",
    "kiwix-android_testzim.zim": "Test Zim | eng |  | wikipedia | old",
    "libkiwix_corner_cases.zim": "ZIM corner cases | eng |  | other | old",
    "libkiwix_spelling_correction_test.zim": "Spelling corrections test | deu |  | other | new",
    "meta.esperanto.stackexchange.com_eng_all_2017-05.zim": (
        "Esperanto Language Meta Stack Exchange | eng |  | stackexchange | old"
    ),
    "wikibooks_be_all_nopic_2017-02.nons.zim": "Wikibooks | bel | nopic | wiki | new",
    "wikibooks_be_all_nopic_2017-02.withns.zim": "Wikibooks | bel | nopic | wiki | old",
    "wikipedia_en_100_mini_2022-10.zim": "Wikipedia 100 | eng | mini | wikipedia | old",
    "wikipedia_en_ray_charles_2015-06.zim": "Wikipedia | eng |  | wikipedia | old",
    "wikipedia_en_ray_charles_maxi_2023-09.zim": "Ray Charles | eng | maxi | wikipedia | old",
    "wikipedia_en_ray_charles_mini_2020-03.zim": "Ray Charles | eng | mini | wikipedia | old",
    "zimply_wiki.zim": "Wikipedia | tum |  | wikipedia | old",
}


@pytest.mark.parametrize("name", REAL)
def test_published_books_are_understood(shared_data: Path, name: str) -> None:
    """Title, language, flavour, kind and scheme of published files are as a person would give them."""
    archive = LibzimArchive(shared_data / "zims" / "real" / name)
    book = archive.book
    archive.close()
    scheme = "old" if book.old_namespaces else "new"
    assert f"{book.title} | {' '.join(book.languages)} | {book.flavour} | {book.kind} | {scheme}" == REAL[name]
