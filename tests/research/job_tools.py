"""Jobs on the sample book, a model that keeps them waiting, and what to compare their runs with."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.llm.servers import Talk, whole

from kiwiresearch.cli.start import run
from kiwiresearch.research.desk import Desk, open_desk
from kiwiresearch.research.job import Job, JobWish
from kiwiresearch.research.jobs import Jobs, Limits, Seen

TOPIC = "Bronze Age collapse"
PATIENCE_S = 60


@dataclass
class Gate:
    """A model that has no claims to make, and keeps who asks about the n-th page waiting until it is opened."""

    holds: int = 3
    asked: list[str] = field(default_factory=list)
    """The pages it was asked about, once for each part of them."""
    reached: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)

    def __call__(self, talk: Talk) -> None:
        about = re.search(r"The article is about:\n<data[^>]*>\n(.*)", talk.body["messages"][-1]["content"])
        if about:
            self.asked.append(about[1])
            if len(set(self.asked)) == self.holds:
                self.reached.set()
                self.opened.wait(PATIENCE_S)
        talk.send(200, whole('{"claims": []}'))


def a_desk(home: Path, runs: Path, **more: str) -> Desk:
    environment = {"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_SERVE_RUNS": str(runs)}
    return open_desk(environment | more)


@contextlib.contextmanager
def jobs_on(desk: Desk, book: Path, limits: Limits | None = None) -> Iterator[Jobs]:
    """The jobs of a server on one book; its clock strikes with each look at it."""
    strokes = itertools.count(1)
    jobs = Jobs(desk, desk.shelf([str(book)]).books, now=lambda: f"stroke {next(strokes)}", limits=limits)
    try:
        yield jobs
    finally:
        jobs.close()


def awaited(jobs: Jobs, job_id: str, is_so: Callable[[Seen], bool]) -> Seen:
    """Wait until a job has told or become what is waited for."""
    news = threading.Event()
    with jobs.listening(news.set):
        while True:
            news.clear()
            seen = jobs.since(job_id)
            if is_so(seen):
                return seen
            assert seen.job.is_open, seen.job
            assert news.wait(PATIENCE_S), seen


def ended(jobs: Jobs, job_id: str) -> Job:
    return awaited(jobs, job_id, lambda seen: not seen.job.is_open).job


def kinds(seen: Seen) -> list[str]:
    return [event.data["event"] for event in seen.events]


def a_wish() -> JobWish:
    return JobWish(TOPIC, max_pages=6, books=("sample",))


def files(folder: Path) -> dict[str, bytes]:
    """All files of a run but the timings."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != "timings.json"
    }


def by_command(home: Path, book: Path, out: Path, **environment: str) -> dict[str, bytes]:
    """The files that the command line makes."""
    words = [TOPIC, "-b", str(book), "--max-pages", "6", "--out", str(out), "--json"]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        for name, value in {"KIWIRESEARCH_HOME": str(home), **environment}.items():
            patch.setenv(name, value)
        assert run(words) == 0
    return files(out)


def on_disk(jobs: Jobs, job_id: str) -> dict[str, object]:
    found = json.loads((jobs.folder / f"{job_id}.job.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found
