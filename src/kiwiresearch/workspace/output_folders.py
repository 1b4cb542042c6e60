"""Topics as users give them, the folder names made from them, and the folders a server writes to."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.system import expand_user
from kiwiresearch.text import fold, is_searchable
from kiwiresearch.workspace.workspace import Workspace

if TYPE_CHECKING:
    from kiwiresearch.store import Store

MAX_TOPIC_CHARS = 500
MAX_FOLDER_NAME_CHARS = 60


def checked_topic(text: str) -> str:
    """A topic in one line; BadUsage if it is empty, very long, or has control characters."""
    return _checked(text, "topic", remedy="Example: kiwiresearch 'Bronze Age collapse'", needed=True)


def checked_person(text: str) -> str:
    """The name of a person in one line; BadUsage for what no topic may be either."""
    return _checked(text, "name", remedy="Enter the name of a person, for example 'Charles Darwin'.", needed=True)


def checked_focus(text: str) -> str:
    return _checked(text, "focus", remedy="Example: --focus 'metallurgy, drought'", needed=False)


def checked_aspect(text: str) -> str:
    return _checked(text, "aspect", remedy="Example: --aspect causes", needed=False)


def _checked(text: str, what: str, *, remedy: str, needed: bool) -> str:
    if len(text) > MAX_TOPIC_CHARS:
        raise BadUsage(
            f"The {what} has {len(text):,} characters. The limit is {MAX_TOPIC_CHARS}.",
            remedy="Shorten it to one sentence.",
        )
    odd = next((char for char in text if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r"), "")
    if odd:
        raise BadUsage(f"The {what} contains a control character, U+{ord(odd):04X}.", remedy="Remove it.")
    plain = " ".join(text.split())
    if needed and not is_searchable(plain):
        raise BadUsage(f"The {what} is empty.", remedy=remedy)
    return plain


def folder_name(topic: str) -> str:
    """A folder name made of letters of any script, digits and hyphens, such as 'bronze-age-collapse'."""
    plain = re.sub(r"[\W_]+", "-", fold(topic)).strip("-")
    if len(plain) > MAX_FOLDER_NAME_CHARS:
        plain = plain[:MAX_FOLDER_NAME_CHARS].rpartition("-")[0] or plain[:MAX_FOLDER_NAME_CHARS]
    return plain or "topic"


JOB_ID = re.compile(r"[^\W_][\w-]*-[1-9][0-9]*")
ANSWERS = "answers.jsonl"
"""The file that a batch of questions writes to its folder."""
UNFINISHED_ANSWERS = "answers"
"""The name of that file until all answers are in it."""
LIST_HINT = "To list all jobs, use 'kiwiresearch jobs list' or 'GET /api/research'."
MAX_JOB_NAME_CHARS = 40
"""How much of the topic is in a job id: file names have at most 255 bytes, and a character up to four."""


def runs_folder(workspace: Workspace) -> Path:
    """The folder for the runs of a server."""
    return server_folder(workspace, "runs", workspace.settings.serve.runs)


def bulk_folder(workspace: Workspace) -> Path:
    """The folder for the tables of complete books; hosts that share such jobs share it."""
    return server_folder(workspace, "bulk", workspace.settings.serve.bulk)


def books_folder(workspace: Workspace) -> Path:
    """The folder for books that are uploaded to a server."""
    return server_folder(workspace, "books", workspace.settings.serve.books)


def store_folder(store: Store, folder: Path) -> Path:
    """The subfolder for the jobs of one store, since other stores use the same ids."""
    return folder.absolute() / sha256(store.display_name.encode("utf-8", "replace")).hexdigest()[:16]


def server_folder(workspace: Workspace, name: str, wanted: str) -> Path:
    """The folder that the user set for something the server writes, else one of the program's own."""
    if not wanted.strip():
        return (workspace.folders.state / name).absolute()
    try:
        return expand_user(wanted).absolute()
    except BadUsage as problem:
        raise BadSettings(
            f"The setting 'serve.{name}' is {wanted!r}, but the home folder in it does not exist.",
            remedy="Set it to another folder.",
        ) from problem


def job_name(words: str) -> str:
    """The first part of a job id: a valid file name, in any script."""
    return folder_name(words)[:MAX_JOB_NAME_CHARS].strip("-_") or "topic"


def is_job_id(text: str) -> bool:
    """Whether a text can be the id of a job, so that as a name it cannot lead out of its folder."""
    return len(text) <= 2 * MAX_JOB_NAME_CHARS and JOB_ID.fullmatch(text) is not None
