"""The quality gate: each figure must reach its floor, and no floor is lowered by accident.

python -m evals.gate                 measure everything, and fail if a figure is below its floor
python -m evals.gate --changed       measure only evaluations whose code or data have changed since they were measured
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
    """The figures of one evaluation, and the digest of the data they were measured on."""

    digest: str
    figures: dict[str, float]
    unpinned: dict[str, float] = field(default_factory=dict)
    """Figures that are printed but have no floors, such as those of baselines."""


EVALUATIONS: dict[str, Callable[[], Outcome | None]] = {
    "absent": lambda: _outcome_of(absent.measure()),
    "ask": lambda: _outcome_of(ask.measure()),
    "brief_aspects": lambda: _outcome_of(brief_aspects.measure()),
    "brief_leads": lambda: _outcome_of(brief_leads.measure()),
    "briefs": lambda: _outcome_of(briefs.measure()),
    "claims": lambda: _outcome_of(claims.measure()),
    "conflicts": lambda: _outcome_of(conflicts.measure()),
    "coverage": lambda: _outcome_of(coverage.measure()),
    "crawl": lambda: _outcome_of(crawl.measure()),
    "family_pages": lambda: _outcome_of(family_pages.measure()),
    "hedging": lambda: _outcome_of(hedging.measure()),
    "kin": lambda: _outcome_of(kin.measure()),
    "kin_duplicates": lambda: _outcome_of(kin_duplicates.measure()),
    "kin_firewall": lambda: _outcome_of(kin_firewall.measure()),
    "kin_living": lambda: _outcome_of(kin_living.measure()),
    "kin_resolve": lambda: _outcome_of(kin_resolve.measure()),
    "pages": lambda: _outcome_of(pages.measure()),
    "pronouns": lambda: _outcome_of(pronouns.measure()),
    "reading": lambda: _outcome_of(reading.measure()),
    "search": lambda: _outcome_of(search.measure()),
    "second_sources": lambda: _outcome_of(second_sources.measure()),
}

TASKS = (
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
"""Each task is measured in a process of its own, as many at a time as there are cores, the longest first.

Some tasks use all cores for a while, but one core most of the time, so that others can run next to them.
'search' and 'ask' share the index of their baseline, and 'absent' uses the answers that 'ask' got.
"""


def measure_in_parallel(names: Sequence[str]) -> Iterator[tuple[str, Outcome | None]]:
    """Measure these evaluations in several processes; each outcome comes with the name of its evaluation."""
    placed = {name for task in TASKS for name in task}
    all_tasks = (*TASKS, *((name,) for name in EVALUATIONS if name not in placed))
    tasks = [selected for task in all_tasks if (selected := [name for name in task if name in names])]
    cores = max(1, min(os.cpu_count() or 1, 8))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, context, max_tasks_per_child=1) as pool:
        for task, task_outcomes in zip(tasks, pool.map(measure_all, tasks), strict=True):
            yield from zip(task, task_outcomes, strict=True)


def measure_all(names: Sequence[str]) -> list[Outcome | None]:
    return [EVALUATIONS[name]() for name in names]


def _outcome_of(
    result: tuple[str, dict[str, float]] | tuple[str, dict[str, float], dict[str, float]] | None,
) -> Outcome | None:
    return Outcome(*result) if result else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.gate")
    parser.add_argument("only", nargs="*", help=f"the evaluations: {', '.join(EVALUATIONS)}; by default all of them")
    parser.add_argument("--raise", dest="pin", action="store_true", help="pin better figures")
    parser.add_argument("--lower", action="append", default=[], metavar="NAME", help="pin this worse figure")
    parser.add_argument("--changed", action="store_true", help="skip evaluations whose figures cannot have changed")
    options = parser.parse_args(arguments)
    selected = [name for name in EVALUATIONS if not options.only or name in options.only]
    if options.changed:
        unchanged = [name for name in selected if is_unchanged(name)]
        selected = [name for name in selected if name not in unchanged]
        print(f"Skipped, as nothing has changed since they were measured: {', '.join(unchanged) or 'none'}.")
    floors = json.loads(FLOORS.read_text(encoding="utf-8")) if FLOORS.is_file() else {}
    failed = False
    for name, outcome in measure_in_parallel(selected):
        if outcome is None:
            print(f"{name}: skipped, the real data is not at {SHARED_DATA}")
            continue
        is_good = _check_floors(name, outcome, floors, pin=options.pin, lower=options.lower)
        if is_good and not options.changed:
            record(name)
        failed |= not is_good
    if options.pin or options.lower:
        FLOORS.write_text(json.dumps(floors, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if failed else 0


def _check_floors(
    name: str, outcome: Outcome, floors: dict[str, dict[str, float | str]], *, pin: bool, lower: list[str]
) -> bool:
    pinned = floors.setdefault(name, {})
    is_good = True
    if pinned.get("digest") not in (None, outcome.digest):
        print(f"{name}: the data has changed since the floors were pinned; pin them again with --raise")
        is_good = pin
    for figure, value in outcome.figures.items():
        floor = pinned.get(figure)
        full_name = f"{name}.{figure}"
        if isinstance(floor, float | int) and value < floor - 1e-9 and full_name not in lower:
            print(f"{full_name:40} {value:.4f}  BELOW its floor {floor:.4f}")
            is_good = False
            continue
        if pin or full_name in lower:
            pinned[figure] = math.floor(value * 10_000) / 10_000
        elif floor is None:
            print(f"{full_name}: no floor yet; pin it with --raise")
            is_good = False
        print(f"{full_name:40} {value:.4f}  floor {pinned.get(figure, 'none')}")
    for figure, value in outcome.unpinned.items():
        print(f"{name}.{figure:{40 - len(name) - 1}} {value:.4f}  (not pinned)")
    if pin:
        pinned["digest"] = outcome.digest
    return is_good


if __name__ == "__main__":
    sys.exit(main())
