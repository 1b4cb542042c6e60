"""Roots: plurals meet their singulars, other words do not meet, and every stemmer named is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.text.languages import ALGORITHMS, EXCEPTIONS, roots, share_root, stemmer
from kiwiresearch.text.words import fold


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("viruses", "virus"),
        ("diseases", "disease"),
        ("vaccines", "vaccine"),
        ("horses", "horse"),
        ("lenses", "lens"),
        ("movies", "movie"),
        ("glasses", "glass"),
        ("galaxies", "galaxy"),
        ("boxes", "box"),
        ("buses", "bus"),
        ("churches", "church"),
        ("potatoes", "potato"),
        ("planes", "plane"),
        ("ties", "tie"),
        ("cats", "cat"),
    ],
)
def test_plurals_meet_their_singulars(plural: str, singular: str) -> None:
    """A plural in -s, -es or -ies and its singular share a root, which one stripping rule misses (R173, N1)."""
    assert share_root(plural, [singular])
    assert share_root(singular, [plural])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("planes", "plan"),
        ("glass", "glas"),
        ("gas", "ga"),
        ("bus", "bu"),
        ("running", "run"),
        ("wanted", "want"),
        ("galaxy", "galax"),
    ],
)
def test_other_words_do_not_meet(one: str, other: str) -> None:
    """Nothing but plural endings comes off, and never from short words: no -ing, no -ed, no -ss (R173, N1)."""
    assert not share_root(one, [other])


def test_the_exceptions_keep_their_s() -> None:
    """'this', 'less', 'across', 'always' and 'towards' are not plurals (R175)."""
    assert {"this", "less", "across", "always", "towards"} == EXCEPTIONS
    assert {word: roots(word) for word in EXCEPTIONS} == {word: frozenset({word}) for word in EXCEPTIONS}


@pytest.mark.parametrize(
    ("exempt", "plural"), [("always", "hallways"), ("towards", "stewards"), ("this", "laths"), ("across", "crosses")]
)
def test_an_exception_is_exempt_where_its_like_is_not(exempt: str, plural: str) -> None:
    """'hallways' loses its s and 'always' does not (R175)."""
    assert roots(exempt) == {exempt}
    assert len(roots(plural)) > 1


@given(st.text())
def test_a_word_is_its_own_root(word: str) -> None:
    """Whatever is asked, the word itself is among its roots, so equal words always meet."""
    assert word in roots(word)
    assert share_root(word, [word])


@given(st.text(), st.text())
def test_sharing_a_root_has_no_direction(one: str, other: str) -> None:
    """If a word meets another, the other meets it."""
    assert share_root(one, [other]) == share_root(other, [one])


@pytest.mark.parametrize("language", sorted(ALGORITHMS))
def test_every_language_named_has_its_stemmer(language: str) -> None:
    """Each entry of the table of algorithms can be loaded, and gives a word for a word."""
    assert stemmer(language)("universal") != ""


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("eng", "Galaxies", "galaxy"),
        ("eng", "relations", "relation"),
        ("deu", "Häuser", "haus"),
        ("fra", "chevaux", "cheval"),
        ("spa", "naciones", "nación"),
        ("rus", "книги", "книга"),
    ],
)
def test_forms_of_a_word_have_one_stem(language: str, one: str, other: str) -> None:
    """The stemmer of a language makes its forms one, whatever their case and accents."""
    assert stemmer(language)(one) == stemmer(language)(other)


def test_an_unknown_language_keeps_words_as_they_are() -> None:
    """If there is no stemmer, a word is only folded."""
    assert stemmer("zxx")("Häuser") == fold("Häuser")


@pytest.mark.parametrize("word", ["C++", "C#", "x86", "1984"])
def test_words_with_signs_or_figures_are_not_stemmed(word: str) -> None:
    """Names with signs and figures stay whole."""
    assert stemmer("eng")(word) == fold(word)


@given(st.text())
def test_any_text_can_be_stemmed(word: str) -> None:
    """No string makes a stemmer fail, and the same string gives the same stem."""
    assert stemmer("eng")(word) == stemmer("eng")(word)
