"""Our modules in separate processes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kiwiresearch import system


def test_files_of_the_working_folder_are_not_run(tmp_path: Path) -> None:
    """A folder of downloads with a 'json.py' in it has no say in what our own processes do."""
    (tmp_path / "json.py").write_text("raise SystemExit(99)\n")
    command = system.module_command("kiwiresearch.zim.integrity", "probe", str(tmp_path / "no.zim"), "open")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert done.returncode != 99


def test_a_process_goes_on_beside_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is started is noted, and ends by itself."""
    assert system.start_detached("kiwiresearch.search.title_index_builder", str(tmp_path / "no.zim"), str(tmp_path))
    assert system.RUNNING.pop().wait(60) == 0


def test_a_process_that_cannot_be_started_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no process can be started, the work is left for another time."""
    monkeypatch.setattr("sys.executable", "/no/such/python")
    assert not system.start_detached("kiwiresearch.zim.integrity")
