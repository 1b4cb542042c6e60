"""Finished runs as pages show them: read once, linked to what can be read here, with damage explained."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.web.desk.conftest import TOPIC, ARun

from kiwiresearch.errors import RunDamaged, RunNotFound
from kiwiresearch.web.run_view import RunView, RunViews
from kiwiresearch.workspace.file_cache import RecentFiles


@pytest.fixture(scope="module")
def copies(a_run: ARun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run, which tests may spoil copies of."""
    folder = tmp_path_factory.mktemp("copies")
    shutil.copytree(a_run.path, folder / "whole")
    return folder


def a_copy(copies: Path, name: str) -> Path:
    return Path(shutil.copytree(copies / "whole", copies / name))


def test_a_run_is_described_from_its_files(a_run: ARun) -> None:
    """Topic, books, counts and pages come from its files, and each page counts its claims."""
    run = RunViews(a_run.runs).get(a_run.id)
    assert (run.id, run.topic, run.manifest.page_count) == (a_run.id, TOPIC, 6)
    assert run.manifest.claim_count == len(run.claims) == sum(len(page.claims) for page in run.pages)
    assert [page.number for page in run.pages] == [1, 2, 3, 4, 5, 6]
    assert all(page.source.why and page.book.language == "eng" for page in run.pages)
    assert run.claim(run.claims[0].id) is run.claims[0]
    assert (run.books[0].date, run.made_at[:2]) == ("2025-07-01", "20")


def test_a_file_is_read_once_until_it_changes(copies: Path) -> None:
    """Two requests share what was read; a file that was replaced is read again, and the oldest is dropped."""
    frames = RunViews(copies)
    assert frames.get("whole").brief is RunViews(copies).get("whole").brief
    kept, asked = RecentFiles(max_size=1), []
    first, second = copies / "first.txt", copies / "second.txt"
    first.write_text("one")
    second.write_text("two")

    def read(file: Path) -> str:
        asked.append(file.name)
        return file.read_text()

    assert [kept.get(first, read), kept.get(first, read)] == ["one", "one"]
    first.write_text("three")
    assert kept.get(first, read) == "three"
    kept.get(second, read)
    kept.get(first, read)
    assert asked == ["first.txt", "first.txt", "second.txt", "first.txt"]


def test_pages_are_linked_where_they_can_be_read(a_run: ARun) -> None:
    """A link has the run and the words to mark; a page of a book that is not on the shelf has none."""
    run = RunViews(a_run.runs).get(a_run.id)
    ref = run.pages[0].source.ref
    assert run.page_url(ref, 3, 9) == f"/page/{ref.book}/{ref.path}?run={a_run.id}&mark=3-9#mark"
    assert run.page_url(replace(ref, path="a b?#/ü")) == f"/page/{ref.book}/a%20b%3F%23/%C3%BC?run={a_run.id}"
    assert RunView.of(run, frozenset()).page_url(ref) == ""
    assert run.claim_url("sha256:12/3") == f"/runs/{a_run.id}/claims/sha256:12%2F3"


def test_a_run_of_others_making_is_there(copies: Path) -> None:
    """A folder that was copied in under any name is a run, and its address leads to it."""
    a_copy(copies, "my ünusual run?")
    run = RunViews(copies).get("my ünusual run?")
    assert run.url("claims") == "/runs/my%20%C3%BCnusual%20run%3F/claims"
    assert run in RunViews(copies).all()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"topic": 1}', '{"claims": [{}]}'])
def test_a_damaged_brief_says_so(copies: Path, content: str) -> None:
    """What is wrong names the file and what to do, and the other files are still read."""
    folder = copies / "spoiled"
    if not folder.exists():
        a_copy(copies, "spoiled")
    (folder / "brief.json").write_text(content)
    run = RunViews(copies).get("spoiled")
    with pytest.raises(RunDamaged, match=r"brief\.json") as caught:
        _ = run.brief
    assert "research the topic again" in caught.value.remedy
    assert run.claims


def test_a_claim_without_words_and_a_day_out_of_time_say_so(copies: Path) -> None:
    """A run may come from somebody else: a value that its pages could not show is reported with its file name."""
    folder = a_copy(copies, "foreign")
    run = RunViews(copies).get("foreign")
    lines = (folder / "claims.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "claims.jsonl").write_text("\n".join([json.dumps(json.loads(lines[0]) | {"claim": 10**400}), *lines[1:]]))
    with pytest.raises(RunDamaged, match=r"claims\.jsonl"):
        _ = run.claims
    brief = json.loads((folder / "brief.json").read_text(encoding="utf-8"))
    brief["timeline"][0]["earliest"] = -(10**400)
    (folder / "brief.json").write_text(json.dumps(brief))
    with pytest.raises(RunDamaged, match=r"brief\.json"):
        _ = run.brief


def test_a_damaged_manifest_says_so(copies: Path) -> None:
    """The run is there and cannot be shown; the list goes on without it."""
    folder = a_copy(copies, "unnamed")
    (folder / "manifest.json").write_text(json.dumps({"topic": "x"}))
    with pytest.raises(RunDamaged, match="damaged or w"):
        RunViews(copies).get("unnamed")
    assert "unnamed" not in {run.id for run in RunViews(copies).all()}


@pytest.mark.parametrize("name", ["nowhere", "..", ".", "", "../whole", "whole/../whole", "\0"])
def test_no_id_leads_anywhere_else(copies: Path, name: str) -> None:
    """Only the names of folders that are there are runs."""
    with pytest.raises(RunNotFound, match=re.escape(f"No finished research has the ID {name!r}.")):
        RunViews(copies).get(name)
