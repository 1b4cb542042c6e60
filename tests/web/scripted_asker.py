"""An asker that gives the answers that a test sets, when the test lets it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from kiwiresearch.ask.answer import Event
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.workspace.asker import DEFAULT_OPTIONS, Asker


class ScriptedAsker(Asker):
    """Answers every question with the same events; an exception among them is raised in its place."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, AskOptions]] = []
        self.closed = threading.Event()
        """Set when a generator has ended in any way."""
        self.all_held = threading.Event()
        """Set when as many wait as shall wait."""
        self.let_go = threading.Event()
        self._lines: tuple[Event | Exception, ...] = ()
        self._endless: Event | None = None
        self._hold = self._after = 0
        self._held = threading.Barrier(1)

    def script(self, *lines: Event | Exception, endless: Event | None = None, hold: int = 0, after: int = 0) -> None:
        """Set the events; the first `hold` questions wait after `after` events until they are let go."""
        self._lines, self._endless, self._hold, self._after = lines, endless, hold, after
        self._held = threading.Barrier(max(hold, 1), action=self.all_held.set)

    def events(self, question: str, options: AskOptions = DEFAULT_OPTIONS) -> Iterator[Event]:
        self.asked.append((question, options))
        number = len(self.asked)
        try:
            for place, line in enumerate(self._lines):
                if place == self._after and number <= self._hold:
                    self._wait()
                if isinstance(line, Exception):
                    raise line
                yield line
            while self._endless is not None:
                yield self._endless
        finally:
            self.closed.set()

    def _wait(self) -> None:
        self._held.wait(30)
        self.let_go.wait(30)
