"""What takes long to make, made by one worker of a test session and copied by the others."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kiwiresearch.system import FileLock, write_atomically

PATIENCE_SECONDS = 300
"""How long a worker waits for another that makes what both want."""

Told = dict[str, str]


@dataclass(frozen=True, slots=True)
class Made:
    """A folder that nobody changes any more, and what its maker told of it."""

    folder: Path
    told: Told

    def copied(self, target: Path, part: str = ".") -> Path:
        """A copy of the folder, or of a part of it, that a test may change."""
        shutil.copytree(self.folder / part, target / part, dirs_exist_ok=True)
        return target


def made_once(temporary: pytest.TempPathFactory, name: str, make: Callable[[Path], Told]) -> Made:
    """What `make` makes in the folder it is given; made anew where its maker did not come to the end."""
    shared = temporary.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # of this session alone, and of all its workers
    folder, told = shared / f"made-{name}", shared / f"made-{name}.json"
    with _held(FileLock(shared / f"made-{name}.lock")):
        if not told.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            write_atomically(told, json.dumps(make(folder)))
    return Made(folder, json.loads(told.read_text()))


@contextlib.contextmanager
def _held(lock: FileLock) -> Iterator[None]:
    end = time.monotonic() + PATIENCE_SECONDS
    while not lock.acquire():
        assert time.monotonic() < end, "another worker has not finished what it makes"
        time.sleep(0.1)
    try:
        yield
    finally:
        lock.release()
