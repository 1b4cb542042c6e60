"""Runs that are stopped, by a kill, a signal or a full disk, and go on to the bytes of a run in one go."""

from __future__ import annotations

import contextlib
import fcntl
import io
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

from kiwiresearch.cli.start import run
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.runs.research import Research, ResearchTask
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace

pytestmark = pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="this system's pipes have a fixed size")

TOPIC = "Bronze Age collapse"


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Path:
    """A home that knows the sample book, and the run that is not stopped."""
    folder = tmp_path_factory.mktemp("furnished")
    with work(folder, sample_zim) as whole:
        whole.run(folder / "whole")
    return folder


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
    shown = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(shown):
        patch.setenv("KIWIRESEARCH_HOME", str(furnished / "home"))
        assert run(command(book, out, "--resume", "--json")) == 0
    return [json.loads(line) for line in shown.getvalue().splitlines()]


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
