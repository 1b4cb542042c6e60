"""The search in the forms of SearXNG and of Open WebUI's external engine."""

from __future__ import annotations

import json
import subprocess

import httpx2
import pytest

FIELDS = {"url", "title", "content", "engine", "score", "category", "engines", "positions"}
AROUND = {
    "query", "number_of_results", "results", "answers", "corrections", "infoboxes", "suggestions",
    "unresponsive_engines",
}  # fmt: skip


def test_curl_gets_what_searxng_gives(server: str) -> None:
    """A program made for SearXNG finds its fields, best result first."""
    address = f"{server}/search?q=bronze+age&format=json&pageno=1&language=en-US&safesearch=1&categories=general"
    done = subprocess.run(["curl", "-sS", "--fail", address], capture_output=True, check=True, timeout=30)
    found = json.loads(done.stdout)
    assert set(found) >= AROUND
    assert found["query"] == "bronze age"
    assert all(set(row) >= FIELDS for row in found["results"])
    first = found["results"][0]
    assert first["title"] == "Bronze Age"
    assert first["url"].startswith(f"{server}/read/")
    assert first["engine"] == "kiwiresearch_en_sample"
    assert first["content"]
    assert found["number_of_results"] == len(found["results"]) <= 10


def test_clients_that_sort_by_score_keep_our_order(client: httpx2.Client) -> None:
    """Open WebUI sorts by score: the order stays ours."""
    rows = client.get("/search", params={"q": "collapse of trade", "format": "json"}).json()["results"]
    assert rows == sorted(rows, key=lambda row: -row["score"])
    assert [row["positions"] for row in rows] == [[place] for place in range(1, len(rows) + 1)]


def test_pages_follow_each_other(client: httpx2.Client) -> None:
    """The second page goes on where the first ends, and behind the last there is nothing."""
    first, second, far = (
        client.get("/search", params={"q": "bronze age trade", "format": "json", "pageno": page}).json()["results"]
        for page in (1, 2, 900)
    )
    assert second[0]["positions"] == [11]
    assert not {row["url"] for row in first} & {row["url"] for row in second}
    assert far == []


@pytest.mark.parametrize("form", ["html", "csv", "rss", ""])
def test_other_formats_are_refused_as_searxng_does(client: httpx2.Client, form: str) -> None:
    """A format that is switched off is forbidden."""
    assert client.get("/search", params={"q": "sunset", "format": form} if form else {"q": "sunset"}).status_code == 403


@pytest.mark.parametrize("query", ["", "   ", "?!", "\x00"])
def test_a_query_without_words_is_a_bad_request(client: httpx2.Client, query: str) -> None:
    """Nothing to look for is an error that says so."""
    reply = client.get("/search", params={"q": query, "format": "json"})
    assert reply.status_code == 400
    assert "The search is empty" in reply.json()["detail"]


def test_a_mistyped_word_is_corrected(client: httpx2.Client) -> None:
    """The corrected word is reported as a correction."""
    found = client.get("/search", params={"q": "bronce aeg colapse", "format": "json"}).json()
    assert isinstance(found["corrections"], list)
    assert isinstance(found["suggestions"], list)


def test_open_webui_searches_here(client: httpx2.Client, server: str) -> None:
    """The external engine of Open WebUI gets links, titles and snippets, as many as it wants."""
    reply = client.post(
        "/owui/search", json={"query": "bronze age", "count": 3}, headers={"Authorization": "Bearer none"}
    )
    rows = reply.json()
    assert len(rows) == 3
    assert all(set(row) == {"link", "title", "snippet"} for row in rows)
    assert rows[0]["title"] == "Bronze Age"
    assert rows[0]["link"].startswith(f"{server}/read/")


@pytest.mark.parametrize(
    "body", [{}, {"query": "x", "count": 0}, {"query": "x", "count": "many"}, {"query": "w" * 3000}]
)
def test_an_invalid_body_is_refused(client: httpx2.Client, body: dict[str, object]) -> None:
    """A body that is not valid is refused."""
    assert client.post("/owui/search", json=body).status_code == 422


def test_a_huge_count_is_bounded(client: httpx2.Client) -> None:
    """At most a hundred results are returned, however many are asked for."""
    assert len(client.post("/owui/search", json={"query": "bronze", "count": 10**6}).json()) <= 100
