"""Families changed in the browser, by forms that need no script."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.cases.test_case_editing import PNG
from tests.web.desk.conftest import first_of
from tests.web.desk.test_family_pages import browsing, elements, people
from tests.web.family_server import SEED, Families

from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.cases.repository import case_id_of


@pytest.fixture(scope="module")
def owner(there: Families) -> Iterator[httpx2.Client]:
    with there.served(family_owner=True) as client:
        yield browsing(client)


@pytest.fixture
def base(there: Families) -> Iterator[str]:
    """A case of a test's own, to be changed."""
    folder = there.folder / "copied"
    shutil.copytree(CaseRegistry(there.folder).folder(there.done), folder)
    yield f"/family/{case_id_of(folder)}"
    shutil.rmtree(folder)


def send(client: httpx2.Client, form: LexborHTMLParser, button: str = "", **values: str) -> LexborHTMLParser:
    """Send a form of a page as a browser does, with what was typed and the button that was pressed."""
    fields = {
        str(field.attributes["name"]): str(field.attributes.get("value") or "")
        for field in form.css("input, select, textarea")
        if field.attributes.get("type") not in ("checkbox", "file")
    }
    fields |= values | ({"kind": button} if button else {})
    reply = client.post(str(first_of(form, "form").attributes["action"]), data=fields, follow_redirects=True)
    assert reply.status_code == 200, reply.text
    return LexborHTMLParser(reply.text)


def form_with(page: LexborHTMLParser, selector: str) -> LexborHTMLParser:
    """The form of a page that has such a field."""
    found = next(form for form in page.css("form") if form.css_first(selector) is not None)
    return LexborHTMLParser(str(found.html))


def page_of(client: httpx2.Client, place: str) -> LexborHTMLParser:
    return LexborHTMLParser(client.get(place).text)


def test_a_fact_is_entered_shown_apart_and_undone(owner: httpx2.Client, base: str) -> None:
    """What the owner enters is under “Entered by hand” with its note; the notice after it undoes and redoes it."""
    place = people(owner, base)[SEED]
    form = form_with(page_of(owner, place), "#new-value")
    page = send(owner, form, field="title", value="Baronet", note="A family letter", source="Letter of 1880")
    block = first_of(page, ".entered").text()
    assert all(words in block for words in ("Entered by hand", "Baronet", "A family letter", "Letter of 1880"))
    notice = first_of(page, "form.note[role=status]")
    assert "Your change is saved." in notice.text()
    page = send(owner, LexborHTMLParser(str(notice.html)))
    assert "Baronet" not in first_of(page, "main").text()
    page = send(owner, LexborHTMLParser(str(first_of(page, "form.note[role=status]").html)))
    assert "Baronet" in first_of(page, "main").text()


def test_facts_are_preferred_corrected_and_removed(owner: httpx2.Client, base: str) -> None:
    """Beside each fact are the buttons for what can be done with it."""
    place = people(owner, base)[SEED]
    page = send(owner, form_with(page_of(owner, place), "#new-value"), field="birth_date", value="1 May 1850")
    chosen = first_of(page, ".side.chosen").text()
    assert "1 May 1850" in chosen
    assert "entered by hand" in chosen
    other = next(side for side in page.css(".side") if "12 May 1850" in side.text())
    page = send(owner, form_with(LexborHTMLParser(str(other.html)), 'button[value="prefer"]'), "prefer")
    assert "12 May 1850" in first_of(page, "dl.facts").text()
    mine = next(side for side in page.css(".side") if "1 May 1850" in side.text() and "12 May" not in side.text())
    page = send(
        owner,
        form_with(LexborHTMLParser(str(mine.html)), 'input[name="instead_of"]'),
        value="2 May 1850",
        note="from the register",
    )
    assert "from the register" in first_of(page_of(owner, f"{base}/changes"), "main").text()
    assert "2 May 1850" in first_of(page, "dl.facts").text()
    page = send(owner, form_with(page, 'button[value="remove"]'), "remove")
    assert "Your change is saved." in first_of(page, "main").text()


def test_people_are_added_related_split_and_merged(owner: httpx2.Client, base: str) -> None:
    """A person is added on the page of people; relatives, merges and splits are forms of a person's page."""
    page = send(owner, form_with(page_of(owner, f"{base}/people"), "#person-name"), name="Zoe Marlow", sex="female")
    assert first_of(page, "h1").text().strip() == "Zoe Marlow"
    page = send(owner, form_with(page, "#relative-name"), role="mother", name="Old Zoe")
    assert first_of(page, "h1").text().strip() == "Old Zoe"
    places = people(owner, base)
    seed = places[SEED].rpartition("/")[2]
    page = send(owner, form_with(page_of(owner, places["Zoe Marlow"]), "#tie-other"), role="spouse", other=seed)
    relatives = first_of(page, "#relatives").parent
    assert relatives is not None
    assert SEED in relatives.text()
    facts = [box.attributes["value"] for box in page.css('input[name="facts"]')]
    form = form_with(page, "#split-name")
    page = send(owner, form, name="Second Zoe", facts=str(facts[0]))
    assert first_of(page, "h1").text().strip() == "Second Zoe"
    zoe = places["Zoe Marlow"].rpartition("/")[2]
    page = send(owner, form_with(page, "#merge-other"), "merge", other=zoe)
    assert {"Zoe Marlow", "Second Zoe"} - set(people(owner, base))
    page = send(owner, form_with(page, "#remove-note"))
    assert page.css_first("h2") is not None, "the list of changes, since the person is not there"
    kinds = [heading.text().strip() for heading in page.css("section.change h2")]
    assert kinds[:3] == ["Person removed", "People merged", "Split into two people"]


def test_a_picture_is_attached_and_shown(there: Families, owner: httpx2.Client, base: str) -> None:
    """A picture sent by the form is on the person's page for the owner, and for nobody else."""
    place = people(owner, base)[SEED]
    files = {"file": ("me.png", PNG, "image/png")}
    given = {"role": "photo", "caption": "At the mill"}
    reply = owner.post(f"{place}/attachments", data=given, files=files, follow_redirects=True)
    assert reply.status_code == 200, reply.text
    picture = first_of(LexborHTMLParser(reply.text), ".portraits img")
    assert picture.attributes["alt"] == "At the mill"
    assert owner.get(str(picture.attributes["src"])).headers["content-type"] == "image/png"
    with there.served() as anybody:
        assert browsing(anybody).get(str(picture.attributes["src"])).status_code == 404
        assert "portraits" not in anybody.get(place).text
        assert "At the mill" not in anybody.get(f"{base}/changes").text
    page = send(owner, form_with(LexborHTMLParser(owner.get(place).text), 'button[value="detach"]'), "detach")
    assert page.css_first(".portraits") is None


def test_who_may_not_edit_is_told_how(there: Families, base: str) -> None:
    """A visitor who may not edit sees no form for it, and one sentence that says where to turn it on."""
    with there.served() as anybody:
        client = browsing(anybody)
        for place in (people(client, base)[SEED], f"{base}/people", f"{base}/changes"):
            page = client.get(place)
            assert "#group-family" in page.text
            assert f"{base}/edits" not in page.text
        assert client.post(f"{base}/edits", data={"kind": "add_person", "name": "Zoe"}).status_code == 403


def test_pages_with_forms_are_whole(owner: httpx2.Client, base: str) -> None:
    """Each field has a label and an id of its own, and every element is closed."""
    place = people(owner, base)[SEED]
    send(owner, form_with(page_of(owner, place), "#new-value"), field="birth_date", value="1 May 1850")
    for address in (place, f"{base}/people", f"{base}/changes"):
        for language in ("en", "fr", "es"):
            page = owner.get(address, headers={"Accept-Language": language})
            found = elements(page)
            assert (page.status_code, found.unclosed) == (200, []), address
            assert len(found.ids) == len(set(found.ids)), sorted(one for one in found.ids if found.ids.count(one) > 1)
            assert found.fields <= found.labels, found.fields - found.labels


def test_an_old_form_does_not_overwrite(owner: httpx2.Client, base: str) -> None:
    """A form opened before another change saves nothing: both changes are shown, and its own can then be saved."""
    place = people(owner, base)[SEED]
    old = form_with(page_of(owner, place), "#new-value")
    send(owner, old, field="title", value="Baronet", note="read it in a letter")
    seen = {str(one.attributes["name"]): str(one.attributes.get("value") or "") for one in old.css("input")}
    reply = owner.post(f"{base}/edits", data={**seen, "field": "title", "value": "Duke", "note": "he was one"})
    assert reply.status_code == 409
    page = LexborHTMLParser(reply.text)
    mine, theirs = (" ".join(node.text().split()) for node in page.css(".side"))
    assert all(words in mine for words in ("Duke", "he was one"))
    assert all(words in theirs for words in ("Fact added: Title", "Baronet", "read it in a letter"))
    assert "Duke" not in owner.get(place).text
    for language in ("fr", "es"):
        again = owner.post(
            f"{base}/edits",
            data={**seen, "field": "title", "value": "Duke"},
            headers={"Accept-Language": language},
        )
        assert elements(again).unclosed == []
    assert "Duke" in str(send(owner, form_with(page, "[name=seen]")).html)
