"""What frames every page: the search box with its suggestions, shortcuts, the app, and a random page."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
from tests.web.desk.conftest import ARun
from tests.web.family_server import SEED, Families

from kiwiresearch.web.desk.app_shell import SHELL


def suggested(client: httpx2.Client, query: str, **more: Any) -> list[dict[str, str]]:
    reply = client.get("/suggest", params={"q": query, **more})
    assert reply.status_code == 200
    return list(reply.json()["suggestions"])


def test_the_box_suggests_pages_by_title(client: httpx2.Client) -> None:
    """Each suggestion is a title and the address of its page; one word of a title is enough."""
    found = suggested(client, "suns")
    assert found[0]["text"] == "Sunset"
    assert client.get(found[0]["address"]).status_code == 200
    assert suggested(client, "") == suggested(client, "  ") == []


def test_the_box_suggests_the_readers_own_work(a_run: ARun) -> None:
    """Questions, research and notes that contain the words come after the pages, each labelled with its kind."""
    client = a_run.client
    client.get("/ask", params={"q": "Why did the Bronze Age collapse happen?"})
    found = {one["detail"]: one for one in suggested(client, "bronze collapse")}
    assert found["brief"]["address"].startswith("/runs/bronze-age-collapse")  # the latest one of this server
    assert found["question"]["text"] == "Why did the Bronze Age collapse happen?"
    assert client.get(found["question"]["address"]).status_code == 200
    only_pages = suggested(client, "bronze collapse", pages_only=True)
    assert not {"brief", "question"} & {one["detail"] for one in only_pages}
    assert found["brief"]["detail"] not in json.dumps(suggested(client, "bronze xqzzl"))


def test_the_box_suggests_notes(a_run: ARun) -> None:
    """A note is found by its own words, and leads to the notes of its run."""
    body = {"target": {"kind": "run"}, "verdict": "doubt", "reason": "Compare the tree-ring dates."}
    written = a_run.client.post(f"/api/runs/{a_run.id}/notes", json=body)
    assert written.status_code in (200, 201), written.text
    (found,) = [one for one in suggested(a_run.client, "tree-ring dates") if one["detail"].startswith("note")]
    assert found["text"] == "Compare the tree-ring dates."
    assert found["address"] == f"/runs/{a_run.id}/notes"
    assert "Bronze Age collapse" in found["detail"]
    a_run.client.delete(f"/api/runs/{a_run.id}/notes/{written.json()['id']}")


def test_families_are_suggested_only_to_their_owner(there: Families) -> None:
    """Names of a family may be those of living people, so others get none."""
    with there.served(family_owner=True) as owner:
        assert [one["address"] for one in suggested(owner, SEED) if one["detail"] == "family"] == [
            f"/family/{there.done}"
        ]
    with there.served() as reader:
        assert [one for one in suggested(reader, SEED) if one["detail"] == "family"] == []


@pytest.mark.parametrize("path", ["/ask", "/research", "/family", "/shortcuts"])
def test_every_page_has_one_search_box(client: httpx2.Client, path: str) -> None:
    """It works without a script: a form that sends its words to /go."""
    page = client.get(path).text
    assert len(re.findall(r'<form class="top-search" action="/go"', page)) == 1


def test_home_and_search_have_their_own_box(client: httpx2.Client) -> None:
    """There the box of the header would be a second one."""
    assert "top-search" not in client.get("/").text
    assert "top-search" not in client.get("/find").text


def test_a_random_page(client: httpx2.Client) -> None:
    """The link leads to an article of a book; an unknown book is refused."""
    for _ in range(5):
        reply = client.get("/random")
        assert reply.status_code == 303
        assert reply.headers["location"].startswith("/page/")
        assert client.get(reply.headers["location"]).status_code == 200
    assert client.get("/random", params={"book": "xqzzl"}).status_code == 404


def test_the_app_can_be_installed(client: httpx2.Client) -> None:
    """The manifest names an icon that is there, and the worker keeps only files that are there and never a page."""
    manifest = client.get("/manifest.webmanifest")
    assert manifest.headers["content-type"] == "application/manifest+json"
    assert all(client.get(icon["src"]).status_code == 200 for icon in manifest.json()["icons"])
    worker = client.get("/service-worker.js")
    assert worker.headers["content-type"].startswith("text/javascript")
    shell = json.loads(re.findall(r"const SHELL = (\[.*\]);", worker.text)[0])
    assert len(shell) == len(SHELL) + 1
    assert all(client.get(path).status_code == 200 for path in shell)
    assert {path for path in shell if not path.startswith("/static/")} == {"/offline"}


def test_the_page_for_a_lost_server_is_complete_in_itself(client: httpx2.Client) -> None:
    """All that it loads is kept by the worker."""
    page = client.get("/offline").text
    loaded = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page))
    shell = json.loads(re.findall(r"const SHELL = (\[.*\]);", client.get("/service-worker.js").text)[0])
    assert loaded <= set(shell)


def test_shortcuts_are_listed(client: httpx2.Client) -> None:
    """The page has every key, and the sheet that a script shows is the same list."""
    sheet = client.get("/shortcuts/sheet").text
    assert sheet.strip() in client.get("/shortcuts").text
    assert sheet.count("<dt>") == 10
