"""Who is related to whom in a book; people who may be living are kept back from strangers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kiwiresearch.atlas import family_queries
from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import AtlasDatabase, ResultWindow, open_database
from kiwiresearch.atlas.family_queries import PrivacyView, families, people, relation, relatives
from kiwiresearch.atlas.family_tables import FAMILIES, family_tree, people_around
from kiwiresearch.bulk.finished_folder import BookIdentity
from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.ids import BookId
from kiwiresearch.kin.kinship import KinshipFinder
from kiwiresearch.kin.tree import Tree

OWNER, PUBLIC = PrivacyView("owner", 2026), PrivacyView("public", 2026)


def test_the_largest_family_comes_first_with_who_has_pages(elm_atlas: Atlas) -> None:
    """Three generations that three pages mention are one family."""
    found = families(elm_atlas, PUBLIC, ResultWindow())
    assert found.total == 2
    assert {one["name"] for one in found.rows[0]["named"]} == {"Ada Rowe", "Ben Rowe", "Tom Rowe"}
    assert (found.rows[0]["people"], found.rows[0]["pages"]) == (3, 3)


def test_relatives_are_listed_with_their_kinship_and_quotes(elm_atlas: Atlas) -> None:
    """The grandfather is two ties away, and each tie has its quote and place."""
    result = relatives(elm_atlas, "Ben Rowe", PUBLIC)
    assert [(row["kinship"], row["name"]) for row in result["relatives"]] == [
        ("mother", "Ada Rowe"),
        ("grandfather", "Tom Rowe"),
    ]
    mother = result["relatives"][0]
    assert "Ada Rowe" in mother["quote"] or "Ben Rowe" in mother["quote"]
    place = mother["place"]
    assert place is not None
    assert place["end"] > place["start"] >= 0


@pytest.mark.parametrize("title", ["Ray Rowe", "A/Ray_Rowe.html"])
def test_people_of_older_books_are_asked_for_by_the_title_of_their_page(tmp_path: Path, title: str) -> None:
    """Neither the 'A/' and '.html' of a path nor a longer name is in the way, with titles or without."""
    row = {"id": 0, "person": "A/Ray_Rowe.html", "name": "Raymond Albert Rowe", "title": title, "has_page": True}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "persons.parquet")
    with open_database("old", {"persons": [tmp_path / "persons.parquet"]}) as database:
        for words in ("ray rowe", "Ray Rowe ", "A/Ray_Rowe.html", "Raymond Albert Rowe"):
            assert family_queries._find_person(database, words) == "A/Ray_Rowe.html"


def test_relatives_go_no_further_than_asked(elm_atlas: Atlas) -> None:
    """One tie away is the mother alone."""
    assert len(relatives(elm_atlas, "Ben_Rowe", PUBLIC, steps=1)["relatives"]) == 1
    with pytest.raises(BadUsage, match="Cannot show relatives up to 0 relationships away"):
        relatives(elm_atlas, "Ben_Rowe", PUBLIC, steps=0)


def test_the_path_between_two_people_is_shown(elm_atlas: Atlas) -> None:
    """From grandson to grandfather over the mother; strangers have no way between them."""
    result = relation(elm_atlas, "ben rowe", "Tom_Rowe", PUBLIC)
    assert result["kinship"] == "grandfather"
    assert [step["name"] for step in result["way"]] == ["Ben Rowe", "Ada Rowe", "Tom Rowe"]
    apart = relation(elm_atlas, "Ben Rowe", "Dan Finch", PUBLIC)
    assert (apart["kinship"], apart["way"]) == ("not known to be related", [])


def test_strangers_do_not_learn_who_is_living(elm_atlas: Atlas) -> None:
    """A singer born in 1990 is a nameless child to strangers, by no list, way or search; the owner sees the name."""
    result = relatives(elm_atlas, "Dan Finch", PUBLIC)
    lists = (
        families(elm_atlas, PUBLIC, ResultWindow()).rows,
        people(elm_atlas, "finch", PUBLIC, ResultWindow()).rows,
    )
    for seen in (result, *lists):
        assert "Cy" not in json.dumps(seen), seen
        assert "1990" not in json.dumps(seen), seen
    assert [row["name"] for row in result["relatives"]] == ["Living"]
    owned = relatives(elm_atlas, "Dan Finch", OWNER)
    assert [row["name"] for row in owned["relatives"]] == ["Cy Finch"]


@pytest.mark.parametrize("words", ["Cy Finch", "Cy_Finch"])
def test_people_who_may_be_living_cannot_be_asked_for(elm_atlas: Atlas, words: str) -> None:
    """Asked for by name or path, a hidden person is refused, alone and with another."""
    with pytest.raises(BadUsage, match="may be living"):
        relatives(elm_atlas, words, PUBLIC)
    with pytest.raises(BadUsage, match="may be living"):
        relation(elm_atlas, "Dan Finch", words, PUBLIC)


def test_a_person_without_a_page_is_not_found(elm_atlas: Atlas) -> None:
    """The error says what to give."""
    with pytest.raises(NothingFound, match="Enter the page title"):
        relatives(elm_atlas, "Elmland", PUBLIC)


def test_people_are_seen_in_one_tree(elm_atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many people are in a list, their families are read once; unknown words find nobody."""
    made: list[int] = []

    def counted(database: AtlasDatabase, several: Sequence[str]) -> Tree:
        made.append(len(several))
        return family_tree(database, several)

    monkeypatch.setattr(family_queries, "family_tree", counted)
    assert len(people(elm_atlas, "", OWNER, ResultWindow()).rows) == 5
    assert len(made) == 1
    assert people(elm_atlas, "nobody at all", OWNER, ResultWindow()).rows == ()


def test_people_are_found_by_their_names(elm_atlas: Atlas) -> None:
    """Words of a name find those who may be named."""
    assert [one["name"] for one in people(elm_atlas, "rowe", PUBLIC, ResultWindow()).rows] == [
        "Ada Rowe",
        "Ben Rowe",
        "Tom Rowe",
    ]


def _family_from_parents(folder: Path, *parents: tuple[str, str, str]) -> Tree:
    """The family of one page that names these parents: which, who, and how."""
    rows = [
        {"path": "Jo", "entry": 0, "number": number, "name": "Jo Rowe", "field": field, "value": value, "target": "",
         "qualifier": how, "quote": value, "start": 0, "end": len(value), "method": "prose", "confidence": 0.5,
         "earliest": None, "latest": None, "edtf": ""}
        for number, (field, value, how) in enumerate(parents)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), folder / "people.parquet")
    files = {"people": [folder / "people.parquet"]}
    with open_database("parents", files, writable=folder) as database:
        FAMILIES.make(database, folder, BookIdentity(BookId("b"), "b", "b", "", "eng", "", ""))
    files |= {name: [folder / f"{name}.parquet"] for name in FAMILIES.files}
    with open_database("families", files) as database:
        return family_tree(database, people_around(database, ["Jo"]))


@pytest.mark.parametrize(
    ("expected", "kin_of"),
    [
        (
            [("mother", "Sarah Wells", ""), ("mother", "Elvera", "step")],
            {"Sarah Wells": "mother", "Elvera": "stepmother"},
        ),
        ([("father", "Tom", "step"), ("father", "Max", "step")], {"Tom": "stepfather", "Max": "stepfather"}),
        ([("father", "Tom", ""), ("father", "Tom Rowe", "")], {"Tom": "father"}),
        ([("father", "Tom Rowe", ""), ("father", "Tom Rowe", "adoptive")], {"Tom Rowe": "adoptive father"}),
    ],
)
def test_a_step_parent_is_nobody_by_blood(
    tmp_path: Path, expected: list[tuple[str, str, str]], kin_of: dict[str, str]
) -> None:
    """A mother by blood is one person however she is named; a stepmother beside her is another."""
    tree = _family_from_parents(tmp_path, *expected)
    family = KinshipFinder(tree)
    assert {tree.persons[one].name: family.describe("Jo", one) for one in tree.parents("Jo")} == kin_of
