"""The subjects of a book: what first sentences say that things are."""

from __future__ import annotations

import pytest

from kiwiresearch.atlas import ResultWindow
from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.kinds import page_kinds, pages_of_kind, rules_for, subject_of_lead


@pytest.mark.parametrize(
    ("lead", "subject"),
    [
        ("Lyon is a large city in eastern France.", "city"),
        ("The Congo River (formerly Zaire) is the largest river in Western Central Africa.", "river"),
        ("Bees are flying insects, closely related to wasps.", "insect"),
        ("16 Cygni Bb is an extrasolar planet orbiting the star 16 Cygni B.", "planet"),
        ("Causantín (before 879 – 952) was king of Alba from 900 to 943.", "king"),
        ("The beet is a species of plant.", "plant"),
        ("A 4-4-0 is a type of steam locomotive.", "locomotive"),
        ("Beer is one of the oldest beverages.", "beverage"),
        ("Condoleezza Rice (born 1954) is the 66th Secretary of State.", ""),
        ("The 19th century lasted from 1801 through 1900.", ""),
        ("It is raining.", ""),
        ("", ""),
    ],
)
def test_the_noun_of_the_first_sentence_is_the_subject(lead: str, subject: str) -> None:
    """Only nouns that name a kind of thing count; where the sentence is not plain, there is none."""
    rules = rules_for("eng")
    assert rules is not None
    assert subject_of_lead(lead, rules) == subject


@pytest.mark.parametrize(
    ("language", "lead", "subject"),
    [
        ("fra", "Lyon est une grande ville du sud-est de la France.", "ville"),
        ("fra", "Le lynx est une espèce de félin.", "félin"),
        ("spa", "El Ebro es un río de la península ibérica.", "río"),
        ("spa", "La encina es una especie de árbol.", "árbol"),
    ],
)
def test_french_and_spanish_name_the_noun_first(language: str, lead: str, subject: str) -> None:
    rules = rules_for(language)
    assert rules is not None
    assert subject_of_lead(lead, rules) == subject


def test_a_language_without_rules_has_no_subjects() -> None:
    assert rules_for("jpn") is None


def test_pages_of_a_subject_are_listed_by_title(elm_atlas: Atlas) -> None:
    """A kind of thing is a subject when three pages are one."""
    found = {one.name: one for one in page_kinds(elm_atlas)}
    assert all(one.pages >= 3 for one in found.values())
    for one in found.values():
        rows = pages_of_kind(elm_atlas, one.name, ResultWindow(limit=100)).rows
        titles = [row["title"] for row in rows]
        assert len(titles) == one.pages
        assert titles == sorted(titles, key=str.lower)
    assert pages_of_kind(elm_atlas, "' OR true --", ResultWindow()).total == 0
