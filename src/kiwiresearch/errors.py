"""Every failure a user can meet, by name.

KiwiError                     exit code 1, with a remedy
├── BadUsage                  the command makes no sense as given (exit code 2)
├── BadSettings               a setting or the shelf file cannot be used
├── BookError                 something about a book
│   ├── BookNotFound          no book of that name, or no file there
│   │   └── BookHidden        the policy of this desk does not allow it
│   ├── NotABook              the file is no ZIM file, or cannot be opened as one
│   ├── BookDamaged           its bytes are not what its maker wrote
│   ├── BookChanged           the file was cut or overwritten while open
│   ├── BookUnreachable       a kiwix-serve did not answer as one does: try again
│   │   └── HostAway          no host of the store that has the book answers: try again when one does
│   └── NotOffered            this kind of book cannot do that
├── PageNotFound              the book has no such page (exit code 3)
│   └── PageHidden            the policy of this desk hides it: go on without it, and say so
├── RedirectLoop              a page that leads only to itself (exit code 3)
├── NothingFound              a search found no page at all (exit code 3)
├── NotAllowed                this user may not do that: who may is said
├── LimitReached              this user did so much already: try again after a while
├── Interrupted               the user stopped the command (exit code 130)
├── RunError                  something about the folder of a run or of a case
│   ├── FolderTaken           another run writes there, or it holds something else
│   │   └── FolderInUse       another process works there just now: try again when it has ended
│   ├── CannotWrite           the disk is full, or the folder cannot be written
│   ├── WrongJobState         the job is queued, running or done, which the request does not fit
│   ├── TooManyRuns           so many wait already that one more would only wait: try again later
│   ├── NoteChanged           a note says something else by now: look at it, then write again
│   ├── RunNotFound           there is no finished run in that folder
│   └── RunDamaged            a file of the run is not as it was written
├── StoreError                something about the store that hosts and workers share
│   ├── StoreUnreachable      its server did not answer: try again
│   ├── StoreDamaged          it is no store, or not as it was written, or of a newer kiwiresearch
│   └── LeaseLost             another worker has the job by now: write nothing more of it
├── QuoteNotFound             the page does not say that: drop the claim, and note it
├── StatementWithoutClaims    nothing that was read says that: it may not be written
├── IndexStale                a title index was made from another file: build it again
├── EmbedderError             vectors cannot be had: go on without them
├── ReaderUnavailable         the reading model cannot be loaded: go on by words alone
├── SourceError               something about a source of evidence: the case goes on without it
│   ├── SourceRefused         it may not be asked this, by a rule that the error names
│   ├── SourceUnreachable     no answer, or none that can be read: try again
│   └── SourceResting         it wants to be left alone for a while
└── ModelError                something about a language model
    ├── ModelUnreachable      no answer, or none in time: try again later (exit code 4)
    ├── BadReply              it answered, but not what was asked for: ask once more, then go without
    └── PromptTooLong         the prompt does not fit the model: give it less

A message names the thing and what is wrong with it; the remedy says what to do.
"""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, Literal, Self

from kiwiresearch.messages import Message, rewritten

if TYPE_CHECKING:
    from pathlib import Path

QUOTED_PATH = re.compile(r"""(?P<mark>['"])(?:[A-Za-z]:)?(?:[/\\][^'"/\\]*)+(?P=mark)""")
QUOTED_DATABASE = re.compile(r"""(['"])postgres[a-z+]*://[^'"]*\1 ?""")
NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
SourceRule = Literal["switched off", "privacy", "credentials", "terms", "robots.txt", "address", "quarantine"]
"""What can keep a source from being asked."""


class KiwiError(Exception):
    """Anything that went wrong and that a person can act on."""

    exit_code = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class BadUsage(KiwiError):
    """The command was asked for something that makes no sense."""

    exit_code = 2


class BadSettings(KiwiError):
    """A setting, or the list of books, cannot be used as it stands."""


class BookError(KiwiError):
    """Something about a book."""


class BookNotFound(BookError):
    """No book goes by that name, or no file is at that place."""


class BookHidden(BookNotFound):
    """The policy of this desk does not allow the book."""


class NotABook(BookError):
    """What is there is no ZIM file, or not one that can be opened."""


class BookDamaged(BookError):
    """The bytes are not the ones its maker wrote: pages may be wrong without notice."""


class BookChanged(BookError):
    """The file was cut or overwritten while it was open."""


class BookUnreachable(BookError):
    """The server did not answer, or not as kiwix-serve does. Trying again may help."""


class HostAway(BookUnreachable):
    """No host of the store that has the book answers. It is named, left out for a while, and asked again later."""


class NotOffered(BookError):
    """This kind of book cannot do what was asked."""


class PageNotFound(KiwiError):
    """The book has no page of that path or title."""

    exit_code = 3


class PageHidden(PageNotFound):
    """The policy of this desk hides the page: who can do without a page goes on, and who asked for it is told."""


class RedirectLoop(KiwiError):
    """Following the redirects of this page never arrives."""

    exit_code = 3


class NothingFound(KiwiError):
    """The search found no page at all."""

    exit_code = 3


class NotAllowed(KiwiError):
    """The user may not do that; the message says who may."""


class LimitReached(KiwiError):
    """The user has had all that a limit allows, until `after_s` seconds have passed."""

    def __init__(self, message: str, *, retry_after_s: float = 60.0, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after_s = retry_after_s


class Interrupted(KiwiError):
    """The user stopped the command; what was done is kept."""

    exit_code = 130


class RunError(KiwiError):
    """Something about the folder of a run, or of a case."""


class FolderTaken(RunError):
    """Another process writes there, or it holds another run, or something that is no run."""


class FolderInUse(FolderTaken):
    """Another process works there just now. Trying again when it has ended helps."""


class CannotWrite(RunError):
    """The disk is full, the folder is read-only, or it cannot be one."""

    @classmethod
    def to(cls, folder: Path, problem: OSError | ValueError, *, remedy: str) -> Self:
        """What the system refused, with what to do about it; where the disk is full that is always the same."""
        if not isinstance(problem, OSError):
            return cls(f"The folder {str(folder)!r} cannot be written: its name is not allowed.", remedy=remedy)
        if problem.errno in NO_ROOM:
            remedy = Message("Free some space, then start it again: it goes on where it stopped.", "remedy.make_room")
        reason = problem.strerror or str(problem)
        text = f"The folder {str(folder)!r} cannot be written: {reason}."
        return cls(Message(text, "job.cannot_write", folder=folder.name, reason=reason), remedy=remedy)


class WrongJobState(RunError):
    """A job cannot be resumed, started again or removed in the state it is in."""


class TooManyRuns(RunError):
    """So many runs wait already that one more would only wait. Trying again later may help."""


class NoteChanged(RunError):
    """A note says something else than it did when it was read to be changed."""


class RunNotFound(RunError):
    """There is no finished run in that folder."""


class RunDamaged(RunError):
    """A file of the run is missing, or not as it was written."""

    def __init__(self, message: str, *, remedy: str = "", problem: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.problem = problem
        """What is wrong with the file, as part of a sentence that names the file itself."""


class StoreError(KiwiError):
    """Something about the store that hosts and workers share."""


class StoreUnreachable(StoreError):
    """The server of the store did not answer. Trying again may help."""


class StoreDamaged(StoreError):
    """What is there is no store, is not as it was written, or was written by a newer kiwiresearch."""


class LeaseLost(StoreError):
    """The job was given to another worker, since this one was not heard of: nothing more of it may be written."""


class QuoteNotFound(KiwiError):
    """The page does not have these words, letter by letter."""


class StatementWithoutClaims(KiwiError):
    """A sentence that rests on nothing was about to be written."""


class IndexStale(KiwiError):
    """The title index was made from another file than the book that is open."""


class EmbedderError(KiwiError):
    """Texts cannot be turned into vectors: the model is missing, damaged or not answering."""


class ReaderUnavailable(KiwiError):
    """The reading model cannot be loaded: its runtime is missing, or its files are damaged."""


class SourceError(KiwiError):
    """Something about a source of evidence; the case goes on without it."""


class SourceRefused(SourceError):
    """The source may not be asked this: `step` names the rule that says so."""

    def __init__(self, message: str, *, rule: SourceRule = "switched off", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.rule = rule


class SourceUnreachable(SourceError):
    """The source did not answer, or not with anything that can be read. Trying again may help."""


class SourceResting(SourceError):
    """The source is not to be asked again before `after_s` seconds have passed."""

    def __init__(self, message: str, *, retry_after_s: float = 1.0, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy or f"Ask it again in {round(retry_after_s) or 1} seconds.")
        self.retry_after_s = retry_after_s


class ModelError(KiwiError):
    """Something about a language model."""


class ModelUnreachable(ModelError):
    """The model did not answer, or not in time. Trying again later may help."""

    exit_code = 4


class BadReply(ModelError):
    """The model answered, but not what it was asked for, even when asked again."""


class PromptTooLong(ModelError):
    """The prompt and the reply do not fit what the model can read at once."""


class ReaderLeft(Exception):
    """The program that read our output through a pipe has ended, which is not an error."""


class OutputLost(Exception):
    """Standard output cannot be written."""


def without_paths(words: str) -> str:
    """A message for people at other machines: files without their folders, and no address of a database."""

    def name(place: re.Match[str]) -> str:
        mark = place["mark"]
        return mark + re.split(r"[/\\]", place[0].strip(mark).rstrip("/\\"))[-1] + mark

    return rewritten(words, lambda text: QUOTED_PATH.sub(name, QUOTED_DATABASE.sub("", text)))
