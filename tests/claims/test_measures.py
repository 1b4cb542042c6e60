"""The numbers and dates of a claim: what is measured, of what, when, and in which unit."""

from __future__ import annotations

import pytest
from tests.claims.claim_examples import the_claim

from kiwiresearch.claims.claim import Measure
from kiwiresearch.text.quantity import quantity_relation


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("c. 1200 BC", "c. 1200 BC"),
        ("in the 12th century", "12th century"),
        ("in the 1920s", "1920s"),
        ("between 1905 and 1910", "between 1905 and 1910"),
        ("on 5 June 1944", "5 June 1944"),
        ("in AD 79", "AD 79"),
    ],
)
def test_dates_are_read(phrase: str, expected: str) -> None:
    """The dates of a claim are found at their places, whatever their form."""
    claim = the_claim(f"The Red Tower was built {phrase}.")
    (date,) = claim.dates
    assert date.when.words() == expected
    assert claim.text[date.start : date.end] in phrase


def measure_line(measure: Measure) -> str:
    """A measure in a line: what, of what, how much, when."""
    quantity = measure.quantity
    value = f"{quantity.low:g}" if quantity.low == quantity.high else f"{quantity.low:g} to {quantity.high:g}"
    when = f" in {measure.when.words()}" if measure.when else ""
    unit = " ".join(filter(None, [quantity.qualifier, value, quantity.unit or quantity.counted]))
    return f"{measure.what} of {measure.of}: {unit}{when}"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The Red Tower is 120 metres high.", "height of The Red Tower: 120 m"),
        ("The Red Tower has a height of 120 metres (394 ft).", "height of The Red Tower: 120 m"),
        ("The Avon River is 350 km long.", "length of The Avon River: 350000 m"),
        ("The Old Bell weighs 2 to 3 tonnes.", "mass of The Old Bell: 2000 to 3000 kg"),
        ("Norbury covers an area of 85 square kilometres.", "area of Norbury: 8.5e+07 m2"),
        ("Norbury had a population of 5,000 in 1805.", "population of Norbury: 5000 in 1805"),
        ("The city had a population of 5,000 in 1805.", "population of Norbury: 5000 in 1805"),
        ("The library of Norbury holds about 300 books.", "books of The library of Norbury: about 300 books"),
        ("The Great Fire killed 300 people in 1905.", "deaths: people of The Great Fire: 300 people in 1905"),
        ("Lake Tarn has a depth of 30 metres.", "depth of Lake Tarn: 30 m"),
    ],
)
def test_a_measure_says_what_of_what_and_when(sentence: str, expected: str) -> None:
    """A number of a claim has its value in a base unit, what is measured, of what, and when it was so."""
    assert [measure_line(measure) for measure in the_claim(sentence).measures] == [expected]


def test_measures_point_into_the_claim() -> None:
    """The offsets of numbers, dates and hedges point into the claim's own words, also where a name was put in."""
    claim = the_claim("In 1805, however, the city was probably home to about 5,000 people.")
    (measure,), (date,), (hedge,) = claim.measures, claim.dates, claim.hedges
    places = [(one.start, one.end) for one in (measure.quantity, date, hedge)]
    assert [claim.text[start:end] for start, end in places] == ["5,000 people", "1805", "probably"]


def test_numbers_in_other_words_are_comparable() -> None:
    """'about 12 million people in 1950' and '12.1 million (1951)' can be compared."""
    first, second = (
        the_claim(sentence).measures[0]
        for sentence in (
            "Norbury had about 12 million people in 1950.",
            "Norbury had a population of 12.1 million (1951).",
        )
    )
    assert quantity_relation(first.quantity, second.quantity) == "rounding"
    assert first.of == second.of == "Norbury"
    assert [one.when.words() for one in (first, second) if one.when] == ["1950", "1951"]
