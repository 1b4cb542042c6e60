"""The pictures of a brief on the desk: shown beside its parts, at an address of the run, and nothing but pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.runs.illustrated_runs import ALT, CAPTION, CART, MAP, an_illustrated_book
from tests.verify.verified_runs import changed
from tests.web.desk.conftest import ARun, finished
from tests.web.servers import NO_RATE_LIMIT, browser_client, running_server, server_context

from kiwiresearch.web.app import make_app
from kiwiresearch.workspace.output_folders import runs_folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ARun]:
    """A run over a book with pictures, on a server of its own."""
    place = tmp_path_factory.mktemp("pictures")
    book = an_illustrated_book(place / "road.zim")
    with (
        server_context(place / "home", str(book), **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        browser_client(address) as client,
    ):
        name = finished(client, topic="Salt road")
        yield ARun(client, context, name, runs_folder(context.workspace) / name)


def place_of(run: ARun, content: bytes) -> str:
    return f"/runs/{run.id}/pictures/{sha256(content).hexdigest()}"


def test_the_brief_shows_its_pictures(run: ARun) -> None:
    """That of the summary and that of a part, with words for those who cannot see them and a link to their page."""
    tree = LexborHTMLParser(run.client.get(f"/runs/{run.id}").text)
    shown = [one.attributes for one in tree.css("figure.picture img")]
    assert [(one["src"], one["alt"]) for one in shown] == [
        (place_of(run, MAP), "Salt road"),
        (place_of(run, CART), ALT),
    ]
    assert tree.css_first("section[aria-labelledby=summary] figure.picture") is not None
    caption = tree.css_first("section[aria-labelledby=body] figcaption")
    assert caption is not None
    assert " ".join(caption.text().split()) == f"{CAPTION} Salt road"
    link = caption.css_first("a")
    assert link is not None
    assert run.client.get(link.attributes["href"] or "").status_code == 200


@pytest.mark.parametrize("content", [MAP, CART])
def test_a_picture_has_an_address_of_the_run(run: ARun, content: bytes) -> None:
    """As what it is, and never guessed to be anything else; the policy of the page lets it in, and nothing outside."""
    reply = run.client.get(place_of(run, content))
    assert (reply.status_code, reply.content, reply.headers["content-type"]) == (200, content, "image/png")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "img-src 'self'" in run.client.get(f"/runs/{run.id}").headers["content-security-policy"]


@pytest.mark.parametrize("name", ["0" * 64, "x", "..%2Fbrief.json", "x" * 65])
def test_no_other_address_leads_to_anything(run: ARun, name: str) -> None:
    assert run.client.get(f"/runs/{run.id}/pictures/{name}").status_code in {404, 422}


@pytest.mark.parametrize("content", [b"{}", b"{", b'{"a": "b"}', None])
def test_pictures_that_are_gone_leave_the_brief_readable(run: ARun, content: bytes | None) -> None:
    """A damaged file is reported when its picture is requested, without an internal error."""
    with changed(run.path / "pictures.json", content):
        assert run.client.get(f"/runs/{run.id}").status_code == 200
        reply = run.client.get(place_of(run, CART))
        assert reply.status_code >= 400
        assert "pictures.json" in reply.text


def test_the_report_shows_them_where_the_server_gives_it(run: ARun) -> None:
    """Its pictures are inside, and its policy allows just these; the file of pictures is offered with the others."""
    reply = run.client.get(f"/api/runs/{run.id}/files/report.html")
    assert "img-src data:" in reply.headers["content-security-policy"]
    assert '<img src="data:image/png;base64,' in reply.text
    files = run.client.get(f"/api/runs/{run.id}").json()["files"]
    kept = run.client.get(files["pictures.json"])
    assert set(json.loads(kept.text)) == {sha256(one).hexdigest() for one in (MAP, CART)}
