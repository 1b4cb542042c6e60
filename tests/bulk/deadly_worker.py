"""A worker whose reader crashes at some entries, as damaged files make libzim do.

It has a module of its own, with few imports, since every new process imports it.
"""

from __future__ import annotations

import os
import signal

from kiwiresearch.bulk.process_engine import run_worker
from kiwiresearch.zim.libzim import LibzimArchive


def run_deadly_worker(*arguments: object) -> None:
    """What a process runs; the environment says at which entries it dies, or that it dies at once."""
    deadly = os.environ["BULK_DEADLY_ENTRIES"].split()
    if deadly == ["start"]:
        os.kill(os.getpid(), signal.SIGKILL)
    real = LibzimArchive.read_at

    def read_at(self: LibzimArchive, number: int) -> object:
        if str(number) in deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, number)

    LibzimArchive.read_at = read_at  # type: ignore[method-assign, assignment]
    run_worker(*arguments)  # type: ignore[arg-type]
