"""What a page's own words say for a query: orders that must be right, whatever the weights."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.search.query import parse_query
from kiwiresearch.search.rank import LEAD_CHARS, PASSAGE_STEP, TextMatch, match_text
from kiwiresearch.text.words import plain_lower

FILLER = "and so it went on and on "


def found(
    text: str, asked: str, rare: dict[str, float] | None = None, titled: frozenset[str] = frozenset()
) -> TextMatch:
    """A text matched with a query whose words are all equally rare by default."""
    terms = parse_query(asked).terms
    return match_text(
        plain_lower(text), terms, {term.stem: (rare or {}).get(term.word, 1.0) for term in terms}, "eng", titled
    )


def test_a_text_without_the_words_says_nothing() -> None:
    """No word, no text or no query at all: nothing is found, and nothing fails."""
    nothing = TextMatch()
    assert found(FILLER * 50, "galaxy") == nothing
    assert found("", "galaxy") == nothing
    assert found("galaxy", "?!") == nothing


def test_a_passage_with_both_words_beats_two_passages_with_one_each() -> None:
    """Words count together when they are in one passage."""
    near = found("galaxy dust " + FILLER * 100, "galaxy dust")
    far = found("galaxy " + FILLER * 100 + "dust", "galaxy dust")
    assert near.passage > far.passage


def test_a_word_said_again_counts_less_each_time() -> None:
    """Repetition helps, but never as much as another word of the query."""
    once = found("galaxy", "galaxy dust").passage
    often = found("galaxy " * 20, "galaxy dust").passage
    both = found("galaxy dust galaxy dust", "galaxy dust").passage
    assert once < often < both


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    """The page with the rare word of the query is before the page with the common one."""
    rare = {"quasar": 6.0, "light": 1.0}
    assert found("a quasar", "quasar light", rare).passage > found("a light", "quasar light", rare).passage
    assert found("a quasar", "quasar light", rare).page > found("a light", "quasar light", rare).page


def test_on_a_longer_page_a_word_counts_less() -> None:
    """One mention on a long page says less than one on a short page."""
    assert found("galaxy " + FILLER, "galaxy").page > found("galaxy " + FILLER * 2000, "galaxy").page


def test_the_lead_is_the_beginning_only() -> None:
    """A word further down is not a word of the lead."""
    assert found("x" * (LEAD_CHARS - 2) + " galaxy", "galaxy").lead > 0
    assert found("x" * LEAD_CHARS + " galaxy", "galaxy").lead == 0


def test_the_lead_begins_where_the_article_does() -> None:
    """What is before the first paragraph is not a part of the lead, and its length is counted from there."""
    (term,) = parse_query("galaxy").terms
    note = "galaxy here and there " * 2
    text = note + "x" * (LEAD_CHARS - 2) + " galaxy"
    assert match_text(text, [term], {term.stem: 1.0}, "eng", lead=len(note)).lead == 1
    assert match_text(text, [term], {term.stem: 1.0}, "eng", lead=len(note) - 1).lead == 0
    assert match_text(text, [term], {term.stem: 1.0}, "eng").lead == 1


def test_neighbours_in_the_query_are_neighbours_on_the_page() -> None:
    """'black hole' is together in one text and apart, or the wrong way round, in the others."""
    together = found("a black hole", "black hole").together
    assert together > 0
    assert found("a black cat fell into the very deepest hole", "black hole").together == 0
    assert found("the hole was quite black", "black hole").together == 0


def test_small_words_between_leave_room() -> None:
    """'Treaty of Versailles' is together on a page that writes it so."""
    assert found("the Treaty of Versailles", "treaty of versailles").together > 0


def test_the_best_passage_is_where_the_words_are() -> None:
    """A passage begins at the step that has the words, and all places lie in it."""
    text = FILLER * 200 + "galaxy of dust " + FILLER * 200
    best = found(text, "galaxy dust")
    place = text.index("galaxy")
    assert best.start <= place < best.start + 2 * PASSAGE_STEP
    assert [text[at : at + 4] for at, _, _ in best.places] == ["gala", "dust"]
    assert [stem for _, stem, _ in best.places] == ["galaxi", "dust"]


def test_of_equal_passages_the_first_is_best() -> None:
    """The same words twice: the reader is shown the first."""
    text = "galaxy " + FILLER * 200 + "galaxy"
    assert found(text, "galaxy").start == 0


def test_words_of_the_title_count_in_every_passage() -> None:
    """A passage need not name what the page is about."""
    text = "It is made of dust."
    assert found(text, "galaxy dust", titled=frozenset({"galaxi"})).passage > found(text, "galaxy dust").passage
    assert found("dust", "dust", titled=frozenset({"dust"})).passage > found("dust", "dust").passage


def test_words_of_the_title_count_though_the_text_has_none() -> None:
    """A page called what was asked for has a passage's worth, whatever it says; an empty page too."""
    titled = frozenset({"galaxi"})
    assert found("It turns.", "galaxy dust", titled=titled).passage > 0
    assert found("", "galaxy dust", titled=titled).passage == found("It turns.", "galaxy dust", titled=titled).passage
    assert found("It turns.", "galaxy dust", titled=frozenset({"star"})).passage == 0


def test_boxes_are_weighed_by_themselves() -> None:
    """A word counts for the boxes if it is in them, and not if it is before."""
    (term,) = parse_query("galaxy").terms
    text = "a galaxy of stars galaxy"
    assert match_text(text, [term], {term.stem: 1.0}, "eng", boxes=text.rindex("galaxy")).boxes == 1
    assert match_text(text, [term], {term.stem: 1.0}, "eng", boxes=len(text)).boxes == 0
    assert match_text(text, [term], {term.stem: 1.0}, "eng").boxes == 0


def test_a_huge_page_is_matched_whole() -> None:
    """A word at the end of five million characters is found."""
    text = FILLER * 200_000 + "galaxy"
    assert found(text, "galaxy").places == ((len(text) - len("galaxy"), "galaxi", 1.0),)


@given(
    st.lists(st.sampled_from(["galaxy", "galaxies", "dust", "black", "hole", ".", "x" * 90]), max_size=60),
    st.sampled_from(["galaxy", "black hole", "galaxy dust black hole", "the", ""]),
)
def test_shares_stay_in_bounds(words: list[str], asked: str) -> None:
    """Passages count up to twice, the lead and neighbours once; places are in order and in the passage."""
    text = " ".join(words)
    best = found(text, asked)
    assert 0 <= best.passage <= 2.2
    assert 0 <= best.lead <= 1
    assert 0 <= best.together <= 1
    assert list(best.places) == sorted(best.places)
    assert all(best.start <= place < min(len(text), best.start + 2 * PASSAGE_STEP) for place, _, _ in best.places)
    assert bool(best.places) == bool(best.page)
