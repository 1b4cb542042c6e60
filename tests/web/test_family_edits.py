"""Families changed over HTTP: edits with undo and redo, files, and changes while research runs."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.cases.test_attached_files import JPEG, SECRET
from tests.web.family_server import SEED, Families
from tests.web.test_family_api import A_FILE, followed, people

from kiwiresearch.cases.case import Case
from kiwiresearch.cases.case_location import CASE_FILE
from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.cases.repository import case_id_of
from kiwiresearch.cases.verification import verify_case
from kiwiresearch.kin.store.locks_and_schemas import locked_folder


@pytest.fixture(scope="module")
def client(there: Families) -> Iterator[httpx2.Client]:
    """A client of the owner's."""
    with there.served(family_owner=True) as client:
        yield client


@pytest.fixture
def copied(there: Families) -> Iterator[tuple[str, Path]]:
    """A case of a test's own, to be changed: its address and its folder."""
    folder = there.folder / "copied"
    shutil.copytree(CaseRegistry(there.folder).folder(there.done), folder)
    yield f"/api/family/{case_id_of(folder)}", folder
    shutil.rmtree(folder)


def test_every_kind_of_change(client: httpx2.Client, copied: tuple[str, Path]) -> None:
    """Each kind of change is made by one request, listed with what was entered, and undone and redone."""
    url, folder = copied
    seed, ann = (people(client, url)[name] for name in (SEED, "Ann Pell"))

    def made(kind: str, **values: object) -> dict[str, str]:
        reply = client.post(f"{url}/edits", json={"kind": kind, "note": "I know", **values})
        assert reply.status_code == 201, reply.text
        return {"person": reply.json()["person"], **reply.json()["edit"]}

    def facts(field: str) -> dict[str, dict[str, object]]:
        return {
            one["value"]: one for one in client.get(f"{url}/people/{seed}").json()["facts"] if one["field"] == field
        }

    zoe = made("add_person", name="Zoe Marlow", sex="female")["person"]
    made("add_relative", person=zoe, role="mother", name="Old Zoe")
    made("add_name", person=zoe, name="Zo")
    made("add_tie", person=zoe, role="sibling", other=seed, qualifier="half")
    made("add_fact", person=seed, field="birth_date", value="11 May 1850", source="Register", locator="3")
    entered = facts("birth_date")["11 May 1850"]
    assert (entered["standing"], entered["decision"]) == ({"status": "entered", "confidence": "high"}, "preferred")
    assert [one["note"] for one in entered["evidence"]] == ["I know"]  # type: ignore[attr-defined]
    book = facts("birth_date")["12 May 1850"]
    assert book["standing"]["status"] == "competing"  # type: ignore[index]
    for kind in ("prefer", "remove", "accept"):
        made(kind, id=book["id"])
    made("add_fact", person=seed, field="birth_date", value="10 May 1850", instead_of=entered["id"])
    assert facts("birth_date")["11 May 1850"]["standing"]["status"] == "rejected"  # type: ignore[index]
    made("separate", person=zoe, other=ann)
    other = made("split", person=seed, name="Another Edmund", facts=[book["id"]])["person"]
    made("merge", person=seed, other=other)
    made("remove_name", person=zoe, name="Zo")
    last = made("remove_person", person=zoe)
    assert last["person"] == ""
    history = client.get(f"{url}/edits", params={"limit": 3}).json()
    assert history["total"] == 14
    assert history["edits"][0]["kind"] == "remove_person"
    assert history["edits"][0]["details"] == {"name": "Zoe Marlow"}
    assert "Zoe Marlow" not in people(client, url)
    assert client.post(f"{url}/edits/{last['id']}/undo").json()["total"] == 1
    assert "Zoe Marlow" in people(client, url)
    assert client.post(f"{url}/edits/{last['id']}/redo").json()["state"] == "done"
    with Case.open(folder) as case:
        assert verify_case(case).failures == []


def test_a_change_on_an_old_view_is_refused(client: httpx2.Client, copied: tuple[str, Path]) -> None:
    """A change that was prepared before somebody else's change is answered with 409, and not made."""
    url, _ = copied
    seed = people(client, url)[SEED]
    version = client.get(f"{url}/people/{seed}").json()["version"]
    body = {"kind": "add_fact", "person": seed, "field": "title", "value": "Sir", "seen": version}
    assert client.post(f"{url}/edits", json=body).status_code == 201
    refused = client.post(f"{url}/edits", json={**body, "value": "Lord"})
    assert (refused.status_code, refused.json()["title"]) == (409, "Changed in the meantime")
    assert client.get(f"{url}/edits").json()["total"] == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "nothing"}, 422),
        ({"kind": "add_person"}, 422),
        ({"kind": "add_person", "name": "Zoe", "age": 3}, 422),
        ({"kind": "add_fact", "person": "nobody", "field": "title", "value": "Sir"}, 404),
        ({"kind": "add_fact", "person": "SEED", "field": "birth_date", "value": "long ago"}, 400),
        ({"kind": "add_fact", "person": "SEED", "field": "age", "value": "3"}, 422),
        ({"kind": "add_fact", "person": "SEED", "field": "title", "value": "Sir", "page": "No such page"}, 404),
        ({"kind": "remove", "id": "zzz"}, 400),
    ],
)
def test_a_change_that_makes_no_sense(
    client: httpx2.Client, copied: tuple[str, Path], body: dict[str, object], status: int
) -> None:
    """Such a request is refused with a problem, and the family is as it was."""
    url, _ = copied
    given = body | ({"person": people(client, url)[SEED]} if body.get("person") == "SEED" else {})
    reply = client.post(f"{url}/edits", json=given)
    assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json"), reply.text
    assert client.get(f"{url}/edits").json()["total"] == 0


def test_a_page_of_a_book_is_cited(client: httpx2.Client, copied: tuple[str, Path]) -> None:
    """A change may cite a page of the server's books, and the quote is then read on that page."""
    url, _ = copied
    seed = people(client, url)[SEED]
    cited = {"page": "Ann Pell", "quote": "English teacher"}
    body = {"kind": "add_fact", "person": seed, "field": "occupation", "value": "teacher", **cited}
    assert client.post(f"{url}/edits", json=body).status_code == 201
    fact = next(one for one in client.get(f"{url}/people/{seed}").json()["facts"] if one["value"] == "teacher")
    [evidence] = fact["evidence"]
    assert evidence["quote"] == "English teacher"
    assert "<mark" in client.get(evidence["read"], headers={"Accept": "text/html"}, follow_redirects=True).text
    assert client.get(f"{url}/verify").json()["holds"] is True


def test_files_are_attached_for_the_owner_only(
    there: Families, client: httpx2.Client, copied: tuple[str, Path]
) -> None:
    """A picture comes back without its position; a page stays plain text; others get neither files nor names."""
    url, _ = copied
    seed = people(client, url)[SEED]
    place = f"{url}/people/{seed}/attachments"
    for name, body, role in (("me.jpg", JPEG, "photo"), ("x.html", b"<script>alert(1)</script>", "transcript")):
        given = {"name": name, "role": role, "caption": "Me"}
        reply = client.post(place, content=body, params=given, headers=A_FILE)
        assert reply.status_code == 201, reply.text
    picture, page = sorted(client.get(place).json()["attachments"], key=lambda one: one["role"])
    sent = client.get(picture["url"])
    assert (sent.headers["content-type"], SECRET in sent.content) == ("image/jpeg", False)
    text = client.get(page["url"])
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert text.headers["content-disposition"].startswith("attachment")
    assert text.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in text.headers["content-security-policy"]
    assert client.post(place, content=b"MZ\0", params={"name": "me.png"}, headers=A_FILE).status_code == 400
    with there.served() as anybody:
        assert anybody.get(picture["url"]).status_code == 404
        assert anybody.get(place).json() == {"attachments": []}
        listed = anybody.get(f"{url}/edits").json()["edits"]
        assert [(one["kind"], one["details"], one["note"]) for one in listed] == [("attach", {}, "")] * 2
    assert client.post(f"{url}/edits", json={"kind": "detach", "id": page["id"]}).status_code == 201
    assert len(client.get(place).json()["attachments"]) == 1
    assert client.get(page["url"]).status_code == 404


@pytest.mark.skipif(os.name != "posix", reason="this system has no signals")
def test_a_family_is_edited_while_its_research_runs(there: Families, client: httpx2.Client) -> None:
    """A job works on the family, changes are made, and at the end both what it found and what was entered are there."""
    folder = there.folder / "busy"
    shutil.copytree(CaseRegistry(there.folder).folder(there.started), folder)
    url = f"/api/family/{case_id_of(folder)}"
    seed = next(iter(people(client, url).values()))
    before = client.get(url).json()
    job = client.post(f"{url}/run", json={})
    names = [f"Zoe {number}" for number in range(6)]
    problems: list[str] = []

    def enter() -> None:
        for name in names:
            body = {"kind": "add_relative", "person": seed, "role": "sibling", "name": name}
            reply = client.post(f"{url}/edits", json=body)
            problems.extend([] if reply.status_code == 201 else [reply.text])

    editor = threading.Thread(target=enter)
    editor.start()
    events = followed(client, job)
    editor.join()
    assert events[-1].data["state"] == "done"
    assert problems == []
    after = client.get(url).json()
    assert after["steps"] > before["steps"]
    assert set(names) <= set(people(client, url))
    assert client.get(f"{url}/verify").json()["holds"] is True
    shutil.rmtree(folder)


def test_a_locked_family_is_edited(client: httpx2.Client, copied: tuple[str, Path]) -> None:
    """The lock that research holds for as long as it runs does not keep the owner from editing."""
    url, folder = copied
    assert (folder / CASE_FILE).is_file()
    with locked_folder(folder):
        assert client.post(f"{url}/edits", json={"kind": "add_person", "name": "Zoe Marlow"}).status_code == 201
        assert client.post(f"{url}/run", json={"steps": 1}).status_code == 409
    assert "Zoe Marlow" in people(client, url)
