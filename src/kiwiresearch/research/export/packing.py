"""Several files as one: a zip of the same bytes on every machine and on every day."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

FIRST_DAY = (1980, 1, 1, 0, 0, 0)
UNIX = 3
PLAIN_FILE = 0o100644 << 16


class Made(NamedTuple):
    """A file that was made, its name with the folders that it is in."""

    name: str
    content: bytes


def packed(files: Iterable[Made], *, stored: Iterable[str] = ()) -> bytes:
    """A zip of the files in their order; those that are `stored` are not compressed."""
    plain = frozenset(stored)
    whole = io.BytesIO()
    with ZipFile(whole, "w") as archive:
        for name, content in files:
            entry = ZipInfo(name, FIRST_DAY)
            # what Python writes here depends on the system it runs on
            entry.create_system, entry.external_attr = UNIX, PLAIN_FILE
            entry.compress_type = ZIP_STORED if name in plain else ZIP_DEFLATED
            archive.writestr(entry, content)
    return whole.getvalue()
