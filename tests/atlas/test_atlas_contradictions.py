"""Contradictions across a whole book: those that are there, and none of those that only look so."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.contradictions import (
    MAX_PAIRS,
    BookContradiction,
    ContradictionFilter,
    _values,
    contradiction_counts,
    contradictions,
    sentence_contradictions,
    subject_contradictions,
)
from kiwiresearch.atlas.database import ResultWindow
from kiwiresearch.atlas.facts import UniqueFact, facts_of, lives_in, plain_label
from kiwiresearch.atlas.row_reader import checked_claim
from kiwiresearch.claims.claim import Claim, Measure, claim_record
from kiwiresearch.claims.conflicts.sentences import ComparedSentence
from kiwiresearch.evidence import INFOBOX, Quote
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import EntryRef

OWN = "Own"


def a_claim(text: str, subject: str, *, section: str = "", path: str = OWN) -> Claim:
    """A claim that says some words about something."""
    saying = ComparedSentence.of(text, subject)
    ref = EntryRef(BookId("b"), path)
    return Claim(
        text=text,
        type="numeric",
        subject=subject,
        scope=subject,
        quotes=(Quote(ref, 0, len(text), text),),
        page_title=path,
        section=section,
        anchor="",
        measures=tuple(Measure(quantity, "", subject, None) for quantity in saying.quantities),
        dates=saying.dates,
    )


def facts(*claims: Claim) -> list[UniqueFact]:
    return [fact for claim in claims for fact in facts_of(claim, OWN)]


def found(*claims: Claim) -> list[BookContradiction]:
    return list(subject_contradictions(OWN, facts(*claims), "eng"))


@pytest.mark.parametrize(
    ("text", "subject", "expected"),
    [
        ("Elmland — Population, July 2005 estimate: 103,000 ( 193rd)", "Elmland", ["population 103,000"]),
        ("Elmland — Area (km²): 1,500", "Elmland", ["area (m2) 1,500"]),
        ("Ada Rowe — Born: 3 May 1815", "Ada Rowe", ["birth 3 May 1815"]),
        ("As of 2004, Elmland has a population of 1.35 million.", "Elmland", ["population 1.35 million"]),
        ("Ada Rowe was born on 3 May 1815 in Elmland.", "Ada Rowe", ["birth 3 May 1815"]),
        ("Ada Rowe (1815–1885) was a painter.", "Ada Rowe", ["birth 1815–1885", "death 1815–1885"]),
        ("The Elm Tower is 324 m tall.", "Elm Tower", ["height (m) 324 m"]),
        ("Elmland has a student population of 900.", "Elmland", []),
        ("Elmland — Founded: 1970 (as a club) 2001 (as a company)", "Elmland", []),
        ("Ada Rowe was born on 3 May 1815 or 1816 in Elmland.", "Ada Rowe", []),
        ("Ada Rowe's father was born in 1780.", "Ada Rowe", []),
        ("Queen Ada (1851–1901) reigned.", "Ada", []),
        ("Ada Rowe (reigned 1851–1901) was a queen.", "Ada Rowe", []),
        ("Ada Rowe (1829–37) led the house.", "Ada Rowe", []),
    ],
)
def test_a_fact_is_taken_only_where_a_claim_says_of_what(text: str, subject: str, expected: list[str]) -> None:
    """Rows and plain sentences give facts; a part, a choice, a reign or a relative does not."""
    assert [f"{fact.attribute} {fact.value_text}" for fact in facts(a_claim(text, subject))] == expected


@pytest.mark.parametrize(
    ("label", "years"),
    [
        ("Population (2015)", {2015}),
        ("Population (31-12-2015)", {2015}),
        ("Population (1-1-2020)", {2020}),
        ("Population (12-2011)", {2011}),
        ("Population, 2015–2016", {2015, 2016}),
        ("Population (wards 45-1050)", set()),
        ("Population (wards 5–1050)", set()),
    ],
)
def test_a_number_is_of_the_years_that_its_label_names(label: str, years: set[int]) -> None:
    """With a day and a month before it, a year is a year; the end of a range of counts is none."""
    (fact,) = facts(a_claim(f"E — {label}: 103,000", "E", section=INFOBOX))
    assert fact.years == years


@pytest.mark.parametrize(
    ("one", "other", "kinds"),
    [
        ("E — Population, 2005 estimate: 103,000", "E — Population (1 July 2005 est.): 89,502", ["contradiction"]),
        ("E — Population, 2005 estimate: 103,000", "E — Population (1 July 2002 est.): 89,502", []),
        ("E — Population, 2005 estimate: 103,000", "E — Population, 2005 census: 95,000", ["estimate range"]),
        ("E — Population, 2005 estimate: 103,000", "E — Population (2005): 102,600", ["unit or rounding"]),
        ("E — Population, 2005 estimate: 103,000", "E — Population (2005): 9,000", []),
        ("E — Population: 103,000", "E — Population: 89,502", []),
        ("E — Area, Total: 5,123 km²", "E — Area (km²): 5,431", ["contradiction"]),
        ("E — Born: 3 May 1815", "E — Born: May 1815", []),
    ],
)
def test_rows_of_two_pages_are_compared_as_values_of_one_time(one: str, other: str, kinds: list[str]) -> None:
    """Another year, another scope, rounding and less precision contradict nothing."""
    pair = found(a_claim(one, "E", section=INFOBOX), a_claim(other, "E", section="Countries", path="Elsewhere"))
    assert [each.disagreement.kind for each in pair] == kinds


def test_two_rows_of_one_page_are_of_two_things() -> None:
    """A table that gives two numbers under one label does not contradict itself."""
    rows = [a_claim(f"E — Area, Total: {size} km²", "E", section=f"Part {size}") for size in (500, 600)]
    assert found(*rows) == []


def test_the_words_of_both_sides_mark_the_value_that_differs() -> None:
    """Spans point at the values in the claims themselves."""
    (pair,) = found(
        a_claim("Ada Rowe (3 May 1816 – 9 June 1885) was a painter.", "Ada Rowe"),
        a_claim("Ada Rowe was born on 3 May 1815 in Elmland.", "Ada Rowe", section="Life"),
    )
    assert [side.claim.text[slice(*side.span)] for side in pair.sides] == ["3 May 1816 – 9 June 1885", "3 May 1815"]
    assert pair.gap == 366


def test_a_life_elsewhere_counts_if_one_end_of_it_fits() -> None:
    """Years behind a name on another page are those of a life only if birth or death agrees; else of a reign."""
    own = a_claim("Ada Rowe (1815–1885) was a queen.", "Ada Rowe")
    slip = a_claim("A poem by Ada Rowe (1819–1885) is known.", "A poem", path="Poem")
    reign = a_claim("A law of Ada Rowe (1840–1870) is known.", "A law", path="Law")
    for claim, count in ((slip, 1), (reign, 0)):
        both = [*facts(own), *lives_in(claim, "Ada Rowe")]
        assert len(list(subject_contradictions(OWN, both, "eng"))) == count


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field of a record, and of its parts."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*place, key)
        yield from leaves(one, (*place, key))


def with_instead(record: dict[str, Any], place: tuple[Any, ...], value: object) -> dict[str, Any]:
    other = copy.deepcopy(record)
    part = other
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return other


@pytest.mark.parametrize(
    "value", [None, True, 7, -1, 10**30, 1e308 * 10, 0.5, "x", "half \ud83d", [], [None], {}, {"a": 1}], ids=repr
)
@pytest.mark.parametrize("text", ["Ada Rowe (1815–1885) was a queen.", "E — Population (2005): 103,000"])
def test_a_claim_of_wrong_kinds_does_no_harm(text: str, value: object) -> None:
    """Whatever value is in the wrong place in a record, it is not a claim, or one that can be compared and kept."""
    good = a_claim(text, text.partition(" — ")[0] if " — " in text else "Ada Rowe", section=INFOBOX)
    other = a_claim(text.replace("1", "2"), good.subject, path="Elsewhere")
    record = claim_record(good)
    assert checked_claim(json.dumps(record)) == good
    for place in leaves(record):
        claim = checked_claim(json.dumps(with_instead(record, place, value)))
        if claim is not None:
            rows = [*facts_of(claim, OWN), *lives_in(claim, "Ada Rowe"), *facts(other)]
            for one in (
                *subject_contradictions(OWN, rows, "eng"),
                *sentence_contradictions(OWN, [claim, other], "eng"),
            ):
                json.dumps(_values(one), allow_nan=False, ensure_ascii=False).encode()


def test_work_is_bounded_however_often_a_fact_is_repeated() -> None:
    """A thousand tellings of a population do not give half a million pairs."""
    many = [
        a_claim(f"E — Population (2005): {1_000_000 + 20_000 * n}", "E", section=f"S{n}", path=f"P{n}")
        for n in range(400)
    ]
    assert len(found(*many)) == MAX_PAIRS


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("Population, July 2005 estimate", "population"),
        ("Population (1 July 2002 est.)", "population"),
        ("Population, City (2005)", "population city"),
        ("Area, Total", "area"),
        ("GDP (PPP), Per capita", "gdp per capita"),
    ],
)
def test_labels_are_the_same_without_time_and_source(label: str, plain: str) -> None:
    """What a label is about does not depend on when it was counted."""
    assert plain_label(label) == plain


def test_the_contradictions_of_a_book_are_found_by_kind(elm_atlas: Atlas) -> None:
    """A birth, a population and a sentence that is repeated; differences that rounding explains are separate."""
    result = contradictions(elm_atlas, ContradictionFilter(), ResultWindow())
    assert [(row["kind"], row["title"], row["attribute"]) for row in result.rows] == [
        ("contradiction", "Ada Rowe", "birth"),
        ("contradiction", "Ada Rowe", "birth"),
        ("contradiction", "Elmland", ""),
        ("contradiction", "Elmland", "population"),
        ("unit or rounding", "Elmland", "area (m2)"),
    ]
    assert contradiction_counts(elm_atlas) == {"contradiction": 4, "unit or rounding": 1}


def test_every_side_is_quoted_at_its_place(elm_atlas: Atlas) -> None:
    """Each side has its page, its words and their place; the value that differs is within the words."""
    for row in contradictions(elm_atlas, ContradictionFilter(), ResultWindow()).rows:
        assert len(row["sides"]) == 2
        for side in row["sides"]:
            assert side["path"]
            assert side["title"]
            assert side["end"] - side["start"] == len(side["quote"]) > 0
            assert side["text"][side["value_start"] : side["value_end"]]


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (ContradictionFilter(kind="unit or rounding"), 1),
        (ContradictionFilter(what="a date"), 2),
        (ContradictionFilter(words="STORM"), 1),
        (ContradictionFilter(page="Elm_Sea"), 2),
        (ContradictionFilter(kind="different year"), 0),
    ],
)
def test_contradictions_are_chosen(elm_atlas: Atlas, filters: ContradictionFilter, count: int) -> None:
    """By kind, by what differs, by words and by page."""
    assert contradictions(elm_atlas, filters, ResultWindow()).total == count


def test_real_disagreements_of_a_real_book_are_found(shared_data: Path, tmp_path: Path) -> None:
    """Pages of a real encyclopedia that are known to contradict themselves do so here as well."""
    from tests.atlas.atlas_book import write_elm_shards

    from kiwiresearch.atlas.atlas import open_atlas
    from kiwiresearch.zim.book_writer import NewPage, write_book
    from kiwiresearch.zim.libzim import LibzimArchive

    real = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    paths = ("Johannes_Kepler", "The_Godfather")
    pages = [NewPage(path, real.title(path), real.read(path).content) for path in paths]
    metadata = {"Name": "some", "Title": "Some", "Description": "d", "Language": "eng", "Creator": "c"}
    write_book(tmp_path / "some.zim", pages, [], metadata=metadata | {"Publisher": "p", "Date": "2007-05-01"})
    shards = write_elm_shards(tmp_path / "some.zim", tmp_path / "shards")
    result = contradictions(
        open_atlas(shards, tmp_path / "kept"), ContradictionFilter(kind="contradiction"), ResultWindow()
    )
    assert {(row["title"], row["attribute"]) for row in result.rows} == {
        ("Johannes Kepler", "birth"),
        ("The Godfather", "release"),
    }
