"""Topics as users give them, the folder names made from them, and the folders a server writes to."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.text.words import fold
from kiwiresearch.workspace.workspace import Workspace

if TYPE_CHECKING:
    from kiwiresearch.store.store import Store

MAX_TOPIC_CHARS = 500
MAX_FOLDER_NAME_CHARS = 60


def checked_topic(text: str) -> str:
    """A topic in one line; refused if it is empty, very long, or holds what no topic holds."""
    return _checked(text, "topic", remedy="Such as: kiwiresearch 'Bronze Age collapse'", needed=True)


def checked_focus(text: str) -> str:
    return _checked(text, "focus", remedy="Such as: --focus 'metallurgy, drought'", needed=False)


def checked_aspect(text: str) -> str:
    return _checked(text, "aspect", remedy="Such as: --aspect causes", needed=False)


def _checked(text: str, what: str, *, remedy: str, needed: bool) -> str:
    if len(text) > MAX_TOPIC_CHARS:
        raise BadUsage(
            f"The {what} has {len(text):,} characters, and at most {MAX_TOPIC_CHARS} can be used.",
            remedy="Say it in a sentence.",
        )
    odd = next((char for char in text if unicodedata.category(char) in ("Cc", "Cs") and char not in "\t\n\r"), "")
    if odd:
        raise BadUsage(f"The {what} holds a control character, U+{ord(odd):04X}.", remedy="Leave it out.")
    plain = " ".join(text.split())
    if needed and not any(unicodedata.category(char)[0] in "LNS" for char in plain):
        raise BadUsage(f"The {what} has no words.", remedy=remedy)
    return plain


def folder_name(topic: str) -> str:
    """A name for a folder: letters of any script, figures, and lines between them, as in 'bronze-age-collapse'."""
    plain = re.sub(r"[\W_]+", "-", fold(topic)).strip("-")
    if len(plain) > MAX_FOLDER_NAME_CHARS:
        plain = plain[:MAX_FOLDER_NAME_CHARS].rpartition("-")[0] or plain[:MAX_FOLDER_NAME_CHARS]
    return plain or "topic"


JOB_ID = re.compile(r"[^\W_][\w-]*-[1-9][0-9]*")
ANSWERS = "answers.jsonl"
"""What a batch of questions makes in its folder."""
UNFINISHED_ANSWERS = "answers"
"""What the answers are called there as long as some are missing."""
LIST_HINT = "'kiwiresearch jobs list' shows them all, and so does 'GET /api/research'."
"""Where somebody finds the id of a job."""
MAX_JOB_NAME_CHARS = 40
"""How many characters of the topic are in an id: file names have at most 255 bytes, and a character has up to four."""


def runs_folder(desk: Workspace) -> Path:
    """Where the runs of a server are kept."""
    return server_folder(desk, "runs", desk.settings.serve.runs)


def bulk_folder(desk: Workspace) -> Path:
    """Where the tables of whole books are put; hosts that share such jobs share this folder."""
    return server_folder(desk, "bulk", desk.settings.serve.bulk)


def store_folder(store: Store, folder: Path) -> Path:
    """The part of a folder that is for the jobs of a store: those of another have the same ids."""
    return folder.absolute() / sha256(store.display_name.encode("utf-8", "replace")).hexdigest()[:16]


def server_folder(desk: Workspace, name: str, wanted: str) -> Path:
    """The folder that a user set for something the server makes, else one of the program's own."""
    if not wanted.strip():
        return (desk.folders.state / name).absolute()
    try:
        return Path(wanted).expanduser().absolute()
    except RuntimeError as problem:  # '~name' of nobody
        raise BadSettings(
            f"'serve.{name}' is {wanted!r}, and there is no such home.", remedy="Set it right."
        ) from problem


def job_name(words: str) -> str:
    """What the id of a job begins with: a name that files can have, whatever the script."""
    return folder_name(words)[:MAX_JOB_NAME_CHARS].strip("-_") or "topic"


def is_job_id(text: str) -> bool:
    """Whether a text can be the id of a job: it never is the name of anything outside the folder."""
    return len(text) <= 2 * MAX_JOB_NAME_CHARS and JOB_ID.fullmatch(text) is not None
