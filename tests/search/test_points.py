"""The point table: each line of it as a rule, and what is true for every query and title."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.ids import BookId
from kiwiresearch.search.query import Hit, Score, parse_query, sorted_hits
from kiwiresearch.search.rank import point_table, title_points
from kiwiresearch.zim.archive import EntryRef

ANYTHING = st.text(st.characters(exclude_categories=()))


def test_the_table_has_the_points_that_were_asked_for() -> None:
    """The values of the table are data in one file (R161-R169, R171)."""
    assert point_table()["title"] == {"exact": 20, "stemmed": 15, "starts": 10, "starts_letters": 4, "word": 5}
    assert point_table()["excerpt"] == {"most": 10}
    assert point_table()["list"] == {
        "penalty": -10,
        "prefixes": ["list of", "lists of", "index of", "outline of", "category:"],
        "offset_definitional": 8,
        "offset_other": 3,
    }
    assert point_table()["book"] == {"primary": 2}


@pytest.mark.parametrize(
    ("asked", "title", "score"),
    [
        ("Milky Way", "Milky Way", "40 (exact title +20, title starts with word +10, title word +10)"),
        ("  milky   WAY ", "Milky Way", "40 (exact title +20, title starts with word +10, title word +10)"),
        ("C", "c", "25 (exact title +20, title word +5)"),
        ("C++", "C++", "25 (exact title +20, title word +5)"),
        ("!!!", "!!!", "20 (exact title +20)"),
        ("Milky Way", "Milky Way (chocolate)", "20 (title starts with word +10, title word +10)"),
    ],
)
def test_a_title_that_is_the_query_has_the_most(asked: str, title: str, score: str) -> None:
    """Case and white space apart, the same title is worth 20 (R161)."""
    assert str(title_points(parse_query(asked), title)) == score


@pytest.mark.parametrize(
    ("asked", "title", "score"),
    [
        ("spiral galaxies", "Spiral galaxy", "35 (stemmed title +15, title starts with word +10, title word +10)"),
        ("vaccines", "Vaccine", "20 (stemmed title +15, title word +5)"),
        ("lens", "Lenses", "30 (stemmed title +15, title starts with word +10, title word +5)"),
        ("the Beatles", "The Beatles", "25 (exact title +20, title word +5)"),
        ("Pokemon", "Pokémon", "30 (stemmed title +15, title starts with word +10, title word +5)"),
    ],
)
def test_a_title_in_another_form_of_the_query(asked: str, title: str, score: str) -> None:
    """The whole query and the title as forms of the same words are worth 15 (R162)."""
    assert str(title_points(parse_query(asked), title)) == score


@pytest.mark.parametrize(
    ("asked", "title", "score"),
    [
        ("what are galaxies", "Galaxy", "20 (stemmed title +15, title word +5)"),
        ("distance between galaxies", "Galaxy", "20 (stemmed title +15, title word +5)"),
        ("which diseases do viruses cause", "Virus", "20 (stemmed title +15, title word +5)"),
        ("which diseases do viruses cause", "Disease", "20 (stemmed title +15, title word +5)"),
        ("how do planes fly", "Plan", "0 (no signal)"),
        ("what is this", "Thi", "0 (no signal)"),
    ],
)
def test_one_word_of_the_query_may_be_the_title(asked: str, title: str, score: str) -> None:
    """A meaningful word of the query that is a form of the title is worth 15 (R163, R174, N1)."""
    assert str(title_points(parse_query(asked), title)) == score


@pytest.mark.parametrize("asked", ["galaxy", "galaxy galaxies", "galaxies", "galaxy or galaxy", "galaxies, galaxy"])
def test_the_two_title_matches_exclude_each_other(asked: str) -> None:
    """A title is exact or stemmed, never both, and stemmed once however many words say so (N2)."""
    signals = [term.signal for term in title_points(parse_query(asked), "Galaxy").terms]
    assert signals.count("exact title") + signals.count("stemmed title") == 1


@pytest.mark.parametrize(
    ("asked", "title", "score"),
    [
        ("roman army", "Roman Empire", "15 (title starts with word +10, title word +5)"),
        ("car race", "Car park", "5 (title word +5)"),
        ("Cart wheels", "Carthage", "10 (title starts with word +10)"),
        ("army roman", "Holy Roman Empire", "5 (title word +5)"),
        ("elan Élan vital", "Élan (car)", "15 (title starts with word +10, title word +5)"),
    ],
)
def test_a_title_that_begins_with_a_word_of_the_query(asked: str, title: str, score: str) -> None:
    """A word of four letters or more at the beginning of the title is worth 10, once (R164)."""
    assert str(title_points(parse_query(asked), title)) == score


@pytest.mark.parametrize(
    ("asked", "title", "score"),
    [
        ("decline of empires", "Holy Roman Empire", "5 (title word +5)"),
        ("roman empires", "Holy Roman Empire", "10 (title word +10)"),
        ("holy roman empires", "An Empire, Holy and Roman", "15 (title word +15)"),
        ("empire empires Empire", "Holy Roman Empire", "5 (title word +5)"),
        ("Greek temple", "Holy Roman Empire", "0 (no signal)"),
    ],
)
def test_each_word_in_the_title_counts(asked: str, title: str, score: str) -> None:
    """Each word of the query that is in the title in any form is worth 5, each once (R165)."""
    assert str(title_points(parse_query(asked), title)) == score


@pytest.mark.parametrize(
    ("asked", "excerpt", "score"),
    [
        ("galaxies", "A galaxy", "5 (excerpt words +5)"),
        ("galaxy", "galaxies", "10 (excerpt words +10)"),
        ("galaxy", "galaxy galaxy galaxy", "10 (excerpt words +10)"),
        ("galaxy stars dust", "galaxies", "10 (excerpt words +10)"),
        ("galaxy stars", " ".join(["galaxy", "star", *(f"w{n}" for n in range(28))]), "0.67 (excerpt words +0.67)"),
        ("galaxy", "nothing of the kind", "0 (no signal)"),
        ("galaxy", "", "0 (no signal)"),
        ("galaxy", "🙂 — …", "0 (no signal)"),
    ],
)
def test_words_of_the_excerpt_are_a_share_of_its_length(asked: str, excerpt: str, score: str) -> None:
    """Hits are divided by the excerpt's words and are worth 10 at most; the fraction is kept (R166, R172, N3)."""
    assert str(title_points(parse_query(asked), "Elsewhere", excerpt)) == score


def test_a_short_excerpt_about_it_beats_a_long_loose_one() -> None:
    """More words to meet by chance do not win (R172)."""
    query = parse_query("spiral galaxy")
    short = title_points(query, "A", "A spiral galaxy")
    long = title_points(
        query, "B", "Of the spiral stairs of the town hall one sees the galaxy of lights that the harbour is"
    )
    assert short.total > long.total


@pytest.mark.parametrize(
    ("asked", "title", "score"),
    [
        ("galaxy", "List of galaxies", "-2 (title word +5, list page -10, list offset +3)"),
        ("what is a galaxy", "List of galaxies", "3 (title word +5, list page -10, list offset +8)"),
        ("stars", "Lists of planets", "-7 (list page -10, list offset +3)"),
        ("explain stars", "Index of physics articles", "-2 (list page -10, list offset +8)"),
        ("stars", "OUTLINE  of physics", "-7 (list page -10, list offset +3)"),
        ("stars", "Category:Planets", "-7 (list page -10, list offset +3)"),
        ("stars", "Listed building", "0 (no signal)"),
        ("stars", "The list of planets", "0 (no signal)"),
    ],
)
def test_a_list_is_never_wholly_forgiven(asked: str, title: str, score: str) -> None:
    """A list page loses 10 and is given back 8 by a definitional query and 3 by others (R167-R169)."""
    assert str(title_points(parse_query(asked), title)) == score


@given(ANYTHING, ANYTHING, ANYTHING, st.booleans())
def test_the_offset_comes_only_with_the_penalty(asked: str, title: str, excerpt: str, primary: bool) -> None:
    """No page is given the offset for anything but being a list (R170)."""
    signals = [term.signal for term in title_points(parse_query(asked), title, excerpt, primary=primary).terms]
    assert ("list offset" in signals) == ("list page" in signals)


def test_a_definitional_query_gives_no_other_page_a_bonus() -> None:
    """'what is' adds nothing to a page that is not a list (R170)."""
    assert str(title_points(parse_query("what is a galaxy"), "Milky Way")) == "0 (no signal)"


def test_the_primary_book_has_two_points_more() -> None:
    """The same page is worth 2 more in the book that was chosen first (R171)."""
    query = parse_query("galaxies")
    assert str(title_points(query, "Galaxy")) == "20 (stemmed title +15, title word +5)"
    assert str(title_points(query, "Galaxy", primary=True)) == "22 (stemmed title +15, title word +5, primary book +2)"


def test_comparable_senses_tie() -> None:
    """The table knows words and structure only: two senses with the same words have the same points (R179)."""
    query = parse_query("what is galaxy")
    assert str(title_points(query, "Galaxy (chocolate)")) == str(title_points(query, "Galaxy (astronomy)"))


@given(ANYTHING, ANYTHING, ANYTHING, st.booleans())
def test_any_strings_can_be_scored(asked: str, title: str, excerpt: str, primary: bool) -> None:
    """No title or excerpt fails, the total is the sum of the lines, and no line is empty."""
    score = title_points(parse_query(asked), title, excerpt, primary=primary)
    assert f"{score.total:.2f}" == f"{sum(term.points for term in score.terms):.2f}".replace("-0.00", "0.00")
    assert all(term.points for term in score.terms)
    assert len({term.signal for term in score.terms}) == len(score.terms)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.floats(-100, 100))))
def test_a_score_is_the_sum_of_its_lines(terms: list[tuple[str, float]]) -> None:
    """Whatever is added, the total is what the lines say, and adding scores joins their lines."""
    one = Score()
    for signal, worth in terms:
        one = one.plus(signal, worth)
    assert one.total == round(sum(term.points for term in one.terms), 2)
    assert (one + one).terms == one.terms * 2


HITS = st.builds(
    lambda book, path, worth: Hit(EntryRef(BookId(book), path), path, Score().plus("title word", worth)),
    st.sampled_from(["x", "y"]),
    st.text("ab", min_size=1, max_size=3),
    st.sampled_from([-5, 0, 5, 10]),
)


@given(st.lists(HITS, unique_by=lambda hit: hit.ref), st.data())
def test_the_order_of_hits_does_not_depend_on_arrival(hits: list[Hit], data: st.DataObject) -> None:
    """Hits come best first, equal ones by book and path, whichever came in first."""
    ordered = sorted_hits(hits)
    assert sorted_hits(data.draw(st.permutations(hits))) == ordered
    keys = [(-hit.score.total, hit.ref) for hit in ordered]
    assert keys == sorted(keys)
