"""Every error that a user can meet.

KiwiError                     exit code 1, with a remedy
├── BadUsage                  the command makes no sense as given (exit code 2)
│   ├── OutOfDate             somebody else has changed it since
│   └── BookNotAdded          an uploaded book was not added; the reason says why
├── BadSettings               a setting or the shelf file cannot be used
├── BookError                 an error about a book
│   ├── BookNotFound          no book has that name, or the file does not exist
│   │   └── BookHidden        this server's policy does not allow it
│   ├── NotABook              the file is not a ZIM file, or cannot be opened
│   ├── BookDamaged           its bytes are not what its maker wrote
│   ├── BookChanged           the file was cut or overwritten while open
│   ├── BookUnreachable       the server did not answer like kiwix-serve: try again
│   │   └── HostUnreachable   no host of the store that has the book answers: try again when one does
│   └── NotOffered            this kind of book cannot do that
├── PageNotFound              the book has no such page (exit code 3)
│   └── PageHidden            this server's policy hides it: continue without it, and report that
├── RedirectLoop              the redirects of a page form a loop (exit code 3)
├── NothingFound              a search found no page (exit code 3)
├── ProgramMissing            another program is needed, and it is not installed
├── NotAllowed                this user may not do that; the message says who may
├── LimitReached              this user has used up a limit: try again after a while
├── Interrupted               the user stopped the command (exit code 130)
├── RunError                  an error about a run, a job or a case
│   ├── FolderTaken           another run writes there, or it contains something else
│   │   └── FolderInUse       another process is working there: try again when it has ended
│   ├── CannotWrite           the disk is full, or the folder cannot be written
│   ├── WrongJobState         the request does not fit the state of the job (queued, running or done)
│   ├── TooManyRuns           too many are queued already: try again later
│   ├── NoteChanged           a note was changed meanwhile: look at it, then write again
│   ├── RunNotFound           a run, a job, a case or something in it was not found
│   └── RunDamaged            a run or a case is missing something, or was changed
├── StoreError                an error about the store that hosts and workers share
│   ├── StoreUnreachable      its server did not answer: try again
│   ├── StoreDamaged          it is not a store, is damaged, or was written by a newer kiwiresearch
│   └── LeaseLost             another worker has the job now: write nothing more of it
├── QuoteNotFound             the page does not say that: drop the claim, and note it
├── StatementWithoutClaims    nothing that was read says that: it may not be written
├── IndexStale                a title index was made from another file: build it again
├── EmbedderError             vectors are unavailable: continue without them
├── ReaderUnavailable         the reading model cannot be loaded: continue with words alone
├── SourceError               an error about a source of evidence: the case continues without it
│   ├── SourceRefused         it may not be asked this; the error names the rule
│   ├── SourceUnreachable     no answer, or none that can be read: try again
│   └── SourceRateLimited     it must not be asked for a while
└── ModelError                an error about a language model
    ├── ModelUnreachable      no answer, or none in time: try again later (exit code 4)
    ├── BadReply              it answered, but not what was asked for: ask once more, then do without
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

# Finds '/home/ann/books/x.zim' and 'C:\books\x.zim' in their quotation marks; not 'and/or', which does not start so.
QUOTED_PATH = re.compile(r"""(?P<mark>['"])(?:[A-Za-z]:)?(?:[/\\][^'"/\\]*)+(?P=mark)""")
QUOTED_DATABASE = re.compile(r"""(['"])postgres[a-z+]*://[^'"]*\1 ?""")
NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
SourceRule = Literal["switched off", "privacy", "credentials", "terms", "robots.txt", "address", "quarantine"]
"""The rules that can stop a source from being asked."""


UploadFault = Literal["no_file", "empty", "not_a_zim", "unreadable", "too_large", "no_room", "known", "stopped"]
"""Why a book that was sent to the server was not added."""


class KiwiError(Exception):
    """An error that a person can act on."""

    exit_code = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


class BadUsage(KiwiError):
    """The command was given something that makes no sense."""

    exit_code = 2


class OutOfDate(BadUsage):
    """Somebody else has changed the same thing since it was read. Look at it again."""


class BookNotAdded(BadUsage):
    """A book that was sent to the server was not added to the library."""

    def __init__(self, message: str, *, reason: UploadFault = "unreadable", remedy: str = "", **values: object) -> None:
        super().__init__(message, remedy=remedy)
        self.reason = reason
        self.values = values
        """What the message names, by which it is written in other languages."""


class BadSettings(KiwiError):
    """A setting, or the list of books, cannot be used."""


class ProgramMissing(KiwiError):
    """Another program is needed for this, and it is not installed."""


class BookError(KiwiError):
    """An error about a book."""


class BookNotFound(BookError):
    """No book has that name, or the file does not exist."""


class BookHidden(BookNotFound):
    """The policy of this server does not allow the book."""


class NotABook(BookError):
    """The file is not a ZIM file, or cannot be opened."""


class BookDamaged(BookError):
    """The bytes are not the ones its maker wrote: pages may be wrong without any sign of it."""


class BookChanged(BookError):
    """The file was cut or overwritten while it was open."""


class BookUnreachable(BookError):
    """The server did not answer, or not like kiwix-serve. Trying again may help."""


class HostUnreachable(BookUnreachable):
    """No host of the store that has the book answers. It is named, left out for a while, and asked again later."""


class NotOffered(BookError):
    """This kind of book does not support the operation."""


class PageNotFound(KiwiError):
    """The book has no page with that path or title."""

    exit_code = 3


class PageHidden(PageNotFound):
    """The policy of this server hides the page: callers that can do without it skip it, a direct request fails."""


class RedirectLoop(KiwiError):
    """The redirects of this page form a loop."""

    exit_code = 3


class NothingFound(KiwiError):
    """The search found no page."""

    exit_code = 3


class NotAllowed(KiwiError):
    """The user may not do that; the message says who may."""


class LimitReached(KiwiError):
    """The user has used up a limit, until `retry_after_s` seconds have passed."""

    def __init__(self, message: str, *, retry_after_s: float = 60.0, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after_s = retry_after_s


class Interrupted(KiwiError):
    """The user stopped the command; finished work stays."""

    exit_code = 130


class RunError(KiwiError):
    """An error about a run, a job or a case."""


class FolderTaken(RunError):
    """Another process writes there, or it contains another run or something else."""


class FolderInUse(FolderTaken):
    """Another process is working there. Try again when it has ended."""


class CannotWrite(RunError):
    """The disk is full, the folder is read-only, or it cannot be created."""

    @classmethod
    def to(cls, folder: Path, problem: OSError | ValueError, *, remedy: str) -> Self:
        """The error for a system error, with a remedy; a full disk always has the same one."""
        if not isinstance(problem, OSError):
            return cls(f"Could not write to the folder {str(folder)!r}: its name is not allowed.", remedy=remedy)
        if problem.errno in NO_ROOM:
            remedy = Message(
                "Free up disk space, then start again. Work continues where it stopped.", "remedy.make_room"
            )
        reason = problem.strerror or str(problem)
        text = f"Could not write to the folder {str(folder)!r}: {reason}."
        return cls(Message(text, "job.cannot_write", folder=folder.name, reason=reason), remedy=remedy)


class WrongJobState(RunError):
    """A job cannot be resumed, restarted or removed in its current state."""


class TooManyRuns(RunError):
    """Too many runs are queued already. Trying again later may help."""


class NoteChanged(RunError):
    """A note was changed after it was read for editing."""


class RunNotFound(RunError):
    """A run, a job or a case was not found, or something in it, such as a file."""


class RunDamaged(RunError):
    """Something of a run or a case is missing, or not as it was written: a file, or rows of its database."""

    def __init__(self, message: str, *, remedy: str = "", problem: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.problem = problem
        """The problem with the file, as part of a sentence that names the file."""


class StoreError(KiwiError):
    """An error about the store that hosts and workers share."""


class StoreUnreachable(StoreError):
    """The server of the store did not answer. Trying again may help."""


class StoreDamaged(StoreError):
    """This is not a store, was changed or damaged, or was written by a newer kiwiresearch."""


class LeaseLost(StoreError):
    """The job went to another worker because this one was not heard from: it may write nothing more."""


class QuoteNotFound(KiwiError):
    """The page does not contain these words, letter by letter."""


class StatementWithoutClaims(KiwiError):
    """A sentence without any supporting claim was about to be written."""


class IndexStale(KiwiError):
    """The title index was made from another file than the open book."""


class EmbedderError(KiwiError):
    """Texts cannot be turned into vectors: the model is missing, damaged or not answering."""


class ReaderUnavailable(KiwiError):
    """The reading model cannot be loaded: its runtime is missing, or its files are damaged."""


class SourceError(KiwiError):
    """An error about a source of evidence; the case continues without it."""


class SourceRefused(SourceError):
    """The source may not be asked this: `rule` names the rule."""

    def __init__(self, message: str, *, rule: SourceRule = "switched off", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.rule = rule


class SourceUnreachable(SourceError):
    """The source did not answer, or not with anything readable. Trying again may help."""


class SourceRateLimited(SourceError):
    """The source must not be asked again before `retry_after_s` seconds have passed."""

    def __init__(self, message: str, *, retry_after_s: float = 1.0, remedy: str = "") -> None:
        wait_s = round(retry_after_s) or 1
        super().__init__(message, remedy=remedy or f"Try again in {wait_s} second{'s' if wait_s != 1 else ''}.")
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


class OutputPipeClosed(Exception):
    """The program that read our output through a pipe has exited, which is not an error."""


class OutputLost(Exception):
    """Standard output cannot be written."""


def without_paths(words: str) -> str:
    """A message for people on other machines: files without their folders, and no address of a database."""

    def name(place: re.Match[str]) -> str:
        mark = place["mark"]
        return mark + re.split(r"[/\\]", place[0].strip(mark).rstrip("/\\"))[-1] + mark

    return rewritten(words, lambda text: QUOTED_PATH.sub(name, QUOTED_DATABASE.sub("", text)))
