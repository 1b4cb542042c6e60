"""Family trees in a browser without script: shapes, sheets of paper, pictures of people, and places on a map."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from tests.cli.kin_book import LIVING, METADATA, PAGES
from tests.runs.illustrated_runs import CART, MAP
from tests.web.family_server import LIVING_SEED, SEED, Families, families

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.export import has_browser
from kiwiresearch.kin.report.shapes.shape import LAYOUTS, Shape
from kiwiresearch.zim.book_writer import NewPage, write_book

PORTRAIT = b'<tr><td colspan="2"><img src="I/map.png" width="200" height="240" alt="An engineer"></td></tr>'


def book_with_pictures(folder: Path) -> Path:
    """The family's book, in which the dead and the living have portraits, and two places have coordinates."""
    pages = [replace(page, content=_illustrated(page)) for page in PAGES]
    for name, where in (("Harrowby", "52.5; -1.25"), ("Castleford Bay", "51.0; 1.5"), ("Tilbrook", "50.0; 0.5")):
        html = f'<html><body><h1>{name}</h1><p>A town. <span class="geo">{where}</span></p></body></html>'
        pages.append(NewPage(name.replace(" ", "_"), name, html.encode()))
    pages.append(NewPage("I/map.png", "", MAP, "image/png", is_article=False))
    folder.mkdir(parents=True, exist_ok=True)
    write_book(folder / "pictured.zim", pages, metadata=METADATA)
    return folder / "pictured.zim"


def _illustrated(page: NewPage) -> bytes:
    content = page.content.replace(b"</th></tr>", b"</th></tr>" + PORTRAIT, 1)
    for name in (b"Harrowby", b"Castleford Bay", b"Tilbrook"):
        content = content.replace(name, b'<a href="%s">%s</a>' % (name.replace(b" ", b"_"), name))
    return content


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Families]:
    with families(tmp_path_factory.mktemp("trees"), book_with_pictures) as found:
        yield found


@pytest.fixture(scope="module")
def owner(there: Families) -> Iterator[httpx2.Client]:
    with there.served(family_owner=True) as client:
        yield client


@pytest.fixture(scope="module")
def anybody(there: Families) -> Iterator[httpx2.Client]:
    with there.served() as client:
        yield client


def ids(client: httpx2.Client, case: str) -> dict[str, str]:
    rows = client.get(f"/api/family/{case}/people").json()["people"]
    return {row["name"]: row["id"] for row in rows}


@pytest.mark.parametrize("shape", LAYOUTS)
def test_every_shape_leads_to_people_and_to_the_other_shapes(
    there: Families, owner: httpx2.Client, shape: Shape
) -> None:
    """Each box is a link to its person, and links without script change the shape and the root."""
    base = f"/family/{there.done}"
    page = owner.get(f"{base}/tree", params={"of": shape, "generations": 1}).text
    who = ids(owner, there.done)
    assert f'<a href="{base}/people/{who[SEED]}" class="person root"' in page
    assert page.count('class="person') > 2
    for other in LAYOUTS:
        assert f'href="{base}/tree?root={who[SEED]}&amp;of={other}"' in page
    assert page.count('aria-current="page"') >= 2


def test_grandchildren_are_in_the_first_view_and_more_can_be_opened(there: Families, owner: httpx2.Client) -> None:
    """The tree opens with grandparents to grandchildren; a number leads to the tree of those who are left out."""
    base, who = f"/family/{there.done}", ids(owner, there.done)
    page = owner.get(f"{base}/tree").text
    drawn = page.partition('<div class="drawing-view"')[2].partition('<h2 id="list"')[0]
    for name in ("Josiah Wendover", "Ann Pell", "Clara Holt", "Alice Wendover", "Hugh Wendover", "Ralph Wendover"):
        assert f"/people/{who[name]}" in drawn
    [(address, count)] = re.findall(r'<a href="([^"]+)" class="more" aria-label="([^"]+)"', drawn)
    assert count == "1 more not shown"
    assert f'/people/{who[LIVING[0]]}"' in owner.get(address.replace("&amp;", "&")).text


def test_boxes_have_the_portraits_of_the_dead(there: Families, owner: httpx2.Client) -> None:
    """The lead picture of a person's own page is in the box, as part of a file too; never of somebody living."""
    base = f"/family/{there.done}"
    page = owner.get(f"{base}/tree", params={"of": "descendants", "generations": "0"}).text
    people = page.partition('<div class="drawing-view"')[2].split('class="person')[1:]
    shown = {bool("<image" in box): box for box in people}
    assert 'aria-label="An engineer"' in shown[True]
    address = re.findall(r'<image[^>]* href="([^"]+)"', shown[True])[0]
    assert owner.get(address).content == MAP
    assert [box for box in people if LIVING[0] in box and "<image" in box] == []
    who = ids(owner, there.done)
    svg = owner.get(f"{base}/tree.svg", params={"root": who[SEED], "privacy": "owner"}).text
    assert 'href="data:image/png;base64,' in svg


def test_what_the_owner_attached_comes_first_and_is_for_the_owner(
    there: Families, owner: httpx2.Client, anybody: httpx2.Client
) -> None:
    """An attached picture is in the box, with its caption, on the page and in files; nobody else sees it."""
    base, who = f"/family/{there.started}", ids(owner, there.started)
    with Case.open(CaseRegistry(there.folder).folder(there.started)) as case, case.store.step("test"):
        made = case.store.attachments.add(
            who[LIVING_SEED], CART, "image/png", name="n.png", role="photo", caption="On her wedding day"
        )
    page = owner.get(f"{base}/tree", params={"root": who[LIVING_SEED]}).text
    assert f'aria-label="On her wedding day" href="{base}/attachments/{made}"' in page
    asked = {"root": who[LIVING_SEED], "privacy": "owner"}
    assert b64encode(CART).decode() in owner.get(f"{base}/tree.svg", params=asked).text
    assert "On her wedding day" not in owner.get(f"{base}/tree.svg", params=asked | {"privacy": "public"}).text
    assert "On her wedding day" not in anybody.get(f"{base}/tree").text


def test_files_show_nobody_living_unless_the_owner_asks(
    there: Families, owner: httpx2.Client, anybody: httpx2.Client
) -> None:
    """Sheets and pictures hide people who may be living, as other files do; a visitor cannot ask for more."""
    base, who = f"/family/{there.done}", ids(owner, there.done)
    asked = {"root": who[SEED], "of": "descendants", "generations": "0"}
    for form in ("tree.html", "tree.svg"):
        assert LIVING[0] not in owner.get(f"{base}/{form}", params=asked).text
        assert LIVING[0] in owner.get(f"{base}/{form}", params=asked | {"privacy": "owner"}).text
        assert LIVING[0] not in anybody.get(f"{base}/{form}", params=asked | {"privacy": "owner"}).text
    assert anybody.get(f"{base}/tree.svg", params=asked | {"root": who[LIVING[0]]}).status_code == 404


@pytest.mark.parametrize("paper", ["a4", "a3"])
def test_a_tree_is_printed_on_sheets(there: Families, owner: httpx2.Client, paper: str) -> None:
    """A page for each part, numbered; the PDF has as many pages, or says which program is missing."""
    base, who = f"/family/{there.done}", ids(owner, there.done)
    asked = {"root": who[SEED], "generations": "0", "paper": paper, "orientation": "portrait"}
    page = owner.get(f"{base}/tree.html", params=asked)
    sheets = page.text.count('<section class="sheet">')
    assert f"Sheet 1 of {sheets}" in page.text
    assert "sandbox" in page.headers["content-security-policy"]
    pdf = owner.get(f"{base}/tree.pdf", params=asked)
    if has_browser():
        assert pdf.headers["content-type"] == "application/pdf"
        assert len(re.findall(rb"/Type\s*/Page\b", pdf.content)) == sheets
    else:
        assert "Chromium" in pdf.text


def test_a_relationship_is_drawn(there: Families, owner: httpx2.Client) -> None:
    """The people between two others are boxes that lead to them."""
    base, who = f"/family/{there.done}", ids(owner, there.done)
    asked = {"first": who["Alice Wendover"], "second": who["Ralph Wendover"]}
    drawn = owner.get(f"{base}/relation", params=asked).text.partition('<div class="drawing-view"')[2]
    for name in ("Alice Wendover", "Hugh Wendover", "Ralph Wendover", SEED):
        assert f'<a href="{base}/people/{who[name]}" class="person' in drawn


def test_a_person_has_a_small_tree_and_a_map(there: Families, owner: httpx2.Client) -> None:
    """Parents, partners and children are drawn beside the facts; the places of a dead person are on a map."""
    base, who = f"/family/{there.done}", ids(owner, there.done)
    page = owner.get(f"{base}/people/{who[SEED]}").text
    small = page.partition('<div class="small-tree"')[2].partition("</section>")[0]
    names = ("Josiah Wendover", "Ann Pell", "Clara Holt", "Alice Wendover", "Hugh Wendover")
    assert {name for name in who if f"/people/{who[name]}" in small} == {SEED, *names}
    places = page.partition('<div class="place-map">')[2].partition("</section>")[0]
    assert re.findall(r"<li><bdi>([^<]+)</bdi>", places) == ["Harrowby", "Castleford Bay"]
    assert 'class="place-map"' not in owner.get(f"{base}/people/{who[LIVING[0]]}").text
