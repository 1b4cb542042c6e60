"""Where jobs put what they make, and by which names that goes."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadSettings
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.topics import folder_name

if TYPE_CHECKING:
    from kiwiresearch.store.open import Store

ID = re.compile(r"[^\W_][\w-]*-[1-9][0-9]*")
ANSWERS = "answers.jsonl"
"""What a batch of questions makes in its folder."""
GROWING = "answers"
"""What the answers are called there as long as some are missing."""
LISTED = "'kiwiresearch jobs list' shows them all, and so does 'GET /api/research'."
"""Where somebody finds the id of a job."""
LONGEST_NAME = 40
"""How many characters of the topic are in an id: file names have at most 255 bytes, and a character has up to four."""


def runs_folder(desk: Desk) -> Path:
    """Where the runs of a server are kept."""
    return kept_in(desk, "runs", desk.settings.serve.runs)


def bulk_folder(desk: Desk) -> Path:
    """Where the tables of whole books are put; hosts that share such jobs share this folder."""
    return kept_in(desk, "bulk", desk.settings.serve.bulk)


def place_for(store: Store, folder: Path) -> Path:
    """The part of a folder that is for the jobs of a store: those of another have the same ids."""
    return folder.absolute() / sha256(store.url_name.encode("utf-8", "replace")).hexdigest()[:16]


def kept_in(desk: Desk, name: str, wanted: str) -> Path:
    """The folder that a user set for something the server makes, else one of the program's own."""
    if not wanted.strip():
        return (desk.folders.state / name).absolute()
    try:
        return Path(wanted).expanduser().absolute()
    except RuntimeError as problem:  # '~name' of nobody
        raise BadSettings(
            f"'serve.{name}' is {wanted!r}, and there is no such home.", remedy="Set it right."
        ) from problem


def name_for(words: str) -> str:
    """What the id of a job begins with: a name that files can have, whatever the script."""
    return folder_name(words)[:LONGEST_NAME].strip("-_") or "topic"


def is_id(text: str) -> bool:
    """Whether a text can be the id of a job: it never is the name of anything outside the folder."""
    return len(text) <= 2 * LONGEST_NAME and ID.fullmatch(text) is not None
