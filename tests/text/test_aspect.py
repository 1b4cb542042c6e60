"""The words by which a side of a thing is recognised."""

from __future__ import annotations

import tomllib

import pytest

from kiwiresearch.text.languages import DATA_FOLDER, language_words
from kiwiresearch.text.similarity import AspectWords, are_related_forms, stems_in
from kiwiresearch.text.words import fold

LANGUAGES = sorted(file.name.removesuffix(".toml") for file in DATA_FOLDER.iterdir() if file.name.endswith(".toml"))


@pytest.mark.parametrize(
    ("aspect", "heading", "is_named"),
    [
        ("treatment", "Treatment", True),
        ("treatment", "Therapies", True),
        ("treatment", "Drugs and their price", True),
        ("treatment", "History", False),
        ("causes", "Origins of the war", True),
        ("causes of decline", "Decline", True),
        ("beehives", "The beehive", True),
        ("beehives", "Honey", False),
        ("volcanic ash", "Volcanoes", True),
        ("old stone walls", "Walls", False),
        ("old stone walls", "Old walls", True),
        ("treatment", "", False),
        ("", "Treatment", False),
    ],
)
def test_a_heading_names_an_aspect(aspect: str, heading: str, is_named: bool) -> None:
    """By a word that asks for the same, or by half of the aspect's own words, in any form."""
    words = AspectWords.of(aspect, "eng")
    assert words.names(heading) == is_named
    assert words.names_any(["Wildlife of the fens", heading]) == is_named


def test_no_heading_is_about_nothing() -> None:
    """The introduction is below no heading."""
    assert not AspectWords.of("treatment", "eng").names_any([])


def test_synonyms_count_up_to_two_and_own_words_by_their_share() -> None:
    """At most two synonyms count; the aspect's own words count by their share."""
    words = AspectWords.of("treatment", "eng")
    assert words.naming_score(stems_in("A cure.", "eng")) == 1
    assert words.naming_score(stems_in("A cure, drugs, a remedy, therapy and medicine.", "eng")) == 2
    assert words.naming_score(stems_in("The treatment.", "eng")) == 2  # its own word, and one that asks for it
    assert AspectWords.of("old stone walls", "eng").naming_score(stems_in("old walls", "eng")) == pytest.approx(2 / 3)


def test_words_that_speak_of_an_aspect_do_not_name_it() -> None:
    """'Dose' is said of a treatment, and asks for none; what asks is not counted again as what is said."""
    words = AspectWords.of("treatment", "eng")
    stems = stems_in("The dose is small.", "eng")
    assert (words.naming_score(stems), words.mention_count(stems)) == (0, 1)
    assert words.mention_count(stems_in("A dose of antibiotics had cured and treated all.", "eng")) == 2
    assert words.synonyms.isdisjoint(words.related)


def test_an_aspect_of_no_list_has_its_own_words_alone() -> None:
    """A side that no list knows is recognised by its own words."""
    words = AspectWords.of("wooden puppets", "eng")
    assert (words.synonyms, words.related) == (frozenset(), frozenset())
    assert words.own == stems_in("wooden puppets", "eng")


@pytest.mark.parametrize(
    ("aspect", "text", "lacks"),
    [
        ("apartheid in South Africa", "The laws of Africa", False),
        ("apartheid in South Africa", "Apartheid was a law", True),
        ("invasion of Russia", "The Russian winter", True),
        ("invasion of Russia", "He marched to Russia", False),
        ("Treatment", "Nothing at all", False),  # a first word has its capital anyway
        ("treatment", "Nothing at all", False),
    ],
)
def test_names_in_an_aspect_are_needed(aspect: str, text: str, lacks: bool) -> None:
    """What has no word of a name that the aspect has is about something else."""
    assert AspectWords.of(aspect, "eng").lacks_required(stems_in(text, "eng")) == lacks


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("volcanic", "volcano", True),
        ("slave", "slavery", True),
        ("sikh", "sikhism", True),
        ("treat", "treatment", True),
        ("bear", "beaver", False),
        ("cat", "cats", False),
        ("inter", "international", False),
        ("", "volcano", False),
        ("moon", "moon", True),
    ],
)
def test_words_of_one_family(one: str, other: str, are: bool) -> None:
    """Words that begin alike, for four letters and for most of the longer one, are forms of one."""
    assert are_related_forms(one, other) == are_related_forms(other, one) == are


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_table_of_aspects_is_well_formed(language: str) -> None:
    """Each side has one or two lines of words, all of letters, in small letters, and none twice in a line."""
    table = tomllib.loads((DATA_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))["aspects"]
    assert table
    for name, lines in table.items():
        assert name.isascii(), name
        assert name.isalpha(), name
        assert name.islower(), name
        assert isinstance(lines, list), name
        assert len(lines) in (1, 2), name
        for line in lines:
            words = line.split()
            assert words, name
            assert all(word.isalpha() and word == word.casefold() for word in words), (name, words)
            assert len(set(words)) == len(words), (name, words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_finds_its_sides_by_their_words(language: str) -> None:
    """Each word that asks for a side finds it, also with accents and a capital, and its heading is known."""
    table = tomllib.loads((DATA_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))["aspects"]
    known = language_words(language)
    assert set(known.aspects) == set(table)
    for name, (line, *_) in table.items():
        for word in line.split():
            if fold(word) in known.stop_words:
                continue
            words = AspectWords.of(word.capitalize(), language)
            assert words.own <= words.synonyms, (name, word)
            assert words.names(word.capitalize()), (name, word)
            for other in line.split():
                assert fold(other) in known.stop_words or words.names(other), (name, word, other)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_links_a_side_to_its_thing(language: str) -> None:
    """There are words as 'of' and 'in' are, in small letters, and they are not those between two things."""
    known = language_words(language)
    assert known.linking
    assert all(word.isalpha() and word == word.casefold() for word in known.linking)
    assert known.linking.isdisjoint(known.joining)
