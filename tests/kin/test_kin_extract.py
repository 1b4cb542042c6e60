"""A page about a person is read to values, each with the words that say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwiresearch.ids import BookId
from kiwiresearch.kin.extract.read import read_person
from kiwiresearch.kin.extracted import Extracted, ReadPerson
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.read import open_page, read_page
from kiwiresearch.zim.entry import Entry, EntryRef
from kiwiresearch.zim.libzim import LibzimArchive

LEAD = "<p><b>John Carter</b> (1 May 1801 – 3 June 1870) was an English miller. He owned two mills.</p>"
QUEEN = "<p><b>Anna I</b> (1 May 1801 – 3 June 1870) was queen of Dorn. She was crowned when she was ten.</p>"


def page_of(html: str, title: str = "John Carter") -> PageDoc:
    entry = Entry(EntryRef(BookId("book"), title.replace(" ", "_")), title, "text/html", html.encode())
    return read_page(entry)


def read(html: str, title: str = "John Carter") -> ReadPerson:
    return read_person(page_of(html, title))


def values(person: ReadPerson, *fields: str) -> list[tuple[str, str]]:
    return [(fact.field, fact.value) for fact in person.facts if fact.field in fields]


def box(*rows: tuple[str, str]) -> str:
    cells = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in rows)
    return f'<table class="infobox vcard">{cells}</table>'


def test_a_box_gives_dates_places_and_relatives() -> None:
    """Rows of a box become values, the place apart from the date."""
    rows = (
        ("Born", "24 May 1819<br>Dorn Palace, Dorn"),
        ("Died", "22 January 1901 (aged 81)<br>Aue"),
        ("Father", "Otto II"),
    )
    person = read(box(*rows) + LEAD)
    found = [fact for fact in person.facts if fact.method == "infobox"]
    assert [(fact.field, fact.value) for fact in found] == [
        ("birth_date", "1819-05-24"),
        ("birth_place", "Dorn Palace, Dorn"),
        ("death_date", "1901-01-22"),
        ("death_place", "Aue"),
        ("father", "Otto II"),
    ]
    assert found[-1].snippet.words == "Father\tOtto II"


ROWS = [
    ("Children", "12", []),
    ("Children", "3, including Paris", []),
    ("Issue", "Died without posterity", []),
    ("Issue", "Edward, the Black Prince", ["Edward, the Black Prince"]),
    ("Issue", "Clara, Helen, Otto II and Igor", ["Clara", "Helen", "Otto II", "Igor"]),
    ("Issue", "Lionel of Aue (1338–1368)<br>Thomas of Dorn<br>(1355–1397)", ["Lionel of Aue", "Thomas of Dorn"]),
    ("Issue", "William Long, 3rd Earl of<br>Dorn<br>Otto", ["William Long", "Otto"]),
    ("Children", "Jochi, son<br>Clara, daughter<br>Others", ["Jochi", "Clara"]),
]


@pytest.mark.parametrize(("label", "value", "names"), ROWS)
def test_children_of_a_box_are_single_persons(label: str, value: str, names: list[str]) -> None:
    """A number is no child, a title after a comma no second one, and a name over two lines is one."""
    person = read(box((label, value)) + LEAD)
    assert [fact.value for fact in person.facts if fact.field == "child"] == names


def test_a_spouse_has_the_dates_of_the_marriage() -> None:
    """The begin and end of a marriage, and a divorce, are read from the note behind a name."""
    person = read(box(("Spouses", "Jane Wood (m. 1940; div. 1948)<br>Ruth Davis (m. 1952)")) + LEAD)
    found = [fact for fact in person.facts if fact.field == "spouse"]
    told = [(one.value, one.when and one.when.edtf(), one.until and one.until.edtf(), one.qualifier) for one in found]
    assert told == [("Jane Wood", "1940", "1948", "divorced"), ("Ruth Davis", "1952", None, "")]


def test_life_dates_of_a_consort_are_not_those_of_the_marriage() -> None:
    """Years in brackets without a word for a wedding say nothing about it."""
    person = read(box(("Consort", "Isabella of Aue (c. 1295–1358)")) + LEAD)
    assert [(f.value, f.when) for f in person.facts if f.field == "spouse"] == [("Isabella of Aue", None)]


def test_parents_are_told_apart_by_their_notes() -> None:
    """'(father)' behind a name says which parent it is."""
    person = read(box(("Parents", "Max Carter (father)<br>Eve Stone (mother)<br>Kim Hay")) + LEAD)
    assert values(person, "father", "mother", "parent") == [
        ("father", "Max Carter"),
        ("mother", "Eve Stone"),
        ("parent", "Kim Hay"),
    ]


def test_baptism_is_not_birth() -> None:
    """A date of baptism, in the lead or in a box, is never taken for one of birth."""
    person = read(
        box(("Born", "14 May 1727 (baptised)"))
        + "<p><b>John Carter</b> (baptised 14 May 1727 – 2 August 1788) was a painter. He drew his wife.</p>"
    )
    assert values(person, "birth_date") == []
    assert {value for _, value in values(person, "baptism_date")} == {"1727-05-14"}


BRACKETS = [
    ("(24 May 1819 – 22 January 1901)", "1819-05-24", "1901-01-22"),
    ("(born 6 July 1946)", "1946-07-06", ""),
    ("(c. 849 – 26 October 899)", "0849~", "0899-10-26"),
    ("(384–322 BC)", "-0383", "-0321"),
    ("(reigned 1819–1901)", "", ""),
    ("(Old Dornish: Jon; 24 May 1819 – 22 January 1901)", "1819-05-24", "1901-01-22"),
    ("(born 1833 or 1834, died 5 May 1907)", "1833", "1907-05-05"),
    ("(died 5 May 1907)", "", "1907-05-05"),
]


@pytest.mark.parametrize(("bracket", "born", "died"), BRACKETS)
def test_brackets_behind_the_name_tell_the_life(bracket: str, born: str, died: str) -> None:
    """The lead's brackets give birth and death, and a reign is none."""
    person = read(f"<p><b>John Carter</b> {bracket} was an English king. He lost his crown, and he lost his life.</p>")
    assert person.is_person
    told = dict(values(person, "birth_date", "death_date"))
    assert (told.get("birth_date", ""), told.get("death_date", "")) == (born, died)


PROSE = [
    ("He was the son of Max Carter and Eve Stone.", [("father", "Max Carter"), ("mother", "Eve Stone")]),
    (
        "Carter was the second son of Max Carter (1770–1820), a miller, and his wife Eve.",
        [("father", "Max Carter"), ("mother", "Eve")],
    ),
    ("Carter was born in Aue, Dorn to Max and Eve Carter.", [("father", "Max"), ("mother", "Eve Carter")]),
    (
        "His father was Max Carter, a miller, and his mother was Eve Stone.",
        [("father", "Max Carter"), ("mother", "Eve Stone")],
    ),
    ("In 1825, he married Ruth Hay, daughter of Thomas Hay.", [("spouse", "Ruth Hay")]),
    ("He married Thomas Hay's daughter Ruth in 1825.", [("spouse", "Ruth")]),
    ("Carter married the actress Ruth Hay.", [("spouse", "Ruth Hay")]),
    ("Carter never married.", []),
    ("Thomas Hay was the son of Robert Hay.", []),
    ("Carter met Thomas, son of Robert Hay.", []),
    ("She was the daughter of Robert Hay.", []),
    ("Carter had two daughters, Ann and Ruth.", [("child", "Ann"), ("child", "Ruth")]),
    ("He was succeeded by his son Max Carter.", [("child", "Max Carter")]),
    ("His half-brother Ned was a smith.", [("sibling", "Ned")]),
    ("His brother-in-law Ned was a smith.", []),
    ("His mother was American.", []),
    ("His parents moved from Dorn to Texas.", []),
    ("His grandfather Max was a smith.", []),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "relatives"), PROSE)
def test_sentences_about_the_subject_name_relatives(sentence: str, relatives: list[tuple[str, str]]) -> None:
    """Only who is said to be the subject's own relative is taken for one."""
    person = read(f"{LEAD}<h2>Life</h2><p>{sentence}</p>")
    fields = ("father", "mother", "parent", "spouse", "child", "sibling")
    assert sorted(values(person, *fields)) == sorted(relatives)


def test_births_and_deaths_of_the_text_fill_what_the_lead_leaves_open() -> None:
    """Where neither box nor lead has them, the first birth and death told of the subject count."""
    lead = "<p><b>John Carter</b> was an English king. He lost his crown, and he lost his wife.</p>"
    told = "<p>Carter was born in Aue, Dorn on 4 May 1801. Robert Hay was born in 1790. He died in 1850.</p>"
    person = read(f"{lead}<h2>Life</h2>{told}<p>Carter died at Burgh in 1870.</p>")
    fields = ("birth_date", "birth_place", "death_date", "death_place")
    assert values(person, *fields) == [
        ("birth_date", "1801-05-04"),
        ("birth_place", "Aue, Dorn"),
        ("death_date", "1870"),
        ("death_place", "Burgh"),
    ]


def test_they_are_the_couple_only_after_a_marriage() -> None:
    """Children of 'they' are the subject's where the sentence before speaks of the marriage, and nobody's else."""
    couple = read(f"{LEAD}<h2>Life</h2><p>Carter married Ruth Hay in 1825. They had two sons, Max and Ned.</p>")
    assert values(couple, "child") == [("child", "Max"), ("child", "Ned")]
    others = read(f"{LEAD}<h2>Life</h2><p>Robert Hay married Eve Stone. They had two sons, Max and Ned.</p>")
    assert values(others, "child") == []


def test_a_table_of_children_is_read() -> None:
    """Each row of a table headed by names, in a section about children, is a child; a stillborn one has no name."""
    rows = (("The Princess Ruth", "1 May 1830"), ("Stillborn Son", "1831"))
    cells = "".join(f"<tr><td>{name}</td><td>{born}</td></tr>" for name, born in rows)
    table = f"<tr><th>Name</th><th>Birth</th></tr>{cells}"
    person = read(f"{QUEEN}<h2>Issue</h2><table>{table}</table>", "Anna I")
    assert values(person, "child") == [("child", "The Princess Ruth")]
    assert person.sex == "female"


def test_a_list_of_children_is_read_with_its_qualifier() -> None:
    """Items below a sentence about illegitimate children are read as such."""
    html = (
        "<p>He had two illegitimate children:</p><ul><li>Max Fitz (1830–1850), a smith</li><li>By Ruth Hay:</li></ul>"
    )
    person = read(f"{LEAD}<h2>Children</h2>{html}")
    assert [(f.value, f.qualifier) for f in person.facts if f.field == "child"] == [("Max Fitz", "illegitimate")]


def test_a_list_of_brothers_and_sisters_is_not_one_of_children() -> None:
    """A list that holds the subject is not one of the subject's children."""
    html = "<p>His parents had three sons:</p><ul><li>Max Carter</li><li>John Carter</li><li>Ned Carter</li></ul>"
    assert values(read(f"{LEAD}<h2>Youth</h2>{html}"), "child") == []


def test_a_linked_relative_has_the_page_as_target() -> None:
    """The page that a name links to is given."""
    person = read(box(("Father", '<a href="Max_Carter">Max Carter</a>')) + LEAD)
    assert [fact.target for fact in person.facts if fact.field == "father"] == ["Max_Carter"]


def test_junior_implies_a_father_of_that_name() -> None:
    """A 'Jr.' makes a hypothesis with the two queries, and no fact (R348)."""
    person = read(
        "<p><b>John Smith, Jr.</b> (born 4 May 1950) is a singer. He lives in his van.</p>", "John Smith, Jr."
    )
    assert [one.suggested_queries for one in person.hypotheses] == [("John Smith Sr.", "John Smith father")]
    assert person.hypotheses[0].type == "parental_discovery"
    assert values(person, "father") == []


def test_one_of_five_children_implies_siblings() -> None:
    """'The third of five children' is a clue to the others."""
    person = read(f"{LEAD}<h2>Life</h2><p>Carter was the third of five children.</p>")
    assert [one.type for one in person.hypotheses] == ["sibling_discovery"]


def holds(page: PageDoc, fact: Extracted) -> bool:
    cited = page.text[fact.snippet.start : fact.snippet.end] == fact.snippet.words
    derived = fact.field.endswith("_date") or fact.field == "sex"
    return cited and 0 < fact.confidence <= 1 and (derived or fact.value in fact.snippet.words)


PIECES = st.lists(
    st.sampled_from(
        ["John Carter", " (", ")", "1 May 1801", " – ", " was ", "a king", "the son of ", "and ",
         "his wife ", "Ruth", ", ",
         "He ", "married ", "had two sons", ": ", "Max ", "<br>", "<li>", "<p>", "<h2>Issue</h2>", "</p>",
         "née ", "Jr.", ".", "; ",
         '<table class="infobox"><tr><th>Born</th><td>', "<tr><th>Issue</th><td>", "</table>", "\u00a0", "é", "'s "]
    ),
    max_size=40,
)  # fmt: skip


@settings(max_examples=80)
@given(PIECES)
def test_reading_never_fails_and_quotes_are_verbatim(pieces: list[str]) -> None:
    """Whatever a page holds, reading ends without an error, and each value stands in its quote."""
    page = page_of("".join(pieces))
    assert all(holds(page, fact) for fact in read_person(page).facts)


def test_real_pages_give_quotes_that_stand_there(shared_data: Path) -> None:
    """Every value read from pages of real books stands in words of its page."""
    books = ["schools-2007.zim", "real/wikipedia_en_ray_charles_2015-06.zim", "real/wikipedia_en_100_mini_2022-10.zim"]
    persons = 0
    for book in books:
        archive = LibzimArchive(shared_data / "zims" / book)
        for number, path in enumerate(archive.articles()):
            if number % (230 if "schools" in book else 5):
                continue
            page = open_page(archive, path)
            person = read_person(page)
            persons += person.is_person
            assert all(holds(page, fact) for fact in person.facts), path
        archive.close()
    assert persons > 5
