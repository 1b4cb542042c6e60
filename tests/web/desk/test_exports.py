"""The page of exports: every format with what it is for, and files that a browser keeps."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote as percent
from zipfile import ZipFile

import httpx2
import pytest
from tests.web.desk.conftest import ARun

from kiwiresearch.export.exporter import export
from kiwiresearch.export.formats import FORMATS
from kiwiresearch.messages.catalogue import LANGUAGES, catalogue_in
from kiwiresearch.runs.note_file import NOTES
from kiwiresearch.runs.notes import NoteOpinion, NoteTarget, add_note
from kiwiresearch.web.exports import content_disposition

KEPT = {
    "markdown": ("bronze-age-collapse.md", "text/markdown; charset=utf-8"),
    "html": ("bronze-age-collapse.html", "text/html; charset=utf-8"),
    "obsidian": ("bronze-age-collapse-obsidian.zip", "application/zip"),
    "epub": ("bronze-age-collapse.epub", "application/epub+zip"),
    "zim": ("bronze-age-collapse.zim", "application/x-zim"),
    "bibtex": ("bronze-age-collapse-sources.bib", "application/x-bibtex; charset=utf-8"),
    "ris": ("bronze-age-collapse-sources.ris", "application/x-research-info-systems; charset=utf-8"),
    "csl-json": ("bronze-age-collapse-sources.json", "application/vnd.citationstyles.csl+json"),
    "claims-csv": ("bronze-age-collapse-claims.csv", "text/csv; charset=utf-8"),
    "graphml": ("bronze-age-collapse-graph.graphml", "application/graphml+xml"),
    "gexf": ("bronze-age-collapse-graph.gexf", "application/gexf+xml"),
    "csv": ("bronze-age-collapse-csv.zip", "application/zip"),
    "kiwix-bookmarks": ("bronze-age-collapse-bookmarks.xml", "application/xml"),
}


@pytest.fixture
def a_note(a_run: ARun) -> Iterator[str]:
    """A note on the run, taken away with its file when the test is over."""
    file = a_run.path / NOTES
    before = file.read_bytes() if file.exists() else None
    add_note(a_run.path, NoteTarget("run"), NoteOpinion("agree", "Ungainsayable."), now="2026-02-03T00:00:00+00:00")
    yield "Ungainsayable."
    file.unlink() if before is None else file.write_bytes(before)


def shown(run: ARun, **headers: str) -> str:
    reply = run.client.get(f"/runs/{run.id}/export", headers=headers)
    assert reply.status_code == 200, reply.text
    return reply.text


def taken(run: ARun, form: str) -> httpx2.Response:
    reply = run.client.get(f"/runs/{run.id}/export/{form}")
    assert reply.status_code == 200, reply.text
    return reply


def test_every_format_is_offered_once(a_run: ARun) -> None:
    """In one group each, with a link that a browser keeps as a file, and the tab is marked."""
    assert sorted(FORMATS) == sorted(KEPT)
    text = shown(a_run)
    links = re.findall(rf'href="/runs/{a_run.id}/export/([a-z-]+)" id="take-', text)
    assert sorted(links) == sorted(FORMATS)
    assert f'<a href="/runs/{a_run.id}/export" aria-current="page">' in text


def test_a_file_that_cannot_be_made_is_told_on_a_page(a_run: ARun) -> None:
    """The answer alone decides whether it is kept: of a link marked as a download, a browser shows no error."""
    assert " download" not in shown(a_run)
    copy = a_run.runs / "torn"
    shutil.copytree(a_run.path, copy)
    (copy / "claims.jsonl").write_text("{", encoding="utf-8")
    try:
        reply = a_run.client.get("/runs/torn/export/epub", headers={"Accept": "text/html"})
    finally:
        shutil.rmtree(copy)
    assert reply.status_code == 500
    assert "content-disposition" not in reply.headers
    assert "is not as it was written" in reply.text
    assert "Research the topic again." in reply.text
    assert '<a href="/runs/torn">Back to the run</a>' in reply.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_format_is_for_is_said_in_the_readers_language(a_run: ARun, language: str) -> None:
    """Names and uses come from the catalogue."""
    words = catalogue_in(language)
    text = shown(a_run, **{"Accept-Language": language})
    for name in FORMATS:
        for part in ("name", "what"):
            assert words(f"exports.formats.{name}.{part}").split("’")[0] in text


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_iskept_as_a_file(a_run: ARun, form: str) -> None:
    """Under a name that tells the topic, with its type, and never shown as a page of this server."""
    name, kind = KEPT[form]
    reply = taken(a_run, form)
    assert reply.headers["content-type"] == kind
    assert reply.headers["content-disposition"] == f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in reply.headers["content-security-policy"]
    assert reply.content


@pytest.mark.parametrize("form", ["markdown", "epub", "zim", "claims-csv", "gexf"])
def test_the_file_is_what_the_command_writes(a_run: ARun, tmp_path: Path, form: str) -> None:
    """Byte for byte, and nothing is left in the run's folder."""
    before = sorted(a_run.path.rglob("*"))
    content = taken(a_run, form).content
    assert sorted(a_run.path.rglob("*")) == before
    assert export(a_run.path, form, tmp_path)[0].read_bytes() == content


def test_several_files_are_one_zip(a_run: ARun) -> None:
    """Notes lie in a folder of the topic's name; two tables lie side by side."""
    with ZipFile(io.BytesIO(taken(a_run, "obsidian").content)) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    assert names[:2] == ["Bronze Age collapse/Index.md", "Bronze Age collapse/Brief.md"]
    with ZipFile(io.BytesIO(taken(a_run, "csv").content)) as archive:
        assert archive.namelist() == ["nodes.csv", "edges.csv"]


def test_notes_go_along(a_run: ARun, a_note: str) -> None:
    """The page says how many there are and which formats take them, and they do."""
    text = shown(a_run)
    assert catalogue_in("en")("exports.notes", n=1) in text
    assert text.count(catalogue_in("en")("exports.with_notes")) == sum(form.with_notes for form in FORMATS.values())
    assert a_note in taken(a_run, "markdown").text
    assert a_note in taken(a_run, "html").text


def test_without_notes_the_page_says_so(a_run: ARun) -> None:
    """And no format claims to take any."""
    text = shown(a_run)
    assert catalogue_in("en")("exports.no_notes") in text
    assert catalogue_in("en")("exports.with_notes") not in text


@pytest.mark.parametrize(
    "address", ["/runs/nothing/export", "/runs/nothing/export/epub", "/runs/..%2f..%2fetc/export/epub"]
)
def test_a_run_that_is_not_there(client: httpx2.Client, address: str) -> None:
    """Is not found, and the reader hears where the runs are."""
    reply = client.get(address)
    assert reply.status_code == 404


@pytest.mark.parametrize("form", ["pdf", "EPUB", "x" * 40, "..%2f..%2fbrief.json"])
def test_an_unknown_format_is_refused(a_run: ARun, form: str) -> None:
    """With the names of those that are known."""
    reply = a_run.client.get(f"/runs/{a_run.id}/export/{form}")
    assert reply.status_code in (400, 404)
    if reply.status_code == 400:
        assert "markdown, html, obsidian" in reply.json()["remedy"]


def test_a_damaged_run_says_what_to_do(a_run: ARun) -> None:
    """A brief that is gone is named without the place where it was; what does not need it can still be had."""
    file = a_run.path / "brief.json"
    content = file.read_bytes()
    file.unlink()
    try:
        reply = a_run.client.get(f"/runs/{a_run.id}/export/epub")
        assert reply.status_code == 500
        assert "'brief.json'" in reply.json()["detail"]
        assert reply.json()["remedy"]
        assert str(a_run.path) not in reply.text
        assert taken(a_run, "graphml").content
    finally:
        file.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "plain"),
    [("nile.md", "nile.md"), ("nil-flüße.md", "nil-fle.md"), ("日本.zim", "research.zim"), ('a"b.md', "ab.md")],
)
def test_any_topic_gives_a_name_that_headers_can_hold(name: str, plain: str) -> None:
    """One in ASCII for old browsers, and its own for the rest."""
    assert content_disposition(name) == f"attachment; filename=\"{plain}\"; filename*=UTF-8''{percent(name, safe='')}"
