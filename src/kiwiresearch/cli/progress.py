"""Progress of long work: a live display on a terminal, lines elsewhere, or events for programs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.cli import output
from kiwiresearch.cli.options import print_json, say
from kiwiresearch.crawl import SkipStep, StartStep, VisitStep
from kiwiresearch.errors import OutputPipeClosed
from kiwiresearch.runs import step_event
from kiwiresearch.search import Score, points_text
from kiwiresearch.text import count_of

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from kiwiresearch.bulk import BulkProgress
    from kiwiresearch.runs import RunOutcome, RunProgress

INTERVAL_S = 30.0
"""How often a line is printed without a terminal."""


@contextmanager
def bulk_display() -> Iterator[Callable[[BulkProgress], None]]:
    """A line that is redrawn on a terminal, or else a line now and then."""
    rate = Rate(time.monotonic())
    if _is_live():
        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stderr, highlight=False)
        with Live("Starting …", console=console, refresh_per_second=4, transient=True) as live:
            yield lambda progress: live.update(rate.line(progress, time.monotonic()))
        return
    next_at = time.monotonic() + INTERVAL_S

    def tell(progress: BulkProgress) -> None:
        nonlocal next_at
        now = time.monotonic()
        if now >= next_at:
            next_at = now + INTERVAL_S
            say(rate.line(progress, now))

    yield tell


def _is_live() -> bool:
    """Whether standard error is a terminal that can redraw lines."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class Rate:
    """Formats progress with its speed; work of an earlier run does not count towards the speed."""

    def __init__(self, start: float) -> None:
        self._start = start

    def line(self, progress: BulkProgress, now: float) -> str:
        new, passed = progress.done - progress.resumed, max(now - self._start, 0.001)
        share = f"{progress.done:,} of {progress.total:,} entries"
        errors = count_of(progress.errors, "error")
        if not new:
            return f"{share}, {errors}"
        left = (progress.total - progress.done) * passed / new
        return f"{share}, {new / passed:,.0f} per second, {duration(left)} left, {errors}"


def duration(seconds: float) -> str:
    """A duration for people: '40 s', '12 min', '3 h 5 min'."""
    rounded = round(seconds)
    if rounded < 120:
        return f"{rounded} s"
    hours, minutes = divmod(round(rounded / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


MAX_RECENT_PAGES = 6


class Display(Protocol):
    """Shows the progress of a run, and its result."""

    def tell(self, progress: RunProgress) -> None: ...

    def finish(self, outcome: RunOutcome) -> None: ...


@contextmanager
def run_display(max_pages: int, *, as_json: bool) -> Iterator[Display]:
    """Events with --json, or else a live display on a terminal, or lines."""
    if as_json:
        yield EventDisplay()
    elif _is_live():
        from rich.console import Console
        from rich.live import Live

        live = Live(console=Console(file=sys.stderr, highlight=False), refresh_per_second=8, transient=True)
        with live:
            yield LiveDisplay(live, max_pages)
    else:
        yield LineDisplay(max_pages)


class LineDisplay:
    """A line for each page, on standard error."""

    def __init__(self, max_pages: int) -> None:
        self._max_pages = max_pages

    def tell(self, progress: RunProgress) -> None:
        if text := self._line(progress):
            say(output.safe(text))

    def _line(self, progress: RunProgress) -> str:
        state = progress.state
        match progress.step:
            case StartStep() as step:
                seeds = ", ".join(seed.title for seed in step.seeds)
                return f"Search found {count_of(len(step.found), 'page')}. Starting from: {seeds}"
            case VisitStep() as step:
                place = f"[{len(state.visited)}/{self._max_pages}]"
                return f"{place} {step.title} (depth {step.depth}, {points_text(Score(step.terms).total)} points)"
            case SkipStep(is_dropped=True) as step:
                return f"Skipped {step.title}: {step.why}"
        return ""

    def finish(self, outcome: RunOutcome) -> None:
        """Print what was made, and where it is."""
        if outcome.how == "was finished":
            output.line(
                f"This research was already finished: {count_of(outcome.pages, 'page')} about {outcome.topic!r}."
            )
        else:
            kept = f" ({outcome.resumed_pages:,} from before the interruption)" if outcome.resumed_pages else ""
            output.line(f"Read {count_of(outcome.pages, 'page')} about {outcome.topic!r}{kept}.")
        if outcome.story:
            output.line(outcome.story)
        output.unbroken_line(f"Brief:     {outcome.report}")
        files = {"Web page:": "report.html", "Claims:": "claims.jsonl", "Log:": "run.log"}
        for label, name in (files | {"Corpus:": "corpus.jsonl", "Graph:": "graph.json"}).items():
            output.unbroken_line(f"{label:11}{outcome.folder / name}")


class LiveDisplay(LineDisplay):
    """Pages, depth, the best next page and the elapsed time, drawn in place."""

    def __init__(self, live: Live, max_pages: int) -> None:
        super().__init__(max_pages)
        self._live = live
        self._start = time.monotonic()
        self._latest: list[str] = []

    def tell(self, progress: RunProgress) -> None:
        if isinstance(progress.step, VisitStep):
            self._latest = [*self._latest, self._line(progress)][-MAX_RECENT_PAGES:]
        self._live.update(self._drawn(progress))

    def _drawn(self, progress: RunProgress) -> Text:
        from rich.text import Text

        state = progress.state
        depth = max(state.count_at_depth, default=0)
        elapsed = time.monotonic() - self._start
        pages = f"{len(state.visited)} of {self._max_pages} pages"
        head = f"{pages}, depth {depth}, {len(state.frontier):,} candidates, {elapsed:.0f} s"
        rows = [head, *(f"  {line}" for line in self._latest)]
        rival = state.steps[-1].runner_up if isinstance(state.steps[-1], VisitStep) else ""
        if rival:
            rows.append(f"  next: {rival}")
        return Text("\n".join(map(output.safe, rows)), overflow="ellipsis", no_wrap=True)


class EventDisplay:
    """A JSON line on standard output for each step."""

    def __init__(self) -> None:
        self._has_reader = True

    def tell(self, progress: RunProgress) -> None:
        event = step_event(progress)
        if event and self._has_reader:
            try:
                print_json(event)
                sys.stdout.flush()
            except OutputPipeClosed:  # the run continues: its files are still wanted
                self._has_reader = False

    def finish(self, outcome: RunOutcome) -> None:
        if not self._has_reader:
            return
        facts = {"topic": outcome.topic, "pages": outcome.pages, "how": outcome.how, "kept": outcome.resumed_pages}
        print_json({"event": "done", "run": str(outcome.folder)} | facts)
