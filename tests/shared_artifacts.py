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

Addresses = dict[str, str]


@dataclass(frozen=True, slots=True)
class Made:
    """A folder that does not change any more, and the addresses that its maker returned."""

    folder: Path
    addresses: Addresses

    def copied(self, target: Path, part: str = ".") -> Path:
        """A copy of the folder, or of a part of it, that a test may change."""
        shutil.copytree(self.folder / part, target / part, dirs_exist_ok=True)
        return target


def made_once(temporary: pytest.TempPathFactory, name: str, make: Callable[[Path], Addresses]) -> Made:
    """What `make` makes in the folder it is given; made again if its maker was interrupted."""
    shared = temporary.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # of this session alone, and of all its workers
    folder, result = shared / f"made-{name}", shared / f"made-{name}.json"
    with _locked(FileLock(shared / f"made-{name}.lock")):
        if not result.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            write_atomically(result, json.dumps(make(folder)))
    return Made(folder, json.loads(result.read_text()))


@contextlib.contextmanager
def _locked(lock: FileLock) -> Iterator[None]:
    end = time.monotonic() + PATIENCE_SECONDS
    while not lock.acquire():
        assert time.monotonic() < end, "another worker has not finished what it makes"
        time.sleep(0.1)
    try:
        yield
    finally:
        lock.release()
