"""Starting the program: `--help` against the bare import of typer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial

ROUNDS = 9


def run() -> list[str]:
    """The figures, as lines."""
    times: dict[str, float] = {}
    works: dict[str, list[str]] = {
        "import typer": ["-c", "import typer"],
        "kiwiresearch --help": ["-m", "kiwiresearch", "--help"],
    }
    for _ in range(ROUNDS):
        for name, arguments in works.items():
            spent = _processor_time(partial(_run, arguments))
            times[name] = min(spent, times.get(name, spent))
    base = times["import typer"]
    return [f"{name:22} {spent * 1e3:7.1f} ms   {spent / base:.2f}" for name, spent in times.items()]


def _run(arguments: list[str]) -> None:
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)


def _processor_time(work: Callable[[], None]) -> float:
    before = os.times()
    work()
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)
