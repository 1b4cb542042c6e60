"""What a run found out as files to read: Markdown, a web page, and a table of its claims."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.brief.briefs import BOOK, a_claim, bronze_age, jdn, nothing, of_words
from tests.export.exported_runs import GRAPH_FORMATS, PACKED, WORKSHEETS, a_read_run, noted

from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.report_html import report_page
from kiwiresearch.document.markdown import markdown
from kiwiresearch.errors import BadUsage, RunDamaged
from kiwiresearch.export.exporter import export
from kiwiresearch.export.formats import FORMATS
from kiwiresearch.runs.notes import NoteOpinion, NoteTarget, add_note, read_notes, set_gone
from kiwiresearch.zim.libzim import LibzimArchive

READ_FORMATS = [to for to in FORMATS if to not in (*GRAPH_FORMATS, "pdf", *WORKSHEETS)]
"""Those that need no other program; worksheets and PDF files have tests of their own."""
WITH_NOTES = ("markdown", "html", "obsidian", "epub", "zim", "claims-csv")


def table(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_bytes().decode("utf-8-sig"), newline=""), strict=True))


def test_markdown_is_the_report_and_nothing_else(tmp_path: Path) -> None:
    """Without notes the file is the report as it is passed on, letter by letter."""
    (file,) = export(a_read_run(tmp_path), "markdown")
    assert (file.name, file.read_text(encoding="utf-8")) == (
        "brief.md",
        markdown(brief_document(bronze_age(), is_shared=True)),
    )


def test_the_page_is_the_report_and_nothing_else(tmp_path: Path) -> None:
    """The same for HTML, which loads nothing."""
    (file,) = export(a_read_run(tmp_path), "html")
    text = file.read_text(encoding="utf-8")
    assert (file.name, text) == ("brief.html", report_page(bronze_age(), is_shared=True))
    assert "default-src 'none'" in text
    assert "<script" not in text


@pytest.mark.parametrize("to", ["html", "bibtex"])
def test_ages_of_the_earth_and_the_sky_are_days_too(tmp_path: Path, to: str) -> None:
    """Fossils are 3.4 thousand million years old, stars older, and such a run is exported like any other."""
    brief = bronze_age()
    (last, *rest) = brief.timeline
    old = replace(last, when="13.8 billion years ago", earliest=jdn(-14_000_000_000), latest=jdn(-13_600_000_000))
    (file,) = export(a_read_run(tmp_path, replace(brief, timeline=(old, *rest))), to)
    assert file.stat().st_size > 0


@pytest.mark.parametrize("to", ["markdown", "html"])
def test_notes_are_at_the_end(tmp_path: Path, to: str) -> None:
    """Behind the brief, with what they are about, their reason and how it should read."""
    claim = next(iter(bronze_age().claims.values()))
    text = export(noted(a_read_run(tmp_path), claim), to)[0].read_text(encoding="utf-8")
    _, _, notes = text.rpartition("Reader notes")
    assert len(notes) < len(text) / 2
    for words in (claim.text, "The date is from an old book.", "Ugarit, not Ugaritt", "Well done.", "2026-02-03"):
        assert words in notes


def test_the_page_lists_its_notes_among_its_parts(tmp_path: Path) -> None:
    """The contents lead to them."""
    claim = next(iter(bronze_age().claims.values()))
    text = export(noted(a_read_run(tmp_path), claim), "html")[0].read_text(encoding="utf-8")
    assert '<a href="#notes">' in text
    assert 'id="notes"' in text


def test_a_note_that_was_taken_away_is_not_exported(tmp_path: Path) -> None:
    """Only what the reader still says goes along."""
    claim = next(iter(bronze_age().claims.values()))
    run = noted(a_read_run(tmp_path), claim)
    for note in read_notes(run).notes:
        set_gone(run, note.id, now="2026-03-01T00:00:00+00:00", gone=True)
    assert export(run, "markdown")[0].read_text(encoding="utf-8") == markdown(
        brief_document(bronze_age(), is_shared=True)
    )


def test_each_claim_is_a_row(tmp_path: Path) -> None:
    """With its quote, page, type, hedging and confidence, and the notes on it."""
    claim = next(one for one in bronze_age().claims.values() if one.hedges)
    (file,) = export(noted(a_read_run(tmp_path), claim), "claims-csv")
    rows = table(file)
    assert len(rows) == len(bronze_age().claims)
    (row,) = [row for row in rows if row["claim_id"] == claim.id]
    assert (row["claim"], row["quote"], row["page"]) == (claim.text, claim.quotes[0].text, claim.page_title)
    assert (row["type"], float(row["confidence"])) == (claim.type, claim.confidence)
    assert row["hedging"] == ", ".join(dict.fromkeys(hedge.cue for hedge in claim.hedges))
    assert (row["book"], row["book_date"], row["book_id"]) == ("The sample book", "2026-01-01", BOOK)
    assert row["notes"] == "Doubted (2026-02-03): The date is from an old book."
    assert [other["notes"] for other in rows if other is not row] == [""] * (len(rows) - 1)


def test_the_table_says_that_it_is_utf_8(tmp_path: Path) -> None:
    """Excel takes it for another encoding otherwise."""
    content = export(a_read_run(tmp_path), "claims-csv")[0].read_bytes()
    assert content.startswith(b"\xef\xbb\xbfclaim_id,")
    assert content.endswith(b"\r\n")


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@SUM(A1)", "＝1"])
def test_formulas_are_defused_in_the_table_of_claims(tmp_path: Path, text: str) -> None:
    """No text that a spreadsheet would compute comes from a book or from a note as it is."""
    brief = of_words(text)
    run = noted(a_read_run(tmp_path, brief), next(iter(brief.claims.values())), text)
    (row,) = table(export(run, "claims-csv")[0])
    assert {row["claim"], row["quote"], row["page"], row["section"], row["tags"], row["subject"]} == {
        f"'{text}",
        f"'{text} is so",
    }
    assert not [value for value in row.values() if value.startswith(tuple("=+-@＝"))]


@pytest.mark.parametrize("to", READ_FORMATS)
def test_every_format_takes_an_empty_brief(tmp_path: Path, to: str) -> None:
    """A run that found nothing is still a file."""
    assert all(
        file.stat().st_size for file in export(a_read_run(tmp_path, nothing()), to) if to not in ("bibtex", "ris")
    )


RUNNING = ("markdown", "html", "obsidian", "epub", "zim")
"""What holds the whole brief to read."""


def read_again(files: tuple[Path, ...]) -> str:
    """The leaf or note with the brief, whatever it was packed in."""
    first, *_ = [file for file in files if file.name != "Index.md"]
    if first.suffix == ".epub":
        with ZipFile(first) as archive:
            return archive.read("EPUB/brief.xhtml").decode()
    if first.suffix == ".zim":
        return LibzimArchive(first).read("brief.html").content.decode()
    named = [file for file in files if file.stem.lower() == "brief"]
    return named[0].read_text(encoding="utf-8")


def bare(text: str) -> str:
    """Text without markup: no tags, no links, no escapes."""
    text = re.sub(r"<(details|summary|blockquote|div class=\"notes\")\b.*?</\1>", "", text)
    text = re.sub(r"<[^>]+>", "", text)
    return re.sub(r"\\(.)", r"\1", re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text))


@pytest.mark.parametrize("to", RUNNING)
def test_the_findings_are_running_text(tmp_path: Path, to: str) -> None:
    """Every export has the summary and the parts of the body as paragraphs below their headings, and no lists."""
    brief = bronze_age()
    assert brief.body
    text = read_again(export(a_read_run(tmp_path), to))
    is_html = text.lstrip().startswith("<")
    findings = re.split(r"<h2[^>]*>" if is_html else r"^## ", text, flags=re.M)
    by_heading = {re.split(r"<|\n", part, maxsplit=1)[0]: part for part in findings}
    for heading, statements in (
        ("Executive Summary", brief.summary),
        *(("Findings", group.statements) for group in brief.body),
    ):
        part = by_heading[heading]
        assert not re.search(r"<li|^- ", part, re.M)
        paragraphs = re.findall(r'<div class="running">.*?</div>\n', f"{part}\n") if is_html else part.split("\n\n")
        words = [" ".join(html.unescape(bare(one)).split()) for one in paragraphs]
        places = [[number for number, one in enumerate(words) if entry.text in one] for entry in statements]
        assert all(len(found) == 1 for found in places)
        assert places == sorted(places)
    for group in brief.body:
        assert re.search(rf"(?:<h3>|### ){re.escape(group.heading)}", by_heading["Findings"])


@pytest.mark.parametrize("to", RUNNING)
def test_pages_that_are_not_cited_are_folded(tmp_path: Path, to: str) -> None:
    """Every export numbers the cited pages and has the others below a line that says how many they are."""
    brief = bronze_age()
    cited = {claim.ref for claim in brief.claims.values()}
    used = [source.title for source in brief.sources.pages if source.ref in cited]
    others = [source.title for source in brief.sources.pages if source.ref not in cited]
    assert used
    assert others
    text = read_again(export(a_read_run(tmp_path), to))
    label = f"{len(others)} page{'' if len(others) == 1 else 's'} read but not cited"
    assert text.count(label) == 1
    before, _, behind = text.partition(label)
    if to in ("markdown", "obsidian"):
        listed = before.rpartition("## Bibliography")[2]
        folded = behind.partition("\n## ")[0]
        assert re.findall(r"^\d+\. \[(.+?)\]\(", listed, re.M) == used
        assert re.findall(r"^- \[(.+?)\]\(", folded, re.M) == others
    else:
        assert before.endswith("<details><summary>")
        listed, folded = before.rpartition("<ol>")[2], behind.partition("</details>")[0]
        assert re.findall(r"<li><a [^>]+>(.+?)</a>", listed) == used
        assert re.findall(r"<li><a [^>]+>(.+?)</a>", folded) == others


@pytest.mark.parametrize("to", RUNNING)
def test_every_export_says_how_the_topic_was_understood(tmp_path: Path, to: str) -> None:
    """The aspect, and the other senses of the name, are at the top."""
    brief = replace(bronze_age(), aspect="causes", senses=("Bronze Age (film)", "Collapse"))
    text = bare(read_again(export(a_read_run(tmp_path, brief), to)).replace("**", ""))
    top, found, _ = text.partition(brief.summary[0].text)
    assert found
    assert f"Understood as: {brief.head} › causes" in top
    assert "Other meanings: Bronze Age (film), Collapse" in top


@pytest.mark.parametrize("to", WITH_NOTES)
def test_notes_go_along(tmp_path: Path, to: str) -> None:
    """The words of a note are somewhere in what is written."""
    claim = next(iter(bronze_age().claims.values()))
    run = noted(a_read_run(tmp_path), claim, "Unforgettable reason")
    assert b"Unforgettable" in whole(export(run, to))


LINED = [
    ("markdown", b"First:  \n  \\- second.  \n  1\\. third.\n"),
    ("html", b"First:<br/>- second.<br/>1. third."),
    ("epub", b"First:<br/>- second.<br/>1. third."),
    ("obsidian", b"First:  \n  \\- second.  \n  1\\. third.\n"),
    ("obsidian", b"First:  \n      \\- second.  \n      1\\. third.\n"),
]


@pytest.mark.parametrize(("to", "lines"), LINED)
def test_the_lines_of_a_note_stay_lines(tmp_path: Path, to: str, lines: bytes) -> None:
    """Except for empty ones between them; none of them begins a list, or ends the one that the note is in."""
    claim = next(iter(bronze_age().claims.values()))
    run = noted(a_read_run(tmp_path), claim, "First:\n- second.\n\n1. third.")
    assert lines in whole(export(run, to))


def whole(files: tuple[Path, ...]) -> bytes:
    """All that is in some files, unpacked."""
    parts = []
    for file in files:
        if file.suffix in PACKED:
            with ZipFile(file) as archive:
                parts += [archive.read(name) for name in archive.namelist()]
        elif file.suffix == ".zim":
            parts.append(LibzimArchive(file).read("notes.html").content)
        else:
            parts.append(file.read_bytes())
    return b"\n".join(parts)


def test_the_same_run_and_notes_give_the_same_bytes(tmp_path: Path) -> None:
    """In another folder, another process, another locale and time zone, and with another hash seed."""
    claim = next(iter(bronze_age().claims.values()))
    run = noted(a_read_run(tmp_path / "a"), claim)
    here = {to: [file.read_bytes() for file in export(run, to)] for to in READ_FORMATS}
    run = noted(a_read_run(tmp_path / "b"), claim)
    program = (
        "import pathlib, sys; from kiwiresearch.export.exporter import export; "
        "[print(to, *export(pathlib.Path(sys.argv[1]), to), sep='\\t') for to in sys.argv[2:]]"
    )
    there = os.environ | {"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONUTF8": "0"}
    result = subprocess.run(
        [sys.executable, "-c", program, str(run), *READ_FORMATS], env=there, check=True, capture_output=True
    )
    rows = [line.split("\t") for line in result.stdout.decode().splitlines()]
    assert {to: [Path(file).read_bytes() for file in files] for to, *files in rows} == here


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=20))
def test_any_words_of_a_book_give_files(tmp_path: Path, text: str) -> None:
    """Whatever is in a title, a claim or a heading, every format is written, and read as UTF-8."""
    run = a_read_run(tmp_path, of_words(text))
    for to in set(READ_FORMATS) - {"zim"}:  # which takes longer, and has what an EPUB has
        for file in export(run, to):
            if file.suffix not in PACKED:
                file.read_bytes().decode("utf-8")


def test_a_note_on_one_page_does_not_need_the_names_of_others(tmp_path: Path) -> None:
    """A page whose path no note could name does not prevent the notes on the run."""
    brief = of_words("a\x00b")
    run = a_read_run(tmp_path, brief)
    add_note(run, NoteTarget("run"), NoteOpinion("agree", "Well done."), now="2026-02-05T10:00:00+00:00")
    for to in set(WITH_NOTES) - {"claims-csv"}:
        assert b"Well done." in whole(export(run, to))


def changed(run: Path, name: str, change: Any) -> Path:
    file = run / name
    row = json.loads(file.read_text(encoding="utf-8").splitlines()[0] if name == "claims.jsonl" else file.read_text())
    change(row)
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return run


def _no_text(row: dict[str, Any]) -> None:
    row["claim"] = {"a": 1}


def _no_type(row: dict[str, Any]) -> None:
    row["claim_type"] = "rumour"


def _no_page(row: dict[str, Any]) -> None:
    row["path"] = "Elsewhere"


def _no_points(row: dict[str, Any]) -> None:
    row["confidence_terms"] = [{"signal": "x", "points": "many"}]


@pytest.mark.parametrize("change", [_no_text, _no_type, _no_page, _no_points, dict.clear], ids=lambda one: one.__name__)
def test_a_claim_that_is_none_is_refused(tmp_path: Path, change: Any) -> None:
    """By its line, before anything is written."""
    run = changed(a_read_run(tmp_path), "claims.jsonl", change)
    with pytest.raises(RunDamaged, match=r"claims\.jsonl.*(line|claim) 1") as caught:
        export(run, "claims-csv")
    assert caught.value.remedy
    assert not (run / "export").exists()


def _claim_gone(row: dict[str, Any]) -> None:
    row["claims"] = []


def _book_gone(row: dict[str, Any]) -> None:
    row["sources"]["books"] = []


def _link_to_nowhere(row: dict[str, Any]) -> None:
    row["sources"]["links"] = [[0, 999]]


def _day_out_of_time(row: dict[str, Any]) -> None:
    row["timeline"][0]["latest"] = 10**400


def _page_twice(row: dict[str, Any]) -> None:
    row["sources"]["pages"].append(row["sources"]["pages"][0])


def _claim_of_no_page(row: dict[str, Any]) -> None:
    row["sources"]["pages"] = row["sources"]["pages"][:1]
    row["sources"]["links"] = []


BROKEN = [_claim_gone, _book_gone, _link_to_nowhere, _day_out_of_time, _page_twice, _claim_of_no_page, dict.clear]


@pytest.mark.parametrize("change", BROKEN, ids=lambda one: one.__name__)
def test_a_brief_that_is_none_is_refused(tmp_path: Path, change: Any) -> None:
    """One that does not fit its claims, its pages or itself is named, and nothing is written."""
    run = changed(a_read_run(tmp_path), "brief.json", change)
    with pytest.raises(RunDamaged, match=r"brief\.json") as caught:
        export(run, "html")
    assert len(str(caught.value)) < 500
    assert not (run / "export").exists()


@pytest.mark.parametrize("name", ["brief.json", "claims.jsonl"])
def test_a_run_without_its_brief_or_claims_says_so(tmp_path: Path, name: str) -> None:
    """Its graph can still be had."""
    run = a_read_run(tmp_path)
    (run / name).unlink()
    with pytest.raises(RunDamaged, match=f"The file '{name}' is missing"):
        export(run, "epub")
    assert export(run, "graphml")


def test_claims_beyond_the_brief_are_in_the_table(tmp_path: Path) -> None:
    """The brief rests on some of the claims; the table has all."""
    more = a_claim("Troy", "Troy had walls.", "Walls")
    rows = table(export(a_read_run(tmp_path, None, more), "claims-csv")[0])
    assert [row["claim"] for row in rows if row["page"] == "Troy"][-1] == "Troy had walls."


def test_many_notes_go_into_a_folder_or_a_zip(tmp_path: Path) -> None:
    """'--out notes.zip' packs what is several files; '--out one.md' is refused with what to do."""
    run = a_read_run(tmp_path / "run")
    assert export(run, "obsidian")[0] == run / "export" / "obsidian" / "Index.md"
    assert export(run, "obsidian", tmp_path / "vault")[0] == tmp_path / "vault" / "Index.md"
    assert export(run, "obsidian", tmp_path / "notes.zip") == (tmp_path / "notes.zip",)
    assert export(run, "csv", tmp_path / "tables.zip") == (tmp_path / "tables.zip",)
    with ZipFile(tmp_path / "tables.zip") as archive:
        assert archive.namelist() == ["nodes.csv", "edges.csv"]
    with pytest.raises(BadUsage, match=r"one\.md.*many files.*folder"):
        export(run, "obsidian", tmp_path / "one.md")


def test_a_topic_in_lower_case_has_a_capital_in_what_people_read(tmp_path: Path) -> None:
    """Only the title is changed: the brief of the run has the topic as it was typed."""
    run = a_read_run(tmp_path, replace(bronze_age(), topic="collapse of the Bronze Age"))
    shown = export(run, "markdown")[0].read_text(encoding="utf-8")
    assert shown.startswith("# Research Brief: Collapse of the Bronze Age\n")
    assert '"collapse of the Bronze Age"' in (run / "brief.json").read_text(encoding="utf-8")
