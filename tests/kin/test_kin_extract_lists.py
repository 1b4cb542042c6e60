"""Lists, tables and boxes of a family: what heads an item, whose children they are, and what is in doubt."""

from __future__ import annotations

import pytest

from kiwiresearch.ids import BookId
from kiwiresearch.kin.extract.name_lists import is_name
from kiwiresearch.kin.extract.person_reader import read_person
from kiwiresearch.kin.loop.source_records import check_record
from kiwiresearch.kin.source_facts import PersonReading
from kiwiresearch.kin.sources import FetchedRecord
from kiwiresearch.kin.tree import Source
from kiwiresearch.page import PageDoc
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.archive import Entry, EntryRef

LEAD = "<p><b>John Carter</b> (1 May 1801 – 3 June 1870) was an English miller. He owned two mills.</p>"


def page_of(html: str, title: str = "John Carter") -> PageDoc:
    return read_page(Entry(EntryRef(BookId("book"), title.replace(" ", "_")), title, "text/html", html.encode()))


def read(html: str, title: str = "John Carter") -> PersonReading:
    return read_person(page_of(html, title))


def children(html: str) -> list[tuple[str, str]]:
    return [(fact.value, fact.qualifier) for fact in read(LEAD + html).facts if fact.field == "child"]


def listed(*items: str) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


HEADS = ["Other mistresses", "Wives", "His lovers", "Grandchildren", "Wives and concubines"]


@pytest.mark.parametrize("head", HEADS)
def test_an_item_that_heads_others_ends_the_children(head: str) -> None:
    """Below 'Other mistresses' in a list of children nobody is a child, until children are spoken of again."""
    items = (
        "Max Carter (1830–1850)",
        head,
        "Ruth Hay",
        "Children by Ruth Hay",
        "Ned Carter",
        head,
        "By Eve Stone",
        "Tom",
    )
    found = children(f"<h2>Children</h2>{listed(*items[:4], *items[4:])}")
    assert [name for name, _ in found] == ["Max Carter", "Ned Carter", "Tom"]


INTRODUCED = [
    ("Carter's children's books speak of the poor:", ["Umber the Bear (1830) is a tale"], []),
    ("Carter left Aue. By this marriage, Carter had one son:", ["Max Carter, who died young"], ["Max Carter"]),
    ("They had two children:", ["Max Carter, Viscount Carter of Aue (1830–1850).", "Ann"], ["Max Carter", "Ann"]),
]


@pytest.mark.parametrize(("sentence", "items", "names"), INTRODUCED)
def test_a_sentence_leads_in_children_or_something_else(sentence: str, items: list[str], names: list[str]) -> None:
    """'children's' speaks of no children, 'one son:' does."""
    assert [name for name, _ in children(f"<h2>Life</h2><p>{sentence}</p>{listed(*items)}")] == names


def test_wives_before_the_last_sentence_do_not_hide_the_children() -> None:
    """Only the sentence that leads in a list says of whom it is."""
    result = "<p>Carter had two wives. His first marriage, in 1825, was to Ruth Hay. She died in 1830. Children:</p>"
    assert children(f"<h2>Family</h2>{result}{listed('Max Carter (1826–1850)')}") == [("Max Carter", "")]


ROW = "<tr><td>Max Fitz</td><td>1830</td><td>1850</td><td>{}</td></tr>"
DOUBTS = [
    ("He had one son:", "He was a smith. If Fitz was in fact Carter's son, he was born abroad.", "disputed"),
    ("He had one son:", "He may not have actually existed.", "disputed"),
    ("He had one son:", "His paternity is disputed.", "disputed"),
    ("He had one son:", "married Ann, a supposed daughter of the king", ""),
    ("An illegitimate son has also been attributed to Carter. By a lady of Aue:", "He was a smith.", "disputed"),
    ("Carter also had an illegitimate son.", "He was a smith.", "illegitimate"),
    ("He had a son, and an illegitimate daughter who died.", "He was a smith.", ""),
]


@pytest.mark.parametrize(("over", "note", "expected"), DOUBTS)
def test_doubt_over_a_table_or_in_a_note_is_seen(over: str, note: str, expected: str) -> None:
    """The sentence over a table tells of all its children, and a note of one, wherever in it the doubt stands."""
    head = "<tr><th>Name</th><th>Birth</th><th>Death</th><th>Notes</th></tr>"
    found = children(f"<h2>Children</h2><p>{over}</p><table>{head}{ROW.format(note)}</table>")
    assert ("Max Fitz", expected) in found


@pytest.mark.parametrize(
    ("sentence", "item", "expected"),
    [
        ("He reportedly had several illegitimate children:", "Max Fitz", "disputed"),
        ("He had several illegitimate children:", "Max Fitz (disputed)", "disputed"),
        ("He had several illegitimate children:", "Max Fitz (1830–1850), probably a smith", "illegitimate"),
    ],
)
def test_reported_children_are_disputed(sentence: str, item: str, expected: str) -> None:
    """What is only reported is in doubt, and doubt about one outweighs what is said of all."""
    assert children(f"<h2>Children</h2><p>{sentence}</p>{listed(item)}") == [("Max Fitz", expected)]


def test_words_over_children_date_the_marriage() -> None:
    """'By Ruth Hay (married 3 May 1830)' over children gives a wife and the day, and 'By Eve Stone' nobody."""
    items = ("By Ruth Hay (married 3 May 1830; she died 1850)", "Max Carter", "By Eve Stone (died 1860)", "Ned Carter")
    page = page_of(f"{LEAD}<h2>Children</h2>{listed(*items)}")
    checked = check_record(FetchedRecord(Source("s", "zim://book/John_Carter", "book"), page.text, page=page))
    assert checked is not None
    found = [
        (one.fact.value, one.fact.when and one.fact.when.edtf())
        for one in checked.accepted
        if one.fact.field == "spouse"
    ]
    assert found == [("Ruth Hay", "1830-05-03")]
    children_named = [one.fact.value for one in checked.accepted if one.fact.field == "child"]
    assert children_named == ["Max Carter", "Ned Carter"]


def test_a_heading_by_parent_may_end_with_a_stop_or_go_on() -> None:
    """'By Eve Stone.' and 'By unknown mother. Some say …' begin the children of another mother."""
    items = (
        "By Ruth Hay",
        "Max Fitz",
        "By Eve Stone.",
        "Ned Fitz",
        "By unknown mother. Some say she was a cook.",
        "Tom Fitz",
    )
    facts = read(f"{LEAD}<h2>Children</h2>{listed(*items)}").facts
    assert [(fact.value, fact.locator) for fact in facts if fact.field == "child"] == [
        ("Max Fitz", "By Ruth Hay"),
        ("Ned Fitz", "By Eve Stone"),
        ("Tom Fitz", "By unknown mother"),
    ]


def test_sections_by_mother_below_illegitimate_children_are_children() -> None:
    """'With Ruth Hay' below a heading of children continues the list, whatever else is said of her, and only there."""
    result = f"<p>Ruth Hay was born in Aue. {'She was a cook. ' * 20}</p>"
    below = f"<h3>With Ruth Hay</h3>{result}{listed('Max Fitz, a smith')}"
    assert children(f"<h2>Illegitimate children</h2>{listed('Ned Fitz')}{below}") == [
        ("Ned Fitz", "illegitimate"),
        ("Max Fitz", "illegitimate"),
    ]
    assert children(f"<h2>Travels</h2><p>He wandered.</p>{below}") == []
    assert children(f"<h2>Children</h2>{listed('Ned Carter')}<h2>With Ruth Hay</h2>{listed('Max Fitz')}") == [
        ("Ned Carter", "")
    ]


def test_children_that_somebody_may_have_had_are_disputed() -> None:
    """A doubt of the sentence above a list, or in square brackets behind a name, is kept."""
    above = f"<p>May have had further illegitimate offspring:</p>{listed('Max Fitz')}"
    assert children(f"<h2>Marriage and children</h2>{above}") == [("Max Fitz", "disputed")]
    behind = (
        "Max Carter, born about 1871; married Ruth Hay in the town of Aue, as is told by many. [Uncertain, too late.]"
    )
    assert children(f"<h2>Children</h2>{listed(behind)}") == [("Max Carter", "disputed")]


def test_a_table_of_labels_with_colons_in_the_lead_is_a_box() -> None:
    """A box that the page lays out as a plain table is read as one, and a table further down is not."""
    rows = "".join(
        f"<tr><td>{key}</td><td>{value}</td></tr>"
        for key, value in (
            ("Birth:", "1 May 1801"),
            ("Marriage:", '<a href="Ruth_Hay">Ruth Hay</a><br>Eve Stone'),
            ("Children:", "Max, son<br>Ann, daughter"),
        )
    )
    person = read(f"<table>{rows}</table>{LEAD}")
    found = [(fact.field, fact.value, fact.target) for fact in person.facts if fact.method == "infobox"]
    assert found == [
        ("birth_date", "1801-05-01", ""),
        ("spouse", "Ruth Hay", "Ruth_Hay"),
        ("spouse", "Eve Stone", ""),
        ("child", "Max", ""),
        ("child", "Ann", ""),
    ]
    below = read(f"{LEAD}<h2>The mill</h2><p>Its owners:</p><table>{rows}</table>")
    assert [fact for fact in below.facts if fact.method == "infobox"] == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("John Church", True),
        ("John Church Hamilton", True),
        ("Mary Church Terrell", True),
        ("Grace Church", False),
        ("St. John Church", False),
        ("John Church University", False),
    ],
)
def test_church_is_a_surname_after_a_first_name(written: str, expected: bool) -> None:
    """People called Church are people; churches, also those named after a saint, are not."""
    assert is_name(written) == expected
