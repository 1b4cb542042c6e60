"""How sentences turn from a person to others and back, and what may be between a word of kinship and a name."""

from __future__ import annotations

import pytest
from tests.kin.test_kin_extract import LEAD, read, values

FIELDS = ("father", "mother", "parent", "spouse", "child", "sibling")

BACK_TO_THE_PERSON = [
    ("Carter was glad to work with Robert Oliver, but his second wife, Ruth Hay, was not.", [("spouse", "Ruth Hay")]),
    ("Ruth died in 1820, and in 1821 he married Anne Stone.", [("spouse", "Anne Stone")]),
    ("Ruth died in 1820, but Carter had left by then. His eldest son was Tom Carter.", [("child", "Tom Carter")]),
    ("Max Oliver stated that Carter left Aue. He had two sons, Ned and Max.", [("child", "Ned"), ("child", "Max")]),
    ("His father was a smith. Through his mother Eve Stone, he was a cousin of the duke.", [("mother", "Eve Stone")]),
    ("With Ruth Hay he had three children: Ned, Max and Eve.",
     [("child", "Ned"), ("child", "Max"), ("child", "Eve")]),
    ("Eve Stone was his mother.", [("mother", "Eve Stone")]),
    ("The miller's mother was Eve Stone.", [("mother", "Eve Stone")]),
    ("He married Ruth Hay in 1825 without divorcing his first wife Anne Stone.",
     [("spouse", "Ruth Hay"), ("spouse", "Anne Stone")]),
]  # fmt: skip
STILL_OTHERS = [
    "Carter was followed by Robert Oliver, widower of Ruth, and his daughter, Eve Oliver.",
    "The new king was ill. He was replaced by his son, Max Oliver.",
    "His grandfather, Earl Carter, was the second son of Max Hay.",
    "He is known as the father of Aue, Dorn.",
    "One diary tells of a supposed marriage between Carter and Ruth Hay.",
    "Carter left all to Robert Oliver and his wife Ruth Hay.",
]
BETWEEN_WORD_AND_NAME = [
    ("He was the fifth child of a wealthy but illiterate farmer, David Carter, and Anna Hay.",
     [("father", "David Carter"), ("mother", "Anna Hay")]),
    ("He was the first son and the second of six children born to Max Carter and Eve Stone.",
     [("father", "Max Carter"), ("mother", "Eve Stone")]),
    ("Carter was born in Aue to Max Carter, an actor, singer and playwright, and Eve Stone.",
     [("father", "Max Carter"), ("mother", "Eve Stone")]),
    ("He was one of three children (two daughters and a son) of Max Carter and Eve Stone.",
     [("father", "Max Carter"), ("mother", "Eve Stone")]),
    ("Carter was born in Aue to English parents, the miller Max Carter and his wife Eve.",
     [("father", "Max Carter"), ("mother", "Eve")]),
    ("He married a fellow Marxist, Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("He took as his third wife an Aue schoolgirl named Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter was married, following an arrangement of his father, to Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("He has been married to Ruth Hay since 1955.", [("spouse", "Ruth Hay")]),
    ("Ruth Hay was sent for and became the wife of Carter.", [("spouse", "Ruth Hay")]),
    ("They cemented it by the marriage of Carter with Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter has a wife named Ruth and a son named Ned.", [("spouse", "Ruth"), ("child", "Ned")]),
    ("Carter met Ruth Hay in 1824, and later married her.", [("spouse", "Ruth Hay")]),
    ("His mother, born Eve Stone, taught school.", [("mother", "Eve Stone")]),
    ("His father was his namesake, John Carter Senior.", [("father", "John Carter Senior")]),
    ("He was survived by his first wife Ruth, second wife Eve, younger daughter Anne Carter and others.",
     [("spouse", "Ruth"), ("spouse", "Eve"), ("child", "Anne Carter")]),
]  # fmt: skip
CHILDREN = [
    ("Carter married Ruth Hay. The couple had four children, all sons: Ned (born in 1853), Max (1855) and Tom.",
     ["Ned", "Max", "Tom"]),
    ("Carter married Ruth Hay. They had two children, born in Aue: Ned (1932) and Eve (1933).", ["Ned", "Eve"]),
    ("Carter married Ruth Hay. They had two sons, Ned and Max; Ned became a priest.", ["Ned", "Max"]),
    ("Carter married Ruth Hay. Their second child, a son, Max, was born in 1830.", ["Max"]),
    ("Carter married Ruth Hay. In 1830, the couple's second daughter, Eve, was born.", ["Eve"]),
    ("Carter married Ruth Hay, who bore him three sons – Ned, Max and Tom.", ["Ned", "Max", "Tom"]),
    ("Carter married Ruth Hay. They have five children, and their daughter, also called Ruth, is a nurse.", ["Ruth"]),
    ("The Carters, who were rich, had three sons: Ned, Max and Tom.", ["Ned", "Max", "Tom"]),
]  # fmt: skip


def relatives(sentence: str) -> list[tuple[str, str]]:
    return sorted(values(read(f"{LEAD}<h2>Life</h2><p>{sentence}</p>"), *FIELDS))


@pytest.mark.parametrize(("sentence", "expected"), BACK_TO_THE_PERSON)
def test_a_pronoun_comes_back_to_the_person(sentence: str, expected: list[tuple[str, str]]) -> None:
    """A person mentioned in passing, or of the other sex, does not take over the pronoun."""
    assert relatives(sentence) == sorted(expected)


@pytest.mark.parametrize("sentence", STILL_OTHERS)
def test_relatives_of_others_stay_theirs(sentence: str) -> None:
    """What the text says of a successor, a grandfather, a city or a rumour is not about a relative."""
    assert relatives(sentence) == []


@pytest.mark.parametrize(("sentence", "expected"), BETWEEN_WORD_AND_NAME)
def test_descriptions_may_be_before_a_name(sentence: str, expected: list[tuple[str, str]]) -> None:
    """A trade, a people, a date or a bracket between the word of kinship and the name hides nobody."""
    assert relatives(sentence) == sorted(expected)


@pytest.mark.parametrize(("sentence", "children"), CHILDREN)
def test_children_are_listed_in_many_ways(sentence: str, children: list[str]) -> None:
    """Colons, semicolons, dashes and asides lead to the same names."""
    assert [name for field, name in values(read(f"{LEAD}<h2>Life</h2><p>{sentence}</p>"), "child")] == children


def test_a_page_may_spell_its_person_otherwise() -> None:
    """A name with or without accents, a particle with a capital, and a nickname of the lead are the person's."""
    lead = (
        "<p><b>Nadia Comăni</b> (born 1961), nicknamed Figa, is a gymnast. She trains with her club, and she wins.</p>"
    )
    often = "<p>Figa grew up. Figa ran. Figa won. Figa left.</p>"
    life = f"{often}<p>Comani was born as the daughter of Gheorghe and Anna Comani.</p>"
    person = read(f"{lead}<h2>Life</h2>{life}<p>Figa's brother, Ned Comani, is a smith.</p>", title="Nadia Comăni")
    assert values(person, *FIELDS) == [
        ("father", "Gheorghe"), ("mother", "Anna Comani"), ("sibling", "Ned Comani"),
    ]  # fmt: skip


BORN_AS = [
    ("Max Stone, who became known as John Carter, was born at Aue.", [("mother", "Ruth Hay")]),
    ("Max Stone was born at Aue.", []),
]


@pytest.mark.parametrize(("sentence", "expected"), BORN_AS)
def test_a_life_may_begin_with_the_name_at_birth(sentence: str, expected: list[tuple[str, str]]) -> None:
    """'His mother' is that of the page's person if the page says that the name at birth is theirs."""
    assert values(read(f"{LEAD}<h2>Early life</h2><p>{sentence} His mother, Ruth Hay, sang.</p>"), *FIELDS) == expected


@pytest.mark.parametrize("words", ["his wife, ", "Carter's daughter (", "He met his wife "])
def test_a_sentence_without_end_is_left_alone(words: str) -> None:
    """A sentence longer than anybody writes is not read, and what follows it is."""
    sentence = words * 4_000
    person = read(f"{LEAD}<h2>Life</h2><p>{sentence}.</p><p>Carter married Ruth Hay.</p>")
    assert values(person, "spouse") == [("spouse", "Ruth Hay")]


LISTED = [
    ("<p>His third wife was Ruth Hay. By her he had:</p><ul><li>Ned (1800–1820)</li><li>Max (1802–1830)</li></ul>",
     [("spouse", "Ruth Hay"), ("child", "Ned"), ("child", "Max")]),
    ("<p>There were two children from the marriage:</p><ul><li>Ned (1800–1820)</li><li>Max or Maximus</li></ul>",
     [("child", "Ned"), ("child", "Max")]),
    ("<ul><li>His first wife was Ruth Hay, married in 1825.</li></ul>", [("spouse", "Ruth Hay")]),
    ("<p>John Hay Carter was born in Aue. He was the fourth son of Max Carter.</p>", [("father", "Max Carter")]),
    ("<p>Ruth and Carter had two sons, Ned and Max.</p>", [("child", "Ned"), ("child", "Max")]),
]  # fmt: skip


@pytest.mark.parametrize(("life", "expected"), LISTED)
def test_lists_and_names_written_out_are_the_person_s(life: str, expected: list[tuple[str, str]]) -> None:
    """A list that a wife or a marriage leads in, an item about a wife, and the person's name in full."""
    assert sorted(values(read(f"{LEAD}<h2>Life</h2>{life}"), *FIELDS)) == sorted(expected)
