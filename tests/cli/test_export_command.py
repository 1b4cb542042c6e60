"""`kiwiresearch export`: a finished run for other programs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwiresearch.cli.start import run
from kiwiresearch.zim.book_writer import NewPage, write_book

RunCommand = Callable[..., tuple[int, str, str]]

FILES = [
    ("markdown", ["brief.md"]),
    ("html", ["brief.html"]),
    ("bibtex", ["sources.bib"]),
    ("ris", ["sources.ris"]),
    ("csl-json", ["sources.json"]),
    ("claims-csv", ["claims.csv"]),
    ("graphml", ["graph.graphml"]),
    ("gexf", ["graph.gexf"]),
    ("csv", ["nodes.csv", "edges.csv"]),
    ("kiwix-bookmarks", ["bookmarks.xml"]),
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three pages."""
    folder = tmp_path_factory.mktemp("finished")
    texts = {
        "Salt road": "The salt road ran over the <a href='Pass'>Pass</a>.",
        "Pass": "A pass of the <a href='Salt_road'>salt road</a>.",
        "Inn": "An inn at the salt road.",
    }
    pages = [NewPage(title.replace(" ", "_"), title, f"<p>{text}</p>".encode()) for title, text in texts.items()]
    metadata = {"Name": "road_en", "Title": "Road book", "Language": "eng", "Date": "2026-01-01"}
    write_book(folder / "road.zim", pages, metadata=metadata)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(folder / "home"))
        assert run(["salt road", "--fast", "-b", str(folder / "road.zim"), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture
def a_run(finished: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(finished, tmp_path / "run")
    return Path("run")


@pytest.mark.parametrize(("form", "names"), FILES)
def test_a_run_is_exported(kiwi: RunCommand, a_run: Path, form: str, names: list[str]) -> None:
    """Each format's files are written below the run and named, and they have its pages."""
    code, out, err = kiwi("export", a_run, "--to", form)
    assert (code, err) == (0, "")
    assert out.splitlines() == [f"Saved: {a_run}/export/{name}" for name in names]
    assert "Salt road" in (a_run / "export" / names[0]).read_text(encoding="utf-8")


@pytest.mark.parametrize(("form", "start"), [("epub", b"PK"), ("docx", b"PK"), ("zim", b"ZIM\x04")])
def test_books_are_written_too(kiwi: RunCommand, a_run: Path, form: str, start: bytes) -> None:
    """A format that is not text is one file, under the given name."""
    code, out, err = kiwi("export", a_run, "--to", form, "--out", f"salt.{form}")
    assert (code, out, err) == (0, f"Saved: salt.{form}\n", "")
    assert Path(f"salt.{form}").read_bytes().startswith(start)


def test_notes_are_a_folder(kiwi: RunCommand, a_run: Path) -> None:
    """Every note is named, the index first."""
    code, out, _ = kiwi("export", a_run, "--to", "obsidian")
    lines = out.splitlines()
    assert (code, lines[0]) == (0, f"Saved: {a_run}/export/obsidian/Index.md")
    assert f"Saved: {a_run}/export/obsidian/Pages/Salt road.md" in lines


def test_json_names_the_files(kiwi: RunCommand, a_run: Path) -> None:
    """With --json the files are a list in one document."""
    code, out, _ = kiwi("export", a_run, "--to", "csv", "--out", "tables", "--json")
    assert (code, json.loads(out)) == (0, {"files": ["tables/nodes.csv", "tables/edges.csv"]})
    assert len(Path("tables/nodes.csv").read_text(encoding="utf-8").splitlines()) == 4


def test_an_exported_run_is_still_finished(kiwi: RunCommand, a_run: Path, finished: Path) -> None:
    """The files of an export do not make the folder another one: the run is still found finished there."""
    assert kiwi("export", a_run, "--to", "gexf")[0] == 0
    code, out, _ = kiwi("salt road", "--fast", "-b", finished.parent / "road.zim", "--out", a_run)
    assert (code, out.splitlines()[0]) == (0, "This research was already finished: 3 pages about 'salt road'.")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("run", "--to", "odt"), 2, "'odt'"),
        (("run",), 2, "--to"),
        (("--to", "csv"), 2, "RUN"),
        (("missing", "--to", "csv"), 1, "The folder 'missing' was not found."),
        ((".", "--to", "csv"), 1, "The folder '.' does not contain a run."),
        (("run", "--to", "csv", "--out", "run/report.md/x"), 1, "report.md"),
    ],
)
def test_an_impossible_export_is_explained(
    kiwi: RunCommand, a_run: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    """An unknown format, a missing run and an impossible place are refused, and nothing is written."""
    kiwi("books", "list")  # the program's own folder is made by the first command
    before = sorted(Path().rglob("*"))
    found, out, err = kiwi("export", *words)
    assert (found, out, "Traceback" in err) == (code, "", False)
    assert message in err
    assert sorted(Path().rglob("*")) == before


def test_a_page_becomes_a_worksheet(
    kiwi: RunCommand, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this folder under the page's title, or where --out says; what cannot be had is named."""
    monkeypatch.chdir(tmp_path)
    code, out, _ = kiwi("worksheet", "Late Bronze Age collapse", "-b", "sample")
    assert (code, out) == (0, "Saved: Late Bronze Age collapse-worksheet.html\n")
    assert "Answer sheet" in Path("Late Bronze Age collapse-worksheet.html").read_text(encoding="utf-8")
    words = ("worksheet", "Late Bronze Age collapse", "-b", "sample", "--format")
    code, out, _ = kiwi(*words, "docx", "--out", "sheet.docx", "--json")
    assert (code, json.loads(out)) == (0, {"files": ["sheet.docx"]})
    assert Path("sheet.docx").read_bytes().startswith(b"PK")
    code, out, err = kiwi(*words, "odt")
    assert (code, out) == (2, "")
    assert "html, docx, markdown" in err


def test_the_questions_of_a_worksheet_can_be_chosen(
    kiwi: RunCommand, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many and of which kinds; a kind that does not exist is named, with those that do."""
    monkeypatch.chdir(tmp_path)
    words = ("worksheet", "Late Bronze Age collapse", "-b", "sample", "--format", "markdown", "--out", "sheet.md")
    assert kiwi(*words, "--questions", "4", "--kind", "numbers", "--kind", "words")[0] == 0
    sheet = Path("sheet.md").read_text(encoding="utf-8").partition("## Answer sheet")[0]
    assert sheet.count("\n**") == 4
    assert "## Answer the questions" not in sheet
    code, _, err = kiwi(*words, "--kind", "riddles")
    assert code == 2
    assert "Choose from: open, truth, numbers, words, matching, order." in err
