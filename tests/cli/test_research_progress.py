"""What a user sees while a run goes on: lines, events, or a display on a terminal."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live
from tests.cli.processes import SCRIPT, on_terminal

from kiwiresearch.cli.progress import LineDisplay, LiveDisplay
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import VisitStep
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace

RunCommand = Callable[..., tuple[int, str, str]]
PAGE = re.compile(r"\[(\d+)/8\] (.+) \(depth (\d), ([\d.]+) points\)")


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Path:
    """A home that knows the sample book."""
    folder = tmp_path_factory.mktemp("furnished")
    open_workspace({"KIWIRESEARCH_HOME": str(folder)}).opener.look_up(str(sample_zim))
    return folder


@pytest.fixture
def command(
    prepared_home: Path, home: Path, tmp_path: Path, sample_zim: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """A command of eight pages, to be given in an empty folder."""
    shutil.copytree(prepared_home, home, ignore=shutil.ignore_patterns("state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return ("Sunset", "--fast", "--max-pages", "8", "-b", str(sample_zim), "--out", "run")


def titles(out: str = "run") -> list[str]:
    return [json.loads(line)["title"] for line in (Path(out) / "corpus.jsonl").read_bytes().splitlines()]


def test_lines_go_to_standard_error(kiwi: RunCommand, command: tuple[str, ...]) -> None:
    """Off a terminal there is a line for each page on standard error; standard output has the result alone."""
    code, out, err = kiwi(*command)
    assert code == 0
    assert out.splitlines()[0] == "Read 8 pages about 'Sunset'."
    assert [line.split()[-1] for line in out.splitlines()[2:]] == [
        "run/report.md", "run/report.html", "run/claims.jsonl", "run/run.log", "run/corpus.jsonl", "run/graph.json",
    ]  # fmt: skip
    lines = err.splitlines()
    assert lines[0].startswith("Search found ")
    rows = [found.groups() for line in lines if (found := PAGE.fullmatch(line))]
    assert [row[0] for row in rows] == [str(number) for number in range(1, 9)]
    assert [row[1] for row in rows] == titles()
    assert out.splitlines()[1].endswith(" and stopped because the limit of 8 pages was reached.")
    assert "\x1b" not in out + err


def test_json_is_an_event_a_line(kiwi: RunCommand, command: tuple[str, ...]) -> None:
    """With --json each line of standard output is an object with an event, the last of them 'done'."""
    code, out, err = kiwi(*command, "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert {type(event) for event in events} == {dict}
    assert (events[0]["event"], events[0]["topic"]) == ("begun", "Sunset")
    assert events[0]["seeds"][0].keys() == {"book", "path", "title", "why", "why_message"}
    pages = [event for event in events if event["event"] == "page"]
    assert [page["order"] for page in pages] == [*range(1, 9)]
    assert [page["title"] for page in pages] == titles()
    for page in pages:
        assert page.keys() == {
            "event", "order", "book", "path", "title", "depth", "score", "reason", "reason_message", "candidates",
        }  # fmt: skip
    assert events[-2]["event"] == "ended"
    assert events[-1] == {
        "event": "done", "how": "done", "kept": 0, "pages": 8, "run": "run", "topic": "Sunset",
    }  # fmt: skip
    code, out, _ = kiwi(*command, "--json")
    assert [json.loads(line)["how"] for line in out.splitlines()] == ["was finished"]


def test_a_terminal_gets_a_live_display(command: tuple[str, ...]) -> None:
    """On a terminal pages, depth and elapsed time are drawn in place, and the result follows below."""
    code, shown = on_terminal([SCRIPT, *command], TERM="xterm", COLUMNS="100")
    assert code == 0
    assert re.search(r"8 of 8 pages, depth 1, \d+ candidates, \d+ s\r\n", shown)
    assert f"  [8/8] {titles()[-1]} (depth " in shown
    assert "\x1b[2K" in shown  # a line is drawn again
    rest = shown.rpartition("\x1b[2K")[2]
    assert rest.startswith(
        "Read 8 pages about 'Sunset'.\r\n"
        "It started with Sunset and stopped because the limit of 8 pages was reached.\r\n"
    )


Look = Callable[[RunProgress, str], None]


def watched(prepared_home: Path, sample_zim: Path, out: Path, look: Look) -> None:
    """Do a run, and look at the display after each step."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=200, highlight=False)
    with Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
        display = LiveDisplay(live, 8)

        def report(progress: RunProgress) -> None:
            screen.truncate(screen.seek(0))
            display.tell(progress)
            live.refresh()
            look(progress, screen.getvalue())

        desk = open_workspace({"KIWIRESEARCH_HOME": str(prepared_home)})
        with shelf_of(desk, [str(sample_zim)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
            Research(finder, ResearchTask("Sunset", settings=CrawlSettings(max_pages=8, fast=True))).run(out, report)


def test_the_display_follows_the_crawl(prepared_home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """After each page the display has the number of pages, the depth, the latest pages and the best next one."""
    nexts: list[str] = []

    def look(progress: RunProgress, screen: str) -> None:
        state, step = progress.state, progress.step
        assert f"{len(state.visited)} of 8 pages, depth {max(state.count_at_depth, default=0)}, " in screen
        assert re.search(rf" {len(state.frontier)} candidates, \d+ s", screen)
        for page in list(state.visited.values())[-3:]:
            assert f"] {page.title} (depth {page.depth}, " in screen
        if isinstance(step, VisitStep) and step.runner_up:
            assert f"next: {step.runner_up}" in screen
            nexts.append(step.runner_up)

    watched(prepared_home, sample_zim, tmp_path / "run", look)
    assert len(nexts) > 3


def test_titles_cannot_command_the_terminal(
    prepared_home: Path, sample_zim: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Control characters of a title are not printed."""

    def look(progress: RunProgress, screen: str) -> None:
        if isinstance(progress.step, VisitStep):
            LineDisplay(8).tell(RunProgress(replace(progress.step, title="Sun\x1b[2Jset\x07\x9b"), progress.state))

    watched(prepared_home, sample_zim, tmp_path / "run", look)
    assert [line.partition(" (depth")[0] for line in capsys.readouterr().err.splitlines()] == [
        f"[{number}/8] Sun[2Jset" for number in range(1, 9)
    ]
