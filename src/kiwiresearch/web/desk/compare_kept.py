"""Comparisons of runs, kept as long as the runs do not change: every page of one, and every filter, needs it whole."""

from __future__ import annotations

import threading
from collections import OrderedDict

from kiwiresearch.research.comparing import Comparison, Side, compare
from kiwiresearch.research.finished import CLAIMS
from kiwiresearch.research.manifest import MANIFEST
from kiwiresearch.research.remembered import Stamp, stamp_of
from kiwiresearch.web.desk.run_frame import BRIEF, RunFrame

MOST_KEPT = 4

Stamps = tuple[tuple[str, ...], tuple[Stamp, ...]]


class Compared:
    """The comparisons that were asked for last."""

    def __init__(self) -> None:
        self._known: OrderedDict[Stamps, Comparison] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, old: RunFrame, new: RunFrame) -> Comparison:
        """What became of the old run's claims in the new one."""
        key = _stamps(old, new)
        with self._changing:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = compare(_side(old), _side(new))
        with self._changing:
            self._known[key] = found
            while len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)
        return found


def _side(run: RunFrame) -> Side:
    return Side(run.id, run.run.manifest, run.claims, run.brief)


def _stamps(*runs: RunFrame) -> Stamps:
    files = [run.run.path / name for run in runs for name in (MANIFEST, CLAIMS, BRIEF)]
    return tuple(run.id for run in runs), tuple(stamp_of(file.stat()) for file in files if file.exists())
