"""Hosts that share a store: each with a home, a shelf and workers of its own, apart from the others."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kiwiresearch.workspace.workspace import Workspace, open_workspace
from kiwiresearch.zim.shelf import listed_book

TIMEOUT_S = 120


@functools.cache
def apart() -> tuple[str, ...]:
    """What puts a program into a network of its own, which leads nowhere; nothing where the system refuses that."""
    program = shutil.which("unshare")
    for options in ((), ("--map-root-user",)):
        command = [str(program), *options, "--net", "--uts"]
        if program and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return tuple(command)
    return ()


@dataclass
class Host:
    """A machine as the store sees it: nothing of its folders is shared with others."""

    home: Path
    store: str
    books: Sequence[Path]
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the books on its shelf, each in a file of its own."""
        self.home.mkdir(parents=True)
        for book in self.books:
            shutil.copyfile(book, self.home / book.name)
            found = self.desk.opener.look_up(str(self.home / book.name))
            self.desk.shelf_file.add([listed_book(sheet, source) for sheet, source in found])

    @property
    def environment(self) -> dict[str, str]:
        return {"KIWIRESEARCH_HOME": str(self.home), "KIWIRESEARCH_STORE": self.store, **self.settings}

    @property
    def desk(self) -> Workspace:
        return open_workspace(self.environment)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Run kiwiresearch on this host."""
        name = ["sh", "-c", 'hostname "$0" && exec "$@"', self.home.name] if apart() else []
        return subprocess.Popen(
            [*apart(), *name, sys.executable, "-m", "kiwiresearch", *command],
            env=os.environ | self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    @contextlib.contextmanager
    def working(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """A worker that is stopped in order at the end, if it still runs."""
        worker = self.start("worker", *options)
        try:
            yield worker
        finally:
            end(worker)


def end(worker: subprocess.Popen[bytes]) -> str:
    """Stop a worker in order; what it said."""
    with contextlib.suppress(ProcessLookupError):
        worker.terminate()
    try:
        return worker.communicate(timeout=TIMEOUT_S)[1].decode()
    finally:
        worker.kill()


def kill(worker: subprocess.Popen[bytes]) -> None:
    """End a worker without a chance to say a word."""
    worker.kill()
    worker.communicate()
