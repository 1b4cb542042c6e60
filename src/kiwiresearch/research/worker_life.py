"""By what a worker is known, and how its neighbours on the same machine see at once that it is gone."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import secrets
from pathlib import Path

from kiwiresearch.disk import Lock
from kiwiresearch.errors import CannotWrite
from kiwiresearch.research.work import FolderLock

FOLDER = "workers"
TRIES = 5
PATIENCE_S = 1.0
"""How long a neighbour may take that looks whether we are dead before we have begun."""


class WorkerLife:
    """A lock that ends with this process, in a file that its name names.

    Whoever can take the lock of another knows that that one is dead, and need not
    wait for its leases to lapse. Of workers elsewhere there is no file: leases tell.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER
        self.name = f"{_host()}.{os.getpid()}.{secrets.token_hex(4)}"
        self._lock = FolderLock(self._folder / self.name)
        try:
            self._begin()
        except OSError as problem:
            raise CannotWrite(
                f"The folder {str(self._folder)!r} cannot be written: {problem.strerror or problem}.",
                remedy="Check its permissions, or set KIWIRESEARCH_HOME to another folder.",
            ) from problem

    def _begin(self) -> None:
        """Have the lock of the file that others see: a neighbour may have taken a new one for that of a dead worker."""
        for _ in range(TRIES):
            if self._lock.wait(PATIENCE_S) and self._lock.is_current():
                return
            self._lock.release()
        raise OSError("no file there can be locked")

    def dead(self) -> tuple[str, ...]:
        """The workers of this machine that are gone, and were not yet forgotten."""
        return tuple(sorted(name for name in self._names() if name != self.name and self._is_dead(name)))

    def forget(self, names: tuple[str, ...]) -> None:
        """What they held is in line again: nobody need look at them any more."""
        for name in names:
            with contextlib.suppress(OSError):
                (self._folder / name).unlink()

    def end(self) -> None:
        """Nothing is held any more."""
        self.forget((self.name,) if os.name == "posix" else ())  # elsewhere an open file cannot be removed
        self._lock.release()

    def _names(self) -> list[str]:
        try:
            return [file.name for file in self._folder.iterdir()]
        except OSError:
            return []

    def _is_dead(self, name: str) -> bool:
        lock = Lock(self._folder / name)
        with contextlib.suppress(OSError):
            if lock.acquire():
                lock.release()
                return True
        return False


def _host() -> str:
    return re.sub(r"[^\w-]+", "-", platform.node()).strip("-")[:60] or "host"
