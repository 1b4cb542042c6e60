"""Words, figures, initials and hints that once went wrong."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.zim.memory import MemoryArchive

from kiwiresearch.search.book_search import BookSearch, snippet
from kiwiresearch.search.candidates import find_candidates
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import MAX_CHARS, MAX_WORDS, parse_query
from kiwiresearch.search.rank import title_points
from kiwiresearch.text.languages import stemmer
from kiwiresearch.text.words import occurrences, plain_lower, words_in


def test_stems_are_the_same_in_every_thread() -> None:
    """Searches at the same time do not spoil each other's stems."""
    words = [a + b + c for a in ("nation", "relat", "hope") for b in ("al", "iz", "ful") for c in ("ation", "ly", "s")]
    wanted = {language: [stemmer(language)(word) for word in words] for language in ("eng", "fra")}
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for language, alone in wanted.items():
            stem_of = stemmer.__wrapped__(language)  # a stemmer nobody has asked yet
            stems = [stem_of] * 8
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda stem: [stem(word) for word in words], stems))
            assert found == [alone] * 8
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("o'brien", "Then O'Brien left"),
        ("o'brien", "Then O’Brien’s boat left"),
        ("u.s.", "The U.S. Navy"),
        ("1,000", "some 1,000 men"),
        ("3.14", "it is 3.14 long"),
    ],
)
def test_words_with_signs_inside_are_found(word: str, text: str) -> None:
    """Names, initials and figures are found on a page as they are written."""
    assert len(occurrences(plain_lower(text), word, stemmer("eng"))) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("مُحَمَّد", ["مُحَمَّد"]),
        ("cafe\u0301s", ["cafe\u0301s"]),
    ],
)
def test_marks_belong_to_their_word(text: str, words: list[str]) -> None:
    """A vowel sign or an accent of its own does not end a word."""
    assert words_in(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [("U.S.", ("us",)), ("What is the U.S.?", ("us",)), ("who was J.R.R.?", ("jrr",)), ("what is a Ph.D.?", ("phd",))],
)
def test_initials_at_the_end_stay_one_word(text: str, words: tuple[str, ...]) -> None:
    """The full stop of an abbreviation is not the end of the query."""
    assert parse_query(text).words == words


def test_a_hint_as_long_as_a_page_is_cut() -> None:
    """A hint has no more words than a query."""
    assert len(parse_query("mercury", focus=" ".join(f"word{n}" for n in range(10_000))).focus) == MAX_WORDS


def test_a_hint_counts_in_the_title_of_a_page_that_was_read() -> None:
    """What a title says in brackets need not be said again in the text."""
    text = "<p>Mercury is a liquid metal.</p>"
    book = OpenBook(MemoryArchive({"Mercury_(a_planet)": text, "Mercury_(element)": text}))
    hits = BookSearch(book, parse_query("mercury", focus="element")).by_text(5).hits
    assert hits[0].title == "Mercury (element)"


@pytest.mark.parametrize("asked", ["", "\u200b", "\ufeff"])
def test_a_query_of_nothing_has_no_candidates(asked: str) -> None:
    """If nothing was asked, the page 'S' is not an answer."""
    book = OpenBook(MemoryArchive({"S": "<p>A letter.</p>"}))
    assert find_candidates(book, parse_query(asked)) == []
    assert BookSearch(book, parse_query(asked), primary=True).by_text(5).hits == ()


def test_half_a_character_is_looked_for_in_memory() -> None:
    """The book in memory answers text that is not UTF-8 as the others do."""
    assert MemoryArchive({"Galaxy": "x"}).suggest("\ud800", 5) == ()
    assert MemoryArchive({"Galaxy": "x"}).search("\ud800", 5) == ()


def test_two_words_of_equal_rarity_count_as_two() -> None:
    """A snippet is taken where two words are, though the book finds them equally rare."""
    filler = "Another sentence stands here. "
    text = "A galaxy alone. " + filler * 20 + "Here black and hole meet. " + filler * 20
    assert "black and hole" in snippet(text, [(text.index(word), word, 1.0) for word in ("galaxy", "black", "hole")])


@pytest.mark.parametrize(
    ("asked", "title", "excerpt"),
    [
        ("what is 2.0", "Version 2.0", ""),
        ("1,000 ships", "Fleet of 1,000", ""),
        ("U.S. Navy", "Elsewhere", "U.S. Navy"),
        ("Łódź station", "Elsewhere", "Łódź station"),
        ("Straße Berlin", "Elsewhere", "Berlin Straße"),
    ],
)
def test_words_are_compared_in_one_spelling(asked: str, title: str, excerpt: str) -> None:
    """Figures, initials and letters with strokes meet themselves in titles and excerpts."""
    assert str(title_points(parse_query(asked), title, excerpt)) in (
        "5 (title word +5)",
        "10 (title word +10)",
        "10 (excerpt words +10)",
    )


def test_framing_without_end_is_taken_off_a_few_times() -> None:
    """A query of framing alone, as long as a page, is cut and searched by the words it has."""
    asked = parse_query("please so, " * 1000 + "galaxy")
    assert len(asked.text) == MAX_CHARS
    assert asked.unframed.startswith("please so, ")
    assert asked.content == ("please", "so")
    assert parse_query("please so, " * 2 + "galaxy").core == "galaxy"
    assert parse_query("please so, " * 100 + "galaxy").core.endswith("galaxy")
    assert parse_query("please so, " * 20 + "what is a galaxy").content == ("galaxy",)


@pytest.mark.parametrize(("word", "text"), [("lodz", "in Łódź"), ("soren", "by Søren")])
def test_letters_with_a_stroke_are_plain_letters(word: str, text: str) -> None:
    """What folds alike in titles is found alike on pages."""
    assert len(occurrences(plain_lower(text), word, stemmer("eng"))) == 1


def test_framing_is_off_before_scoring() -> None:
    """What is said around a query does not cost a page its stemmed title."""
    assert "stemmed title" in str(
        title_points(parse_query("everyone keeps talking about spiral galaxies"), "Spiral galaxy")
    )


@pytest.mark.parametrize("text", ["well water pump", "hi fi systems"])
def test_a_noun_is_not_a_framing(text: str) -> None:
    """'well' and 'hi' frame a question only before a comma."""
    assert parse_query(text).core == text


def test_a_query_in_capitals_has_stop_words_too() -> None:
    """Capitals make names of small words only where others are small."""
    assert parse_query("HISTORY OF THE ROMAN ARMY").content == ("history", "roman", "army")
