"""The table of numbers: what is measured, of what, when, which pages say so, and where they disagree."""

from __future__ import annotations

from itertools import groupby

import pytest
from tests.brief.claim_gathering import gather_claims

from kiwiresearch.brief.brief import Brief, Figure
from kiwiresearch.brief.composition import MAX_FIGURES
from kiwiresearch.brief.report import brief_document
from kiwiresearch.document.markdown import markdown


def varn(*sentences: str, **others: str) -> Brief:
    """A brief on a town: what its own page says, and what other pages say of it."""
    links = " and ".join(f"[[{title}]]" for title in others) or "the sea"
    pages = {title: f"{title} is a town near [[Varn]].\n== Near ==\n{text}" for title, text in others.items()}
    own = "\n".join(sentences)
    return gather_claims({"Varn": f"Varn is a town near {links}.\n== Numbers ==\n{own}"} | pages, topic="Varn").brief()


def row(figure: Figure) -> tuple[str, str, str, str]:
    return figure.value, figure.what, figure.of, figure.when


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Varn has 12,000 inhabitants.", ("12,000 inhabitants", "inhabitants", "Varn", "")),
        ("Varn had about 12,000 inhabitants in 1430.", ("about 12,000 inhabitants", "inhabitants", "Varn", "1430")),
        ("Varn has more than 12,000 inhabitants.", ("more than 12,000 inhabitants", "inhabitants", "Varn", "")),
        ("Varn covers an area of 40 km².", ("40 km²", "area", "Varn", "")),
        ("The harbour of Varn is 12 m deep.", ("12 m", "depth", "The harbour of Varn", "")),
    ],
)
def test_a_number_has_what_it_measures(sentence: str, expected: tuple[str, str, str, str]) -> None:
    """Each number is with what it measures, of what, and when if the page says so (R68, R100)."""
    (figure,) = varn(sentence).numbers
    assert row(figure) == expected
    assert figure.statement.text == sentence


def test_a_number_names_the_pages_that_say_it() -> None:
    """The row rests on the claims of both pages that give the value, and the table cites them (R100)."""
    brief = varn("The harbour of Varn is 12 m deep.", Lund="The harbour of Varn is 12 m deep at low tide.")
    (figure,) = brief.numbers
    assert {brief.claims[one].page_title for one in figure.statement.claims} == {"Varn", "Lund"}
    table = markdown(brief_document(brief)).partition("## Numbers & Quantitative Claims")[2].partition("\n## ")[0]
    (line,) = [line for line in table.splitlines() if "12 m" in line]
    assert "](http://host/Varn)" in line
    assert "](http://host/Lund)" in line


def test_the_same_value_is_one_row() -> None:
    """A length in another unit is not a second number."""
    brief = varn("The harbour of Varn is 12 m deep.", Lund="The harbour of Varn is 1,200 cm deep.")
    assert [figure.value for figure in brief.numbers] == ["12 m"]


def test_values_that_disagree_are_marked() -> None:
    """Where another page gives another value, both rows say so and of which kind the disagreement is (R101)."""
    brief = varn("Varn has 12,000 inhabitants.", Lund="Varn has 15,000 inhabitants.")
    assert [figure.value for figure in brief.numbers] == ["12,000 inhabitants", "15,000 inhabitants"]
    assert all(str(figure.difference).startswith("contradiction: ") for figure in brief.numbers)
    table = markdown(brief_document(brief)).partition("## Numbers & Quantitative Claims")[2].partition("\n## ")[0]
    assert table.count("**Disagrees**: The pages contradict each other.") == 2


def test_values_of_other_years_are_distinguished() -> None:
    """Two values of two years do not contradict each other: the rows say that they are of different years (R101)."""
    brief = varn("Varn had 12,000 inhabitants in 1430.", Lund="Varn had 15,000 inhabitants in 1530.")
    assert [figure.when for figure in brief.numbers] == ["1430", "1530"]
    assert all(str(figure.difference).startswith("different year: ") for figure in brief.numbers)
    assert brief.disputes == ()


def test_numbers_that_agree_are_not_marked() -> None:
    """Without another value there is nothing to mark."""
    brief = varn("Varn has 12,000 inhabitants.", "Varn covers an area of 40 km².", Lund="Lund has 15,000 inhabitants.")
    assert brief.numbers
    assert {figure.difference for figure in brief.numbers} == {None}


def test_numbers_of_one_thing_are_together() -> None:
    """Rows are grouped by what they are about."""
    brief = varn(
        "Varn has 12,000 inhabitants.",
        "The harbour of Varn is 12 m deep.",
        "Varn covers an area of 40 km².",
        "The harbour of Varn is 900 m long.",
    )
    assert len(brief.numbers) == 4
    assert len(list(groupby(figure.of for figure in brief.numbers))) == 2


def test_numbers_beside_the_topic_are_left_out() -> None:
    """What a related page counts of its own is not in the table."""
    brief = varn("Varn has 12,000 inhabitants.", Lund="Lund has 900 houses.")
    assert [figure.of for figure in brief.numbers] == ["Varn"]


def test_one_page_of_statistics_does_not_fill_the_table() -> None:
    """Of one subject a few numbers are shown, and of all no more than fit a page."""
    goods = ("ships", "mules", "houses", "wells", "churches", "mills", "inns", "gates", "towers", "bridges", "shops")
    counted = [f"The town of Varn has {number} {name}." for number, name in enumerate(goods, start=21)]
    shown = varn(*counted).numbers
    assert 0 < len(shown) < len(goods)
    places = [f"The {name} of Varn are {number} m high." for number, name in enumerate(goods * 3, start=100)]
    assert len(varn(*counted, *places).numbers) == MAX_FIGURES


OTHERS = "The traders of Varn sent 400 tons of salt to the north, and they lost 90 ships in the storms of 1430."


def test_a_number_of_something_else_is_in_its_sentence() -> None:
    """If a number does not measure the subject itself, its row is its sentence, without label and date."""
    # The findings take no more than six sentences of a paragraph.
    paragraph = """
        The gates of Varn are closed at night. Fishermen of Varn mend nets beside old walls.
        Bakers in Varn sell dark bread on market days. A tower in Varn carries bells from Lund.
        Children of Varn learn to sail before they read. Gardens in Varn grow pears and bitter herbs.
        Travellers praise the inns of Varn for soup. Winter storms close all roads to Varn.
    """
    brief = varn(" ".join((*paragraph.split(), OTHERS)))
    figures = [figure for figure in brief.numbers if "400 tons" in figure.value]
    assert [row(figure) for figure in figures] == [("400 tons", "", "", "")]
    table = markdown(brief_document(brief)).partition("## Numbers & Quantitative Claims")[2].partition("\n## ")[0]
    assert OTHERS in table


def test_a_sentence_is_not_repeated_for_its_number() -> None:
    """A number that is in the findings, and of which it is not certain what it measures, has no row."""
    brief = varn(OTHERS)
    assert OTHERS in [one.text for group in brief.body for one in group.statements] + [
        one.text for one in brief.summary
    ]
    assert brief.numbers == ()


def test_small_counts_and_lengths_of_time_are_left_out() -> None:
    """'Two gates' and 'twelve years later' say little by themselves."""
    brief = varn("The old walls of Varn had two gates that were closed at night.", "Twelve years later Varn was rich.")
    assert brief.numbers == ()


def test_pages_without_numbers_have_no_table() -> None:
    """If nothing is counted, the report says so."""
    brief = varn("Varn is a port of the north.")
    assert brief.numbers == ()
    assert "No numbers were found." in markdown(brief_document(brief))
