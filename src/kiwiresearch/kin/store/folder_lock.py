"""The lock of a case folder: one process changes a case at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kiwiresearch.errors import CannotWrite, FolderInUse
from kiwiresearch.system import FileLock

LOCK = ".lock"
WAIT_REMEDY = "Wait until it is done, or stop it."


@contextmanager
def locked_folder(folder: Path, *, timeout_s: float = 0.0) -> Iterator[None]:
    """Lock the case of a folder against changes by others; readers do not wait."""
    lock = FileLock(folder / LOCK)
    try:
        taken = lock.wait(timeout_s) if timeout_s else lock.acquire()
    except OSError as problem:
        raise CannotWrite(
            f"The folder {str(folder)!r} cannot be written: {problem.strerror}.", remedy="Check its permissions."
        ) from problem
    if not taken:
        raise FolderInUse(f"Another command is working on the case in {str(folder)!r}.", remedy=WAIT_REMEDY)
    try:
        yield
    finally:
        lock.release()
