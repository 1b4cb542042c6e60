"""Notes where a desk has users: each is somebody's, and only they and owners change it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.diff.compared_runs import run_over, snapshot
from tests.web.server_with_users import UserServer

from kiwiresearch.runs.note_file import NOTES
from kiwiresearch.workspace.output_folders import runs_folder

API = "/api/runs/road/notes"
DOUBT: dict[str, Any] = {"target": {"kind": "run"}, "verdict": "doubt", "reason": "No source."}


@pytest.fixture(scope="module")
def run(people: UserServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on a server."""
    book = snapshot(tmp_path_factory.mktemp("book") / "road.zim", "2026-01-01")
    return run_over(book, runs_folder(people.context.workspace) / "road", max_pages=1)


@pytest.fixture
def notes(run: Path) -> Iterator[None]:
    """No notes before, and none after."""
    yield
    (run / NOTES).unlink(missing_ok=True)


def sent(people: UserServer, name: str, method: str, address: str = "", **body: Any) -> httpx2.Response:
    with people.client(name) as client:
        return client.request(method, API + address, json=body or None)


@pytest.mark.usefixtures("notes")
def test_each_has_a_note_of_their_own(people: UserServer) -> None:
    """Two who say the same of the same in the same moment have a note each, with their names in it."""
    made = [sent(people, name, "POST", **DOUBT).json() for name in ("remy", "ruth")]
    found = sent(people, "rita", "GET").json()["notes"]
    assert [note["author"] for note in found] == ["remy", "ruth"]
    assert found == made
    with people.client("rita") as client:
        export = client.get("/api/runs/road/export/markdown")
    assert export.status_code == 200, export.text
    assert "Doubted** by remy (" in export.text
    assert "Doubted** by ruth (" in export.text


@pytest.mark.usefixtures("run")
def test_readers_get_no_worksheet(people: UserServer) -> None:
    """Readers may be pupils, and a worksheet has its answers; researchers get it, of a run and of a page."""
    places = (
        "/api/runs/road/export/worksheet-markdown",
        "/runs/road/export/worksheet",
        "/api/worksheet?title=Sunset",
        "/worksheet",
    )
    with people.client("rita") as client:
        assert [client.get(place).status_code for place in places] == [403] * len(places)
        formats = client.get("/api/runs/road/export").json()["formats"]
        assert not [one["name"] for one in formats if "worksheet" in one["name"]]
        shown = client.get("/runs/road/export").text
        assert "markdown" in shown
        assert "worksheet" not in shown
        assert "/worksheet" not in client.get("/").text
    with people.client("remy") as client:
        assert 403 not in [client.get(place).status_code for place in places]
        assert "worksheet" in client.get("/runs/road/export").text
        assert "/runs/road/export#for-teach" in client.get("/worksheet").text


@pytest.mark.usefixtures("notes")
def test_only_its_author_and_owners_change_a_note(people: UserServer) -> None:
    """Another is refused and nothing is written; what an owner changes stays its author's, and says who changed it."""
    note = sent(people, "remy", "POST", **DOUBT).json()
    address = f"/{note['id']}"
    for method, more in (("PUT", ""), ("DELETE", ""), ("POST", "/restore")):
        body = {"verdict": "agree"} if method == "PUT" else {}
        refused = sent(people, "ruth", method, address + more, **body)
        assert (refused.status_code, "Only 'remy' and owners can do this." in refused.text) == (403, True)
    assert sent(people, "rita", "GET").json()["notes"] == [note]
    changed = sent(people, "olga", "PUT", address, verdict="agree").json()
    assert (changed["author"], changed["editor"]) == ("remy", "olga")
    again = sent(people, "remy", "PUT", address, verdict="agree", reason="Well.").json()
    assert (again["author"], "editor" in again) == ("remy", False)
    assert sent(people, "remy", "DELETE", address).status_code == 200


@pytest.mark.usefixtures("notes")
def test_the_desk_names_the_author_and_offers_nobody_else_to_change_it(people: UserServer) -> None:
    """The forms that change a note are on its author's page and on an owner's."""
    note = sent(people, "remy", "POST", **DOUBT).json()
    form = f"/runs/road/notes/{note['id']}/remove"
    pages = {}
    for name in ("remy", "ruth", "olga"):
        with people.browser(name) as browser:
            pages[name] = browser.get("/runs/road/notes").text
            if name == "ruth":
                assert browser.post(form).status_code == 403
    assert all("by remy</span>" in page for page in pages.values())
    assert {name for name, page in pages.items() if form in page} == {"remy", "olga"}


@pytest.mark.usefixtures("notes")
def test_a_new_user_of_a_name_does_not_own_its_old_notes(people: UserServer, run: Path) -> None:
    """A note older than its author's account belongs to somebody else of that name; so does one without an author."""
    for author in ("ruth", ""):
        note = sent(people, "ruth", "POST", **DOUBT).json()
        text = (run / NOTES).read_text(encoding="utf-8")
        old = text.replace(note["made"], "2001-01-01T00:00:00+00:00").replace('"author":"ruth"', f'"author":"{author}"')
        (run / NOTES).write_text(old, encoding="utf-8")
        assert sent(people, "ruth", "DELETE", f"/{note['id']}").status_code == 403
        assert sent(people, "olga", "DELETE", f"/{note['id']}").status_code == 200
        (run / NOTES).write_text("", encoding="utf-8")
