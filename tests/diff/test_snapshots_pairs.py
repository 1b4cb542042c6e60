"""What two snapshots write otherwise and mean the same, and rows that are of different things."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.diff.pairs import ComparedClaim, describe_change, pair_claims, row_label
from kiwiresearch.ids import BookId
from kiwiresearch.page.parser import read_page
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.zim.archive import Entry, EntryRef


def of(html: str) -> list[ComparedClaim]:
    """The claims of a page about a song, behind its first sentence."""
    content = f"<p>Hit the Road is a song by Ray Charles. {html}".encode()
    page = read_page(Entry(EntryRef(BookId("b"), "Hit"), "Hit the Road", "text/html", content))
    return [ComparedClaim(number, claim) for number, claim in enumerate(claims_of(page))]


def of_box(row: str) -> list[ComparedClaim]:
    """The same with a box of one row."""
    return of(f'</p><table class="infobox">{row}</table>')


SAME_NUMBERS = [
    ("The song was the twelfth hit of Ray Charles in 1961.", "The song was the 12th hit of Ray Charles in 1961."),
    ("The song reached number one in May 1961.", "The song reached No. 1 in May 1961."),
    ("The song is heard in a half hour show of 1961.", "The song was heard in a half-hour show of 1961."),
    ("The song fills a quarter mile of tape in 1961.", "The song filled a quarter-mile of tape in 1961."),
]
HYPHENS = [
    ("The song opened a half hour show in 1961.", "The song opened a half-hour show in 1961."),
    ("The song opened a 20 minute set in 1961.", "The song opened a 20-minute set in 1961."),
]


@pytest.mark.parametrize(("old", "new"), SAME_NUMBERS)
def test_a_number_written_otherwise_is_the_same(old: str, new: str) -> None:
    """As an ordinal in words, as a rank, and with a hyphen."""
    found = pair_claims(of(old), of(new))
    assert [describe_change(*pair).numbers_differ for pair in found.changed] == [False]


@pytest.mark.parametrize(("old", "new"), HYPHENS)
def test_a_hyphen_between_words_is_a_space(old: str, new: str) -> None:
    """A claim that got or lost one is the same claim."""
    found = pair_claims(of(old), of(new))
    assert found.same
    assert (found.changed, found.gone, found.new) == ((), (), ())


def test_a_year_that_was_read_as_one_in_one_of_the_two_is_the_same() -> None:
    """And another year is not."""
    texts = ("Charles' 1960 hit was sold.", "Charles's 1960 hit was sold.", "Charles's 1961 hit was sold.")
    claim = of("")[0].claim
    old, new, other = (ComparedClaim(0, replace(claim, text=text, dates=tuple(dates_in(text)))) for text in texts)
    assert (len(old.claim.dates), len(new.claim.dates)) == (0, 1)
    assert old.has_same_numbers(new)
    assert not old.has_same_numbers(other)


def test_another_ordinal_is_another_number() -> None:
    old, new = (of(f"The song was the {rank} hit of Ray Charles in 1961.") for rank in ("twelfth", "ninth"))
    assert [describe_change(*pair).numbers_differ for pair in pair_claims(old, new).changed] == [True]


def test_rows_of_a_box_are_paired_by_what_they_are_of() -> None:
    """A row that came and another that went are not one that changed, however alike they are."""
    format_row = of_box("<tr><th>Format</th><td>7 inch, 1961</td></tr>")
    recorded = of_box("<tr><th>Recorded</th><td>June 1961</td></tr>")
    later = of_box("<tr><th>Recorded</th><td>July 1961</td></tr>")
    other = pair_claims(format_row, recorded)
    assert (len(other.changed), len(other.gone), len(other.new)) == (0, 1, 1)
    assert [describe_change(*pair).numbers_differ for pair in pair_claims(recorded, later).changed] == [True]


LABELS = [
    ("Hit — Single by Ray Charles, Recorded: June 1961", "recorded"),
    ("Hit — Length: 118 km", "length"),
    ("The road — so they say: the longest — was 118 km long.", ""),
    ("The road was 118 km long.", ""),
]


@pytest.mark.parametrize(("text", "label"), LABELS)
def test_the_subject_of_a_row_is_distinguished_from_its_words(text: str, label: str) -> None:
    """A sentence with a dash and a colon is not a row."""
    assert row_label(replace(of("")[0].claim, text=text)) == label
