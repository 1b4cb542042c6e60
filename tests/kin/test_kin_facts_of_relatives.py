"""What a page says about the relatives of its person: when they lived, and who their parents were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.kin.loop_family import PAGES, a_case, named, open_family, person_page, researcher, run, waiting, write_family
from tests.kin.test_kin_extract import page_of

from kiwiresearch.kin.extract.person_reader import read_person
from kiwiresearch.kin.firewall.check import check_relative
from kiwiresearch.kin.lineage import parse_ancestor_label
from kiwiresearch.kin.loop.source_records import CheckedFact, check_record
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.sources.source import FetchedRecord
from kiwiresearch.kin.tree import FieldName, Source
from kiwiresearch.text.dates.mentions import dates_in

OPENING = "<p><b>John Carter</b> (5 May 1805 – 6 June 1880) was a painter. He was born in Hull.</p>"
CHILDREN = (
    "<h2>Children</h2><table><tr><th>Name</th><th>Birth</th><th>Death</th><th>Notes</th></tr>"
    "<tr><td>Ann Carter</td><td>1 May 1830</td><td>3 June 1890</td><td>married 1850, Tom Lee</td></tr>"
    "<tr><td>Ned Carter</td><td>c. 1832</td><td></td><td></td></tr></table>"
)
LISTED = (
    "<h2>Children</h2><ul><li>Ann Carter (1 May 1830 – 3 June 1890), who painted</li>"
    "<li>Ned Carter (born 1832)</li><li>Ida Carter (married Tom Lee, 1850–1870)</li></ul>"
)
TABLE = (
    "<h2>Ancestors</h2><table><tr><td>John Carter</td><td>Father:<br>Robert Carter</td>"
    "<td>Paternal grandfather:<br>Hugh Carter</td><td>Paternal great-grandfather:<br>Old Carter</td></tr>"
    "<tr><td>Paternal grandmother:<br>Ida Moor (1740–1790)</td></tr>"
    "<tr><td>Mother:<br>Jane Hill</td><td>Mother's father:<br>Luke Hill</td>"
    "<td>Mother's father's father:<br>Saul Hill</td></tr></table>"
)


def facts_by_relative(html: str) -> dict[str, list[tuple[str, str]]]:
    """What passed the firewall about each relative."""
    page = page_of(OPENING + html)
    record = check_record(
        FetchedRecord(Source("s", "zim://book/John_Carter", "Wikipedia"), page.text, read_person(page), page)
    )
    assert record is not None
    found: dict[str, list[tuple[str, str]]] = {}

    def note(one: CheckedFact) -> None:
        about = [other for other in one.relative_facts if other.status != "rejected"]
        assert all(
            page.text[other.fact.snippet.start : other.fact.snippet.end] == other.fact.snippet.words for other in about
        )
        found[one.fact.value] = [(other.fact.field, other.fact.value) for other in about]
        for other in about:
            note(other)

    for one in record.accepted:
        if one.fact.field in ("child", "father", "mother"):
            note(one)
    return {name: about for name, about in found.items() if about}


def test_a_table_of_children_gives_their_dates() -> None:
    """Columns for birth, death and notes give each child its dates and spouse, with the row as the quote."""
    assert facts_by_relative(CHILDREN) == {
        "Ann Carter": [("birth_date", "1830-05-01"), ("death_date", "1890-06-03"), ("spouse", "Tom Lee")],
        "Ned Carter": [("birth_date", "1832~")],
    }


def test_brackets_in_a_list_of_children_give_their_dates() -> None:
    """Years after a child's name are the child's life; the years of a marriage are not."""
    assert facts_by_relative(LISTED) == {
        "Ann Carter": [("birth_date", "1830-05-01"), ("death_date", "1890-06-03")],
        "Ned Carter": [("birth_date", "1832")],
        "Ida Carter": [("spouse", "Tom Lee")],
    }


def of_child(note: str, *, birth: str = "1830", death: str = "1890") -> list[tuple[str, str]]:
    """What a row of a table with this note gives Ann Carter."""
    head = "<tr><th>Name</th><th>Birth</th><th>Death</th><th>Notes</th></tr>"
    row = f"<tr><td>Ann Carter</td><td>{birth}</td><td>{death}</td><td>{note}</td></tr>"
    return facts_by_relative(f"<h2>Children</h2><table>{head}{row}</table>").get("Ann Carter", [])


WEDDINGS = [
    ("Married (1) Tom Lee (1801 - 1840) in 1849. Had issue. Married (2) Max Hay in 1850.", ["Tom Lee", "Max Hay"]),
    ("married (1) Tom Lee and (2) Max Hay; had issue", ["Tom Lee", "Max Hay"]),
    ("married 1846–1848 to Tom Lee; no issue", ["Tom Lee"]),
    ("illegitimate; married 1833, the Lord Max Hay; no issue", ["Lord Max Hay"]),
    ("Possibly married Tom Lee; had issue", []),
    ("She never married Tom Lee", []),
    ("Died young.", []),
]


@pytest.mark.parametrize(("note", "spouses"), WEDDINGS)
def test_a_note_names_every_spouse(note: str, spouses: list[str]) -> None:
    """Whom a child married, in any of the usual ways of writing it; not whom it perhaps married."""
    assert [value for field, value in of_child(note) if field == "spouse"] == spouses


def test_a_wedding_in_a_note_has_its_year() -> None:
    """The year stands before the name or after it, and a lifespan in brackets is that of the spouse."""
    head = "<tr><th>Name</th><th>Birth</th><th>Death</th><th>Notes</th></tr>"
    for note in ("Married Tom Lee (1801 - 1840) in 1849.", "married 1849, Tom Lee (1801 - 1840)"):
        row = f"<tr><td>Ann Carter</td><td>1830</td><td>1890</td><td>{note}</td></tr>"
        page = page_of(f"{OPENING}<h2>Children</h2><table>{head}{row}</table>")
        (fact,) = [one for one in read_person(page).facts if one.field == "child"]
        (wed,) = [one for one in fact.relative_facts if one.field == "spouse"]
        assert wed.when is not None
        assert (wed.value, wed.when.edtf()) == ("Tom Lee", "1849")
        assert [one.value for one in wed.relative_facts] == ["1801", "1840"]


ITEMS = [
    (
        "Ann Carter (1830–1890), married Tom Lee, 1st Viscount Lee and second, Max Hay",
        ["Tom Lee, 1st Viscount Lee", "Max Hay"],
    ),
    ("Ann Carter. Born circa 1830, married Tom Lee in 1850.", ["Tom Lee"]),
    ("Ann Carter (1830–1890), whose sister married Tom Lee", []),
    ("Ann Carter (1830–1890) kept a mill. Her daughter married Tom Lee", []),
]


@pytest.mark.parametrize(("item", "spouses"), ITEMS)
def test_an_item_names_whom_the_child_married(item: str, spouses: list[str]) -> None:
    """In a list as in a table, but never whom somebody else of the item married."""
    about = facts_by_relative(f"<h2>Children</h2><ul><li>{item}</li></ul>").get("Ann Carter", [])
    assert [value for field, value in about if field == "spouse"] == spouses


def test_a_place_beside_the_dates_does_not_lose_them() -> None:
    """A cell with a date and a place has the date."""
    days = [("birth_date", "1830-12-10"), ("death_date", "1831-03-04")]
    assert of_child("", birth="10 December 1830, St. Olga's Palace", death="4 March 1831, Aue") == days


def test_the_dates_may_stand_in_the_second_bracket() -> None:
    """'Ann Carter (Lady of Aue) (10 April 1830 – 1890)' has dates."""
    item = "Ann Carter (Lady of Aue) (10 April 1830 – 4 March 1890)"
    about = facts_by_relative(f"<h2>Children</h2><ul><li>{item}</li></ul>")
    assert about == {"Ann Carter": [("birth_date", "1830-04-10"), ("death_date", "1890-03-04")]}


def test_born_in_an_item_gives_the_birth() -> None:
    """'Ann Carter, born in 1888' and 'Ann Carter. Born circa 1888' have a birth, 'born to' has none."""
    for item, expected in (
        ("Ann Carter, born in 1888", [("birth_date", "1888")]),
        ("Ann Carter. Born circa 1888, a nurse", [("birth_date", "1888~")]),
        ("Ann Carter, born when he was rich; 1892 a nurse", []),
    ):
        about = facts_by_relative(f"<h2>Children</h2><ul><li>{item}</li></ul>")
        assert about.get("Ann Carter", []) == expected, item


def test_a_table_of_ancestors_gives_the_grandparents() -> None:
    """Labels that name the whole line are followed; a 'paternal great-grandfather' may be one of two people."""
    assert facts_by_relative(TABLE) == {
        "Robert Carter": [("father", "Hugh Carter"), ("mother", "Ida Moor")],
        "Ida Moor": [("birth_date", "1740"), ("death_date", "1790")],
        "Jane Hill": [("father", "Luke Hill")],
        "Luke Hill": [("father", "Saul Hill")],
    }


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ("Father:\nTom", ("father",)),
        ("Maternal Grandmother: Ann", ("mother", "mother")),
        ("Father's mother's father:\nTom", ("father", "mother", "father")),
        ("Paternal great-grandfather: Tom", None),
        ("Grandfather: Tom", None),
        ("Godfather: Tom", None),
        ("Stepmother: Ann", None),
    ],
)
def test_labels_of_ancestors(label: str, line: tuple[str, ...] | None) -> None:
    """A label names a line or nobody."""
    found = parse_ancestor_label(label)
    assert (found.line if found else None) == line


TEXT = "Father: Robert Carter\nPaternal grandfather: Hugh Carter\nAnn Carter\t1 May 1830\t3 June 1890\n"


def quoted(field: FieldName, value: str, words: str) -> ExtractedFact:
    start = TEXT.find(words)
    return ExtractedFact(field, value, Snippet(start, start + len(words), words), "prose", 0.8)


@pytest.mark.parametrize(
    ("fact", "line", "codes"),
    [
        (quoted("father", "Hugh Carter", "Paternal grandfather: Hugh Carter"), ("father",), []),
        (quoted("father", "Hugh Carter", "Paternal grandfather: Hugh Carter"), ("mother",), ["HF_042"]),
        (quoted("mother", "Hugh Carter", "Paternal grandfather: Hugh Carter"), ("father",), ["HF_042"]),
        (quoted("father", "Robert Carter", "Paternal grandfather: Hugh Carter"), ("father",), ["HF_016"]),
        (quoted("father", "Hugh Carter", "Hugh Carter"), ("father",), ["HF_041"]),
        (quoted("child", "Hugh Carter", "Paternal grandfather: Hugh Carter"), ("father",), ["HF_042"]),
        (quoted("father", "Hugh Carter", "Paternal grandfather: Luke Hill"), ("father",), ["HF_006"]),
    ],
)
def test_a_grandparent_is_proved_by_the_label(
    fact: ExtractedFact, line: tuple[FieldName, ...], codes: list[str]
) -> None:
    """The cell has to name that person on that line, or nobody is anybody's father (R304)."""
    assert [one.code for one in check_relative(fact, TEXT, line, "Robert Carter")] == codes


def test_dates_of_a_row_are_not_exchanged_and_not_anothers() -> None:
    """The first date of a row is the birth, the second the death, and both are of the person who begins it."""
    row = "Ann Carter\t1 May 1830\t3 June 1890"
    birth, death = (dates_in(day)[0].when for day in ("1 May 1830", "3 June 1890"))
    right = replace(quoted("birth_date", birth.edtf(), row), when=birth)
    exchanged = replace(quoted("death_date", birth.edtf(), row), when=birth)
    later = replace(quoted("birth_date", death.edtf(), row), when=death)
    assert check_relative(right, TEXT, ("child",), "Ann Carter") == ()
    assert check_relative(exchanged, TEXT, ("child",), "Ann Carter")
    assert check_relative(later, TEXT, ("child",), "Ann Carter")
    assert check_relative(right, TEXT, ("child",), "Ned Moor")


def test_a_case_has_the_dates_and_grandparents_of_one_page(tmp_path: Path) -> None:
    """From one page come the children's lives and two generations above, and these are searched next."""
    prose = (
        f"was a painter. He was born in Hull.</p>{LISTED.replace('Carter', 'Quill')}{TABLE.replace('Carter', 'Quill')}"
    )
    pages = {"Jonas Quill": person_page("Jonas Quill", "5 May 1805 – 6 June 1880", {}, prose)}
    book = open_family(write_family(tmp_path / "one.zim", {**PAGES, **pages}))
    with a_case(tmp_path, seeds=("Jonas Quill",)) as store:
        one = researcher(store, book)
        one.start()
        assert "Hugh Quill" in {item.context["name"] for item in waiting(store)}
        run(one)
        tree = store.tree()
        ann, father = named(tree, "Ann Quill"), named(tree, "Robert Quill")
        assert (ann.birth and ann.birth.edtf(), ann.death and ann.death.edtf()) == ("1830-05-01", "1890-06-03")
        assert {tree.persons[up].name for up in tree.parents(father.id)} == {"Hugh Quill", "Ida Moor"}
        assert ann.living == "deceased"


def test_two_children_with_different_dates_are_two(tmp_path: Path) -> None:
    """A 'Frederick' with dates of his own is not a short form of 'Augustus Frederick'."""
    children = "<h2>Children</h2><ul><li>Frederick (1763–1827)</li><li>Augustus Frederick (1773–1843)</li></ul>"
    pages = {
        "Jonas Quill": person_page(
            "Jonas Quill", "5 May 1738 – 6 June 1820", {}, f"was a painter. He was born in Hull.</p>{children}"
        )
    }
    book = open_family(write_family(tmp_path / "one.zim", {**PAGES, **pages}))
    with a_case(tmp_path, seeds=("Jonas Quill",)) as store:
        researcher(store, book).start()
        assert {one.name for one in store.tree().persons.values()} == {"Jonas Quill", "Frederick", "Augustus Frederick"}
