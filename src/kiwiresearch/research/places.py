"""Where a run goes when its user names no folder."""

from __future__ import annotations

from pathlib import Path

from kiwiresearch.errors import RunError
from kiwiresearch.research.journal import header_of
from kiwiresearch.research.manifest import HIDDEN, read_manifest
from kiwiresearch.research.topics import folder_name
from kiwiresearch.research.work import STEPS

RUNS = Path("runs")


def place_for(topic: str, fingerprint: str, today: str, *, runs: Path = RUNS, resume: bool = False) -> Path:
    """`runs/2026-01-31_bronze-age-collapse`, with a number behind it if that is another run's.

    A run that is to go on is looked for under any date, the newest first.
    """
    name = folder_name(topic)
    if resume:
        earlier = sorted(runs.glob(f"*_{name}*"), reverse=True) if runs.is_dir() else []
        for folder in earlier:
            if is_unfinished(folder) and fingerprint_in(folder) == fingerprint:
                return folder
    first = runs / f"{today}_{name}"
    folder, number = first, 1
    while fingerprint_in(folder) not in ("", fingerprint):
        number += 1
        folder = first.with_name(f"{first.name}-{number}")
    return folder


def is_unfinished(folder: Path) -> bool:
    try:
        return (folder / HIDDEN / STEPS).is_file()
    except OSError:  # a circle of links
        return False


def holds_run(folder: Path) -> bool:
    """Whether a run was begun or finished there."""
    return bool(fingerprint_in(folder))


def fingerprint_in(folder: Path) -> str:
    """Whose run a folder holds; empty if it holds none."""
    try:
        header = header_of(folder / HIDDEN / STEPS) or read_manifest(folder)
    except (OSError, RunError):
        return ""
    return str(header.get("fingerprint", ""))
