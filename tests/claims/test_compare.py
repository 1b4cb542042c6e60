"""Which sentences contradict each other, and of what kind the others' differences are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.claims.conflicts.comparison import compare_sentences, compare_texts
from kiwiresearch.claims.conflicts.sentences import ComparedSentence


def kind(a: str, b: str, subject: str = "") -> str | None:
    """The kind of the disagreement of two sentences."""
    found = compare_sentences(ComparedSentence.of(a, subject), ComparedSentence.of(b, subject))
    return found.kind if found else None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The tower is 120 metres high.", "The tower is 150 metres high."),
        ("The tower is 120 metres high.", "The tower rises to a height of 90 metres."),
        ("Lake Orsa covers an area of 52 square kilometres.", "The area of Lake Orsa is 80 square kilometres."),
        ("The river is 300 km long.", "The river is 300 miles long."),
        ("The crew had 12 million dollars.", "The crew had 12 billion dollars."),
        ("The siege of Hallen cost 4,000 soldiers their lives.", "In the siege of Hallen 9,000 soldiers died."),
        ("The order has five families.", "The order has seven families."),
        ("Only three survived the wreck of the Aurelia.", "The wreck of the Aurelia had four survivors."),
        ("About 35% of the land is forest.", "About 60% of the land is forest."),
        ("Orsk is the third largest city in Valdia.", "Orsk is the fifth largest city in Valdia."),
    ],
)
def test_numbers_of_the_same_thing_contradict(a: str, b: str) -> None:
    """Two numbers of one measure of one subject that rounding does not explain are a contradiction (R69, R139)."""
    assert kind(a, b) == "contradiction"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ada Moore was born on 5 May 1815.", "Ada Moore (born 9 May 1815) was a painter."),
        ("Ada Moore (5 May 1815 – 2 June 1870) was a painter.", "Ada Moore died on 4 July 1871."),
        ("Ada Moore (1815–1870) was a painter.", "Moore was born in 1812."),
        ("The school was founded in 1901.", "The school was established in 1911."),
        ("The bridge over the Orsa was built in 1890.", "The bridge over the Orsa was constructed in 1931."),
        ("The treaty was signed on 3 March 1700.", "The treaty was signed on 3 May 1700."),
        ("Production of the Falcon began in April 1993.", "Production of the Falcon: May 1995 – August 2002."),
    ],
)
def test_dates_of_the_same_event_contradict(a: str, b: str) -> None:
    """Two dates of what happens once that lie apart are a contradiction (R69)."""
    assert kind(a, b) == "contradiction"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ada Moore was born in Paris.", "Ada Moore was born in Lyon."),
        ("The film Nightfall was directed by Ann Hyde.", "Nightfall is a film directed by John Reed."),
        ("The capital of Valdia is Orsk.", "The capital of Valdia is Hallen."),
        ("The flowers of the plant are pale pink.", "The flowers of the plant are blue."),
    ],
)
def test_a_relation_has_one_value(a: str, b: str) -> None:
    """Two names in a relation that has one value are a contradiction."""
    assert kind(a, b, "") == "contradiction"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The castle was destroyed in the war.", "The castle was not destroyed in the war."),
        ("The bird can fly over the sea.", "The bird cannot fly over the sea."),
        ("Ada Moore was executed for treason.", "Ada Moore was acquitted of treason."),
        ("The berries of the shrub are edible.", "The berries of the shrub are poisonous."),
    ],
)
def test_a_negation_contradicts(a: str, b: str) -> None:
    """A sentence and its negation, or opposite words of one thing, are a contradiction."""
    assert kind(a, b) == "contradiction"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("In 1950 Orsk had 40,000 inhabitants.", "In 1990 Orsk had 90,000 inhabitants.", "different year"),
        ("The birth rate of Valdia was 30% in 1960.", "The birth rate of Valdia was 12% in 2001.", "different year"),
        ("The average height of men is 178 cm.", "The average height of women is 165 cm.", "different scope"),
        (
            "The metropolitan area of Orsk has 3 million people.",
            "The city of Orsk has 1.2 million people.",
            "different scope",
        ),
        ("The mountain is 8,848 m high.", "The mountain is 8,850 m high.", "unit or rounding"),
        ("The plague killed about 100,000 people.", "The plague killed about 105,000 people.", "estimate range"),
        ("The plague killed 90,000 to 110,000 people.", "The plague killed 112,000 people.", "estimate range"),
    ],
)
def test_other_differences_have_their_kind(a: str, b: str, expected: str) -> None:
    """What time, scope, rounding or estimating explains is not a contradiction (R140)."""
    assert kind(a, b) == expected


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The mountain is 8,848 m high.", "The mountain is 29,029 ft high."),
        ("The tower is 120 metres high.", "The bridge is 300 metres long."),
        ("The tower is 120 metres high.", "The tower weighs 300 tonnes."),
        ("Ada Moore was born in 1815.", "Ada Moore was born on 5 May 1815."),
        ("Ada Moore was born in 1815.", "John Reed was born in 1830."),
        ("Ada Moore was born in 1815.", "Ada Moore died in 1870."),
        ("Ada Moore was born in Paris.", "Ada Moore was born in France."),
        ("Ada Moore was born in Paris.", "Ada Moore was born in Paris, France."),
        ("The film was directed by Ann Hyde.", "The film was directed by Ann Hyde and John Reed."),
        ("He was born on 2 February 1700.", "He was born on 12 February 1700."),
        ("The town has three schools.", "The town has five churches."),
        ("The town has three schools.", "The school has five towers."),
        ("It rained.", "It did not snow."),
    ],
)
def test_agreeing_or_unrelated_values_give_no_conflict(a: str, b: str) -> None:
    """Other measures, other subjects, other precision and other calendars are not a disagreement (R139)."""
    assert kind(a, b) is None


def test_a_disagreement_points_at_both_values() -> None:
    """The offsets lead to the values that differ, and the reason is a sentence."""
    a, b = "The school was founded in 1901.", "The school was established in 1911."
    found = compare_sentences(ComparedSentence.of(a), ComparedSentence.of(b))
    assert found is not None
    assert (a[slice(*found.a)], b[slice(*found.b)], found.what) == ("1901", "1911", "a date")
    assert found.why.endswith(".")
    assert 0 < found.strength <= 1


def test_texts_are_compared_sentence_by_sentence() -> None:
    """The quotes are the two sentences, and a pronoun refers to the subject of the text."""
    a = "Ada Moore was a painter. She was born on 5 May 1815. She lived in Orsk."
    b = "Ada Moore (born 9 May 1815) painted ships. Her house is lost."
    outcome = compare_texts(a, b)
    assert outcome.conflict
    assert (outcome.a_quote, outcome.b_quote) == (
        "She was born on 5 May 1815.",
        "Ada Moore (born 9 May 1815) painted ships.",
    )


def test_only_a_contradiction_is_a_conflict() -> None:
    """Other kinds are reported and are not a conflict."""
    outcome = compare_texts("In 1950 Orsk had 40,000 inhabitants.", "In 1990 Orsk had 90,000 inhabitants.")
    assert (outcome.conflict, outcome.kind) == (False, "different year")


@pytest.mark.parametrize(
    ("text", "conflict"),
    [
        ("The valley has four towns: Orsk, Hallen, Reed.", True),
        ("The valley has three towns: Orsk, Hallen, Reed.", False),
        ("The valley has three towns: Orsk, Hallen and Reed.", False),
        ("The valley has four towns, among them Orsk, Hallen and Reed.", False),
        ("The valley has four towns: Orsk, Hallen, Reed and others.", False),
        ("The valley has three towns: Orsk, Hallen and Reed, and Moor.", False),
    ],
)
def test_a_list_has_as_many_items_as_the_text_says(text: str, conflict: bool) -> None:
    """A sentence that announces a number of things and lists another does contradict, whatever it is compared to."""
    assert compare_texts(text, "The valley is green.").conflict is conflict


WORDS = (
    "Ada Moore Orsk was born died not no in 1815 1816 5 May 12,000 12.5 km miles people about % the of by , ( ) . "
    "first third largest three : and executed acquitted pink are metropolitan men women between – founded"
)
SENTENCES = st.lists(st.sampled_from(WORDS.split()), max_size=18).map(" ".join)


@given(st.one_of(st.text(max_size=80), SENTENCES), st.one_of(st.text(max_size=80), SENTENCES))
def test_the_order_of_two_sayings_makes_no_difference(a: str, b: str) -> None:
    """Any two texts can be compared, both ways with the same result, and the offsets are inside them."""
    found, turned = (
        compare_sentences(ComparedSentence.of(a), ComparedSentence.of(b)),
        compare_sentences(ComparedSentence.of(b), ComparedSentence.of(a)),
    )
    assert (found.reversed() if found else None) == turned
    if found:
        assert 0 <= found.a[0] < found.a[1] <= len(a)
        assert 0 <= found.b[0] < found.b[1] <= len(b)


@given(st.one_of(st.text(max_size=80), SENTENCES), st.text(max_size=10))
def test_a_sentence_never_contradicts_itself(text: str, subject: str) -> None:
    """A sentence agrees with itself, whatever it is said to be about."""
    assert compare_sentences(ComparedSentence.of(text, subject), ComparedSentence.of(text)) is None


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=20))
def test_any_texts_can_be_compared(a: str, b: str, title: str) -> None:
    """No text, however odd, makes the comparison fail, and quotes are parts of the texts."""
    outcome = compare_texts(a, b, title)
    assert outcome.a_quote in a or outcome.a_quote in b
    assert outcome.b_quote in b or outcome.b_quote in a
