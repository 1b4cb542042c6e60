"""The folder of a run that is to be exported, and its files as strangers may have left them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kiwiresearch.errors import RunDamaged, RunNotFound
from kiwiresearch.research.export.row import Row, damaged

BRIEF = "brief.json"
CLAIMS = "claims.jsonl"
GRAPH = "graph.json"
MANIFEST = "manifest.json"
PICTURES = "pictures.json"
PARTS = (GRAPH, BRIEF, CLAIMS)
NAME_IT = "Name the folder that a run has written."


def check_folder(run: Path, *needed: str) -> None:
    """Refuse what is no folder of a finished run, or has lost one of the files that are needed."""
    try:
        is_folder, exists = run.is_dir(), run.exists()
        found = {name for name in (MANIFEST, *PARTS) if is_folder and (run / name).exists()}
    except OSError as problem:
        raise RunNotFound(f"The folder {str(run)!r} cannot be opened: {problem.strerror}.") from problem
    if not exists:
        raise RunNotFound(f"There is no folder {str(run)!r}.", remedy=NAME_IT)
    if not is_folder:
        raise RunNotFound(f"{str(run)!r} is not a folder.", remedy=NAME_IT)
    if not found:
        raise RunNotFound(f"The folder {str(run)!r} holds no run.", remedy=NAME_IT)
    if MANIFEST not in found:
        raise RunNotFound(
            f"The run in {str(run)!r} is not finished: it has no {MANIFEST!r}.",
            remedy="Start it once more: it goes on where it stopped.",
        )
    for name in needed:
        if name not in found:
            raise RunDamaged(f"The run in {str(run)!r} has lost its {name!r}.", remedy="Research the topic again.")


def load(file: Path) -> Row:
    """The object that a file of JSON holds."""
    return Row.of(file, "", _parsed(file, _text(file), "it"))


def load_lines(file: Path) -> Iterator[Row]:
    """The objects of a file that has one on each line, named by their lines."""
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if line.strip():
            yield Row.of(file, f"line {number}", _parsed(file, line, f"line {number}"))


def _text(file: Path) -> str:
    try:
        if not file.is_file():  # reading a pipe would never end
            raise damaged(file, "it is no file")
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as problem:
        raise RunDamaged(f"The run's file {str(file)!r} cannot be read: {problem.strerror}.") from problem


def _parsed(file: Path, text: str, name: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise damaged(file, f"{name} is no JSON") from problem


def _refuse(constant: str) -> float:
    raise ValueError(constant)  # NaN and Infinity are no JSON, and no graph program expects them
