"""Codes of languages, and the words that each brings along."""

from __future__ import annotations

import pytest

from kiwiresearch.text.languages import language_words, phrase_pattern, three_letter_code


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
    words = language_words(language)
    assert see_also in words.see_also
    assert list_title in words.list_titles
    assert suffix in words.disambiguation_suffixes


@pytest.mark.parametrize("language", ["bel", "deu", "eng", "epo", "fra", "ita", "nld", "por", "rus", "spa"])
def test_every_language_knows_the_kinds_of_pages(language: str) -> None:
    """A language that is listed has words for lists, meanings, related pages, stubs and doubts."""
    words = language_words(language)
    assert words.list_titles
    assert words.disambiguation_suffixes
    assert words.may_refer
    assert words.see_also
    assert words.abbreviations
    assert all(phrase == phrase.casefold() for phrase in (*words.list_titles, *words.may_refer, *words.see_also))


@pytest.mark.parametrize(
    ("language", "heading", "is_aside"),
    [
        ("eng", "In popular culture", True), ("eng", "Fictional portraits", True), ("eng", "Media", True),
        ("eng", "Media law", False), ("eng", "Filming", False), ("eng", "Science", False),
        ("fra", "Dans la culture populaire", True), ("fra", "Films", False), ("spa", "En el cine", True),
        ("deu", "Verfilmungen", True), ("epo", "In popular culture", False), ("xxx", "In popular culture", True),
    ],
)  # fmt: skip
def test_sections_beside_the_point_are_known_by_their_headings(language: str, heading: str, is_aside: bool) -> None:
    """In whole words of their own language, as a part of the heading or all of it; without a list none is."""
    assert language_words(language).is_aside(heading) is is_aside


@pytest.mark.parametrize(
    ("language", "sentence", "is_open"),
    [
        ("eng", "Its cause is Not Known.", True), ("eng", "It was not knowndale.", False),
        ("fra", "La cause n’est pas connue.", True), ("fra", "La cause n'est pas connue.", True),
        ("spa", "No se sabe quién lo hizo.", True), ("epo", "Its cause is not known.", False),
    ],
)  # fmt: skip
def test_phrases_for_unknown_things_are_found_in_each_language(language: str, sentence: str, is_open: bool) -> None:
    """Also with a typographic apostrophe; a language without such phrases finds none."""
    assert (language_words(language).open_questions.search(sentence) is not None) is is_open


def test_phrases_may_go_on_where_they_say_so() -> None:
    """A phrase is whole words unless it ends in a star; no phrases match nothing."""
    found = phrase_pattern(["fiction*", "film", "(see"])
    assert [bool(found.search(text)) for text in ("Fictional", "films", "a film", "so (see x)", "nonfiction")] == [
        True, False, True, True, False
    ]  # fmt: skip
    assert phrase_pattern([]).search("") is None
