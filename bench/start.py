"""Starting the program: `--help` against just importing typer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial

ROUNDS = 9
BASELINE = "import typer"


def run() -> list[str]:
    """Measure, and return the lines to print."""
    best: dict[str, float] = {}
    commands: dict[str, list[str]] = {
        BASELINE: ["-c", "import typer"],
        "kiwiresearch --help": ["-m", "kiwiresearch", "--help"],
    }
    for _ in range(ROUNDS):
        for name, arguments in commands.items():
            spent = _cpu_seconds(partial(_run_python, arguments))
            best[name] = min(spent, best.get(name, spent))
    return [f"{name:22} {seconds * 1e3:7.1f} ms   {seconds / best[BASELINE]:.2f}x" for name, seconds in best.items()]


def _run_python(arguments: list[str]) -> None:
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)


def _cpu_seconds(task: Callable[[], None]) -> float:
    """The CPU time of the processes that a task starts."""
    before = os.times()
    task()
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)
