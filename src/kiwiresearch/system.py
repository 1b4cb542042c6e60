"""Atomic file writes, locks, child processes of our own, and how often their garbage is collected."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from threading import Event

from kiwiresearch.errors import BadUsage, Interrupted

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PAUSE_S = 0.02
"""How often a waiting process tries to get a lock."""
OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""How many new objects trigger a garbage collection; Python's own number is 700."""


ABANDONED: ContextVar[Event | None] = ContextVar("abandoned", default=None)
"""Set while somebody waits for a result; the event, when they have stopped waiting."""


def stop_if_abandoned() -> None:
    """End long work for which nobody waits any more."""
    abandoned = ABANDONED.get()
    if abandoned is not None and abandoned.is_set():
        raise Interrupted("Nobody waits for this reply any more.", remedy="Send the request again.")


class FileLock:
    """An exclusive lock on a file; the system releases it when its holder dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Take the lock; False if another process has it."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if sys.platform == "win32":
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def wait(self, timeout_s: float) -> bool:
        """Take the lock as soon as it is free; False if that takes too long."""
        until = time.monotonic() + timeout_s
        while not self.acquire():
            if time.monotonic() > until:
                return False
            time.sleep(PAUSE_S)
        return True

    def release(self) -> None:
        # The file stays: removing it would let two processes lock two files of the same name.
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def expand_user(path: str | Path) -> Path:
    """The path with '~' or '~NAME' replaced by the home folder of that user."""
    try:
        return Path(path).expanduser()
    except RuntimeError as problem:
        raise BadUsage(f"The home folder in {str(path)!r} does not exist.", remedy="Enter another path.") from problem


def numbered(name: str, ending: str = "") -> Iterator[str]:
    """The name, and then "NAME-2", "NAME-3" and so on, with the number before the ending."""
    yield name
    for number in count(2):
        yield f"{name.removesuffix(ending)}-{number}{ending}"


def free_path(path: Path, ending: str = "") -> Path:
    """The path, or the next numbered one at which nothing exists."""
    paths = map(path.with_name, numbered(path.name, ending))
    return next(item for item in paths if not os.path.lexists(item))


def write_atomically(path: Path, content: str | bytes, permissions: int | None = None) -> None:
    """Write to a temporary file in the same folder, then rename it."""
    pieces = [content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content]
    write_pieces_atomically(path, pieces, permissions)


def make_private_folder(folder: Path) -> None:
    """Create a folder, if it is missing, that only its user can open."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def write_pieces_atomically(path: Path, pieces: Iterable[bytes], permissions: int | None = None) -> None:
    """Write a file in pieces, then rename it into place; if the pieces raise an error, nothing is renamed.

    Without `permissions` the file gets those of any new file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        # Until the permissions are set, nobody else may open a file that could contain a secret.
        part.touch(mode=0o666 if permissions is None else 0o600, exist_ok=False)
        if permissions is not None:
            part.chmod(permissions)
        with part.open("wb") as stream:
            for piece in pieces:
                stream.write(piece)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


RUNNING: list[subprocess.Popen[bytes]] = []
"""Detached processes that this one has started."""


@atexit.register
def _detach_all() -> None:
    for child in RUNNING:
        child.returncode = child.poll() or 0  # else Popen warns of a child that is still running


def available_cores() -> int:
    """How many processes this one may keep busy."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def collect_garbage_less_often() -> None:
    """Save a tenth of a process's time: imports and pages make many objects, of which hardly any could be freed."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)


MALLOC_ARENAS = 2
M_ARENA_MAX = -8
"""The option of this name in malloc.h of the GNU C library."""


def limit_memory_arenas() -> None:
    """Let all threads share a few areas of memory, where the C library has such a setting.

    Otherwise each of a server's threads has its own and keeps what it no longer uses: hundreds of megabytes.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, MALLOC_ARENAS)


def module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module; with -P, files of the working folder are not imported."""
    return [sys.executable, "-P", "-m", module, *arguments]


def start_detached(module: str, *arguments: str) -> bool:
    """Run a module in the background and discard its output; False if the system refuses."""
    nothing = subprocess.DEVNULL
    try:
        child = subprocess.Popen(  # noqa: S603
            module_command(module, *arguments),
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )
    except OSError:
        return False
    RUNNING.append(child)
    return True
