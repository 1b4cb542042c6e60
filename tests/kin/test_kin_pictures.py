"""Pedigrees and descendants as pictures: nothing overlaps, everybody is there, and nothing of a name is markup."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kin.families import Making, vale_family

from kiwiresearch.document.svg import FAMILY_FONT, is_rtl
from kiwiresearch.kin.gedcom.reader import read_gedcom
from kiwiresearch.kin.report.descendants import descendants, descendants_layout
from kiwiresearch.kin.report.drawing import (
    BOX_HEIGHT,
    BOX_WIDTH,
    PADDING,
    Layout,
    svg_file,
)
from kiwiresearch.kin.report.pedigree import pedigree, pedigree_layout
from kiwiresearch.kin.tree import Sex, Tree

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["</svg><script>x</script>", '"onload="x', "&amp; <b>", "\u202eRTL שלום", "\x00\x1b", "x" * 2000, "青銅" * 50]
ALL = 100_000


def read(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Tree, str]:
    """People with any ties among them, circles and all; no family is too strange."""
    make = Making()
    count = draw(st.integers(1, 14))
    sexes: list[Sex] = ["male", "female", ""]
    people = [
        make.person(draw(st.sampled_from([*HOSTILE, "", "Ann Lee"])), draw(st.sampled_from(sexes)))
        for _ in range(count)
    ]
    pairs = st.tuples(st.sampled_from(people), st.sampled_from(people))
    for first, second in draw(st.lists(pairs, max_size=24)):
        make.tie("parent_of", first, second)
    for first, second in draw(st.lists(pairs, max_size=8)):
        make.tie("spouse_of", first, second, start=draw(st.sampled_from(["", "1840", "c. 1200"])))
    return make.tree(), people[0]


def reachable(tree: Tree, root: str, *, up: bool) -> set[str]:
    found, line = {root}, [root]
    while line:
        one = line.pop()
        for other in tree.parents(one) if up else tree.children(one):
            if other not in found:
                found.add(other)
                line.append(other)
    return found


def check(layout: Layout) -> None:
    """No box touches another, and all are within the picture."""
    places = sorted((box.x, box.y) for box in layout.boxes)
    for number, (x, y) in enumerate(places):
        assert x >= 0
        assert y >= 0
        assert x + BOX_WIDTH <= layout.width
        assert y + BOX_HEIGHT <= layout.height
        for other_x, other_y in places[:number]:
            assert abs(x - other_x) >= BOX_WIDTH or abs(y - other_y) >= BOX_HEIGHT


@given(trees())
@settings(max_examples=50)
def test_every_ancestor_is_drawn_and_none_overlaps(family: tuple[Tree, str]) -> None:
    """In any tree, with circles and people who are their own ancestors, all ancestors have a box of their own place."""
    tree, root = family
    layout = pedigree_layout(tree, root, most=ALL)
    assert {box.person for box in layout.boxes} == reachable(tree, root, up=True)
    check(layout)


@given(trees())
@settings(max_examples=50)
def test_every_descendant_is_drawn_and_none_overlaps(family: tuple[Tree, str]) -> None:
    """In any tree all descendants and their partners are drawn, each expanded once."""
    tree, root = family
    layout = descendants_layout(tree, root, most=ALL)
    drawn = {box.person for box in layout.boxes}
    below = reachable(tree, root, up=False)
    assert below <= drawn
    assert {other for one in below for other in tree.spouses(one)} <= drawn
    first = [box.person for box in layout.boxes if not box.is_repeat]
    assert len(first) == len(set(first))
    check(layout)


@given(trees(), st.integers(1, 12))
@settings(max_examples=30)
def test_a_picture_keeps_to_its_room(family: tuple[Tree, str], most: int) -> None:
    """With little room the near ones are drawn, and those who are not are counted."""
    tree, root = family
    above, below = pedigree_layout(tree, root, most=most), descendants_layout(tree, root, most=most)
    assert len(above.boxes) <= max(most, 1)
    assert len(below.boxes) <= max(most, 1)
    check(above)
    check(below)
    if {box.person for box in above.boxes} < reachable(tree, root, up=True):
        assert above.left_out


@given(trees())
@settings(max_examples=30)
def test_names_never_become_markup(family: tuple[Tree, str]) -> None:
    """Whatever characters a name has, the picture is well-formed, has no script, and is the same bytes every time."""
    tree, root = family
    anchors = {one: f"person-{number}" for number, one in enumerate(tree.persons)}
    for draw in (pedigree, descendants):
        svg = draw(tree, root, anchors)
        assert svg == draw(tree, root, anchors)
        if svg:
            tags = {node.tag.removeprefix(SVG) for node in read(svg).iter()}
            assert tags <= {"svg", "title", "desc", "path", "text", "a", "rect", "g"}
            assert not any("onload" in key for node in read(svg).iter() for key in node.attrib)
            read(svg_file(svg))


def test_a_picture_can_be_read_without_eyes() -> None:
    """The picture has a title, says in words what it shows, and each box is a link that names its person."""
    case = vale_family()
    root = read(pedigree(case.tree, "P1", {"P1": "person-1", "P2": "person-2"}))
    assert root.get("role") == "group"
    labelled = (root.get("aria-labelledby") or "").split()
    assert labelled == [root.find(f"{SVG}title").get("id"), root.find(f"{SVG}desc").get("id")]  # type: ignore[union-attr]
    assert root.findtext(f"{SVG}title") == "Ancestors of Edmund Vale"
    assert (root.findtext(f"{SVG}desc") or "").startswith(
        "3 ancestors of Edmund Vale in 1 generation, from left to right"
    )
    links = {node.get("href"): node.findtext(f"{SVG}title") for node in root.iter(f"{SVG}a")}
    assert links == {"#person-1": "Edmund Vale, 1801–1871", "#person-2": "Josiah Vale, b. c. 1770"}


def test_couples_have_their_year_and_their_children() -> None:
    """A wife is below her husband with the year of the wedding, and her children beside her."""
    case = vale_family()
    layout = descendants_layout(case.tree, "P1")
    place = {box.person: (box.x, box.y) for box in layout.boxes}
    assert place["P5"][1] > place["P1"][1]
    assert [label.text for label in layout.labels if label.role == "couple"] == ["m. 1825", "m. 1848"]
    assert place["P6"][1] <= place["P10"][1]
    assert place["P7"][1] < place["P8"][1] < place["P9"][1] < place["P10"][1]
    assert place["P11"][0] > place["P7"][0]


def test_ties_that_are_not_by_blood_are_broken_lines() -> None:
    """A stepfather's line is broken and his box says what he is."""
    layout = pedigree_layout(vale_family().tree, "P1")
    assert [tie.loose for tie in layout.ties] == [False, True, False]
    assert next(box for box in layout.boxes if box.person == "P4").notes == ("step",)


def test_names_of_other_scripts_and_no_names() -> None:
    """A name that is read from right to left is set so; a person without a name is labelled as such."""
    svg = descendants(vale_family().tree, "P1", {})
    texts = list(read(svg).iter(f"{SVG}text"))
    assert [node.get("direction") for node in texts if node.text == "רבקה לוי"] == ["rtl"]
    assert "Name unknown" in [node.text for node in texts]
    assert is_rtl("  (محمد) Ali")
    assert not is_rtl("Ali محمد")


def test_a_line_of_many_generations() -> None:
    """Ten generations are ten columns, the last ones named by how far they are."""
    make = Making()
    people = [make.person(f"N{n}") for n in range(11)]
    for child, parent in pairwise(people):
        make.tie("parent_of", parent, child)
    tree = make.tree()
    above = pedigree_layout(tree, people[0])
    assert len({box.x for box in above.boxes}) == 11
    assert above.labels[-1].text == "8 × great-grandparents"
    assert len(pedigree_layout(tree, people[0], generations=4).boxes) == 5
    assert "1 known parent did not fit" in pedigree(tree, people[0], {}, generations=4)
    below = descendants_layout(tree, people[-1])
    assert below.labels[-1].text == "8 × great-grandchildren"
    check(below)


def test_a_line_of_hundreds_of_generations() -> None:
    """Depth does not break anything."""
    make = Making()
    people = [make.person(f"N{n}") for n in range(400)]
    for child, parent in pairwise(people):
        make.tie("parent_of", parent, child)
    assert len(pedigree_layout(make.tree(), people[0], most=ALL).boxes) == 400
    assert len(descendants_layout(make.tree(), people[-1], most=ALL).boxes) == 400


def test_a_wide_family() -> None:
    """Twenty children of two marriages are below each other, each with their mother's."""
    make = Making()
    father, first, second = make.person("F", "male"), make.person("A", "female"), make.person("B", "female")
    make.tie("spouse_of", father, second, start="1850")
    make.tie("spouse_of", father, first, start="1820")
    mothers = [first] * 12 + [second] * 8
    for number, mother in enumerate(mothers):
        child = make.person(f"Child {number}")
        make.fact(child, "birth_date", str(1821 + 2 * number))
        make.tie("parent_of", father, child)
        make.tie("parent_of", mother, child)
    layout = descendants_layout(make.tree(), father)
    check(layout)
    place = {box.person: box.y for box in layout.boxes}
    children = [f"P{number}" for number in range(4, 24)]
    assert [place[one] for one in children] == sorted(place[one] for one in children)
    assert place["P15"] < place[second] + BOX_HEIGHT
    assert place[second] <= place["P16"]


@pytest.mark.parametrize("name", ["bach", "bronte", "shakespeare"])
def test_real_families_can_be_drawn(shared_data: Path, name: str) -> None:
    """For every person of a real family both pictures have everybody they should, and nothing overlaps."""
    tree = read_gedcom(shared_data / "kin" / "gedcom" / f"{name}.ged").tree
    assert tree.persons
    for one in tree.persons:
        above, below = pedigree_layout(tree, one, most=ALL), descendants_layout(tree, one, most=ALL)
        assert {box.person for box in above.boxes} == reachable(tree, one, up=True)
        assert {box.person for box in below.boxes} >= reachable(tree, one, up=False)
        check(above)
        check(below)


@pytest.mark.parametrize("draw", [pedigree, descendants])
def test_without_relatives_there_is_no_picture(draw: object) -> None:
    """A person without any relative has no picture."""
    make = Making()
    one = make.person("Alone")
    assert draw(make.tree(), one, {}) == ""  # type: ignore[operator]


def test_text_fits_into_its_box() -> None:
    """The words of a box are not wider than the box, and lines do not leave it."""
    make = Making()
    one, other = (
        make.person("Augusta Wilhelmina Theodora of Mecklenburg-Strelitz-Schwerin", "female"),
        make.person("W" * 60),
    )
    make.tie("parent_of", other, one)
    for node in read(pedigree(make.tree(), one, {})).iter(f"{SVG}text"):
        if node.get("class") != "head":
            assert FAMILY_FONT.width(node.text or "", float(node.get("font-size", "0"))) <= BOX_WIDTH - 2 * PADDING
            assert 0 < float(node.get("y", "0")) < BOX_HEIGHT
