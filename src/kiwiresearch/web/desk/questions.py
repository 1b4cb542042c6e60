"""The latest questions, kept on this machine for the first page, and forgotten when their reader says so."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from kiwiresearch.disk import Lock, write_whole
from kiwiresearch.errors import CannotWrite
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.part import cannot_write
from kiwiresearch.web.guard.visitor import visitor

MOST_KEPT = 50
LONGEST_KEPT = 300
"""A longer question is not kept: it is a text, and no line of a list."""

FILE = "questions.jsonl"
LOCK = ".questions.lock"
USERS = "questions"
PATIENCE_S = 1.0


class Questions:
    """What was asked in the browser, the newest first; a file that cannot be read or written costs the list alone.

    Where a token is set, nothing is kept: several people share such a server,
    and what one of them asks is no other's business. Users have a list each.
    """

    def __init__(self, desk: Desk) -> None:
        serve = desk.settings.serve
        self.is_kept = serve.remember_questions and not serve.token
        self._folder: Path = desk.folders.state

    @property
    def _file(self) -> Path:
        who = visitor()
        if not who.name:
            return self._folder / FILE
        told = f"{who.name}\n{who.since}".encode("utf-8", "replace")
        return self._folder / USERS / f"{sha256(told).hexdigest()[:32]}.jsonl"

    def add(self, question: str) -> None:
        """Keep a question, once."""
        if not self.is_kept or not question.strip() or len(question) > LONGEST_KEPT:
            return
        with self._alone() as is_alone:
            if is_alone:
                others = [one for one in self._all() if one.casefold() != question.casefold()]
                self._write([question, *others][:MOST_KEPT])

    def latest(self, count: int) -> tuple[str, ...]:
        """The newest questions."""
        return tuple(self._all()[:count]) if self.is_kept else ()

    def forget(self) -> None:
        """Forget all of them; where that cannot be done, their reader is told."""
        if not self._file.exists():
            return
        with self._alone() as is_alone:
            if not is_alone:
                raise CannotWrite("The questions could not be forgotten: their file is in use.", remedy="Try again.")
            try:
                self._file.unlink(missing_ok=True)
            except OSError as problem:
                raise cannot_write(self._file, problem) from problem

    @contextlib.contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether nobody else changes the file, in this server or another: what one forgets, none writes back."""
        lock, is_alone = Lock(self._file.with_name(LOCK)), False
        with contextlib.suppress(OSError):
            is_alone = lock.wait(PATIENCE_S)
        try:
            yield is_alone
        finally:
            lock.release()

    def _all(self) -> list[str]:
        try:
            rows = [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
            return [str(row["question"])[:LONGEST_KEPT] for row in rows[:MOST_KEPT]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return []

    def _write(self, questions: list[str]) -> None:
        lines = (canonical_json({"question": question}) + "\n" for question in questions)
        with contextlib.suppress(OSError, UnicodeError):
            write_whole(self._file, "".join(lines))
