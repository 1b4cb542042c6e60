"""The gate: each figure must reach its floor, and no floor is lowered by accident.

python -m evals.gate                 measure, and fail below a floor
python -m evals.gate --changed       measure only what the code of has changed since its figures were last measured
python -m evals.gate --raise         pin figures that are better than their floors
python -m evals.gate --lower NAME    pin a worse figure, on purpose
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from evals import (
    absent,
    ask,
    brief_aspects,
    brief_leads,
    briefs,
    claims,
    conflicts,
    coverage,
    crawl,
    family_pages,
    hedging,
    kin,
    kin_duplicates,
    kin_firewall,
    kin_living,
    kin_resolve,
    pages,
    pronouns,
    reading,
    search,
    second_sources,
)
from evals.data import SHARED_DATA
from evals.unchanged import is_unchanged, record

FLOORS = Path(__file__).with_name("floors.json")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one evaluation measured, and the digest of the set it measured on."""

    digest: str
    figures: dict[str, float]
    beside: dict[str, float] = field(default_factory=dict)
    """What others reach on the same set: shown, without floors."""


EVALUATIONS: dict[str, Callable[[], Outcome | None]] = {
    "absent": lambda: _outcome(absent.measure()),
    "ask": lambda: _outcome(ask.measure()),
    "brief_aspects": lambda: _outcome(brief_aspects.measure()),
    "brief_leads": lambda: _outcome(brief_leads.measure()),
    "briefs": lambda: _outcome(briefs.measure()),
    "claims": lambda: _outcome(claims.measure()),
    "conflicts": lambda: _outcome(conflicts.measure()),
    "coverage": lambda: _outcome(coverage.measure()),
    "crawl": lambda: _outcome(crawl.measure()),
    "family_pages": lambda: _outcome(family_pages.measure()),
    "hedging": lambda: _outcome(hedging.measure()),
    "kin": lambda: _outcome(kin.measure()),
    "kin_duplicates": lambda: _outcome(kin_duplicates.measure()),
    "kin_firewall": lambda: _outcome(kin_firewall.measure()),
    "kin_living": lambda: _outcome(kin_living.measure()),
    "kin_resolve": lambda: _outcome(kin_resolve.measure()),
    "pages": lambda: _outcome(pages.measure()),
    "pronouns": lambda: _outcome(pronouns.measure()),
    "reading": lambda: _outcome(reading.measure()),
    "search": lambda: _outcome(search.measure()),
    "second_sources": lambda: _outcome(second_sources.measure()),
}

TOGETHER = (
    ("search", "ask", "absent"),
    ("reading",),
    ("kin_duplicates",),
    ("kin_firewall",),
    ("brief_aspects",),
    ("crawl",),
    ("second_sources",),
    ("coverage",),
    ("brief_leads",),
    ("kin_living",),
    ("kin_resolve",),
    ("claims",),
    ("briefs",),
    ("kin",),
    ("family_pages",),
    ("pages",),
    ("conflicts",),
    ("hedging",),
    ("pronouns",),
)
"""Each line is measured in a process of its own, as many at a time as there are cores, the longest first.

Some use all cores now and then and one most of the time, so that there is always something to do beside them.
'ask' is beside the same anchor as 'search', whose index is built once; 'absent' looks at the answers that 'ask' got.
"""


def outcomes(names: Sequence[str]) -> Iterator[tuple[str, Outcome | None]]:
    """What each evaluation measured."""
    placed = {name for task in TOGETHER for name in task}
    lines = (*TOGETHER, *((name,) for name in EVALUATIONS if name not in placed))
    tasks = [wanted for line in lines if (wanted := [name for name in line if name in names])]
    cores = max(1, min(os.cpu_count() or 1, 8))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, context, max_tasks_per_child=1) as pool:
        for task, found in zip(tasks, pool.map(measured, tasks), strict=True):
            yield from zip(task, found, strict=True)


def measured(names: Sequence[str]) -> list[Outcome | None]:
    return [EVALUATIONS[name]() for name in names]


def _outcome(
    measured: tuple[str, dict[str, float]] | tuple[str, dict[str, float], dict[str, float]] | None,
) -> Outcome | None:
    return Outcome(*measured) if measured else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.gate")
    parser.add_argument("only", nargs="*", help=f"which evaluations: {', '.join(EVALUATIONS)}; all if none is named")
    parser.add_argument("--raise", dest="pin", action="store_true", help="pin better figures")
    parser.add_argument("--lower", action="append", default=[], metavar="NAME", help="pin this worse figure")
    parser.add_argument("--changed", action="store_true", help="leave out what cannot have changed")
    options = parser.parse_args(arguments)
    wanted = [name for name in EVALUATIONS if not options.only or name in options.only]
    if options.changed:
        same = [name for name in wanted if is_unchanged(name)]
        wanted = [name for name in wanted if name not in same]
        print(f"The same code as when they were measured: {', '.join(same) or 'none'}.")
    floors = json.loads(FLOORS.read_text(encoding="utf-8")) if FLOORS.is_file() else {}
    failed = False
    for name, outcome in outcomes(wanted):
        if outcome is None:
            print(f"{name}: skipped, the real data is not at {SHARED_DATA}")
            continue
        is_good = _judge(name, outcome, floors, pin=options.pin, lower=options.lower)
        if is_good and not options.changed:
            record(name)
        failed |= not is_good
    if options.pin or options.lower:
        FLOORS.write_text(json.dumps(floors, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if failed else 0


def _judge(
    name: str, outcome: Outcome, floors: dict[str, dict[str, float | str]], *, pin: bool, lower: list[str]
) -> bool:
    pinned = floors.setdefault(name, {})
    good = True
    if pinned.get("digest") not in (None, outcome.digest):
        print(f"{name}: the set has changed since the floors were pinned; pin them anew with --raise")
        good = pin
    for figure, value in outcome.figures.items():
        floor = pinned.get(figure)
        full = f"{name}.{figure}"
        if isinstance(floor, float | int) and value < floor - 1e-9 and full not in lower:
            print(f"{full:40} {value:.4f}  BELOW its floor {floor:.4f}")
            good = False
            continue
        if pin or full in lower:
            pinned[figure] = math.floor(value * 10_000) / 10_000
        elif floor is None:
            print(f"{full}: no floor yet; pin it with --raise")
            good = False
        print(f"{full:40} {value:.4f}  floor {pinned.get(figure, 'none')}")
    for figure, value in outcome.beside.items():
        print(f"{name}.{figure:{40 - len(name) - 1}} {value:.4f}  (beside)")
    if pin:
        pinned["digest"] = outcome.digest
    return good


if __name__ == "__main__":
    sys.exit(main())
