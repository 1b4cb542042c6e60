"""Lists of runs: files that did not change are not read again, however many there are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kiwiresearch.runs.finished_run import Runs
from kiwiresearch.runs.manifest import MANIFEST
from kiwiresearch.workspace.file_cache import FileCache

MANY = 300

COUNTED = """
import sys
from pathlib import Path
from kiwiresearch.runs.finished_run import Runs

folder = Path(sys.argv[1])
lists = Runs(folder)
counts = {"open": 0, "os.scandir": 0}

def count(event, args):
    if event in counts and str(args[0]).startswith(sys.argv[1]):
        counts[event] += 1

sys.addaudithook(count)
for change in (None, None, *sys.argv[2:]):
    if change:
        file = folder / change
        with file.open() as stream:
            text = stream.read().replace("Topic", "Other")
        file.with_suffix(".new").write_text(text)
        file.with_suffix(".new").replace(file)
    counts.update(dict.fromkeys(counts, 0))
    found = list(lists.all())
    print(len(found), counts["open"], counts["os.scandir"])
"""


def a_run(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    manifest = {"topic": f"Topic {name}", "fingerprint": "f", "outputs": {}}
    (folder / name / MANIFEST).write_text(json.dumps(manifest))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hundreds of runs."""
    folder = tmp_path_factory.mktemp("runs")
    for number in range(1, MANY + 1):
        a_run(folder, f"topic-{number}")
    return folder


def test_only_what_changed_is_read(folder: Path) -> None:
    """The first list reads every file, the second none, and the third the one that changed; each looks once around."""
    command = [sys.executable, "-c", COUNTED, str(folder), f"topic-7/{MANIFEST}"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    assert output[:3] == [f"{MANY} {MANY} 1", f"{MANY} 0 1", f"{MANY} 1 1"]


def test_runs_come_and_go(tmp_path: Path) -> None:
    """A run whose manifest is gone or invalid is no longer listed; one that is done again is."""
    runs = Runs(tmp_path)
    for name in ("a", "b", "c"):
        a_run(tmp_path, name)
    assert [run.id for run in runs.all()] == ["a", "b", "c"]
    (tmp_path / "a" / MANIFEST).unlink()
    (tmp_path / "b" / MANIFEST).write_text("[]")
    a_run(tmp_path, "d")
    assert [run.id for run in runs.all()] == ["c", "d"]
    (tmp_path / "b" / MANIFEST).unlink()
    (tmp_path / "b").rmdir()
    a_run(tmp_path, "b")
    assert [run.topic for run in runs.all()] == ["Topic b", "Topic c", "Topic d"]


def test_the_cache_is_bounded() -> None:
    """Of more files than can be kept, some are read each time, and what is gone is forgotten."""
    asked: list[str] = []

    def read(name: str) -> str:
        asked.append(name)
        return name.upper()

    remembered: FileCache[str] = FileCache(max_size=2)
    there = dict.fromkeys("abc", (1, 1, 1))
    for expected in (["a", "b", "c"], ["c"]):
        asked.clear()
        assert remembered.read_all(there, read) == {"a": "A", "b": "B", "c": "C"}
        assert asked == expected
    remembered.read_all({"b": (1, 1, 1)}, read)
    asked.clear()
    remembered.read_all({"a": (1, 1, 1), "b": (1, 1, 1)}, read)
    assert asked == ["a"]
