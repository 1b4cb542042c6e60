"""Runs that are stopped, by a kill, a signal or a full disk, and go on to the bytes of a run in one go."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import VisitStep
from kiwiresearch.runs.research import Research, ResearchTask, RunProgress
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.build import NewPage, write_book

pytestmark = pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="this system's pipes have a fixed size")

TOPIC = "Bronze Age collapse"
PAGES = 7

DRIVER = """
import json, os, signal, sys
from pathlib import Path
from kiwiresearch.cli.start import run
from kiwiresearch.search import open_book
from kiwiresearch.runs.journal import Journal
from kiwiresearch.runs.journal import GrowingFile

TOP, BOOK, PAGES, POINTS = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate")
COMMAND = ["salt road", "-b", BOOK, "--max-pages", PAGES, "--json"]

class Killer:
    "Ends this process at the n-th moment at which a file is about to change, or a line is half written."
    at = seen = 0
    def moment(self):
        self.seen += 1
        if self.seen == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

killer, reads = Killer(), []
write, read = GrowingFile._write, open_book.open_page

def torn(part, line):
    killer.moment()
    if killer.seen + 1 == killer.at:
        os.pwrite(part._file.fileno(), line[:len(line) // 2], part.size)
    killer.moment()
    write(part, line)

def counted(archive, path):
    reads.append(path)
    return read(archive, path)

def watch(event, arguments):
    is_written = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wxa+")
    if killer.at >= 0 and (event in CHANGES or is_written) and str(TOP) in str(arguments[0]):
        killer.moment()

GrowingFile._write, open_book.open_page = torn, counted
sys.addaudithook(watch)

def files(out):
    return {f.name: f.read_bytes().hex() for f in out.rglob("*") if f.is_file() and f.name != "timings.json"}

def in_child(at, out, *more):
    "The exit code, and what the child has to tell."
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        killer.at, killer.seen = at, 0
        sys.stdout = open(theirs, "w")
        code = run([*COMMAND, "--out", str(out), *more])
        print(json.dumps({"event": "counted", "moments": killer.seen, "reads": reads}), flush=True)
        os._exit(code)
    os.close(theirs)
    with open(ours) as stream:
        told = [json.loads(line) for line in stream if line.endswith("\\n")]
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), told

terminal, sys.stdout = sys.stdout, open(os.devnull, "w")
assert run([*COMMAND, "--out", str(TOP / "first")]) == 0  # all that is imported is so for all children
sys.stdout = terminal
reads.clear()
code, told = in_child(0, TOP / "whole")
assert code == 0
assert files(TOP / "first") == files(TOP / "whole")
assert len(bytes.fromhex(files(TOP / "whole")["claims.jsonl"]).splitlines()) > int(PAGES)
WHOLE, moments = files(TOP / "whole"), told[-1]["moments"]
order = [event["path"] for event in told if event["event"] == "page"]
found = []
for number in range(POINTS):
    at = 1 + number * (moments - 1) // (POINTS - 1)
    out = TOP / f"killed-{at}"
    code, _ = in_child(at, out)
    seen = {f.name: f.read_bytes().hex() for f in out.glob("*") if f.is_file() and not f.name.startswith(".")}
    steps = out / ".journal" / "steps"
    kept = steps.read_bytes().count(b'"step":"visited"') if steps.exists() else None
    again, told = in_child(-1, out, "--resume")
    end = next(event for event in told if event["event"] == "done")
    found.append({
        "at": at, "killed": code, "half": [name for name, text in seen.items() if WHOLE.get(name, text) != text],
        "resumed": again, "how": end["how"], "same": files(out) == WHOLE,
        "kept": end["kept"], "journalled": kept,
        "read twice": sorted(set(told[-1]["reads"]) & set(order[:end["kept"]])),
        "searched twice": end["kept"] > 0 and any(event["event"] == "begun" for event in told),
    })
print(json.dumps({"moments": moments, "found": found}))
"""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Path:
    """A home that knows the sample book, and the run that is not stopped."""
    folder = tmp_path_factory.mktemp("furnished")
    with work(folder, sample_zim) as whole:
        whole.run(folder / "whole")
    return folder


@pytest.fixture(scope="module")
def little_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten pages, each with links to three others."""
    names = ("Salt road", "Mule", "Pass", "Toll", "Salt", "Inn", "Guild", "Harbour", "Snow", "Lantern")
    pages = []
    for number, name in enumerate(names):
        links = [names[(number * 3 + step) % len(names)] for step in (1, 2, 5)]
        linked = " and ".join(f'<a href="{link.replace(" ", "_")}">{link}</a>' for link in links)
        told = f"{name} was seen on the salt road in 12{number}0." if number % 4 else ""
        html = (
            f"<p>{name} is a part of the salt road. {told}</p><h2>Use</h2><p>On the salt road one meets {linked}.</p>"
        )
        pages.append(NewPage(name.replace(" ", "_"), name, html.encode()))
    target = tmp_path_factory.mktemp("little") / "little.zim"
    metadata = {"Name": "little_en", "Title": "Little book", "Language": "eng", "Date": "2026-01-01"}
    write_book(target, pages, metadata=metadata)
    return target


@contextmanager
def work(folder: Path, book: Path) -> Iterator[Research]:
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    with shelf_of(desk, [str(book)]) as shelf, Finder(desk, shelf, all_books=True) as finder:
        yield Research(finder, ResearchTask(TOPIC, settings=CrawlSettings(fast=True, max_pages=60)))


def files(folder: Path) -> dict[str, bytes]:
    """All files of a run but the timings."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != "timings.json"
    }


def environment(furnished: Path) -> dict[str, str]:
    return dict(os.environ) | {"KIWIRESEARCH_HOME": str(furnished / "home")}


def command(book: Path, out: Path, *more: str) -> list[str]:
    return [TOPIC, "--fast", "--max-pages", "60", "-b", str(book), "--out", str(out), *more]


def test_a_run_killed_anywhere_goes_on_to_the_same_bytes(home: Path, little_book: Path, tmp_path: Path) -> None:
    """Killed at any of many points, it shows no half file; --resume brings the bytes of a run in one go.

    Vectors are compared, the kills come before and inside of lines and at every change of a file, also while
    the outputs are put in their place, and pages that were done are not read again.
    """
    points = 22
    arguments = [str(tmp_path), str(little_book), str(PAGES), str(points)]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ) | {"TOKENIZERS_PARALLELISM": "false"},  # it would warn of forks
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    found: list[dict[str, Any]] = told["found"]
    assert told["moments"] >= points
    assert len({row["at"] for row in found}) == points
    assert {row["killed"] for row in found} == {-signal.SIGKILL}
    wrong = [
        row
        for row in found
        if row["half"] or row["resumed"] or not row["same"] or row["read twice"] or row["searched twice"]
    ]
    assert wrong == []
    assert {row["how"] for row in found} == {"done", "resumed", "was finished"}
    unfinished = [row for row in found if row["how"] != "was finished"]
    assert {row["kept"] for row in unfinished} >= {0, 1, PAGES}


def stopped(furnished: Path, book: Path, out: Path, sign: signal.Signals) -> tuple[int, str]:
    """The exit code and the words of a command that gets a signal after its third page.

    It cannot end before: the pipe takes only a part of what it has to say.
    """
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from kiwiresearch.cli.start import main; main()"
    )
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 4096)  # less is not to be had
    with (
        os.fdopen(ours, "rb", buffering=0) as stream,
        subprocess.Popen(
            [sys.executable, "-c", program, *command(book, out)],
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env=environment(furnished),
        ) as process,
    ):
        os.close(theirs)
        told = b""
        while b"[3/60]" not in told:
            part = stream.read(1)
            assert part, told
            told += part
        process.send_signal(sign)
        told += b"".join(iter(lambda: stream.read(4096), b""))
    return process.returncode, told.decode()


def resumed(furnished: Path, book: Path, out: Path) -> list[dict[str, Any]]:
    """The events of the same command with --resume."""
    program = "from kiwiresearch.cli.start import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *command(book, out, "--resume", "--json")],
        capture_output=True,
        text=True,
        check=True,
        env=environment(furnished),
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_what_was_done(
    furnished: Path, sample_zim: Path, tmp_path: Path, sign: signal.Signals
) -> None:
    """Ctrl-C ends a run with code 130 and says how to go on; a termination ends it at once; nothing is lost."""
    out = tmp_path / "my run"
    code, told = stopped(furnished, sample_zim, out, sign)
    assert "Traceback" not in told
    if sign == signal.SIGINT:
        assert (code, told.count("Interrupted.")) == (130, 1)
        assert (
            f"kiwiresearch: Interrupted. What was done is kept in {str(out)!r}. "
            f"To go on, give the same command with --resume --out '{out}'\n" in told
        )
    else:
        assert code == -signal.SIGTERM
    assert [entry.name for entry in out.iterdir()] == [".journal"]
    events = resumed(furnished, sample_zim, out)
    assert events[-1]["how"] == "resumed"
    assert events[-1]["kept"] >= 3
    assert [event["order"] for event in events if event["event"] == "page"] == [
        *range(events[-1]["kept"] + 1, events[-1]["pages"] + 1)
    ]
    assert files(out) == files(furnished / "whole")


def test_a_full_disk_is_told_and_the_run_goes_on_later(furnished: Path, sample_zim: Path, tmp_path: Path) -> None:
    """A disk that takes no more ends the run with one sentence and no half file; with room it goes on."""
    out = tmp_path / "run"
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from kiwiresearch.cli.start import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command(sample_zim, out)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(furnished),
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        f"kiwiresearch: The folder {str(out / '.journal')!r} cannot be written: File too large. "
        "Free some space, then start it again: it goes on where it stopped."
    )
    assert "Traceback" not in done.stderr
    assert [entry.name for entry in out.iterdir()] == [".journal"]
    events = resumed(furnished, sample_zim, out)
    assert (events[-1]["how"], events[-1]["kept"] > 1) == ("resumed", True)
    assert files(out) == files(furnished / "whole")


def test_a_run_stopped_at_each_page_ends_with_the_same_bytes(furnished: Path, sample_zim: Path, tmp_path: Path) -> None:
    """However often it is interrupted, each start goes on with the next page, and the last brings it to its end."""

    def stop(progress: RunProgress) -> None:
        if isinstance(progress.step, VisitStep) and len(progress.state.visited) % 7 == 0:
            raise KeyboardInterrupt

    kept = []
    for _ in range(20):
        with work(furnished, sample_zim) as again:
            try:
                kept.append(again.run(tmp_path / "run", stop).kept)
                break
            except KeyboardInterrupt:
                continue
    pages = (tmp_path / "run" / "corpus.jsonl").read_bytes().count(b"\n")
    assert kept == [pages // 7 * 7]
    assert files(tmp_path / "run") == files(furnished / "whole")
