"""Whether a book's file can be trusted: checked once, in a child process, and remembered.

libzim opens a file with flipped bytes without complaint and returns wrong pages, and
a damaged structure may crash the process. So a file that was not seen before is first
opened by a child. A small file is checked against its checksum right then, a large one
in the background.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kiwiresearch import system
from kiwiresearch.errors import BookDamaged, NotABook
from kiwiresearch.ids import canonical_json
from kiwiresearch.system import FileLock, write_atomically
from kiwiresearch.zim.files import check_magic, is_truncated, parts_of

FileState = Literal["sound", "damaged", "unopenable", "unchecked", "no checksum"]

MAX_IMMEDIATE_CHECK_BYTES = 128 * 2**20
"""Files up to this size are checked before they are used, which takes half a second at most."""

PROBE_TIMEOUT_S = 120.0
BYTES_WITH_UUID = 24
"""The first bytes of a ZIM file, which contain its UUID."""
DOWNLOAD_AGAIN = "Copy or download it again."

CHILD_MODULE = "kiwiresearch.zim.integrity"
"""This module, run as a child process."""


@dataclass(frozen=True, slots=True)
class FileCheck:
    """The result of checking a file."""

    state: FileState
    reason: str = ""
    is_conclusive: bool = True
    """False if an attempt failed for a reason that may pass; such a result is not kept."""

    def raise_if_bad(self, path: Path) -> None:
        if self.state == "unopenable" and is_truncated(parts_of(path)):
            raise NotABook(f"The ZIM file {str(path)!r} is incomplete.", remedy=DOWNLOAD_AGAIN)
        if self.state == "unopenable":
            raise NotABook(f"The ZIM file {str(path)!r} cannot be opened: {self.reason}.", remedy=DOWNLOAD_AGAIN)
        if self.state == "damaged":
            raise BookDamaged(
                f"The ZIM file {str(path)!r} is damaged: {self.reason}.",
                remedy=f"{DOWNLOAD_AGAIN} To read it anyway, set KIWIRESEARCH_ALLOW_DAMAGED=1.",
            )


class FileChecks:
    """The results of earlier checks, one small file each in a cache folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, path: Path) -> FileCheck:
        """The remembered result for a book's file; a new or changed file is checked first, for up to minutes."""
        parts = parts_of(path)
        check_magic(parts)
        file_check = self.known(parts)
        if file_check is None:
            file_check = probe(parts[0], check=sum(part.stat().st_size for part in parts) <= MAX_IMMEDIATE_CHECK_BYTES)
            self._remember(parts, file_check)
        return file_check

    def known(self, parts: tuple[Path, ...]) -> FileCheck | None:
        try:
            row = json.loads(self._file(parts).read_text(encoding="utf-8"))
            return FileCheck(row["state"], row["reason"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def check_now(self, path: Path) -> FileCheck:
        """Compare the file with its checksum, whatever its size, and remember the result."""
        parts = parts_of(path)
        check_magic(parts)
        file_check = probe(parts[0], check=True, timeout_s=None)
        self._remember(parts, file_check)
        return file_check

    def check_in_background(self, path: Path) -> bool:
        """Start a check that outlives this process; False if one is already running."""
        try:
            lock = self._lock(parts_of(path))
            if not lock.acquire():
                return False
        except OSError:
            return False
        lock.release()  # the child takes it; two children at once only repeat the work
        return system.start_detached(CHILD_MODULE, "check", str(path), str(self._folder))

    def run_check(self, path: Path) -> None:
        """Check a file in the background process, unless another one is doing so."""
        parts = parts_of(path)
        lock = self._lock(parts)
        if lock.acquire():
            try:
                self.check_now(path)
            finally:
                lock.release()

    def _lock(self, parts: tuple[Path, ...]) -> FileLock:
        return FileLock(self._file(parts).with_suffix(".lock"))

    def _remember(self, parts: tuple[Path, ...], file_check: FileCheck) -> None:
        if not file_check.is_conclusive:
            return
        row = {"state": file_check.state, "reason": file_check.reason, "file": str(parts[0])}
        with contextlib.suppress(OSError):  # without a cache the file is just probed every time
            write_atomically(self._file(parts), canonical_json(row))

    def _file(self, parts: tuple[Path, ...]) -> Path:
        """Where a result is remembered: by UUID, size and time, so that a changed file is a new one."""
        with parts[0].open("rb") as stream:
            digest = hashlib.sha256(stream.read(BYTES_WITH_UUID))
        for part in parts:
            status = part.stat()
            digest.update(f"{status.st_size} {status.st_mtime_ns} ".encode())
        return self._folder / f"{digest.hexdigest()[:32]}.json"


def probe(path: Path, *, check: bool, timeout_s: float | None = PROBE_TIMEOUT_S) -> FileCheck:
    """Open a file in a child process, so that a crash does not affect this one."""
    command = system.module_command(CHILD_MODULE, "probe", str(path), "check" if check else "open")
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return FileCheck("unopenable", f"reading it took longer than {timeout_s:g} seconds", is_conclusive=False)
    except OSError:
        return FileCheck("unchecked", is_conclusive=False)
    try:
        # The last line: libzim may print something before it.
        row = json.loads(done.stdout.decode("utf-8", "replace").strip().splitlines()[-1])
        return FileCheck(row["state"], row["reason"])
    except (ValueError, KeyError, IndexError, TypeError):
        # A crash may have another cause, such as too little memory, so it is not remembered.
        reason = f"the process that read it exited with code {done.returncode}"
        return FileCheck("unopenable", reason, is_conclusive=False)


def _probe_in_this_process(path: Path, *, check: bool) -> FileCheck:
    """Open a file and perhaps check it, in this process: only for the child."""
    from kiwiresearch.zim.libzim import LibzimArchive, reason_of
    from kiwiresearch.zim.listing import DAMAGED_ENTRY_ERRORS

    try:
        archive = LibzimArchive(path)
    except (NotABook, BookDamaged) as problem:
        cause = problem.__cause__
        reason = reason_of(cause) if isinstance(cause, DAMAGED_ENTRY_ERRORS) else problem.message
        return FileCheck("damaged" if isinstance(problem, BookDamaged) else "unopenable", reason)
    if not check:
        return FileCheck("unchecked")
    try:
        holds = archive.checksum_holds()
    except RuntimeError as problem:
        return FileCheck("damaged", str(problem).strip().rstrip(".") or "its checksum could not be calculated")
    if holds is None:
        return FileCheck("no checksum")
    return FileCheck("sound") if holds else FileCheck("damaged", "its bytes do not match its checksum")


def main(arguments: list[str]) -> None:
    """The child process: `probe FILE check|open`, or `check FILE FOLDER` in the background."""
    task, path, last = arguments
    if task == "probe":
        file_check = _probe_in_this_process(Path(path), check=last == "check")
        print(canonical_json({"state": file_check.state, "reason": file_check.reason}))
    elif task == "check":
        with contextlib.suppress(AttributeError, OSError):
            os.nice(10)
        FileChecks(Path(last)).run_check(Path(path))


if __name__ == "__main__":
    main(sys.argv[1:])
