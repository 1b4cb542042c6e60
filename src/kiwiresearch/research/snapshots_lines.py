"""All changes in a file of JSON lines, which appears when the last of them is written."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kiwiresearch.errors import CannotWrite
from kiwiresearch.ids import canonical_json

Writing = Callable[[Mapping[str, Any]], None]


@contextmanager
def lines_into(file: Path) -> Iterator[Writing]:
    """Records, a line each, written beside the file's place and moved there at the end; on the way there is no file.

    Whether they can be written there at all is known before the work begins.
    """
    with _told(file):
        part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        if file.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        stream = part.open("xb")

    def write(record: Mapping[str, Any]) -> None:
        with _told(file):
            stream.write(canonical_json(record).encode("utf-8", "surrogateescape") + b"\n")

    try:
        yield write
        with _told(file):
            stream.close()
            part.replace(file)
    finally:
        with contextlib.suppress(OSError):  # what did not fit before does not fit now either
            stream.close()
        part.unlink(missing_ok=True)


@contextmanager
def _told(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as problem:  # ValueError: a name that no system allows
        reason = (isinstance(problem, OSError) and problem.strerror) or "its name is not allowed"
        raise CannotWrite(
            f"The file {str(file)!r} cannot be written: {reason}.",
            remedy="Make room, or name another place with --out.",
        ) from problem
