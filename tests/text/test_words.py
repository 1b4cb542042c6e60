"""Words in running text: how they are cut out, levelled, and found again in their forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.text.languages import stemmer
from kiwiresearch.text.words import is_in_unspaced_script, occurrences, plain_lower, words_in

ANYTHING = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What is a galaxy?", ["What", "is", "a", "galaxy"]),
        ("O'Brien, O’Brien", ["O'Brien", "O’Brien"]),
        ("Einstein's theory", ["Einstein", "theory"]),
        ("the U.S. Navy", ["the", "U.S.", "Navy"]),
        ("J.R.R. Tolkien", ["J.R.R.", "Tolkien"]),
        ("C, C++ and C#", ["C", "C++", "and", "C#"]),
        ("1,000 or 3.14", ["1,000", "or", "3.14"]),
        ("Spider-Man_2", ["Spider", "Man", "2"]),
        ("🙂 ?!… --", []),
        ("東京タワー", ["東京タワー"]),
        ("\u200fקהיר\u200e", ["קהיר"]),
        ("x\x00y", ["x", "y"]),
        ("", []),
    ],
)
def test_words_are_cut_out_as_people_see_them(text: str, words: list[str]) -> None:
    """Initials, figures and names with signs stay whole; a possessive 's' goes."""
    assert words_in(text) == words


@pytest.mark.parametrize(
    ("text", "levelled"),
    [
        ("Galaxy", "galaxy"),
        ("Café", "cafe"),
        ("O’Brien", "o'brien"),
        ("ÅNGSTRÖM", "angstrom"),
        ("İstanbul", "istanbul"),
        ("Ёлка", "елка"),
        ("ﬁre", "fre"),
        ("東京", "東京"),
    ],
)
def test_a_levelled_text_has_small_plain_letters(text: str, levelled: str) -> None:
    """Case and accents go; of a joined letter the first is kept, so that nothing moves."""
    assert plain_lower(text) == levelled


@given(ANYTHING)
def test_levelling_keeps_every_offset(text: str) -> None:
    """A levelled text is as long as it was, whatever is in it."""
    assert len(plain_lower(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("A galaxy among galaxies", "galaxy", ["galaxy", "galaxies"]),
        ("A galaxy among galaxies", "Galaxies", ["galaxy", "galaxies"]),
        ("Intergalactic, galactose", "galaxy", []),
        ("supergalaxies", "galaxy", []),
        ("plans and planes", "plane", ["planes"]),
        ("Running runs", "run", ["running", "runs"]),
        ("Cafés in a café", "CAFE", ["cafes", "cafe"]),
        ("C++ is not Scala", "c++", ["c++"]),
        ("the x86 and x86-64", "x86", ["x86", "x86"]),
        ("Einstein's letters", "einstein", ["einstein"]),
        ("", "galaxy", []),
    ],
)
def test_forms_of_a_word_are_found_where_they_begin(text: str, word: str, found: list[str]) -> None:
    """Each place is the beginning of a form of the word, and no form is left out."""
    levelled = plain_lower(text)
    places = occurrences(levelled, word, stemmer("eng"))
    assert [levelled[place:].split(",")[0].split()[0].split("'")[0].split("-")[0] for place in places] == found


def test_scripts_without_spaces_are_found_inside_runs() -> None:
    """A Japanese word is found wherever its characters are."""
    assert is_in_unspaced_script("東京")
    assert not is_in_unspaced_script("Tokyo")
    assert occurrences("私は東京に住む。東京都", "東京", stemmer("jpn")) == [2, 8]


@given(st.lists(st.text("abcdeginrsty", min_size=1, max_size=7), max_size=30), st.text("abcdeginrsty", min_size=1))
def test_every_place_is_a_word_of_the_same_stem(words: list[str], word: str) -> None:
    """The law of places: at each is a whole word with the stem of the word looked for."""
    stem_of = stemmer("eng")
    text = " ".join(words)
    places = occurrences(text, word, stem_of)
    assert [stem_of(text[place:].split()[0]) for place in places] == [stem_of(word)] * len(places)
    assert all(place == 0 or text[place - 1] == " " for place in places)
    assert places == sorted(set(places))


@given(st.lists(st.text("abcdeginrsty", min_size=1, max_size=7), min_size=1, max_size=30), st.data())
def test_a_word_of_the_text_is_always_found(words: list[str], data: st.DataObject) -> None:
    """Looking for a word as it is written finds it each time it is there."""
    text = " ".join(words)
    wanted = data.draw(st.sampled_from(words))
    found = {text[place:].split()[0] for place in occurrences(text, wanted, stemmer("eng"))}
    assert wanted in found


@given(ANYTHING, ANYTHING)
def test_any_text_can_be_searched_for_any_word_in_it(text: str, more: str) -> None:
    """No signs, halves of characters or scripts make the search fail or go on for ever."""
    levelled = plain_lower(text + " " + more)
    for word in words_in(more):
        assert all(0 <= place < len(levelled) for place in occurrences(levelled, word, stemmer("eng")))
