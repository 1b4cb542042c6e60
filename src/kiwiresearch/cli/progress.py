"""What a user sees while work goes on: a live display on a terminal, lines elsewhere, or events for programs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.cli import output
from kiwiresearch.cli.options import print_json, say
from kiwiresearch.crawl.step import EndStep, LookStep, StartStep, VisitStep
from kiwiresearch.errors import ReaderLeft
from kiwiresearch.runs.progress import step_event
from kiwiresearch.search.query import Score, points_text
from kiwiresearch.text.display import count_of

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from kiwiresearch.bulk.run import BulkProgress
    from kiwiresearch.runs.research import RunOutcome, RunProgress

INTERVAL_S = 30.0
"""Where there is no terminal, a line is enough so often."""


@contextmanager
def bulk_display() -> Iterator[Callable[[BulkProgress], None]]:
    """Who tells the user: a line that changes on a terminal, else a line now and then."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stderr, highlight=False)
        with Live("Beginning …", console=console, refresh_per_second=4, transient=True) as live:
            rate = Rate(time.monotonic())
            yield lambda progress: live.update(rate.line(progress, time.monotonic()))
    else:
        yield _Occasional().tell


class _Occasional:
    def __init__(self) -> None:
        self._rate = Rate(time.monotonic())
        self._next = time.monotonic() + INTERVAL_S

    def tell(self, progress: BulkProgress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + INTERVAL_S
            say(self._rate.line(progress, now))


class Rate:
    """Turns progress into words; what was done before does not count as speed."""

    def __init__(self, start: float) -> None:
        self._start = start

    def line(self, progress: BulkProgress, now: float) -> str:
        new, passed = progress.done - progress.resumed, max(now - self._start, 0.001)
        share = f"{progress.done:,} of {progress.total:,} entries"
        errors = count_of(progress.errors, "error")
        if not new:
            return f"{share}, {errors}"
        left = (progress.total - progress.done) * passed / new
        return f"{share}, {new / passed:,.0f} a second, {duration(left)} left, {errors}"


def duration(seconds: float) -> str:
    """A time as people say it: '40 s', '12 min', '3 h 5 min'."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


LATEST = 6


class Display(Protocol):
    """Who tells the user."""

    def tell(self, progress: RunProgress) -> None: ...

    def done(self, outcome: RunOutcome) -> None: ...


@contextmanager
def run_display(most: int, *, as_json: bool) -> Iterator[Display]:
    """The display that fits: events if asked for, live on a terminal, else lines."""
    if as_json:
        yield EventDisplay()
    elif sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from rich.console import Console
        from rich.live import Live

        live = Live(console=Console(file=sys.stderr, highlight=False), refresh_per_second=8, transient=True)
        with live:
            yield LiveDisplay(live, most)
    else:
        yield LineDisplay(most)


class LineDisplay:
    """A line for each page, on standard error."""

    def __init__(self, most: int) -> None:
        self._most = most

    def tell(self, progress: RunProgress) -> None:
        text = self._line(progress)
        if text:
            say(output.safe(text))

    def _line(self, progress: RunProgress) -> str:
        state = progress.state
        match progress.step:
            case StartStep() as step:
                seeds = ", ".join(seed.title for seed in step.seeds)
                return f"Beginning with {seeds}; {count_of(len(step.found), 'page')} found by search."
            case VisitStep() as step:
                place = f"[{len(state.visited)}/{self._most}]"
                return f"{place} {step.title} (depth {step.depth}, {points_text(Score(step.lines).total)} points)"
            case LookStep(gone=True) as step:
                return f"Left {step.title}: {step.why}"
            case EndStep() as step:
                return f"Ended: {step.why}."
        return ""

    def done(self, outcome: RunOutcome) -> None:
        """What was made, and where it is."""
        if outcome.how == "was finished":
            output.line(f"This run was finished before: {count_of(outcome.pages, 'page')} on {outcome.topic!r}.")
        else:
            kept = f" ({outcome.kept:,} of them from before)" if outcome.kept else ""
            output.line(f"{count_of(outcome.pages, 'page')} on {outcome.topic!r}{kept}.")
        if outcome.story:
            output.line(outcome.story)
        output.unbroken_line(f"Brief:     {outcome.report}")
        output.unbroken_line(f"To read:   {outcome.folder / 'report.html'}")
        output.unbroken_line(f"Claims:    {outcome.folder / 'claims.jsonl'}")
        output.unbroken_line(f"Why each:  {outcome.folder / 'run.log'}")
        output.unbroken_line(f"Corpus:    {outcome.folder / 'corpus.jsonl'}")
        output.unbroken_line(f"Graph:     {outcome.folder / 'graph.json'}")


class LiveDisplay(LineDisplay):
    """Pages, depth, the best next and the time so far, drawn in place."""

    def __init__(self, live: Live, most: int) -> None:
        super().__init__(most)
        self._live = live
        self._start = time.monotonic()
        self._latest: list[str] = []

    def tell(self, progress: RunProgress) -> None:
        if isinstance(progress.step, VisitStep):
            self._latest = [*self._latest, self._line(progress)][-LATEST:]
        self._live.update(self._drawn(progress))

    def _drawn(self, progress: RunProgress) -> Text:
        from rich.text import Text

        state = progress.state
        depth = max(state.at_depth, default=0)
        elapsed = time.monotonic() - self._start
        pages = f"{len(state.visited)} of {self._most} pages"
        head = f"{pages}, depth {depth}, {len(state.frontier):,} candidates, {elapsed:.0f} s"
        rows = [head, *(f"  {line}" for line in self._latest)]
        rival = state.steps[-1].runner_up if isinstance(state.steps[-1], VisitStep) else ""
        if rival:
            rows.append(f"  best next: {rival}")
        return Text("\n".join(map(output.safe, rows)), overflow="ellipsis", no_wrap=True)


class EventDisplay:
    """A JSON line on standard output for each step."""

    def __init__(self) -> None:
        self._is_heard = True

    def tell(self, progress: RunProgress) -> None:
        event = step_event(progress)
        if event and self._is_heard:
            try:
                print_json(event)
                sys.stdout.flush()
            except ReaderLeft:  # the work goes on for those who read its files
                self._is_heard = False

    def done(self, outcome: RunOutcome) -> None:
        if not self._is_heard:
            return
        print_json(
            {
                "event": "done",
                "run": str(outcome.folder),
                "topic": outcome.topic,
                "pages": outcome.pages,
                "how": outcome.how,
                "kept": outcome.kept,
            }
        )
