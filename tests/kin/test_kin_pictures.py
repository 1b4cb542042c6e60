"""Pedigrees and descendants as pictures: nothing overlaps, everybody is there, and nothing of a name is markup."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kin.families import Making, RealFamily, vale_family

from kiwiresearch.document.svg import FAMILY_FONT, is_rtl
from kiwiresearch.kin.kinship import KinshipFinder
from kiwiresearch.kin.report.shapes.ancestors import pedigree_layout
from kiwiresearch.kin.report.shapes.couples import Couples
from kiwiresearch.kin.report.shapes.descendants import descendants_layout
from kiwiresearch.kin.report.shapes.fan import MAX_RINGS, fan_layout
from kiwiresearch.kin.report.shapes.hourglass import close_family_layout, hourglass_layout
from kiwiresearch.kin.report.shapes.layout import BOX_HEIGHT, BOX_WIDTH, Layout
from kiwiresearch.kin.report.shapes.paper import Orientation, Paper, divide, print_page
from kiwiresearch.kin.report.shapes.path import path_layout
from kiwiresearch.kin.report.shapes.shape import LAYOUTS, Shape, shape_picture
from kiwiresearch.kin.report.shapes.svg import PADDING, Drawing, Photo, picture, svg_file
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
    layout = pedigree_layout(Couples(tree), root, most=ALL)
    assert {box.person for box in layout.boxes} == reachable(tree, root, up=True)
    check(layout)


@given(trees())
@settings(max_examples=50)
def test_every_descendant_is_drawn_and_none_overlaps(family: tuple[Tree, str]) -> None:
    """In any tree all descendants and their partners are drawn, each expanded once, in both shapes that have them."""
    tree, root = family
    check(hourglass_layout(Couples(tree), root, most=ALL))
    layout = descendants_layout(Couples(tree), root, most=ALL)
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
    above, below = pedigree_layout(Couples(tree), root, most=most), descendants_layout(Couples(tree), root, most=most)
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
    for shape in LAYOUTS:
        svg = shape_picture(shape, Couples(tree), root, anchors=anchors)
        assert svg == shape_picture(shape, Couples(tree), root, anchors=anchors)
        if svg:
            tags = {node.tag.removeprefix(SVG) for node in read(svg).iter()}
            assert tags <= {"svg", "title", "desc", "path", "text", "a", "rect", "g"}
            assert not any("onload" in key for node in read(svg).iter() for key in node.attrib)
            read(svg_file(svg))


def test_a_picture_can_be_read_without_eyes() -> None:
    """The picture has a title, says in words what it shows, and each box is a link that names its person."""
    case = vale_family()
    root = read(shape_picture("ancestors", Couples(case.tree), "P1", anchors={"P1": "person-1", "P2": "person-2"}))
    assert root.get("role") == "group"
    labelled = (root.get("aria-labelledby") or "").split()
    assert labelled == [root.find(f"{SVG}title").get("id"), root.find(f"{SVG}desc").get("id")]  # type: ignore[union-attr]
    assert root.findtext(f"{SVG}title") == "Ancestors of Edmund Vale"
    assert (root.findtext(f"{SVG}desc") or "").startswith(
        "3 relatives of Edmund Vale, from left to right, fathers above mothers"
    )
    links = {node.get("href"): node.findtext(f"{SVG}title") for node in root.iter(f"{SVG}a")}
    assert links == {"#person-1": "Edmund Vale, 1801–1871", "#person-2": "Josiah Vale, b. c. 1770"}


def test_couples_have_their_year_and_their_children() -> None:
    """A wife is below her husband with the year of the wedding, and her children beside her."""
    case = vale_family()
    layout = descendants_layout(Couples(case.tree), "P1")
    place = {box.person: (box.x, box.y) for box in layout.boxes}
    assert place["P5"][1] > place["P1"][1]
    assert [label.text for label in layout.labels if label.role == "couple"] == ["m. 1825", "m. 1848"]
    assert place["P6"][1] <= place["P10"][1]
    assert place["P7"][1] < place["P8"][1] < place["P9"][1] < place["P10"][1]
    assert place["P11"][0] > place["P7"][0]


def test_ties_that_are_not_by_blood_are_broken_lines() -> None:
    """A stepfather comes after the parents by birth; his line is broken and his box says what he is."""
    layout = pedigree_layout(Couples(vale_family().tree), "P1")
    assert [tie.loose for tie in layout.ties] == [False, False, True]
    assert next(box for box in layout.boxes if box.person == "P4").notes == ("step",)


def test_names_of_other_scripts_and_no_names() -> None:
    """A name that is read from right to left is set so; a person without a name is labelled as such."""
    svg = shape_picture("descendants", Couples(vale_family().tree), "P1")
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
    above = pedigree_layout(Couples(tree), people[0])
    assert len({box.x for box in above.boxes}) == 11
    assert above.labels[-1].text == "8 × great-grandparents"
    assert len(pedigree_layout(Couples(tree), people[0], generations=4).boxes) == 5
    assert "1 known relative did not fit" in shape_picture("ancestors", Couples(tree), people[0], 4)
    below = descendants_layout(Couples(tree), people[-1])
    assert below.labels[-1].text == "8 × great-grandchildren"
    check(below)


def test_a_line_of_hundreds_of_generations() -> None:
    """Depth does not break anything."""
    make = Making()
    people = [make.person(f"N{n}") for n in range(400)]
    for child, parent in pairwise(people):
        make.tie("parent_of", parent, child)
    assert len(pedigree_layout(Couples(make.tree()), people[0], most=ALL).boxes) == 400
    assert len(descendants_layout(Couples(make.tree()), people[-1], most=ALL).boxes) == 400


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
    layout = descendants_layout(Couples(make.tree()), father)
    check(layout)
    place = {box.person: box.y for box in layout.boxes}
    children = [f"P{number}" for number in range(4, 24)]
    assert [place[one] for one in children] == sorted(place[one] for one in children)
    assert place["P15"] < place[second] + BOX_HEIGHT
    assert place[second] <= place["P16"]


@pytest.mark.parametrize("name", ["bach", "bronte", "shakespeare"])
def test_real_families_can_be_drawn(real_family: RealFamily, name: str) -> None:
    """For every person of a real family both pictures have everybody they should, and nothing overlaps."""
    tree = real_family(name).tree
    assert tree.persons
    for one in tree.persons:
        above, below = pedigree_layout(Couples(tree), one, most=ALL), descendants_layout(Couples(tree), one, most=ALL)
        assert {box.person for box in above.boxes} == reachable(tree, one, up=True)
        assert {box.person for box in below.boxes} >= reachable(tree, one, up=False)
        check(above)
        check(below)


@pytest.mark.parametrize("shape", LAYOUTS)
def test_without_relatives_there_is_no_picture(shape: Shape) -> None:
    """A person without any relative has no picture."""
    make = Making()
    one = make.person("Alone")
    assert shape_picture(shape, Couples(make.tree()), one) == ""


def test_text_fits_into_its_box() -> None:
    """The words of a box are not wider than the box, and lines do not leave it."""
    make = Making()
    one, other = (
        make.person("Augusta Wilhelmina Theodora of Mecklenburg-Strelitz-Schwerin", "female"),
        make.person("W" * 60),
    )
    make.tie("parent_of", other, one)
    for node in read(shape_picture("ancestors", Couples(make.tree()), one)).iter(f"{SVG}text"):
        if node.get("class") != "head":
            assert FAMILY_FONT.width(node.text or "", float(node.get("font-size", "0"))) <= BOX_WIDTH - 2 * PADDING
            assert 0 < float(node.get("y", "0")) < BOX_HEIGHT


def parents_and_children() -> tuple[Making, dict[str, str]]:
    """A couple with two children, a child whose mother is not known, a stepchild, and a second marriage."""
    make = Making()
    names: dict[str, Sex] = {"Ada": "female", "Ben": "male", "Cleo": "female", "Dan": "male"}
    who = {name: make.person(name, sex) for name, sex in names.items()}
    who |= {name: make.person(name) for name in ("Eve", "Fay", "Gus", "Hal")}
    make.tie("spouse_of", who["Ben"], who["Ada"], start="1820")
    make.tie("spouse_of", who["Ben"], who["Cleo"], start="1840")
    for child in ("Eve", "Fay"):
        make.tie("parent_of", who["Ada"], who[child])
        make.tie("parent_of", who["Ben"], who[child])
        make.tie("parent_of", who["Cleo"], who[child], qualifier="step")
    make.tie("parent_of", who["Ben"], who["Gus"])
    make.tie("parent_of", who["Dan"], who["Hal"])
    make.tie("parent_of", who["Ada"], who["Hal"])
    return make, who


def test_children_hang_on_all_their_known_parents() -> None:
    """Each child is with both parents by birth; one of one known parent hangs on that parent, and none is missing."""
    make, who = parents_and_children()
    couples = Couples(make.tree())
    unions = {union.partner: union.children for union in couples.unions(who["Ben"])}
    assert unions == {"": (who["Gus"],), who["Ada"]: (who["Eve"], who["Fay"]), who["Cleo"]: ()}
    assert couples.unions(who["Cleo"])[0].children == (who["Eve"], who["Fay"]), "her stepchildren"
    assert couples.parents(who["Eve"]) == (who["Ben"], who["Ada"], who["Cleo"])
    assert set(couples.children(who["Ada"])) == {who["Eve"], who["Fay"], who["Hal"]}


def test_an_hourglass_has_ancestors_above_and_each_marriage_with_its_children_below() -> None:
    """Parents are above, each partner has a column, and children are below the partner they descend from."""
    make, who = parents_and_children()
    child = make.person("Grandchild")
    make.tie("parent_of", who["Eve"], child)
    grandfather = make.person("Grandfather", "male")
    make.tie("parent_of", grandfather, who["Ben"])
    layout = hourglass_layout(Couples(make.tree()), who["Ben"])
    check(layout)
    place = {box.person: box for box in layout.boxes}
    assert place[grandfather].y < place[who["Ben"]].y < place[who["Ada"]].y < place[who["Eve"]].y < place[child].y
    assert place[who["Ada"]].y == place[who["Cleo"]].y
    mother, other = place[who["Ada"]].middle, place[who["Cleo"]].middle
    assert all(abs(place[who[one]].middle - mother) < abs(place[who[one]].middle - other) for one in ("Eve", "Fay"))
    assert who["Gus"] in place


@pytest.mark.parametrize("most", range(2, 12))
def test_those_who_do_not_fit_are_counted_where_they_belong(most: int) -> None:
    """Every child who is not drawn is in a number beside the family, which leads to a tree of that family."""
    make = Making()
    father = make.person("F", "male")
    mothers = [make.person(f"M{n}", "female") for n in range(2)]
    for number in range(8):
        child = make.person(f"Child {number}")
        make.tie("parent_of", father, child)
        make.tie("parent_of", mothers[number % 2], child)
    for layout in (
        descendants_layout(Couples(make.tree()), father, most=most),
        hourglass_layout(Couples(make.tree()), father, most=most),
    ):
        drawn = len({box.person for box in layout.boxes})
        more = [label for label in layout.labels if label.role == "more"]
        assert sum(int(label.text) for label in more) == layout.left_out == 11 - drawn
        assert {label.person for label in more} <= {father}
    svg = picture(layout, make.tree(), Drawing("T", "D", more_address=lambda person: f"/tree?root={person}"))
    assert svg.count(f'href="/tree?root={father}"') == len(more)


@given(trees())
@settings(max_examples=30)
def test_a_fan_has_both_parents_beside_each_other(family: tuple[Tree, str]) -> None:
    """In any tree each ring has the parents of the ring within it, and nobody has the place of another."""
    tree, root = family
    layout = fan_layout(Couples(tree), root)
    assert {box.person for box in layout.boxes} <= reachable(tree, root, up=True)
    assert len({box.wedge.path for box in layout.boxes if box.wedge}) == len(layout.boxes)
    assert all(0 < box.x < layout.width and 0 < box.y < layout.height for box in layout.boxes)


def test_a_fan_ends_where_words_no_longer_fit() -> None:
    """The last ring says how many more there are."""
    make = Making()
    people = [make.person(f"N{n}") for n in range(11)]
    for child, parent in pairwise(people):
        make.tie("parent_of", parent, child)
    layout = fan_layout(Couples(make.tree()), people[0])
    assert len(layout.boxes) == MAX_RINGS + 1
    assert [(label.text, label.person) for label in layout.labels] == [("+1", people[MAX_RINGS])]


def test_how_two_people_are_related_is_drawn() -> None:
    """Cousins: up to the common grandparents, who are both there, and down again; strangers have no picture."""
    make = Making()
    grandparents = [make.person("Grandfather", "male"), make.person("Grandmother", "female")]
    parents = [make.person("Aunt", "female"), make.person("Father", "male")]
    cousins = [make.person("Cousin"), make.person("Person")]
    for parent, child in zip(parents, cousins, strict=True):
        make.tie("parent_of", parent, child)
        for grandparent in grandparents:
            make.tie("parent_of", grandparent, parent)
    make.person("Stranger")
    tree = make.tree()
    layout = path_layout(Couples(tree), KinshipFinder(tree).kinship(*cousins).path)
    assert layout is not None
    check(layout)
    place = {box.person: box.y for box in layout.boxes}
    assert set(place) == {*grandparents, *parents, *cousins}
    assert len({place[one] for one in grandparents}) == len({place[one] for one in parents}) == 1
    assert place[grandparents[0]] < place[parents[0]] < place[cousins[0]]
    assert path_layout(Couples(tree), KinshipFinder(tree).kinship(cousins[0], "P7").path) is None


def test_a_close_family_is_parents_partners_and_children() -> None:
    """The small tree has nobody else, not even partners of children."""
    make, who = parents_and_children()
    make.tie("spouse_of", who["Eve"], make.person("Husband"))
    make.tie("parent_of", who["Eve"], make.person("Grandchild"))
    layout = close_family_layout(Couples(make.tree()), who["Ben"])
    assert {box.person for box in layout.boxes} == {who[name] for name in ("Ben", "Ada", "Cleo", "Eve", "Fay", "Gus")}


def test_a_photo_is_cropped_into_its_box_and_has_a_text() -> None:
    """A picture of a person is small, has an alternative text, and leaves the name its room."""
    make = Making()
    one, other = make.person("Ann Lee"), make.person("Bea Lee")
    make.tie("parent_of", one, other)
    layout = pedigree_layout(Couples(make.tree()), other)
    svg = picture(layout, make.tree(), Drawing("T", "D", photos={one: Photo("/p.jpg", 'Ann "A" Lee')}))
    [image] = read(svg).iter(f"{SVG}image")
    assert (image.get("href"), image.get("aria-label")) == ("/p.jpg", 'Ann "A" Lee')
    assert "slice" in (image.get("preserveAspectRatio") or "")


@given(trees(), st.sampled_from(["a4", "a3"]), st.sampled_from(["portrait", "landscape"]))
@settings(max_examples=40)
def test_sheets_have_everything_and_none_is_blank(family: tuple[Tree, str], paper: Paper, way: Orientation) -> None:
    """Each box is whole on a sheet, and each sheet has a part of the picture."""
    tree, root = family
    for shape in LAYOUTS:
        layout = LAYOUTS[shape](Couples(tree), root, 0)
        sheets = divide(layout, paper, way)
        for box in layout.boxes:
            if not box.wedge:
                assert any(
                    tile.across.start <= box.x
                    and box.x + BOX_WIDTH <= tile.across.end
                    and tile.down.start <= box.y
                    and box.y + BOX_HEIGHT <= tile.down.end
                    for tile in sheets.tiles
                )
        page = print_page(layout, tree, Drawing("T", "D"), paper, way)
        drawn = page.split('<section class="sheet">')[1:]
        assert len(drawn) == len(sheets.tiles)
        assert all('class="tie' in sheet or 'class="person' in sheet for sheet in drawn)


def test_a_large_tree_is_drawn_at_once(real_family: RealFamily) -> None:
    """All generations of a queen among 3,000 people have a picture that counts those who did not fit."""
    tree = real_family("royal92").tree
    queen = next(person.id for person in tree.persons.values() if person.name == "Victoria Hanover")
    couples = Couples(tree)
    for shape in LAYOUTS:
        layout = LAYOUTS[shape](couples, queen, 0)
        drawn = {box.person for box in layout.boxes}
        assert len(drawn) > 20
        assert layout.left_out
        if shape != "fan":
            check_fast(layout)
    children = set(couples.children(queen))
    grandchildren = {one for child in children for one in couples.children(child)}
    shown = {box.person for box in hourglass_layout(couples, queen, 2).boxes}
    assert len(children) == 9
    assert children | grandchildren <= shown


def check_fast(layout: Layout) -> None:
    """No two boxes are at the same place, in a picture with hundreds of them."""
    rows: dict[float, list[float]] = {}
    for box in layout.boxes:
        rows.setdefault(box.y, []).append(box.x)
    for places in rows.values():
        assert all(other - one >= BOX_WIDTH for one, other in pairwise(sorted(places)))
