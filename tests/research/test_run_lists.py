"""Lists of jobs and runs: files that did not change are not read again, however many there are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kiwiresearch.research.finished import FinishedRuns
from kiwiresearch.research.job import Job, JobWish
from kiwiresearch.research.job_files import SUFFIX, JobFiles
from kiwiresearch.research.manifest import MANIFEST
from kiwiresearch.research.remembered import Remembered

MANY = 300

COUNTED = """
import sys
from pathlib import Path
from kiwiresearch.research.finished import FinishedRuns
from kiwiresearch.research.job_files import JobFiles

folder = Path(sys.argv[1])
lists = {"jobs": JobFiles(folder), "runs": FinishedRuns(folder)}[sys.argv[2]]
counts = {"open": 0, "os.scandir": 0}

def count(event, args):
    if event in counts and str(args[0]).startswith(sys.argv[1]):
        counts[event] += 1

sys.addaudithook(count)
for change in (None, None, *sys.argv[3:]):
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


def a_job(number: int) -> Job:
    return Job(f"topic-{number}", JobWish(f"Topic {number}"), "done", turn=number)


def a_run(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    manifest = {"topic": f"Topic {name}", "fingerprint": "f", "outputs": {}}
    (folder / name / MANIFEST).write_text(json.dumps(manifest))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hundreds of jobs and their runs."""
    folder = tmp_path_factory.mktemp("runs")
    files = JobFiles(folder)
    for number in range(1, MANY + 1):
        files.write(a_job(number))
        a_run(folder, f"topic-{number}")
    return folder


@pytest.mark.parametrize(("kind", "changed"), [("jobs", f"topic-7{SUFFIX}"), ("runs", f"topic-7/{MANIFEST}")])
def test_only_what_changed_is_read(folder: Path, kind: str, changed: str) -> None:
    """The first list reads every file, the second none, and the third the one that changed; each looks once around."""
    command = [sys.executable, "-c", COUNTED, str(folder), kind, changed]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    assert told[:3] == [f"{MANY} {MANY} 1", f"{MANY} 0 1", f"{MANY} 1 1"]


def test_a_list_tells_what_is_there_now(tmp_path: Path) -> None:
    """Jobs that came, went or changed since the last list are told as they are, by ourselves or by another server."""
    files, others = JobFiles(tmp_path), JobFiles(tmp_path)
    for number in (1, 2, 3):
        files.write(a_job(number))
    assert [job.id for job in files.all()] == ["topic-1", "topic-2", "topic-3"]
    files.write(replace(a_job(1), pages=7))
    others.write(replace(a_job(2), state="failed", problem="No room."))
    (tmp_path / f"topic-3{SUFFIX}").unlink()
    others.write(a_job(4))
    (tmp_path / f"topic-5{SUFFIX}").write_text("{")
    (tmp_path / f"topic-6{SUFFIX}").symlink_to(tmp_path / f"topic-1{SUFFIX}")
    assert [(job.id, job.pages, job.state) for job in files.all()] == [
        ("topic-1", 7, "done"),
        ("topic-2", 0, "failed"),
        ("topic-4", 0, "done"),
    ]


def test_own_changes_are_seen_though_the_clock_stands_still(tmp_path: Path) -> None:
    """A job that is written again within one stroke of the file system's clock, at the same size, is told anew."""
    files = JobFiles(tmp_path)
    files.write(a_job(1))
    file = tmp_path / f"topic-1{SUFFIX}"
    for pages in range(1, 9):
        list(files.all())
        files.write(replace(a_job(1), pages=pages))
        os.utime(file, ns=(10**18, 10**18))
        assert [job.pages for job in files.all()] == [pages]


def test_runs_come_and_go(tmp_path: Path) -> None:
    """A run whose manifest is gone, or is none any more, is no longer listed; one that is done again is."""
    runs = FinishedRuns(tmp_path)
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
    assert [run.manifest["topic"] for run in runs.all()] == ["Topic b", "Topic c", "Topic d"]


def test_what_is_remembered_is_bounded() -> None:
    """Of more files than can be kept, some are read each time, and what is gone is forgotten."""
    asked: list[str] = []

    def read(name: str) -> str:
        asked.append(name)
        return name.upper()

    remembered: Remembered[str] = Remembered(most=2)
    there = dict.fromkeys("abc", (1, 1, 1))
    for expected in (["a", "b", "c"], ["c"]):
        asked.clear()
        assert remembered.all(there, read) == {"a": "A", "b": "B", "c": "C"}
        assert asked == expected
    remembered.all({"b": (1, 1, 1)}, read)
    asked.clear()
    remembered.all({"a": (1, 1, 1), "b": (1, 1, 1)}, read)
    assert asked == ["a"]
