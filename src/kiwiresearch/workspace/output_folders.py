"""The folders and files that a server writes to, and the names of its jobs."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.system import expand_user
from kiwiresearch.workspace.topics import folder_name
from kiwiresearch.workspace.workspace import Workspace

if TYPE_CHECKING:
    from kiwiresearch.store import Store

# "bronze-age-collapse-2" and "彗星-1"; not "comets", "comets-02", "-2" or "../comets-2".
JOB_ID = re.compile(r"[^\W_][\w-]*-[1-9][0-9]*")
ANSWERS = "answers.jsonl"
"""The file that a batch of questions writes to its folder."""
UNFINISHED_ANSWERS = "answers"
"""The name of that file until all answers are in it."""
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
