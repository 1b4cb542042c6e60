"""Relatives in sentences: whose link, whose couple and whose son it is, and what the words for a relative tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kin.test_kin_extract_lists import LEAD, children, read

from kiwiresearch.ids import BookId
from kiwiresearch.kin.extract import read_person
from kiwiresearch.kin.firewall.check import check, check_relative
from kiwiresearch.kin.loop.record_match import cannot_share_person
from kiwiresearch.kin.source_facts import PersonReading, Snippet
from kiwiresearch.kin.tree import PARENT_FIELDS, FieldName
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.archive import Entry, EntryRef


def told(sentences: str) -> list[tuple[str, str]]:
    """The relatives that a paragraph about John Carter gives."""
    fields = (*PARENT_FIELDS, "spouse", "child", "sibling")
    return [(fact.field, fact.value) for fact in read(f"{LEAD}<p>{sentences}</p>").facts if fact.field in fields]


LINKS = [
    ('<a href="Ann_Carter">Ann Carter</a>', "Ann_Carter"),
    ('Lady <a href="Ann_Carter">Ann Carter</a>', "Ann_Carter"),
    ('Ann Carter, Duchess of <a href="Dorn">Dorn</a>', ""),
    ('Ann, Queen Consort of <a href="Max_II">Max II of Dorn</a>', ""),
    ('Ann <a href="Carter_family">Carter</a>', ""),
]


@pytest.mark.parametrize(("name", "target"), LINKS)
def test_only_the_link_of_the_name_itself_leads_to_the_relative(name: str, target: str) -> None:
    """A link in a title, or of a surname alone, is about somebody or something else."""
    listed = read(f"{LEAD}<h2>Children</h2><ul><li>{name} (1830–1850)</li></ul>")
    assert [fact.target for fact in listed.facts if fact.field == "child"] == [target]


@pytest.mark.parametrize(
    ("name", "title", "apart"),
    [
        ("Elizabeth of York", "Henry VII of England", True),
        ("Henry VI", "Henry VII of England", True),
        ("Prince Frederick, Duke of York", "Augustus Frederick, Duke of Sussex", True),
        ("Prince Frederick, Duke of York", "Frederick, Duke of York and Albany", False),
        ("Prince Albert, Duke of York", "George VI of the United Kingdom", False),
    ],
)
def test_an_address_does_not_outrank_a_name_that_contradicts_it(name: str, title: str, *, apart: bool) -> None:
    """Another sex, number or duchy means another person, whatever a link says."""
    assert cannot_share_person(name, title) is apart


OF_OTHERS = [
    "Carter's eldest daughter Eve married Tom Hay. Their daughter Frances was a nun.",
    "His younger sister Eve married Tom Hay. They had two sons, Max and Ned.",
    "Carter had another child, Tom Hay. The boy left Aue, and Hay never came back. In 1853, he married Ruth Stone.",
]


@pytest.mark.parametrize("sentences", OF_OTHERS)
def test_the_couple_and_he_are_those_of_the_sentence_before(sentences: str) -> None:
    """What is told of a relative's marriage gives the page's person neither a wife nor a child."""
    assert {name for _, name in told(sentences)} <= {"Eve", "Tom Hay"}


def qualifiers(sentences: str) -> list[str]:
    return [fact.qualifier for fact in read(f"{LEAD}<p>{sentences}</p>").facts if fact.field in ("sibling", "father")]


def test_a_doubt_about_something_else_does_not_dispute_a_brother() -> None:
    """'It is alleged that his brother Ned was bypassed' doubts the bypass, 'that his father was Ned' the father."""
    assert qualifiers("It is alleged that there was talk of bypassing him and his brother, Ned Carter.") == [""]
    assert qualifiers("It is alleged that his father was Ned Carter.") == ["disputed"]


def test_a_later_column_may_doubt_the_child() -> None:
    """'Reputed illegitimate' in the last column makes the child disputed."""
    header = "<tr><th>Name</th><th>Birth</th><th>Notes</th></tr>"
    rows = "<tr><td>Max Carter</td><td>1 May 1830</td><td>reputed illegitimate; married Ann</td></tr>"
    rows += "<tr><td>Ned Carter</td><td>1 May 1832</td><td>married 1850, Eve Hay, an illegitimate child</td></tr>"
    found = children(f"<h2>Children</h2><table>{header}{rows}</table>")
    assert found == [("Max Carter", "disputed"), ("Ned Carter", "")]


def test_a_title_above_the_header_says_whose_children_a_table_has() -> None:
    """'By Ruth Hay' above the header is read over; 'Grandchildren' there means that others are listed."""
    header = "<tr><th>Name</th><th>Birth</th><th>Death</th></tr>"
    rows = "<tr><td>Max Carter</td><td>1 May 1830</td><td>1850</td></tr>"
    for title, expected in (("By Ruth Hay", ["Max Carter"]), ("Grandchildren", [])):
        table = f"<table><tr><th colspan=3>{title}</th></tr>{header}{rows}</table>"
        found = [fact for fact in read(f"{LEAD}<h2>Children</h2>{table}").facts if fact.field == "child"]
        assert [fact.value for fact in found] == expected
        assert [fact.locator for fact in found] == [title] * len(expected)
        assert [one.value for fact in found for one in fact.relative_facts] == ["1830-05-01", "1850"] * len(expected)


def sexes(sentence: str) -> dict[str, str]:
    facts = read(f"{LEAD}<p>{sentence}</p>").facts
    return {fact.value: more.value for fact in facts for more in fact.relative_facts if more.field == "sex"}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("His wife, Temperance Hay, was a nurse.", {"Temperance Hay": "female"}),
        ("Carter had two sons, Sky and River.", {"Sky": "male", "River": "male"}),
        ("His elder sister, Sky, was a nun.", {"Sky": "female"}),
        ("Carter had two children, Sky and River.", {}),
        ("Carter was the brother of Sky Carter.", {}),
    ],
)
def test_the_word_for_a_relative_tells_their_sex(sentence: str, expected: dict[str, str]) -> None:
    """'Wife' and 'two sons' tell it; 'children' do not, nor does the word for the page's person."""
    assert sexes(sentence) == expected


def test_the_sex_of_a_relative_is_checked_against_its_word() -> None:
    """'His wife' says nothing of a man, though 'his' is in the quote."""
    page = f"{LEAD}<p>His wife, Temperance Hay, was a nurse.</p>"
    (wife,) = (fact for fact in read(page).facts if fact.field == "spouse")
    (sex,) = wife.relative_facts
    text = wife.snippet.words.rjust(wife.snippet.end)
    assert not check_relative(sex, text, ("spouse",), wife.value)
    assert check_relative(replace(sex, value="male"), text, ("spouse",), wife.value)


READ = [
    ("He settled down at Aue, marrying Ruth Hay on 3 May 1830.", [("spouse", "Ruth Hay")]),
    ("Carter nevertheless married early in life (1823), to Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("In 1829 Carter met Ruth Hay, and he married her in 1830.", [("spouse", "Ruth Hay")]),
    ("In 1830 Carter began to court Ruth Hay. They married at Aue.", [("spouse", "Ruth Hay")]),
    ("Carter had one child, by his first marriage, daughter Ann.", [("child", "Ann")]),
    (
        "In 1830 Carter married Ruth Hay. They had six children, two of whom died. Two of them, Max and Eve, wrote.",
        [("spouse", "Ruth Hay"), ("child", "Max"), ("child", "Eve")],
    ),
    ("His wife died. In 1840 the widower met Eve Stone; they married in 1841.", [("spouse", "Eve Stone")]),
    (
        "Of his two grown sons by Ruth of Dorn, Max died at Aue, and Tom was captured.",
        [("child", "Max"), ("child", "Tom")],
    ),
    ("Carter met Ruth Hay, who bore him a daughter, Ann.", [("child", "Ann")]),
    ("Carter met Tom Hay and Ruth Stone, who bore him a daughter, Ann.", []),
    ("Carter and his brother went back to Aue after their mother, Eve, died.", [("mother", "Eve")]),
    ("Ann Hay was a sister of Carter.", [("sibling", "Ann Hay")]),
    ("Stone doubts it, and shows that his father Tom Carter was a smith.", [("father", "Tom Carter")]),
    ("Ned Carter and his father Tom Carter came.", []),
    (
        "Carter and his twin brother Ned Carter were born at Aue, sons of Max and Eve Carter.",
        [("father", "Max"), ("mother", "Eve Carter"), ("sibling", "Ned Carter")],
    ),
    (
        "Carter was among nine children born to the marriage of Max Carter and Eve Hay.",
        [("father", "Max Carter"), ("mother", "Eve Hay")],
    ),
    (
        "He was born to a poor family in Aue, Dorn to Max Carter and Eve Hay.",
        [("father", "Max Carter"), ("mother", "Eve Hay")],
    ),
    (
        "Carter was born in ancient Aue, the son of Max Carter and Eve Hay.",
        [("father", "Max Carter"), ("mother", "Eve Hay")],
    ),
    ("Carter was born at Aue to Irish immigrants Max and Eve Carter.", [("father", "Max"), ("mother", "Eve Carter")]),
    (
        "His parents were the local smith Tom Carter (1800-1840), and his wife, the former Ann Hay.",
        [("father", "Tom Carter"), ("mother", "Ann Hay")],
    ),
    ("His father was the late Tom Carter, a smith.", [("father", "Tom Carter")]),
    ('Stone says that his father Tom Carter "may have been a smith".', [("father", "Tom Carter")]),
    ("In principle Carter was a real child of Aue.", []),
    ("Carter had married for the fourth and final time on April 12, 1830 to Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("In 1830 he met Ruth Hay (born in 1801), a nurse from Dorn, whom he married.", [("spouse", "Ruth Hay")]),
    ("In 1830 he met Ruth Hay, daughter of Max Hay whom he married.", [("spouse", "Ruth Hay")]),
    (
        "Carter met Ruth Hay, who taught. It was a quiet courtship at Aue. They were married in 1830.",
        [("spouse", "Ruth Hay")],
    ),
    ("Carter met Ruth Hay, who taught. Ann Stone was rich. They were married in 1830.", []),
    ("Carter met Ruth Hay, a nurse. Shortly before marrying her, he fell ill.", [("spouse", "Ruth Hay")]),
    ("Carter taught poor children in Dorn, and gave all to Aue at his wife Ruth's death.", [("spouse", "Ruth")]),
    ('"Poor but proud" (Hay), Carter married Ruth Stone.', [("spouse", "Ruth Stone")]),
    ("Judge Carter died in 1829, leaving his widow, Ann Hay.", []),
    ("In 1840 the last heir, Max Grey, died. His brother, Tom Grey, was poor.", []),
    (
        "His father, Tom Carter, was a smith; his mother, Ann Hay, was rich. He had two siblings, Ned and Eve.",
        [("father", "Tom Carter"), ("mother", "Ann Hay"), ("sibling", "Ned"), ("sibling", "Eve")],
    ),
]


@pytest.mark.parametrize(("sentences", "expected"), READ)
def test_sentences_tell_of_relatives_in_many_ways(sentences: str, expected: list[tuple[str, str]]) -> None:
    """Each way of saying it gives the relative, and the same words about somebody else do not."""
    assert sorted(told(sentences)) == sorted(expected)


@pytest.mark.parametrize(("sentences", "expected"), READ)
def test_what_is_read_passes_the_firewall(sentences: str, expected: list[tuple[str, str]]) -> None:
    """Each of these relatives is in the tree: the quote says it to the firewall too."""
    html = f"{LEAD}<p>{sentences}</p>"
    entry = Entry(EntryRef(BookId("book"), "John_Carter"), "John Carter", "text/html", html.encode())
    page = read_page(entry)
    facts = [fact for fact in read_person(page).facts if (fact.field, fact.value) in expected]
    assert [str(found) for fact in facts for found in check(fact, page.text, "John Carter", "male")] == []


def test_half_of_a_wifes_name_is_no_name() -> None:
    """'He married Adams' names nobody new where the page called her Victoria Adams before."""
    found = told("In 1829 he began to work with Victoria Adams. In 1830 Carter married Adams.")
    assert found == []


def above(reading: PersonReading) -> list[tuple[str, str, str]]:
    return [
        (fact.field, more.field, more.value)
        for fact in reading.facts
        for more in fact.relative_facts
        if more.field in PARENT_FIELDS
    ]


PARENTS = "Carter was the son of Tom Carter and his wife Ann Stone."
GRANDPARENTS = [
    ("His maternal grandfather was Ned Stone.", [("mother", "father", "Ned Stone")]),
    (
        "He was the grandson of Max Carter on his father's side, and of Ned Stone on his mother's side.",
        [("father", "father", "Max Carter"), ("mother", "parent", "Ned Stone")],
    ),
    (
        "Carter was a grandson of Max Carter and Eve Hay.",
        [("father", "father", "Max Carter"), ("father", "mother", "Eve Hay")],
    ),
    (
        "His mother's parents, Ned Stone and Eve Hay, were rich.",
        [("mother", "father", "Ned Stone"), ("mother", "mother", "Eve Hay")],
    ),
    ("He was christened Max Ned after his maternal grandfather, Ned Stone.", [("mother", "father", "Ned Stone")]),
    ("His grandfather, Ned Stone, was a smith.", []),
    ("Hay's maternal grandfather was Ned Stone.", []),
    ("He was not the grandson of Max Carter.", []),
]


@pytest.mark.parametrize(("sentence", "expected"), GRANDPARENTS)
def test_a_grandparent_is_told_with_the_side(sentence: str, expected: list[tuple[str, str, str]]) -> None:
    """The words, or the father's surname, say whose parent it is; if neither does, nobody's parent is read."""
    assert above(read(f"{LEAD}<p>{PARENTS} {sentence}</p>")) == expected


UNPLACED = [
    ("His maternal grandfather was Ned Stone.", ["Ned Stone"]),
    ("His grandfather, Ned Stone, was a smith.", ["Ned Stone"]),
    ("He was the grandson of Ned Stone. His grandfather Ned was a smith.", ["Ned Stone"]),
    ("Hay's maternal grandfather was Ned Stone.", []),
    ("His maternal grandfather was not Ned Stone.", []),
]


@pytest.mark.parametrize(("sentence", "names"), UNPLACED)
def test_a_grandparent_whose_child_is_not_named_is_a_fact_of_the_person(sentence: str, names: list[str]) -> None:
    """The name is kept with its quote, which passes the firewall, and no parent is invented."""
    person = read(f"{LEAD}<p>{sentence}</p>")
    entry = Entry(
        EntryRef(BookId("book"), "John_Carter"), "John Carter", "text/html", f"{LEAD}<p>{sentence}</p>".encode()
    )
    page = read_page(entry)
    facts = [fact for fact in person.facts if fact.field == "grandparent"]
    assert [fact.value for fact in facts if not check(fact, page.text, "John Carter", "male")] == names
    assert not [fact for fact in person.facts if fact.field in PARENT_FIELDS]


def test_the_firewall_asks_for_the_word_and_the_person_of_a_grandparent() -> None:
    """A quote about an uncle, or about somebody else's grandfather, proves no grandparent."""
    (fact,) = (
        fact for fact in read(f"{LEAD}<p>His grandfather was Ned Stone.</p>").facts if fact.field == "grandparent"
    )
    for sentence, is_proved in (
        ("His grandfather was Ned Stone.", True),
        ("His uncle was Ned Stone.", False),
        ("Hay's grandfather was Ned Stone.", False),
    ):
        said = replace(fact, snippet=Snippet(0, len(sentence), sentence))
        assert (not check(said, sentence, "John Carter", "male")) is is_proved


def test_the_parents_of_a_parent_follow_the_name() -> None:
    """'His mother Ann, the daughter of Ned Stone' names the mother's father."""
    reading = read(f"{LEAD}<p>His mother, Ann Stone, the daughter of Ned Stone and Eve Hay, was rich.</p>")
    assert above(reading) == [("mother", "father", "Ned Stone"), ("mother", "mother", "Eve Hay")]


def test_a_second_parent_behind_a_comma_may_be_the_persons_own() -> None:
    """In 'son of Tom Carter, son of Max Carter, and Ruth Hay' nobody tells whose mother Ruth is."""
    reading = read(f"{LEAD}<p>Carter was the son of Tom Carter, son of Max Carter, and Ruth Hay.</p>")
    assert ("father", "mother", "Ruth Hay") not in above(reading)


FALSE_LINES: list[tuple[FieldName, str]] = [
    ("mother", "His paternal grandfather was Ned Stone."),
    ("father", "His maternal grandfather was Ned Stone."),
    ("mother", "Hay's maternal grandfather was Ned Stone."),
    ("father", "His grandfather was Ned Stone."),
    ("mother", "His maternal grandfather was not Ned Stone."),
    ("mother", "His maternal uncle was Ned Stone."),
]


@pytest.mark.parametrize(("side", "sentence"), [("mother", "His maternal grandfather was Ned Stone."), *FALSE_LINES])
def test_a_grandparent_needs_the_word_the_side_and_the_person(side: FieldName, sentence: str) -> None:
    """Only the first sentence proves the mother's father; the others speak of another side, person or relative."""
    reading = read(f"{LEAD}<p>{PARENTS} His maternal grandfather was Ned Stone.</p>")
    (fact,) = (more for one in reading.facts for more in one.relative_facts if more.field == "father")
    said = replace(fact, snippet=replace(fact.snippet, start=0, end=len(sentence), words=sentence))
    parent = {"mother": "Ann Stone", "father": "Tom Carter"}[side]
    found = check_relative(said, sentence, (side,), parent, subject="John Carter", sex="male")
    assert bool(found) is ((side, sentence) in FALSE_LINES)
