"""A line or two of a page: where they begin, where they end, and that they are the page's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.search.book_search import SNIPPET_CHARS, excerpt_from, snippet, tidy_excerpt

FILLER = "Another sentence stands here. "


def test_a_short_text_is_shown_whole() -> None:
    """Nothing is cut and nothing is added."""
    assert snippet("A galaxy is a system of stars.") == "A galaxy is a system of stars."
    assert snippet("") == ""


def test_a_long_text_is_cut_between_words() -> None:
    """A text that goes on ends in a whole word and a sign that it goes on."""
    text = "galaxy " * 100
    shown = snippet(text.strip())
    assert shown.endswith("galaxy …")
    assert len(shown) <= SNIPPET_CHARS + 2


def test_a_snippet_begins_with_the_sentence_of_the_word() -> None:
    """The sentence that has the words of the query is shown, from its first word."""
    text = FILLER * 20 + "Then comes a galaxy of dust. " + FILLER * 20
    shown = snippet(text, [(text.index("galaxy"), "galaxi", 1.0)])
    assert shown.startswith("… Then comes a galaxy of dust.")
    assert shown.endswith(" …")


def test_a_snippet_begins_where_most_of_the_words_are() -> None:
    """One rare word alone gives way to two that are together."""
    text = "A galaxy alone. " + FILLER * 20 + "Here black and hole meet. " + FILLER * 20
    places = [
        (text.index("galaxy"), "galaxi", 1.5),
        (text.index("black"), "black", 1.0),
        (text.index("hole"), "hole", 1.0),
    ]
    assert "black and hole" in snippet(text, places)


def test_a_word_said_again_is_one_word() -> None:
    """Two different words together are shown before one that is repeated."""
    text = "A galaxy, a galaxy, a galaxy. " + FILLER * 20 + "Here black and hole meet. " + FILLER * 20
    again = [(place, "galaxi", 1.0) for place in (2, 10, 20)]
    pair = [(text.index(word), word, 1.0) for word in ("black", "hole")]
    assert "black and hole" in snippet(text, again + pair)


def test_a_word_near_the_beginning_shows_the_beginning() -> None:
    """No one is shown half a first sentence."""
    text = "The first sentence, with a galaxy in it. " + FILLER * 20
    assert snippet(text, [(text.index("galaxy"), "galaxi", 1.0)]).startswith("The first sentence")


def test_text_without_spaces_is_cut_all_the_same() -> None:
    """A script without spaces, or a word without end, gives a snippet of the usual length."""
    assert snippet("東" * 1000, [(500, "東", 1.0)]) == f"… {'東' * SNIPPET_CHARS} …"


def test_a_lead_is_shown_from_its_start() -> None:
    """A page that is the subject is shown from its lead on, without a sign that something is before."""
    text = "A note. The first sentence, with a galaxy in it. " + FILLER * 20
    shown = excerpt_from(text, text.index("The first"))
    assert shown.startswith("The first sentence, with a galaxy in it. Another")
    assert shown.endswith(" …")
    assert excerpt_from("All of it.") == "All of it."


@pytest.mark.parametrize(
    ("loose", "tidied"),
    [
        ("stars , dust ; gas .", "stars, dust; gas."),
        ("Rome ( Latin : Roma ) is", "Rome (Latin: Roma) is"),
        ("“ quoted ” words", "“quoted” words"),
        ("50 % of [ 3 ]", "50% of [3]"),
        ("nothing loose", "nothing loose"),
        ("  ", ""),
    ],
)
def test_loose_signs_are_set_to_their_words(loose: str, tidied: str) -> None:
    """Text whose pieces were joined by spaces reads as it was written."""
    assert tidy_excerpt(loose) == tidied


SENTENCES = st.lists(
    st.sampled_from(["Galaxy", "dust", ",", ".", "(", ")", "Then", "x" * 30, "é", "東京"]), max_size=120
)


PLACES = st.lists(st.tuples(st.integers(0, 1500), st.sampled_from(["galaxi", "dust"]), st.floats(0.1, 9)), max_size=8)


@given(SENTENCES.map(" ".join), PLACES)
def test_a_snippet_is_a_part_of_the_tidied_text(text: str, places: list[tuple[int, str, float]]) -> None:
    """What is shown is on the page word for word, whatever places are asked for."""
    inside = sorted(place for place in places if place[0] < len(text))
    shown = snippet(text, inside).removeprefix("… ").removesuffix(" …")
    assert shown in tidy_excerpt(text)
    assert len(shown) <= SNIPPET_CHARS
