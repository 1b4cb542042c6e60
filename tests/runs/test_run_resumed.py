"""Runs that are stopped, by a kill, a signal or a full disk, and go on to the bytes of a run in one go."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.cli.start import run
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.errors import FolderTaken, RunNotFound
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace

pytestmark = pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="this system's pipes have a fixed size")

TOPIC = "Bronze Age collapse"


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Path:
    """A home that knows the sample book, and the run that is not stopped."""
    folder = tmp_path_factory.mktemp("furnished")
    with work(folder, sample_zim) as whole:
        whole.run(folder / "whole")
    return folder


@contextmanager
def work(folder: Path, book: Path) -> Iterator[Research]:
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    with shelf_of(desk, [str(book)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        yield Research(finder, ResearchTask(TOPIC, settings=CrawlSettings(fast=True, max_pages=60)))


def files(folder: Path) -> dict[str, bytes]:
    """All files of a run but the timings."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != "timings.json"
    }


def environment(prepared_home: Path) -> dict[str, str]:
    return dict(os.environ) | {"KIWIRESEARCH_HOME": str(prepared_home / "home")}


def command(book: Path, out: Path, *more: str) -> list[str]:
    return [TOPIC, "--fast", "--max-pages", "60", "-b", str(book), "--out", str(out), *more]


def stopped(prepared_home: Path, book: Path, out: Path, sign: signal.Signals) -> tuple[int, str]:
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
            env=environment(prepared_home),
        ) as process,
    ):
        os.close(theirs)
        result = b""
        while b"[3/60]" not in result:
            part = stream.read(1)
            assert part, result
            result += part
        process.send_signal(sign)
        result += b"".join(iter(lambda: stream.read(4096), b""))
    return process.returncode, result.decode()


def resumed(prepared_home: Path, book: Path, out: Path) -> list[dict[str, Any]]:
    """The events of the same command with --resume."""
    shown = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(shown):
        patch.setenv("KIWIRESEARCH_HOME", str(prepared_home / "home"))
        assert run(command(book, out, "--resume", "--json")) == 0
    return [json.loads(line) for line in shown.getvalue().splitlines()]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_what_was_done(
    prepared_home: Path, sample_zim: Path, tmp_path: Path, sign: signal.Signals
) -> None:
    """Ctrl-C ends a run with code 130 and says how to go on; a termination ends it at once; nothing is lost."""
    out = tmp_path / "my run"
    code, result = stopped(prepared_home, sample_zim, out, sign)
    assert "Traceback" not in result
    if sign == signal.SIGINT:
        assert (code, result.count("Interrupted.")) == (130, 1)
        assert (
            f"kiwiresearch: Interrupted. Your progress is saved in {str(out)!r}. "
            f"To continue, run the same command with --resume --out '{out}'. "
            "To write the brief from the pages read so far, use --finish instead of --resume.\n" in result
        )
    else:
        assert code == -signal.SIGTERM
    assert [entry.name for entry in out.iterdir()] == [".journal"]
    events = resumed(prepared_home, sample_zim, out)
    assert events[-1]["how"] == "resumed"
    assert events[-1]["kept"] >= 3
    assert [event["order"] for event in events if event["event"] == "page"] == [
        *range(events[-1]["kept"] + 1, events[-1]["pages"] + 1)
    ]
    assert files(out) == files(prepared_home / "whole")


def test_a_full_disk_is_reported_and_the_run_goes_on_later(
    prepared_home: Path, sample_zim: Path, tmp_path: Path
) -> None:
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
        env=environment(prepared_home),
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        f"kiwiresearch: Could not write to the folder {str(out / '.journal')!r}: File too large. "
        "Free up disk space, then start again. Work continues where it stopped."
    )
    assert "Traceback" not in done.stderr
    assert [entry.name for entry in out.iterdir()] == [".journal"]
    events = resumed(prepared_home, sample_zim, out)
    assert (events[-1]["how"], events[-1]["kept"] > 1) == ("resumed", True)
    assert files(out) == files(prepared_home / "whole")


class Stopped(Exception):
    """Raised by a test in the middle of a run."""


def stop_after(pages: int) -> Callable[[RunProgress], None]:
    def tell(progress: RunProgress) -> None:
        if len(progress.state.visited) == pages:
            raise Stopped

    return tell


def test_the_brief_of_a_stopped_run_says_what_was_not_read(
    prepared_home: Path, sample_zim: Path, tmp_path: Path
) -> None:
    """It is written from the pages read so far, has the same bytes each time, verifies, and is done for good."""
    outs = [tmp_path / "one", tmp_path / "two"]
    for out in outs:
        with work(prepared_home, sample_zim) as run_here, pytest.raises(Stopped):
            run_here.run(out, stop_after(3))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KIWIRESEARCH_HOME", str(prepared_home / "home"))
            assert run(command(sample_zim, out, "--finish")) == 0
    assert files(outs[0]) == files(outs[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(prepared_home / "home"))
        assert run(["verify", str(outs[0]), "-b", str(sample_zim)]) == 0
        assert run(["export", str(outs[0]), "--to", "docx", "--out", str(tmp_path / "brief.docx")]) == 0
    report = (outs[0] / "report.md").read_text(encoding="utf-8")
    note = re.search(r"stopped after 3 of at most 60 pages.*not read: (\d+)\. The next would have been: (.+)\.", report)
    assert note is not None
    with work(prepared_home, sample_zim) as again:
        state = json.loads((outs[0] / "manifest.json").read_bytes())
        assert (state["pages"], state["stopped"]["of"]) == (3, again.fingerprint)
        assert state["fingerprint"] != again.fingerprint
        assert again.run(outs[0], read_no_more=True).how == "was finished"
        with pytest.raises(FolderTaken):
            again.run(outs[0])
        with pytest.raises(RunNotFound, match="has read a page"):
            again.run(tmp_path / "nothing", read_no_more=True)
    assert not (tmp_path / "nothing").exists()
