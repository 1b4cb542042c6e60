"""What a user sees while a run goes on: a display on a terminal, lines elsewhere, or events for programs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.cli import show
from kiwiresearch.cli.options import say
from kiwiresearch.cli.start import ReaderLeft
from kiwiresearch.crawl.step import Begun, Ended, Looked, Visited
from kiwiresearch.research.job_steps import event_of
from kiwiresearch.search.hit import Score, shown
from kiwiresearch.text.plural import counted

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from kiwiresearch.research.run import Outcome, Progress

LATEST = 6


class Display(Protocol):
    """Who tells the user."""

    def tell(self, progress: Progress) -> None: ...

    def done(self, outcome: Outcome) -> None: ...


@contextmanager
def teller(most: int, *, as_json: bool) -> Iterator[Display]:
    """The display that fits: events if asked for, live on a terminal, else lines."""
    if as_json:
        yield Events()
    elif sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from rich.console import Console
        from rich.live import Live

        live = Live(console=Console(file=sys.stderr, highlight=False), refresh_per_second=8, transient=True)
        with live:
            yield OnTerminal(live, most)
    else:
        yield Lines(most)


class Lines:
    """A line for each page, on standard error."""

    def __init__(self, most: int) -> None:
        self._most = most

    def tell(self, progress: Progress) -> None:
        text = self._line(progress)
        if text:
            say(show.safe(text))

    def _line(self, progress: Progress) -> str:
        state = progress.state
        match progress.step:
            case Begun() as step:
                seeds = ", ".join(seed.title for seed in step.seeds)
                return f"Beginning with {seeds}; {counted(len(step.found), 'page')} found by search."
            case Visited() as step:
                place = f"[{len(state.visited)}/{self._most}]"
                return f"{place} {step.title} (depth {step.depth}, {shown(Score(step.lines).total)} points)"
            case Looked(gone=True) as step:
                return f"Left {step.title}: {step.why}"
            case Ended() as step:
                return f"Ended: {step.why}."
        return ""

    def done(self, outcome: Outcome) -> None:
        """What was made, and where it is."""
        if outcome.how == "was finished":
            show.line(f"This run was finished before: {counted(outcome.pages, 'page')} on {outcome.topic!r}.")
        else:
            kept = f" ({outcome.kept:,} of them from before)" if outcome.kept else ""
            show.line(f"{counted(outcome.pages, 'page')} on {outcome.topic!r}{kept}.")
        if outcome.story:
            show.line(outcome.story)
        show.whole_line(f"Brief:     {outcome.report}")
        show.whole_line(f"To read:   {outcome.folder / 'report.html'}")
        show.whole_line(f"Claims:    {outcome.folder / 'claims.jsonl'}")
        show.whole_line(f"Why each:  {outcome.folder / 'run.log'}")
        show.whole_line(f"Corpus:    {outcome.folder / 'corpus.jsonl'}")
        show.whole_line(f"Graph:     {outcome.folder / 'graph.json'}")


class OnTerminal(Lines):
    """Pages, depth, the best next and the time so far, drawn in place."""

    def __init__(self, live: Live, most: int) -> None:
        super().__init__(most)
        self._live = live
        self._start = time.monotonic()
        self._latest: list[str] = []

    def tell(self, progress: Progress) -> None:
        if isinstance(progress.step, Visited):
            self._latest = [*self._latest, self._line(progress)][-LATEST:]
        self._live.update(self._drawn(progress))

    def _drawn(self, progress: Progress) -> Text:
        from rich.text import Text

        state = progress.state
        depth = max(state.at_depth, default=0)
        elapsed = time.monotonic() - self._start
        pages = f"{len(state.visited)} of {self._most} pages"
        head = f"{pages}, depth {depth}, {len(state.frontier):,} candidates, {elapsed:.0f} s"
        rows = [head, *(f"  {line}" for line in self._latest)]
        rival = state.steps[-1].runner_up if isinstance(state.steps[-1], Visited) else ""
        if rival:
            rows.append(f"  best next: {rival}")
        return Text("\n".join(map(show.safe, rows)), overflow="ellipsis", no_wrap=True)


class Events:
    """A JSON line on standard output for each step."""

    def __init__(self) -> None:
        self._is_heard = True

    def tell(self, progress: Progress) -> None:
        event = event_of(progress)
        if event and self._is_heard:
            try:
                show.document(event)
                sys.stdout.flush()
            except ReaderLeft:  # the work goes on for those who read its files
                self._is_heard = False

    def done(self, outcome: Outcome) -> None:
        if not self._is_heard:
            return
        show.document(
            {
                "event": "done",
                "run": str(outcome.folder),
                "topic": outcome.topic,
                "pages": outcome.pages,
                "how": outcome.how,
                "kept": outcome.kept,
            }
        )
