"""File names that every system allows, and several files as one reproducible zip."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

# The earliest date that the zip format can store; a fixed date makes equal files give equal zips.
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
# The system as the zip format numbers it: the upper half of the attributes is read as its permissions.
UNIX = 3
PLAIN_FILE = 0o100644 << 16


class ExportedFile(NamedTuple):
    """A file that was made; its name includes its folders."""

    name: str
    content: bytes


def zip_files(files: Iterable[ExportedFile], *, stored: Iterable[str] = ()) -> bytes:
    """A zip of the files in order; those that are `stored` are not compressed."""
    plain = frozenset(stored)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in files:
            entry = ZipInfo(name, FIRST_DAY)
            # Python's defaults depend on the system
            entry.create_system, entry.external_attr = UNIX, PLAIN_FILE
            entry.compress_type = ZIP_STORED if name in plain else ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()


NOT_IN_NAMES = re.compile(
    r'[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff<>:"/\\|?*#^\[\]%$]+|={2,}'
)
"""Characters that Windows refuses, that Obsidian reads as links or markup, or that are invisible."""

# Device names that Windows does not allow as file names, with or without a suffix.
RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
MAX_CHARS = 80
MAX_NAME_BYTES = 200


def unique_file_names(titles: Iterable[str]) -> list[str]:
    """A file name for each title; no two differ only in case."""
    taken: set[str] = set()
    return [_free(safe_name(title), taken) for title in titles]


def safe_name(title: str) -> str:
    """A title as a file name without a suffix."""
    plain = " ".join(NOT_IN_NAMES.sub(" ", unicodedata.normalize("NFC", title)).split())
    short = plain[:MAX_CHARS].encode("utf-8", "ignore")[:MAX_NAME_BYTES].decode("utf-8", "ignore")
    name = short.strip(" .") or "Untitled"
    return f"{name}_" if RESERVED.fullmatch(name) else name


def _free(name: str, taken: set[str]) -> str:
    # Compared without case, since some file systems ignore it.
    found, number = name, 1
    while found.casefold() in taken:
        number += 1
        found = f"{name} {number}"
    taken.add(found.casefold())
    return found
