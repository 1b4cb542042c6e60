"""Names are taken apart, and only names that may be one person's are alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.kin.extract.name_lists import name_at
from kiwiresearch.kin.names import may_be_same_name, name_similarity, parse_name, sex_of_name

PARTS = [
    ("Edward III", "given", ("Edward",)),
    ("Edward III", "regnal", 3),
    ("Edward III of England", "byname", "of England"),
    ("John Tyler II", "generation", "2"),
    ("John Tyler II", "surname", "Tyler"),
    ("Quincy Delight Jones, Jr.", "generation", "junior"),
    ("Quincy Delight Jones, Jr.", "surname", "Jones"),
    ("Pliny the Younger", "generation", "junior"),
    ("Edward Augustus, Duke of Kent", "titles", ("Duke of Kent",)),
    ("Edward Augustus, Duke of Kent", "given", ("Edward", "Augustus")),
    ("HRH Princess Louise", "given", ("Louise",)),
    ("Pauline née Koch", "maiden", "Koch"),
    ("Nancy (Allison) Miller", "maiden", "Allison"),
    ('Thelma "Pat" Ryan', "nickname", "Pat"),
    ("Dafydd ap Llywelyn", "patronymic", "ap Llywelyn"),
    ("Pyotr Ilyich Novak", "patronymic", "Ilyich"),
    ("Ludwig van Beethoven", "surname", "van Beethoven"),
    ("Mao Zedong", "surname", "Mao"),
    ("Heinrich XL", "surname", ""),
    ("Heinrich XL", "regnal", 40),
    ("Heinrich LXXII", "regnal", 72),
    ("Anna LI", "surname", "LI"),
    ("Samuel L. Hay", "regnal", 0),
    ("René Dubois", "surname", "Dubois"),
]


@pytest.mark.parametrize(("written", "part", "expected"), PARTS)
def test_a_name_is_split_into_parts(written: str, part: str, expected: object) -> None:
    """Each part of a name is found at its place."""
    assert getattr(parse_name(written), part) == expected


SAME = [
    ("Mary Ann Todd", "Mary Todd Lincoln"),
    ("Cicely Nevill", "Cecily Neville"),
    ("Łukasz Nowak", "Lukasz Nowak"),
    ("Søren Þorsson", "Soren Thorsson"),
    ("Bill Carter", "William Carter"),
    ("J. Carter", "John Carter"),
    ("Pyotr Tchaikovsky", "Pyotr Chaykovskiy"),
    ("Edward I", "Edward I of England"),
]
OTHER = [
    ("Edward II", "Edward III"),
    ("Heinrich XL", "Heinrich XLII"),
    ("John Smith Jr.", "John Smith Sr."),
    ("Eleanor of Castile", "Eleanor of Provence"),
    ("Anne Smith", "Robert Smith"),
    ("Robert Smith", "Robert Carpenter"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_a_name_are_alike(one: str, other: str) -> None:
    """Pet forms, initials, accents and married names do not make two persons."""
    assert may_be_same_name(one, other), name_similarity(one, other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_names_of_others_are_not_alike(one: str, other: str) -> None:
    """A number, a 'Jr.', a place or another name makes two persons."""
    assert not may_be_same_name(one, other), name_similarity(one, other)


def test_different_numbers_are_never_outweighed() -> None:
    """Two numbers or generations that differ make two persons, whatever else is the same."""
    assert name_similarity("Henry VII Tudor", "Henry VIII Tudor") == 0
    assert name_similarity("Edsel Bryant Ford Jr.", "Edsel Bryant Ford Sr.") == 0


def test_titles_and_given_names_give_the_sex() -> None:
    """The sex is derived if name or title leave no doubt, and otherwise not."""
    assert [sex_of_name(name) for name in ("Queen Zog", "Margaret Fell", "Sir Kit Fox", "Kit Fox")] == [
        "female",
        "female",
        "male",
        "",
    ]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_compared(one: str, other: str) -> None:
    """Whatever text is given as a name, comparing it never fails, and the order does not matter."""
    assert 0 <= name_similarity(one, other) <= 1
    assert name_similarity(one, other) == name_similarity(other, one)


def test_grace_is_a_name_and_a_style() -> None:
    """'Grace Hay' has a first name, and 'Her Grace Ann Hay' a style before it."""
    assert parse_name("Grace Hay").given == ("Grace",)
    assert parse_name("Her Grace Ann Hay").given == ("Ann",)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Princess Ida of Waldeck and Pyrmont, who", "Princess Ida of Waldeck and Pyrmont"),
        ("Princess Ida of Aue and Max Hay", "Princess Ida of Aue"),
        ("Max IV, Grand Duke of Hesse and by Rhine; had issue", "Max IV, Grand Duke of Hesse and by Rhine"),
        ("Tom Lee, 1st Viscount Lee and second", "Tom Lee, 1st Viscount Lee"),
    ],
)
def test_a_name_keeps_the_whole_title(text: str, name: str) -> None:
    """A title of two lands, or without 'of', is read whole, and nobody else's name is part of it."""
    found = name_at(text, 0, len(text))
    assert found is not None
    assert text[found.start : found.end] == name
