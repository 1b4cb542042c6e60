"""Codes of languages, and the words that each brings along."""

from __future__ import annotations

import pytest

from kiwiresearch.text.languages import three_letter_code, words_of


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("en", "eng"), ("eng", "eng"), ("EN_us", "eng"), ("en-GB", "eng"), (" de ", "deu"), ("fr", "fra"),
        ("zh-Hans", "zho"), ("xyz", "xyz"), ("", ""), ("=en", ""), ("english", ""), ("e1", ""), ("é", ""), ("-", ""),
    ],
)  # fmt: skip
def test_codes_of_every_spelling(written: str, code: str) -> None:
    """A language is named by its three letters, however a book spells it; junk has no code."""
    assert three_letter_code(written) == code


@pytest.mark.parametrize(
    ("language", "see_also", "list_title", "suffix"),
    [
        ("eng", "see also", "list of ", "(disambiguation)"),
        ("deu", "siehe auch", "liste ", "(begriffsklärung)"),
        ("fra", "voir aussi", "liste ", "(homonymie)"),
        ("xxx", "see also", "list of ", "(disambiguation)"),
    ],
)
def test_words_of_a_language(language: str, see_also: str, list_title: str, suffix: str) -> None:
    """Each language has its own words, in lower case, and English serves where there are none."""
    words = words_of(language)
    assert see_also in words.see_also
    assert list_title in words.list_titles
    assert suffix in words.disambiguation_suffixes


@pytest.mark.parametrize("language", ["bel", "deu", "eng", "epo", "fra", "ita", "nld", "por", "rus", "spa"])
def test_every_language_knows_the_kinds_of_pages(language: str) -> None:
    """A language that is listed can tell lists, meanings, related pages, stubs and doubts."""
    words = words_of(language)
    assert words.list_titles
    assert words.disambiguation_suffixes
    assert words.may_refer
    assert words.see_also
    assert words.abbreviations
    assert all(phrase == phrase.casefold() for phrase in (*words.list_titles, *words.may_refer, *words.see_also))
