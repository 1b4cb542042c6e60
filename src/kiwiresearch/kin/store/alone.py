"""One works on the case of a folder at a time: a lock that ends with the process that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kiwiresearch.disk import Lock
from kiwiresearch.errors import CannotWrite, FolderInUse

LOCK = ".lock"
WAIT = "Wait until it is done, or stop it."


@contextmanager
def alone_in(folder: Path, *, patience_s: float = 0.0) -> Iterator[None]:
    """Let nobody else change the case of a folder meanwhile; who only reads it does not wait."""
    lock = Lock(folder / LOCK)
    try:
        taken = lock.wait(patience_s) if patience_s else lock.acquire()
    except OSError as problem:
        raise CannotWrite(
            f"The folder {str(folder)!r} cannot be written: {problem.strerror}.", remedy="Check its permissions."
        ) from problem
    if not taken:
        raise FolderInUse(f"Another command is working on the case in {str(folder)!r}.", remedy=WAIT)
    try:
        yield
    finally:
        lock.release()
