"""The routes of notes, of comparing and of exports: the same as the pages do, for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.diff.compared_runs import two_snapshots
from tests.web.servers import NO_RATE_LIMIT, http_client, running_server, server_context

from kiwiresearch.export.formats import FORMATS
from kiwiresearch.runs.note_file import NOTES
from kiwiresearch.web.app import make_app


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs over two snapshots of a book."""
    folder = tmp_path_factory.mktemp("runs")
    two_snapshots(folder)
    return folder


@pytest.fixture(scope="module")
def api(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A server whose runs they are."""
    home = tmp_path_factory.mktemp("home")
    environment = NO_RATE_LIMIT | {"KIWIRESEARCH_SERVE_RUNS": str(runs)}
    with (
        server_context(home, **environment) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        yield client


def test_a_note_has_its_whole_life_over_the_api(api: httpx2.Client, runs: Path) -> None:
    """Written, read, changed, taken away and brought back; the file keeps every step."""
    claim = api.get("/api/runs/old/claims", params={"limit": 1}).json()["claims"][0]
    body = {"target": {"kind": "claim", "id": claim["claim_id"]}, "verdict": "doubt", "reason": "No source."}
    made = api.post("/api/runs/old/notes", json=body)
    assert made.status_code == 201
    note = made.json()
    assert (note["about"], note["changed"]) == (claim["claim"], "")
    address = f"/api/runs/old/notes/{note['id']}"
    changed = api.put(address, json={"verdict": "correct", "reason": "Why", "correction": "How"}).json()
    assert (changed["id"], changed["correction"], changed["made"]) == (note["id"], "How", note["made"])
    assert api.delete(address).status_code == 200
    found = api.get("/api/runs/old/notes").json()
    assert (found["notes"], found["gone"], found["damaged"]) == ([], [changed], [])
    assert api.post(f"{address}/restore").json() == changed
    assert api.get("/api/runs/old/notes").json()["notes"] == [changed]
    assert len((runs / "old" / NOTES).read_text(encoding="utf-8").splitlines()) == 4


def test_a_note_that_was_changed_since_is_not_written_over(api: httpx2.Client) -> None:
    """A program that names the version it has read gets a conflict after changes by others; any other overwrites."""
    made = api.post("/api/runs/new/notes", json={"target": {"kind": "run"}, "verdict": "agree"}).json()
    address = f"/api/runs/new/notes/{made['id']}"
    body = {"verdict": "doubt", "reason": "One", "seen": made["version"]}
    changed = api.put(address, json=body).json()
    assert changed["version"] != made["version"]
    assert api.put(address, json=body).status_code == 200, "the same change, sent twice"
    late = api.put(address, json=body | {"reason": "Another"})
    assert (late.status_code, late.json()["title"]) == (409, "Note changed")
    assert late.json()["remedy"]
    (note,) = api.get("/api/runs/new/notes").json()["notes"]
    assert note["reason"] == "One"
    assert api.put(address, json=body | {"reason": "Another", "seen": note["version"]}).json()["reason"] == "Another"
    assert api.put(address, json={"verdict": "agree"}).json()["verdict"] == "agree"


WRONG = [
    ({"target": {"kind": "run"}, "verdict": "doubt"}, 400, "reason"),
    ({"target": {"kind": "run"}, "verdict": "praise"}, 422, ""),
    ({"target": {"kind": "claim", "id": "sha256:0"}, "verdict": "agree"}, 404, "no claim"),
    ({"target": {"kind": "page", "id": "zim://x/y"}, "verdict": "agree"}, 400, "not in any book of this research"),
    ({"target": {"kind": "run"}, "verdict": "agree", "reason": "x" * 2_001}, 422, ""),
    ({"verdict": "agree"}, 422, ""),
]


@pytest.mark.parametrize(("body", "status", "expected"), WRONG)
def test_an_invalid_note_is_refused_with_a_remedy(
    api: httpx2.Client, body: dict[str, object], status: int, expected: str
) -> None:
    reply = api.post("/api/runs/new/notes", json=body)
    assert reply.status_code == status, reply.text
    assert expected in reply.json()["detail"]
    assert reply.json()["remedy"]


def test_notes_of_no_run_are_not_found(api: httpx2.Client) -> None:
    assert api.get("/api/runs/none/notes").status_code == 404
    assert api.delete("/api/runs/old/notes/note-0").status_code == 404


def test_two_runs_are_compared(api: httpx2.Client) -> None:
    """Changed numbers come first, with both claims whole."""
    found = api.get("/api/compare", params={"old": "old", "new": "new"}).json()
    first = found["differences"][0]
    assert first["kind"] == "numbers"
    assert ("118 km" in first["old"]["claim"], "121 km" in first["new"]["claim"]) == (True, True)
    assert found["books"][0]["kind"] == "snapshot"
    assert found["total"] == sum(found["counts"][kind] for kind in ("numbers", "changed", "new", "gone"))
    assert (found["settings"], found["pages"]["both"]) == ([], 4)
    assert any("121 km" in text for text in found["statements"]["new"])


def test_differences_come_in_parts(api: httpx2.Client) -> None:
    query = {"old": "old", "new": "new", "kind": "changed", "limit": "1", "offset": "1"}
    found = api.get("/api/compare", params=query).json()
    assert [one["kind"] for one in found["differences"]] == ["changed"]
    assert found["total"] == found["counts"]["changed"] == 2


def test_runs_that_are_not_there_cannot_be_compared(api: httpx2.Client) -> None:
    assert api.get("/api/compare", params={"old": "old", "new": "none"}).status_code == 404
    assert api.get("/api/compare", params={"old": "old"}).status_code == 422


def test_a_run_is_exported_over_the_api(api: httpx2.Client) -> None:
    """Every format is listed with its address, and gives the file that the web page gives."""
    listed = api.get("/api/runs/old/export").json()
    assert [one["name"] for one in listed["formats"]] == list(FORMATS)
    by_name = {one["name"]: one for one in listed["formats"]}
    assert (by_name["obsidian"]["ending"], by_name["bibtex"]["with_notes"]) == (".zip", False)
    for one in listed["formats"]:
        # The others are made in no time, and the run is too small for a worksheet.
        if one["name"] not in ("zim", "pdf") and not one["name"].startswith("worksheet"):
            reply = api.get(one["url"])
            assert (reply.status_code, reply.content) == (200, api.get(f"/runs/old/export/{one['name']}").content)
            assert one["ending"] in reply.headers["content-disposition"]


@pytest.mark.parametrize(("path", "status"), [("old/export/odt", 400), ("none/export", 404), ("none/export/epub", 404)])
def test_an_export_that_cannot_be_had_says_what_can(api: httpx2.Client, path: str, status: int) -> None:
    """An unknown format or run is refused with what to do."""
    reply = api.get(f"/api/runs/{path}")
    assert reply.status_code == status
    assert reply.json()["remedy"]
