"""The questions that were asked in the web interface, for each user or browser."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Collection
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kiwiresearch.errors import CannotWrite, KiwiError
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs import cannot_write
from kiwiresearch.store import AskedQuestions
from kiwiresearch.system import FileLock, write_atomically
from kiwiresearch.web.desk.browser import browser_key
from kiwiresearch.web.guard import current_visitor
from kiwiresearch.workspace import Workspace, store_of

if TYPE_CHECKING:
    from kiwiresearch.store import QuestionRows

MAX_QUESTIONS = 50
MAX_QUESTION_CHARS = 300
"""Longer questions are not stored: they would not fit a list."""

MAX_RECENT = 8
"""Questions that a page lists."""

MAX_LISTS = 500
FOLDER = "questions"
LOCK = ".questions.lock"
TIMEOUT_S = 1.0
Change = Callable[[AskedQuestions], AskedQuestions]


class QuestionLists(Protocol):
    """The lists of all users and browsers, by a key that names neither."""

    def get(self, owner: str) -> AskedQuestions:
        """The list of a user or browser; an empty one if it cannot be read."""

    def change(self, owner: str, how: Change) -> None:
        """Change a list while nothing else does; CannotWrite or StoreError if that fails."""

    def empty_trash(self, *, older_than_s: float) -> None:
        """Delete for good what was deleted this long ago."""


class QuestionHistory:
    """Questions asked on the desk, the newest first. If storing one fails, the list is lost, not the page.

    Each user has a list; on a server without users each browser has one, since several people may share the server
    and must not see each other's questions. Hosts that share a store share the lists.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        store = store_of(workspace) if workspace.settings.is_shared_store else None
        self._lists: QuestionLists = (
            QuestionFiles(workspace.folders.state / FOLDER) if store is None else StoredQuestions(store.questions)
        )

    @property
    def is_on(self) -> bool:
        return self._workspace.settings.serve.remember_questions

    def add(self, question: str, browser: str) -> None:
        """Store a question; one that was asked before moves to the top."""
        owner = _owner(browser)
        if not owner or not self.is_on or not question.strip() or len(question) > MAX_QUESTION_CHARS:
            return

        def added(asked: AskedQuestions) -> AskedQuestions:
            others = (item for item in asked.questions if item.casefold() != question.casefold())
            return AskedQuestions((question, *others)[:MAX_QUESTIONS], asked.deleted)

        with contextlib.suppress(KiwiError, UnicodeError):
            self._lists.change(owner, added)

    def latest(self, count: int, browser: str) -> tuple[str, ...]:
        """The newest questions."""
        owner = _owner(browser)
        if owner and self.is_on:
            with contextlib.suppress(KiwiError):
                return self._lists.get(owner).questions[:count]
        return ()

    def recent(self, browser: str, *, without: Collection[str] = ()) -> tuple[str, ...]:
        """The questions that a page lists: the newest, without those that the page answers."""
        left_out = {question.casefold() for question in without}
        newest = self.latest(MAX_RECENT + len(left_out), browser)
        return tuple(question for question in newest if question.casefold() not in left_out)[:MAX_RECENT]

    def forget(self, browser: str) -> None:
        """Delete all of them, which `restore` undoes; an error if that fails."""
        self._change(browser, lambda asked: AskedQuestions((), asked.questions) if asked.questions else asked)

    def delete(self, question: str, browser: str) -> None:
        """Delete one question, which `restore` undoes."""

        def without(asked: AskedQuestions) -> AskedQuestions:
            others = tuple(item for item in asked.questions if item != question)
            return AskedQuestions(others, asked.questions) if len(others) < len(asked.questions) else asked

        self._change(browser, without)

    def restore(self, browser: str) -> None:
        """Put back what was deleted last, below what was asked since."""

        def restored(asked: AskedQuestions) -> AskedQuestions:
            back = (item for item in asked.deleted if item not in asked.questions)
            return AskedQuestions((*asked.questions, *back)[:MAX_QUESTIONS])

        self._change(browser, restored)

    def hand_over(self, browser: str, name: str, since: str, *, to_browser: bool = False) -> None:
        """Add the questions of a browser to those of a user, or the other way round, as sign-in is turned on or off."""
        both = (browser_key(browser), _key_of_user(name, since))
        giver, taker = reversed(both) if to_browser else both
        if not browser or not self.is_on:
            return
        with contextlib.suppress(KiwiError):
            given = self._lists.get(giver).questions
            if not given:
                return

            def added(asked: AskedQuestions) -> AskedQuestions:
                known = {question.casefold() for question in given}
                older = (question for question in asked.questions if question.casefold() not in known)
                return AskedQuestions((*given, *older)[:MAX_QUESTIONS], asked.deleted)

            self._lists.change(taker, added)
            self._lists.change(giver, lambda _: AskedQuestions())

    def empty_trash(self, *, older_than_s: float = 0.0) -> None:
        """Delete for good what `restore` would put back, for all users and browsers."""
        self._lists.empty_trash(older_than_s=older_than_s)

    def _change(self, browser: str, how: Change) -> None:
        owner = _owner(browser)
        if owner:
            self._lists.change(owner, how)


def _owner(browser: str) -> str:
    """The key of a user's list, or of a browser's; empty if neither is known."""
    who = current_visitor()
    if not who.name:
        return browser_key(browser) if browser else ""
    return _key_of_user(who.name, who.since)


def _key_of_user(name: str, since: str) -> str:
    # With the day of joining, so that a later user of the same name does not see the list of an earlier one.
    return sha256(f"{name}\n{since}".encode("utf-8", "replace")).hexdigest()[:32]


class StoredQuestions:
    """The lists in a store, which all its hosts share."""

    def __init__(self, rows: QuestionRows) -> None:
        self._rows = rows

    def get(self, owner: str) -> AskedQuestions:
        return self._rows.get(owner)

    def change(self, owner: str, how: Change) -> None:
        self._rows.change(owner, how, max_lists=MAX_LISTS)

    def empty_trash(self, *, older_than_s: float) -> None:
        self._rows.empty_trash(older_than_s=older_than_s)


class QuestionFiles:
    """The lists as files of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, owner: str) -> AskedQuestions:
        file = self._file(owner)
        return AskedQuestions(_questions_in(file), _questions_in(_deleted(file)))

    def change(self, owner: str, how: Change) -> None:
        """Change a list, alone: another server could write back questions that this one has just removed."""
        file, lock = self._file(owner), FileLock(self._folder / LOCK)
        try:
            if not lock.wait(TIMEOUT_S):
                raise CannotWrite(
                    "The questions could not be deleted because their file is in use.", remedy="Try again."
                )
            before = self.get(owner)
            after = how(before)
            if after.deleted != before.deleted:
                self._write(_deleted(file), after.deleted)
            if after.questions != before.questions:
                self._write(file, after.questions)
        except OSError as problem:
            raise cannot_write(file, problem) from problem
        finally:
            lock.release()

    def empty_trash(self, *, older_than_s: float) -> None:
        for file in self._folder.glob("*.deleted"):
            # Compared with the time of a file, so this is one of the places that read the clock.
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_mtime >= older_than_s:  # noqa: TID251
                    file.unlink()

    def _file(self, owner: str) -> Path:
        return self._folder / f"{owner}.jsonl"

    def _write(self, file: Path, questions: tuple[str, ...]) -> None:
        if not questions:
            file.unlink(missing_ok=True)
            return
        if not file.exists():
            self._make_room()
        write_atomically(file, "".join(canonical_json({"question": question}) + "\n" for question in questions))

    def _make_room(self) -> None:
        """Delete the lists that were used longest ago, those of one question first.

        A browser that forgets its cookie leaves such a list behind, and a program one for each request: they must not
        replace the lists of people.
        """
        lists = list(self._folder.glob("*.jsonl"))
        if len(lists) < MAX_LISTS:
            return
        lists.sort(key=lambda path: (path.read_bytes().count(b"\n") > 1, path.stat().st_mtime_ns), reverse=True)
        for old in lists[MAX_LISTS - 1 :]:
            old.unlink(missing_ok=True)
            _deleted(old).unlink(missing_ok=True)


def _deleted(file: Path) -> Path:
    return file.with_suffix(".deleted")


def _questions_in(file: Path) -> tuple[str, ...]:
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        return tuple(str(row["question"])[:MAX_QUESTION_CHARS] for row in rows[:MAX_QUESTIONS])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ()
