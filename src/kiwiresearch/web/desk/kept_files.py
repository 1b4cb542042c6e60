"""What files said when they were read, kept until they change: a page that is shown often reads its run once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from kiwiresearch.research.remembered import Stamp, stamp_of

T = TypeVar("T")

MOST_KEPT = 24
"""How many files are kept as they were read, those that were asked for last."""


class Kept:
    """What files said, as long as they do not change; the ones that nobody asked for lately are forgotten."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._known: OrderedDict[tuple[Path, str], tuple[Stamp, Any]] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, file: Path, read: Callable[[Path], T]) -> T:
        """What `read` made of the file; it is asked again only when the file has changed."""
        key, stamp = (file, f"{read.__module__}.{read.__qualname__}"), stamp_of(file.stat())
        with self._changing:
            known = self._known.get(key)
            if known is not None and known[0] == stamp:
                self._known.move_to_end(key)
                found: T = known[1]
                return found
        made = read(file)
        with self._changing:
            self._known[key] = stamp, made
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made


KEPT = Kept()
"""One for all parts of the desk: they show the same runs."""
