"""Where a run goes when its user names no folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiwiresearch.runs.writer import RunWriter, choose_run_folder, fingerprint_of_folder, is_unfinished

TODAY = "2026-02-03"


def start_run(folder: Path, fingerprint: str) -> Path:
    """A run that has taken a step."""
    with RunWriter.open(folder, fingerprint, "Salt") as run:
        run.journal.append({"step": "begun"})
    return folder


def finished(folder: Path, fingerprint: str) -> Path:
    with RunWriter.open(folder, fingerprint, "Salt") as run:
        run.finish({"report.md": "# Salt\n"}, {})
    return folder


def test_a_new_run_gets_a_folder_of_date_and_topic(tmp_path: Path) -> None:
    """The name of the folder is the date and the topic; looking for it makes nothing (R147)."""
    runs = tmp_path / "runs"
    assert choose_run_folder("The salt road!", "f1", TODAY, runs=runs) == runs / "2026-02-03_the-salt-road"
    assert choose_run_folder("The salt road!", "f1", TODAY, runs=runs, resume=True) == runs / "2026-02-03_the-salt-road"
    assert not runs.exists()


@pytest.mark.parametrize("made", [start_run, finished])
def test_the_same_run_gets_the_same_folder(tmp_path: Path, made: object) -> None:
    """Whether it was finished or not, the same command of the same day leads to the folder it had."""
    assert callable(made)
    folder = made(tmp_path / f"{TODAY}_salt", "f1")
    assert choose_run_folder("Salt", "f1", TODAY, runs=tmp_path) == folder


def test_another_run_on_the_topic_gets_a_number(tmp_path: Path) -> None:
    """Other settings on the same day go into folders of their own, each time the same."""
    finished(tmp_path / f"{TODAY}_salt", "f1")
    start_run(tmp_path / f"{TODAY}_salt-2", "f2")
    assert choose_run_folder("Salt", "f2", TODAY, runs=tmp_path).name == f"{TODAY}_salt-2"
    assert choose_run_folder("Salt", "f3", TODAY, runs=tmp_path).name == f"{TODAY}_salt-3"
    assert choose_run_folder("Salt", "f1", "2026-02-04", runs=tmp_path).name == "2026-02-04_salt"


def test_a_run_to_go_on_with_is_found_under_any_date(tmp_path: Path) -> None:
    """The newest unfinished run of the same fingerprint is the one to go on with."""
    start_run(tmp_path / "2025-12-30_salt", "f1")
    newest = start_run(tmp_path / "2026-01-30_salt-2", "f1")
    start_run(tmp_path / "2026-01-31_salt", "other")
    finished(tmp_path / "2026-02-01_salt", "f1")
    start_run(tmp_path / "2026-02-02_salt-mine", "f2")
    assert choose_run_folder("Salt", "f1", TODAY, runs=tmp_path, resume=True) == newest
    assert choose_run_folder("Salt", "f1", TODAY, runs=tmp_path).name == f"{TODAY}_salt"


@pytest.mark.parametrize(
    ("make", "fingerprint", "unfinished"),
    [(start_run, "f1", True), (finished, "f1", False), (lambda folder, _: folder.mkdir(), "", False)],
    ids=["started", "finished", "empty"],
)
def test_a_folder_says_whose_run_it_has(tmp_path: Path, make: object, fingerprint: str, unfinished: bool) -> None:
    """A folder says whose run it has, and whether that is finished."""
    assert callable(make)
    make(tmp_path / "run", "f1")
    assert (fingerprint_of_folder(tmp_path / "run"), is_unfinished(tmp_path / "run")) == (fingerprint, unfinished)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"fingerprint": 3}'])
def test_a_broken_manifest_is_nobody_s(tmp_path: Path, content: str) -> None:
    """A file that is not a manifest of a run names no run, and is not an error here."""
    (tmp_path / "manifest.json").write_text(content)
    assert fingerprint_of_folder(tmp_path) == ""


def test_a_file_in_the_place_of_the_runs_is_not_an_error_here(tmp_path: Path) -> None:
    """A file called 'runs' has no runs; writing there is refused later."""
    (tmp_path / "runs").touch()
    assert choose_run_folder("Salt", "f1", TODAY, runs=tmp_path / "runs", resume=True).name == f"{TODAY}_salt"
