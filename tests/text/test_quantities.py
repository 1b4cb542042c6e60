"""Quantities in running text: tables of cases, and what is true of any text."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.page.parser import open_page
from kiwiresearch.text.quantity import Quantity, quantity_relation
from kiwiresearch.text.quantity_mentions import quantities_in
from kiwiresearch.zim.libzim import LibzimArchive


def said(text: str) -> str:
    """What was read, as a person would note it."""
    return "; ".join(_noted(text, quantity) for quantity in quantities_in(text))


def _noted(text: str, found: Quantity) -> str:
    value = f"{found.low:.6g}" if found.low == found.high else f"{found.low:.6g} to {found.high:.6g}"
    marks = [f"({found.qualifier})" if found.qualifier else "", "(converted)" if found.converted else ""]
    return " ".join(filter(None, [f"{text[found.start : found.end]} = {value}", found.unit, found.counted, *marks]))


def only(text: str) -> Quantity:
    """The one quantity of a text."""
    (found,) = quantities_in(text)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The town has 1,234,567 people.", "1,234,567 people = 1.23457e+06 people"),
        ("The town has 1 234 567 people.", "1 234 567 people = 1.23457e+06 people"),
        ("A rod of 1.5 m was used.", "1.5 m = 1.5 m"),
        ("A rod of .5 m was used.", ".5 m = 0.5 m"),
        ("It took ½ hour.", "½ hour = 1800 s"),
        ("It took 2½ hours.", "2½ hours = 9000 s"),
        ("It took 2 1/2 hours.", "2 1/2 hours = 9000 s"),
        ("They gave 1/3 of it away.", "1/3 = 33.3333 %"),
        ("Some 12 million people live there.", "12 million people = 1.2e+07 people (about)"),
        ("It lost 1.2 bn litres.", "1.2 bn litres = 1.2e+06 m3"),
        ("They bought 3 dozen eggs.", "3 dozen eggs = 36 eggs"),
        ("Twelve men went ashore.", "Twelve men = 12 men"),
        ("She had twenty-five pupils.", "twenty-five pupils = 25 pupils"),
        ("Two thirds of the crop was lost.", "Two thirds = 66.6667 %"),
        ("Two-thirds of voters agreed.", "Two-thirds = 66.6667 %"),
        ("A quarter of the land is farmed.", "A quarter = 25 %"),
        ("About half of the children stayed.", "half = 50 % (about)"),
        ("Half a million soldiers marched.", "Half a million soldiers = 500000 soldiers"),
        ("They walked half a mile.", "half a mile = 804.672 m"),
        ("They waited half an hour.", "half an hour = 1800 s"),
        ("They saw a half-hour show.", "half-hour = 1800 s"),
        ("They ran a quarter-mile race.", "a quarter-mile = 402.336 m"),
        ("It needs three quarters of an inch.", "three quarters of an inch = 0.01905 m"),
        ("A hundred ships sailed.", "A hundred ships = 100 ships"),
        ("One million copies were sold.", "One million copies = 1e+06 copies"),
        ("Three hundred and forty houses burned.", "Three hundred and forty houses = 340 houses"),
        ("Two hundred thousand refugees came.", "Two hundred thousand refugees = 200000 refugees"),
        ("It tells a thousand and one tales.", "a thousand and one tales = 1001 tales"),
        ("Two and a half million acres were sown.", "Two and a half million acres = 1.01171e+10 m2"),
        ("It grew by 35%.", "35% = 35 %"),
        ("It grew by 35 per cent.", "35 per cent = 35 %"),
        ("It rose by 2 percentage points.", "2 percentage points = 2 %"),
        ("Between 35–40 % of it is water.", "35–40 % = 35 to 40 %"),
        ("Between 2 and 3 million people fled.", "2 and 3 million people = 2e+06 to 3e+06 people"),
        ("It is 5 to 10 metres deep.", "5 to 10 metres = 5 to 10 m"),
        ("It weighs 10-15 kg.", "10-15 kg = 10 to 15 kg"),
        ("It takes five or six days.", "five or six days = 432000 to 518400 s"),
        ("It costs $5–10 million.", "$5–10 million = 5e+06 to 1e+07 $"),
        ("It costs $5 million to $10 million.", "$5 million to $10 million = 5e+06 to 1e+07 $"),
        ("The river is 500 m to 2 km wide.", "500 m to 2 km = 500 to 2000 m"),
        ("It keeps between 0° and 5 °C.", "0° and 5 °C = 273.15 to 278.15 K"),
        ("It ranges from −5 to 10 °C.", "−5 to 10 °C = 268.15 to 283.15 K"),
        ("It rose from 5 to 10 million people.", "5 = 5e+06; 10 million people = 1e+07 people"),
        ("It fell from 30% to 20%.", "30% = 30 %; 20% = 20 %"),
        ("A mass of 5.2 ± 0.3 kg was found.", "5.2 ± 0.3 kg = 4.9 to 5.5 kg"),
        ("Earth has a mass of 5.97 × 10²⁴ kg.", "5.97 × 10²⁴ kg = 5.97e+24 kg"),
        ("Earth has a mass of 5.97 × 10^24 kg.", "5.97 × 10^24 kg = 5.97e+24 kg"),
        ("A proton has 1.67×10-27 kg.", "1.67×10-27 kg = 1.67e-27 kg"),
        ("It lives for 10⁶ years.", "10⁶ years = 3.15576e+13 s"),
        ("It cost $1.5 million.", "$1.5 million = 1.5e+06 $"),
        ("It cost US$ 30.", "US$ 30 = 30 USD"),
        ("It cost £5.", "£5 = 5 GBP"),
        ("It cost €3bn.", "€3bn = 3e+09 EUR"),
        ("It cost £5m.", "£5m = 5e+06 GBP"),
        ("It cost 5 million dollars.", "5 million dollars = 5e+06 $"),
        ("It cost 5 million pounds.", "5 million pounds = 5e+06 GBP"),
        ("It weighed 5 pounds.", "5 pounds = 2.26796 kg"),
        ("It cost Rs 500.", "Rs 500 = 500 INR"),
        ("It cost 20 cents.", "20 cents = 0.2 $"),
        ("It sells at $70 per tonne.", "$70 per tonne = 0.07 $/kg"),
        ("It ran at 90 km/h.", "90 km/h = 25 m/s"),
        ("It ran at 90 kilometres per hour.", "90 kilometres per hour = 25 m/s"),
        ("It holds 300 people per square kilometre.", "300 people per square kilometre = 300 /km2 people"),
        ("It holds 300/km².", "300/km² = 300 /km2"),
        ("It has a density of 5.5 g/cm³.", "5.5 g/cm³ = 5500 kg/m3"),
        ("It has a density of 1000 kg m-3.", "1000 kg m-3 = 1000 kg/m3"),
        ("It falls at 9.8 m s⁻².", "9.8 m s⁻² = 9.8 m/s2"),
        ("The rate is 12 deaths per 1,000.", "12 deaths per 1,000 = 12 /1000 deaths"),
        ("It was −40 °C.", "−40 °C = 233.15 K"),
        ("It was -40 °C.", "-40 °C = 233.15 K"),
        ("It was 15 °C (59 °F).", "15 °C = 288.15 K; 59 °F = 288.15 K (converted)"),
        ("It boils at 100 degrees Celsius.", "100 degrees Celsius = 373.15 K"),
        ("It is at 300 K.", "300 K = 300 K"),
        ("It is 8,848 m (29,029 ft) high.", "8,848 m = 8848 m; 29,029 ft = 8848.04 m (converted)"),
        (
            "It is 200 miles (322 km; 174 nmi) off.",
            "200 miles = 321869 m; 322 km = 322000 m (converted); 174 nmi = 322248 m (converted)",
        ),
        ("It is two miles (3 km) away.", "two miles = 3218.69 m; 3 km = 3000 m (converted)"),
        (
            "It is 140 to 160 metres (460 to 520 ft) thick.",
            "140 to 160 metres = 140 to 160 m; 460 to 520 ft = 140.208 to 158.496 m (converted)",
        ),
        ("It is 100 km (80 mi) away.", "100 km = 100000 m; 80 mi = 128748 m"),
        ("It covers 12 sq mi.", "12 sq mi = 3.10799e+07 m2"),
        ("It covers 12 sq. mi of land.", "12 sq. mi = 3.10799e+07 m2"),
        ("It covers 12 km2.", "12 km2 = 1.2e+07 m2"),
        ("It covers 30 hectares (74 acres).", "30 hectares = 300000 m2; 74 acres = 299467 m2 (converted)"),
        ("It holds 4 cubic metres.", "4 cubic metres = 4 m3"),
        ("It holds 20 litres.", "20 litres = 0.02 m3"),
        ("A 36-inch telescope was built.", "36-inch = 0.9144 m"),
        ("A 20-year war began.", "20-year = 6.31152e+08 s"),
        ("He is 6 ft 2 in tall.", "6 ft 2 in = 1.8796 m"),
        ("It took 11 hours, 46 minutes, and 58 seconds.", "11 hours, 46 minutes, and 58 seconds = 42418 s"),
        ("It lasted seven minutes and eleven seconds.", "seven minutes and eleven seconds = 431 s"),
        ("He died aged 73.", "73 = 2.3037e+09 s"),
        ("He died at the age of 73.", "73 = 2.3037e+09 s"),
        ("He was 73 years old.", "73 years old = 2.3037e+09 s"),
        ("A 15-year-old boy won.", "15-year-old = 4.73364e+08 s"),
        ("The war lasted 15 years.", "15 years = 4.73364e+08 s"),
        ("It stood for three centuries.", "three centuries = 9.46728e+09 s"),
        ("It needs 120 kcal a day.", "120 kcal = 502080 J"),
        ("It gives 2,074 megawatts.", "2,074 megawatts = 2.074e+09 W"),
        ("It stands 1,013 hPa of pressure.", "1,013 hPa = 101300 Pa"),
        ("It swings at 50 Hz.", "50 Hz = 50 Hz"),
        ("It holds 12 billion U.S. gallons.", "12 billion U.S. gallons = 4.54249e+07 m3"),
        ("Canada's 22 ministers met.", "22 ministers = 22 ministers"),
        ("It killed many—in excess of 90% of them.", "90% = 90 % (more than)"),
        ("It needs 12 V.", "12 V = 12 V"),
        ("It has 64 MB of memory.", "64 MB = 5.12e+08 bit"),
        ("It turned by 90°.", "90° = 1.5708 rad"),
        ("It measures 9 by 14 cm.", "9 = 0.09 m; 14 cm = 0.14 m"),
        ("It is 4.2 light-years away.", "4.2 light-years = 3.97351e+16 m"),
        ("An army of 7,000 soldiers came.", "7,000 soldiers = 7000 soldiers"),
        ("An army of 1500 men came.", "1500 men = 1500 men"),
        ("It has three main islands.", "three main islands = 3 islands"),
        ("Two of the islands are settled.", "Two of the islands = 2 islands"),
        ("Only one party was allowed.", "one party = 1 party"),
        ("More than 3,000 died.", "3,000 = 3000 (more than)"),
        ("At least 1,836 people died.", "1,836 people = 1836 people (at least)"),
        ("Up to 300 rows of teeth show.", "300 rows = 300 rows (at most)"),
        ("Fewer than 40 remained.", "40 = 40 (less than)"),
        ("Over 50,000 people came.", "50,000 people = 50000 people (more than)"),
        ("It was seen over 16–18 days.", "16–18 days = 1.3824e+06 to 1.5552e+06 s"),
        ("It has 3,000+ members.", "3,000+ members = 3000 members (at least)"),
        ("It takes 35 hours or more.", "35 hours = 126000 s (at least)"),
        ("It had 20 members or fewer.", "20 members = 20 members (at most)"),
        ("The town has a population of 70,000.", "70,000 = 70000"),
        ("It has ~400 members.", "400 members = 400 members (about)"),
        ("They lost six thousand.", "six thousand = 6000"),
        ("Six were killed.", "Six = 6"),
        ("50 French and 30 British officers came.", "50 French = 50 French; 30 British officers = 30 officers"),
        ("It has fewer than half the seats.", "half = 50 % (less than)"),
        ("It made 9000 visitors happy.", "9000 visitors = 9000 visitors"),
        ("It has 427 563 people.", "427 563 people = 427563 people"),
        ("Two United States senators spoke.", "Two United States senators = 2 senators"),
    ],
)
def test_a_quantity_is_read_with_its_value_unit_and_what_it_counts(text: str, expected: str) -> None:
    """Each way of writing a quantity gives its words, its value in the base unit, and what is counted."""
    assert said(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Apollo 11 landed.",
        "A Boeing 747 landed.",
        "World War 2 ended.",
        "Chapter 3 tells more.",
        "He wore No. 5 there.",
        "It runs Windows 95 still.",
        "Henry VIII ruled.",
        "Take U-235 and carbon-14.",
        "Water is H2O.",
        "Call 555-123-4567 now.",
        "See ISBN 0-19-853453-1 for it.",
        "Version 2.4.1 is out.",
        "It began at 12:30 and ended at 5 pm.",
        "It lies at 51°30′N 0°7′W.",
        "It lies at 6.46667° N.",
        "It lies there (6.46667, 2.6).",
        "It ended in 1944.",
        "Since 1944 it stands.",
        "The treaty of 1944 holds.",
        "The 1944 elections were held.",
        "It was built from 1914 to 1918.",
        "It was built 1914–18.",
        "It lasted 1990-1991 at most.",
        "In the 1990s it fell.",
        "He came 20th of all.",
        "He came twenty-fifth.",
        "It was 5.97×1024 kg.",
        "It was one of the best.",
        "No one knows.",
        "One can see it.",
        "A man and an owl came.",
        "They won 3–2 there.",
        "The second half began.",
        "His half-brother had a third-degree burn.",
        "He scored a half-century in the match.",
        "It is a fifth-century temple.",
        "It crosses the nasal half of the eye.",
        "The Seven Sisters stand there.",
        "The Thirty Years' War began.",
        "The first two agreed.",
        "Thousands of people came.",
        "The ratio is 2.76:1 here.",
        "On page 12 it says so.",
        "A six-sided prism stands.",
        "It reached 1990 levels again.",
        "One day he left.",
        "The Boeing 737s flew.",
        "(1) First, do it.",
        "It is of type 2 here.",
        "At 7 a.m. it began.",
    ],
)
def test_numbers_that_say_how_much_of_nothing_are_left_out(text: str) -> None:
    """Names, labels, dates, times, places on a map, ratios, ordinals and pronouns are not quantities."""
    assert said(text) == ""


@pytest.mark.parametrize(
    ("text", "digits", "written"),
    [
        ("It has 12 million people.", 2, "million people"),
        ("It has 12.1 million people.", 3, "million people"),
        ("It is 8,848 m high.", 4, "m"),
        ("It has 3000 members.", 1, "members"),
        ("It is 0.050 m long.", 2, "m"),
        ("It took twenty-five miles.", 2, "miles"),
        ("It covers 5 km².", 1, "km²"),
        ("It cost £1.2 billion.", 2, "£ billion"),
        ("It cost $70 per tonne.", 1, "$ per tonne"),
        ("It was 35–40 %.", 2, "%"),
        ("A 15-year-old boy won.", 2, "year-old"),
    ],
)
def test_significant_figures_and_the_unit_as_written_are_kept(text: str, digits: int, written: str) -> None:
    """How finely a value was written, and in which words, is known."""
    assert (only(text).digits, only(text).written_unit) == (digits, written)


def test_the_word_before_the_counted_noun_is_kept() -> None:
    """'main islands' is distinguished from 'islands'."""
    assert only("It has three main islands.").counted_words == "main islands"


def test_dates_found_before_are_not_part_of_a_quantity() -> None:
    """A span that is closed is neither read nor reached into."""
    text = "By 12 May 300 men had come."
    assert [text[found.start : found.end] for found in quantities_in(text, not_in=[(3, 9)])] == ["300 men"]
    assert quantities_in(text, not_in=[(3, 17)]) == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("12 million people", "12,000,000 people", "same"),
        ("5 km", "5,000 m", "same"),
        ("12 million people", "12.1 million people", "rounding"),
        ("8,848 m", "29,029 ft", "rounding"),
        ("15 °C", "59 °F", "same"),
        ("two miles", "3 km", "rounding"),
        ("about 1,050 km", "1,120 km", "overlap"),
        ("about 100 km", "150 km", "apart"),
        ("more than 3,000 men", "3,500 men", "overlap"),
        ("more than 3,000 men", "2,500 men", "apart"),
        ("at least 30 men", "30 men", "overlap"),
        ("up to 30 men", "40 men", "apart"),
        ("35–40 %", "38 %", "overlap"),
        ("35–40 %", "50 %", "apart"),
        ("half of the seats", "50 %", "same"),
        ("half of the seats", "48 %", "rounding"),
        ("ten provinces", "12 provinces", "apart"),
        ("ten provinces", "10 provinces", "same"),
        ("3 islands", "3 provinces", "different kinds"),
        ("300 people", "300 inhabitants", "same"),
        ("5 km", "5 kg", "different kinds"),
        ("$30", "US$ 30", "same"),
        ("£30", "$30", "different kinds"),
        ("55 km", "55 miles", "unit"),
        ("12 thousand people", "12 million people", "unit"),
        ("55 km", "70 km", "apart"),
        ("about 15 °C", "40 °C", "apart"),
        ("300 people per square kilometre", "777 people per square mile", "rounding"),
    ],
)
def test_two_quantities_are_related_by_what_may_explain_their_difference(one: str, other: str, expected: str) -> None:
    """Rounding, open ends and units explain some differences; the others are contradictions."""
    assert quantity_relation(only(one), only(other)) == expected
    assert quantity_relation(only(other), only(one)) == expected


PIECES = [
    *(
        "12",
        "3,500",
        "1.5",
        ".5",
        "½",
        "1944",
        "10²⁴",
        "two",
        "twenty",
        "a hundred",
        "half",
        "one",
        "thirds",
        "million",
    ),
    *(
        "km",
        "°",
        "C",
        "°C",
        "%",
        "per",
        "/",
        "m",
        "in",
        "ft",
        "people",
        "islands",
        "of",
        "the",
        "and",
        "to",
        "–",
        "-",
        "−",
    ),
    *(
        "$",
        "£",
        "US$",
        "Rs",
        "about",
        "more than",
        "between",
        "from",
        "rose",
        "(",
        ")",
        ",",
        ".",
        "×",
        "±",
        "+",
        ":",
        "\\n",
    ),
    *(
        "aged",
        "old",
        "years",
        "No.",
        "Apollo",
        "×10",
        "^",
        "\u00a0",
        "٣",
        "ſix",
        "thouſand",
        "mıllion",
        "⁹⁹⁹",
        "×10^",
        "²",
        "or",
        "by",
    ),
]
TEXTS = (
    st.text()
    | st.lists(st.sampled_from(PIECES) | st.just(" "), max_size=24).map("".join)
    | st.lists(st.sampled_from(PIECES), max_size=16).map(" ".join)
)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=4))
def test_any_text_is_read_in_order_and_within_its_bounds(text: str, closed: list[tuple[int, int]]) -> None:
    """Whatever the text, quantities come in order, do not overlap, and keep out of what is closed."""
    found = quantities_in(text, not_in=closed)
    for quantity in found:
        assert 0 <= quantity.start < quantity.end <= len(text)
        assert quantity.low <= quantity.high
        assert quantity.is_range == (quantity.low != quantity.high)
        assert quantity.digits >= 1
        assert quantity.counted in text[quantity.start : quantity.end]
        assert all(quantity.end <= start or end <= quantity.start for start, end in closed if start < end)
    assert all(first.end <= second.start for first, second in pairwise(found))


@given(TEXTS, TEXTS)
def test_relation_is_symmetric_and_same_with_itself(one: str, other: str) -> None:
    """The order of two quantities makes no difference, and each is the same as itself."""
    for first in quantities_in(one):
        assert quantity_relation(first, first) == "same"
        for second in quantities_in(other):
            assert quantity_relation(first, second) == quantity_relation(second, first)


@given(st.integers(0, 10**9), st.sampled_from(["km", "kg", "people", "%", "years"]))
def test_a_figure_with_commas_is_read_as_it_was_written(value: int, unit: str) -> None:
    """Writing a number and reading it gives the number again."""
    found = only(f"It had about {value:,} {unit} of it.")
    factor = {"km": 1e3, "years": 31557600.0}.get(unit, 1.0)
    assert found.low == found.high == pytest.approx(value * factor)


def test_quantities_of_real_pages_point_at_their_figures(shared_data: Path) -> None:
    """On pages of a real book, each quantity's words have a number and end where a word ends."""
    archive = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    count = 0
    for path in sorted(archive.articles())[:40]:
        text = open_page(archive, path).text
        for found in quantities_in(text):
            words = text[found.start : found.end]
            assert re.search(r"[0-9½¼¾]|[a-z]{3}", words)
            assert not (words[-1].isalpha() and text[found.end : found.end + 1].isalpha()), words
            count += 1
    assert count > 500
