"""The folder of a run that is killed: at any line of its code, again and again, or beside others of its kind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system starts processes otherwise")

DRIVER = """
import json, os, shutil, signal, sys
from pathlib import Path
from kiwiresearch.errors import KiwiError
from kiwiresearch.runs import journal, manifest as manifest_module, unfinished_run, writer
from kiwiresearch.runs.writer import RunWriter
from kiwiresearch.runs.unfinished_run import append_lines

WATCHED = {module.__file__ for module in (unfinished_run, journal, manifest_module, writer)}
TOP, STEPS = Path(sys.argv[1]), 5

def run(path, at_work=lambda: None):
    with RunWriter.open(path, "f1", "Stone") as writer:
        begun = writer.state
        if begun == "finished":
            return begun
        at_work()
        for number in range(len(writer.journal.rows), STEPS):
            line = json.dumps({"page": number, "text": "stone " * number}).encode() + b"\\n"
            if number != 3:
                said = line * (number % 3)  # a page may say nothing, or more than one thing
                sizes = append_lines("corpus", writer.corpus, line) | append_lines("claims", writer.claims, said)
                writer.journal.append({"n": number} | sizes)
            else:
                writer.journal.append({"n": number})
        writer.finish({"report.md": "# Stone\\n", "run.log": "five steps\\n"}, {"version": "1"})
        return begun

class Killer:
    "Ends this process at the n-th line that is run of the code under test."
    def __init__(self, at):
        self.at, self.seen = at, 0
    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename not in WATCHED:
            return None
        if event == "line":
            self.seen += 1
            if self.seen == self.at:
                os.kill(os.getpid(), signal.SIGKILL)
        return self

def in_child(task):
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(task() or 0)
        except BaseException as problem:
            print(repr(problem), file=sys.stderr, flush=True)
            os._exit(99)
    return pid

def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def killed(path, at):
    def task():
        sys.settrace(Killer(at))
        run(path)
        sys.settrace(None)
    return ended(in_child(task))

def tree(path):
    return {str(f.relative_to(path)): f.read_text() for f in sorted(path.rglob("*")) if f.is_file()}

def outputs(path):
    return {name: text for name, text in tree(path).items() if not name.startswith(".journal")}

run(TOP / "whole")
WHOLE = tree(TOP / "whole")
"""

EVERYWHERE = """
def prepared(path):
    if sys.argv[2] == "lost":  # a run that has lost an output is done again
        shutil.copytree(TOP / "whole", path)
        (path / "report.md").unlink()
    return path

counter = Killer(0)
path = prepared(TOP / "counted")
sys.settrace(counter)
run(path)
sys.settrace(None)
points = range(1, counter.seen + 1, max(1, counter.seen // int(sys.argv[3])))
found = {"points": len(points), "wrong": [], "states": []}
for at in points:
    path = prepared(TOP / f"killed-{at}")
    code = killed(path, at)
    seen = outputs(path) if path.exists() else {}
    half = [name for name, text in seen.items() if WHOLE.get(name) != text]
    state = run(path)
    found["states"].append(state)
    if code != -signal.SIGKILL or half or tree(path) != WHOLE:
        found["wrong"].append([at, code, half, state, sorted(tree(path))])
print(json.dumps(found))
"""

AGAIN = """
found = []
for stride in (7, 31, 53):
    path, at, code = TOP / f"again-{stride}", 40, -signal.SIGKILL
    while code == -signal.SIGKILL:
        at += stride
        code = killed(path, at)
    found.append([code, run(path), tree(path) == WHOLE])
print(json.dumps(found))
"""

TOGETHER = """
def compete(path, busy):
    def at_work():
        os.close(os.open(busy, os.O_CREAT | os.O_EXCL))  # fails if another is at work as well
        busy.unlink()
    for _ in range(20):
        try:
            run(path, at_work)
        except KiwiError as problem:
            if not str(problem).startswith("Another run is writing to the folder"):
                raise
    return 0

found = []
for round in range(10):
    path, busy = TOP / f"together-{round}", TOP / f"busy-{round}"
    children = [in_child(lambda: compete(path, busy)) for _ in range(4)]
    codes = [ended(pid) for pid in children]
    found.append([codes, tree(path) == WHOLE])
print(json.dumps(found))
"""


def driven(folder: Path, part: str, *arguments: str) -> Any:
    command = [sys.executable, "-c", DRIVER + part, str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize(("started", "points"), [("new", 40), ("lost", 25)])
def test_a_run_killed_anywhere_ends_with_the_same_bytes(tmp_path: Path, started: str, points: int) -> None:
    """Killed at any of many points, it shows no half file, and goes on to the files of a run in one go."""
    found, _ = driven(tmp_path, EVERYWHERE, started, str(points))
    assert found["wrong"] == []
    assert found["points"] >= points
    assert set(found["states"]) == {"new", "unfinished", "finished"}


def test_a_run_killed_again_and_again_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """However often it is killed, on the way or while it goes on, the last one brings it to its end."""
    found, _ = driven(tmp_path, AGAIN)
    assert found == [[0, "finished", True]] * 3


def test_runs_that_start_at_once_do_not_meet(tmp_path: Path) -> None:
    """Of many processes that want a folder, one works in it; the others get an error, or find it finished."""
    found, result = driven(tmp_path, TOGETHER)
    assert found == [[[0, 0, 0, 0], True]] * 10, result


def test_the_process_really_dies(tmp_path: Path) -> None:
    """The proof above rests on a kill that gives nothing a chance to clean up."""
    found, _ = driven(tmp_path, 'print(json.dumps([killed(TOP / "x", 120), (TOP / "x" / ".journal").exists()]))')
    assert found == [-signal.SIGKILL, True]
