"""The store of a desk: the database that the settings name, else a file of the program's own."""

from __future__ import annotations

import atexit
import os
import threading
import time
from typing import TYPE_CHECKING

from kiwiresearch.errors import CannotWrite
from kiwiresearch.research.desk import Desk

if TYPE_CHECKING:
    from kiwiresearch.store.open import Store

FILE = "store.sqlite"
MOST_OPEN = 8
"""How many stores a process keeps open, those that were asked for last."""

_OPEN: dict[tuple[int, str], Store] = {}
_OPENING = threading.Lock()


def store_of(desk: Desk) -> Store:
    """The store of a desk, opened once in a process; it connects again by itself when it was away."""
    from kiwiresearch.store.open import open_store

    named = desk.settings.store.strip()
    url = named or f"sqlite:///{_file(desk)}"
    with _OPENING:
        key = (os.getpid(), url)
        store = _OPEN.pop(key, None) or open_store(url, keeps_all=bool(named), clock=_clock)
        _OPEN[key] = store
        for old in list(_OPEN)[:-MOST_OPEN]:
            _OPEN.pop(old).close()
    return store


@atexit.register
def close_stores() -> None:
    """Let go of all connections of this process; a store that is used again opens new ones."""
    with _OPENING:
        while _OPEN:
            _OPEN.popitem()[1].close()


def _file(desk: Desk) -> str:
    folder = desk.folders.state
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(
            f"The folder {str(folder)!r} cannot be written: {problem.strerror or problem}.",
            remedy="Check its permissions, or set KIWIRESEARCH_HOME to another folder.",
        ) from problem
    return str(folder.absolute() / FILE)


def _clock() -> float:
    return time.time()  # noqa: TID251 (leases lapse by it; nothing of it is in a result)
