"""The firewall: a number, a date or a name that the sources do not have is seen, always."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims.claim_examples import unsupported

from kiwiresearch.claims.firewall import unsupported_facts
from kiwiresearch.claims.language import fact_language
from kiwiresearch.claims.mentions import numbers_in

SOURCES = (
    "Hattusa, the capital of the Hittite Empire, was burned around 1180 BC by some 12,000 soldiers.",
    "Ramesses II fought Hattusili III near Kadesh on 5 June 1944, which is 12 km from the U.S. border (1914–18).",
    "The third palace was twice as large; two thirds of its 3.5 million bricks came from Łódź in the 1920s.",
)


@pytest.mark.parametrize(
    "text",
    [
        "Hattusa was burned around 1180 BC.",
        "The Hittite Empire’s capital was burned.",
        "Twelve thousand soldiers burned Hattusa.",
        "Some 12 000 soldiers, however, burned it.",
        "In June 1944 he fought near Kadesh.",
        "On June 5th, 1944, he fought near Kadesh.",
        "In 1944 he fought near Kadesh.",
        "In 1918 the US border lay 12 km away.",
        "It lasted from 1914 to 1918.",
        "Soldiers burned the capital.",
        "According to Ramesses II, 3,500,000 bricks came from Łódź in the 1920s.",
        "The 3rd palace had 3.5 million bricks.",
        "One of the palaces was large.",
        "",
        "ŁÓDŹ",
    ],
)
def test_facts_in_the_sources_are_supported(text: str) -> None:
    """Numbers and dates count by value and names by their letters, however they are written."""
    assert unsupported(text, SOURCES) == ()


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("Hattusa was burned around 1181 BC.", "number", "1181"),
        ("Hattusa was burned around 1180.", "date", "around 1180"),
        ("Hattusa was burned in 1180 BC.", "date", "1180 BC"),
        ("Hattusa was burned before 1180 BC.", "date", "before 1180 BC"),
        ("He fought on 5 August 1944.", "date", "5 August 1944"),
        ("He fought on 12 June 1944.", "date", "12 June 1944"),
        ("It was 12 miles away.", "number", "12 miles"),
        ("It was −12 km away.", "number", "−12"),
        ("Some 12,000 chariots burned it.", "number", "12,000 chariots"),
        ("Some 12 million soldiers came.", "number", "12 million"),
        ("Some 3.5 bricks came.", "number", "3.5"),
        ("Thousands of soldiers came.", "number", "Thousands"),
        ("The twelfth palace was large.", "number", "twelfth"),
        ("It stood in 1920.", "number", "1920"),
        ("It was three times as large.", "number", "three"),
        ("Ramesses III fought near Kadesh.", "name", "III"),
        ("Ramesses I fought near Kadesh.", "name", "I"),
        ("Hattuša was burned.", "name", "Hattuša"),
        ("Lodz was burned.", "name", "Lodz"),
        ("Кadesh was burned.", "name", "Кadesh"),
        ("Archaeologists burned the capital.", "name", "Archaeologists"),
        ("The burning of Troy was near.", "name", "Troy"),
        ("Near Kad\u200besh he fought.", "name", "Kad"),
    ],
)
def test_facts_missing_in_the_sources_are_found(text: str, kind: str, words: str) -> None:
    """Other values, eras, units, doubts, regnal numbers, accents and look-alike letters are other facts."""
    found = unsupported_facts(text, SOURCES)
    assert (kind, words) in found
    assert words in unsupported(text, SOURCES)


def test_a_source_without_words_supports_nothing() -> None:
    """If there are no sources, every fact of a sentence is unsupported."""
    assert unsupported("In 1944 Kadesh had 12 walls.", ()) == ("1944", "12", "Kadesh")


def test_scripts_without_capitals_are_taken_word_by_word() -> None:
    """If no capital shows a name, every word must be in the sources."""
    assert unsupported("東京は日本の首都", ["東京は日本の首都である。"], "jpn") == ()
    assert unsupported("京都は日本の首都", ["東京は日本の首都である。"], "jpn") != ()
    assert unsupported("القاهرة عاصمة مصر", ["القاهرة عاصمة مصر."], "ara") == ()
    assert unsupported("دمشق عاصمة مصر", ["القاهرة عاصمة مصر."], "ara") == ("دمشق",)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("three hundred and forty men in twenty-five ships", ["340", "25"]),
        ("two thirds, half, one half, a hundred, one of the", ["2/3", "1/2", "1/2", "100"]),
        ("a dozen, two dozen, dozens", ["12", "24", "12 (vague)"]),
        ("the twenty-first century, 21st, 1940s", ["21 (ordinal)", "21 (ordinal)", "1940 (decade)"]),
        ("−40 °C, 35–40, 1914-18", ["-40", "35", "40", "1914", "18"]),
        ("2½ and ⅓ and .5 and 10²⁴", ["5/2", "1/3", "1/2", "10", "24 (raised)"]),
        ("2bn, 3 million, 12-million, 5km", ["2000000000", "3000000", "12000000", "5"]),
        ("between twenty and thirty; five and six", ["20", "30", "5", "6"]),
        ("١٩٤٤ and １９４４", ["1944", "1944"]),
        ("12.0 and 12.1", ["12", "121/10"]),
    ],
)  # fmt: skip
def test_numbers_are_read_by_value(text: str, values: list[str]) -> None:
    """Figures and words, fractions, scales and ordinals each give their exact value."""
    assert [number.spelling for number in numbers_in(text)] == values


NAMES = ("Hattusa", "Kadesh", "Ramesses", "Łódź", "Ugarit", "Tiryns", "Zürich", "Mycenae")
SENTENCES = (
    "{name} had {number} inhabitants in {year}.",
    "In {year} the town of {name} paid {number} talents.",
    "On 5 June {year} about {number} ships reached {name}.",
    "{name} lies {number} km from the sea, and was burned in {year} BC.",
    "The walls of {name} (built {year}) are {number} metres long.",
)
LETTERS = string.ascii_lowercase


@st.composite
def sentences(draw: st.DrawFn) -> tuple[str, str]:
    """A sentence with a number, a year and a name, and the name."""
    name = draw(st.sampled_from(NAMES))
    number = draw(st.one_of(st.integers(2, 9_999_999).map("{:,}".format), st.decimals(2, 99, places=1).map(str)))
    year = draw(st.integers(1000, 2000))
    return draw(st.sampled_from(SENTENCES)).format(name=name, number=number, year=year), name


@given(sentences())
def test_a_sentence_supports_itself(made: tuple[str, str]) -> None:
    """What is said in the same words is always supported."""
    assert unsupported(made[0], [made[0]]) == ()


@given(sentences(), st.data())
def test_one_other_digit_is_caught(made: tuple[str, str], data: st.DataObject) -> None:
    """A single changed digit that makes a number the sentence did not have is unsupported, wherever it is."""
    text = made[0]
    at = data.draw(st.sampled_from([place for place, char in enumerate(text) if char.isdigit()]))
    other = data.draw(st.sampled_from([digit for digit in string.digits if digit != text[at]]))
    changed = text[:at] + other + text[at + 1 :]
    if {one.spelling for one in numbers_in(changed)} - {one.spelling for one in numbers_in(text)}:
        assert unsupported(changed, [text]) != ()


@given(sentences(), st.data())
def test_one_other_letter_of_a_name_is_caught(made: tuple[str, str], data: st.DataObject) -> None:
    """A single changed letter of a name is unsupported, unless it is not a name any more."""
    text, name = made
    at = data.draw(st.integers(0, len(name) - 1))
    other = data.draw(st.sampled_from([letter for letter in LETTERS if letter != name[at].lower()]))
    changed = name[:at] + (other.upper() if name[at].isupper() else other) + name[at + 1 :]
    if changed.lower() not in fact_language("eng").common:
        assert unsupported(text.replace(name, changed), [text]) != ()


@given(
    st.text(max_size=200),
    st.lists(st.text(max_size=100), max_size=3),
    st.sampled_from(["eng", "deu", "jpn", "", "x/y"]),
)
def test_any_text_can_be_checked(text: str, sources: list[str], language: str) -> None:
    """No text raises, and every word that is named is in it, without the stops of initials."""
    for words in unsupported(text, sources, language):
        assert words.replace(".", "") in text.replace(".", "")


@given(st.text(max_size=200), st.text(max_size=50))
def test_any_text_supports_itself(text: str, before: str) -> None:
    """A text among its own sources has nothing that is unsupported."""
    assert unsupported(text, [before, text]) == ()
