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
from selectolax.lexbor import LexborHTMLParser
from tests.web.desk.conftest import ARun

from kiwiresearch.export import make_run_worksheet, read_findings
from kiwiresearch.export.exporter import export
from kiwiresearch.export.formats import FORMATS
from kiwiresearch.export.pdf import has_browser
from kiwiresearch.messages.catalogue import LANGUAGES, catalogue_in
from kiwiresearch.runs.finished_run import Run
from kiwiresearch.runs.note_file import NOTES
from kiwiresearch.runs.notes import NoteOpinion, NoteTarget, add_note
from kiwiresearch.web.exports import content_disposition

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MADE_HERE = [form for form in FORMATS if form != "pdf" or has_browser()]
"""The formats for which this machine has all programs."""
KEPT = {
    "markdown": ("bronze-age-collapse.md", "text/markdown; charset=utf-8"),
    "html": ("bronze-age-collapse.html", "text/html; charset=utf-8"),
    "docx": ("bronze-age-collapse.docx", DOCX),
    "pdf": ("bronze-age-collapse.pdf", "application/pdf"),
    "worksheet": ("bronze-age-collapse-brief-worksheet.html", "text/html; charset=utf-8"),
    "worksheet-docx": ("bronze-age-collapse-brief-worksheet.docx", DOCX),
    "worksheet-markdown": ("bronze-age-collapse-brief-worksheet.md", "text/markdown; charset=utf-8"),
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
    assert sorted(links) == sorted(MADE_HERE)
    assert f'<a href="/runs/{a_run.id}/export" aria-current="page">' in text


def test_an_export_that_fails_shows_a_page(a_run: ARun) -> None:
    """The response decides whether it is saved: with a download link, a browser would show no error."""
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
    assert "is damaged or was changed" in reply.text
    assert "Research the topic again." in reply.text
    assert '<a href="/runs/torn">Back to the research</a>' in reply.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_use_of_a_format_is_described_in_the_readers_language(a_run: ARun, language: str) -> None:
    """Names and uses come from the catalogue."""
    words = catalogue_in(language)
    text = shown(a_run, **{"Accept-Language": language})
    for name in FORMATS:
        for part in ("name", "what"):
            assert words(f"exports.formats.{name}.{part}").split("’")[0] in text


def test_a_pdf_is_not_offered_without_a_browser(a_run: ARun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says what is missing instead, and the address answers with what to install."""
    monkeypatch.setenv("PATH", "")
    text = shown(a_run)
    assert 'id="take-pdf"' not in text
    assert catalogue_in("en")("exports.needs_browser") in text
    reply = a_run.client.get(f"/api/runs/{a_run.id}/export/pdf")
    assert reply.status_code == 503
    assert "Install one of them" in reply.json()["remedy"]


@pytest.mark.parametrize("form", MADE_HERE)
def test_a_format_is_sent_as_a_file(a_run: ARun, form: str) -> None:
    """Under a name that says the topic, with its type, and never shown as a page of this server."""
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


@pytest.mark.parametrize("form", ["odt", "EPUB", "x" * 40, "..%2f..%2fbrief.json"])
def test_an_unknown_format_is_refused(a_run: ARun, form: str) -> None:
    """With the names of those that are known."""
    reply = a_run.client.get(f"/runs/{a_run.id}/export/{form}")
    assert reply.status_code in (400, 404)
    if reply.status_code == 400:
        assert "markdown, html, docx" in reply.json()["remedy"]


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
def test_any_topic_gives_a_valid_file_name(name: str, plain: str) -> None:
    """One in ASCII for old browsers, and the original one for others."""
    assert content_disposition(name) == f"attachment; filename=\"{plain}\"; filename*=UTF-8''{percent(name, safe='')}"


def test_pages_to_keep_can_be_printed(a_run: ARun) -> None:
    """One button each, hidden on paper; the page of exports has files instead."""
    ref = a_run.client.get("/api/page", params={"title": "Late Bronze Age collapse"}).json()
    question = "/ask?q=When+was+Einstein+born%3F"
    for place in (f"/runs/{a_run.id}", f"/runs/{a_run.id}/timeline", f"/page/{ref['book']}/{ref['path']}", question):
        (button,) = LexborHTMLParser(a_run.client.get(place).text).css("[data-print]")
        assert "no-print" in str(button.attributes["class"])
        assert button.text().strip() == "Print"
    assert "data-print" not in shown(a_run)


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_the_questions_are_shown_before_they_are_downloaded(a_run: ARun, language: str) -> None:
    """As the file numbers them, without their answers."""
    tree = LexborHTMLParser(shown(a_run, **{"accept-language": language}))
    worksheet = make_run_worksheet(read_findings(Run.load(a_run.path)))
    listed = [" ".join(one.text().split()) for one in tree.css(".worksheet-preview li")]
    assert len(listed) == len(worksheet.questions) >= 5
    for line, question in zip(listed, worksheet.in_order, strict=True):
        assert " ".join(question.prompt.split()) in line
    summary = tree.css_first(".worksheet-preview summary")
    assert summary is not None
    assert catalogue_in(language)("exports.preview", n=worksheet.count) in summary.text()


def test_a_page_gives_a_worksheet(a_run: ARun) -> None:
    """By a link where it is read, which shows the questions first, and over the API; the same bytes both times."""
    ref = a_run.client.get("/api/page", params={"title": "Late Bronze Age collapse"}).json()
    query = {"book": ref["book"], "path": ref["path"]}
    text = a_run.client.get(f"/page/{ref['book']}/{ref['path']}").text
    (link,) = re.findall(r'href="(/worksheet[^"]+)"', text)
    shown = LexborHTMLParser(a_run.client.get(link.replace("&amp;", "&")).text)
    assert len(shown.css("main ol li")) >= 5
    files = [one.attributes["href"] for one in shown.css("main a.button")]
    assert [file.partition("format=")[2] for file in files if file] == ["docx", "html", "markdown"]
    page = a_run.client.get(files[1] or "")
    assert page.status_code == 200
    assert "content-disposition" not in page.headers, "the page to print opens in the browser"
    assert "sandbox" in page.headers["content-security-policy"]
    file = a_run.client.get("/api/worksheet", params=query)
    assert file.content == page.content
    assert 'filename="late-bronze-age-collapse-article-worksheet.html"' in file.headers["content-disposition"]
    for form, kind in (("docx", DOCX), ("markdown", "text/markdown; charset=utf-8")):
        reply = a_run.client.get("/api/worksheet", params=query | {"format": form})
        assert (reply.status_code, reply.headers["content-type"]) == (200, kind)
    assert a_run.client.get("/api/worksheet", params=query | {"format": "pdf"}).status_code == 422
    assert a_run.client.get("/api/worksheet", params={"title": "No page of this name"}).status_code == 404


def test_a_teacher_chooses_the_questions_of_a_worksheet(a_run: ARun) -> None:
    """How many and of which kinds: on the page, in its files, and over the API, of an article and of a brief."""
    ref = a_run.client.get("/api/page", params={"title": "Late Bronze Age collapse"}).json()
    query = {"book": ref["book"], "path": ref["path"], "questions": "3", "kind": ["numbers", "words"]}
    shown = LexborHTMLParser(a_run.client.get("/worksheet", params=query).text)
    assert len(shown.css("main ol li")) == 3
    assert [one.attributes["value"] for one in shown.css("input[name=kind][checked]")] == [
        "numbers",
        "words",
    ]
    files = [one.attributes["href"] or "" for one in shown.css("main a.button")]
    assert all("questions=3&kind=numbers&kind=words" in file for file in files)
    for text in (
        a_run.client.get("/api/worksheet", params=query | {"format": "markdown"}).text,
        a_run.client.get(f"/api/runs/{a_run.id}/export/worksheet-markdown", params=query).text,
    ):
        sheet = text.partition("## Answer sheet")[0]
        assert "## Answer the questions" not in sheet
        assert sheet.count("\n**") == 3
    assert a_run.client.get("/api/worksheet", params=query | {"kind": "riddles"}).status_code == 422
    many = a_run.client.get("/worksheet", params=query | {"questions": "30"}).text
    assert re.search(r"There are only \d+ good questions of these kinds\.", many)
    nothing = a_run.client.get("/worksheet", params=query | {"kind": ["matching"]})
    assert (nothing.status_code, "Choose more kinds" in nothing.text) == (200, True)


def test_the_questions_of_a_brief_are_chosen_where_it_is_exported(a_run: ARun) -> None:
    """The preview and the files have the questions that were chosen."""
    query = {"questions": "3", "kind": ["numbers", "words"]}
    shown = LexborHTMLParser(a_run.client.get(f"/runs/{a_run.id}/export", params=query).text)
    assert len(shown.css(".worksheet-preview li")) == 3
    (link,) = (one.attributes["href"] or "" for one in shown.css("#take-worksheet-markdown"))
    assert link.endswith("/export/worksheet-markdown?questions=3&kind=numbers&kind=words")
    assert a_run.client.get(link).text.partition("## Answer sheet")[0].count("\n**") == 3
