"""The manifest of a finished run: what it was made from, and the hash of every file it wrote."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kiwiresearch.errors import RunDamaged, RunNotFound

MANIFEST = "manifest.json"
HIDDEN = ".journal"
"""The folder inside a run's folder that holds the work as long as the run goes on."""


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of the finished run in a folder."""
    file = path / MANIFEST
    try:
        if not file.is_file():
            raise _no_run(path)
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise RunDamaged(
            f"The file {str(file)!r} cannot be read: {problem.strerror}.",
            remedy="Check that you may read it.",
        ) from problem
    except (ValueError, RecursionError):
        found = None
    if not _is_of_a_run(found):
        raise RunDamaged(
            f"The file {str(file)!r} is not as a run writes it.",
            remedy="Do the run again in another folder.",
        )
    return dict(found)


def damaged(path: Path, manifest: Mapping[str, Any]) -> list[str]:
    """The names of the outputs that are missing, or not as the run wrote them."""
    outputs: Mapping[str, Mapping[str, Any]] = manifest["outputs"]
    return sorted(name for name, output in outputs.items() if digest(path / name) != output["sha256"])


def digest(file: Path) -> str | None:
    """The hash of a file's bytes; None if there is no file that can be read."""
    try:
        if not file.is_file():  # a pipe would never end
            return None
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def _no_run(path: Path) -> RunNotFound:
    if (path / HIDDEN).is_dir():
        return RunNotFound(
            f"The run in {str(path)!r} is not finished.",
            remedy="Start it once more: it goes on where it stopped.",
        )
    what = f"run in {str(path)!r}" if path.is_dir() else f"folder {str(path)!r}"
    return RunNotFound(f"There is no {what}.", remedy="Name a folder that a run of kiwiresearch has written.")


def _is_of_a_run(found: Any) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("fingerprint"), str):
        return False
    outputs = found.get("outputs")
    return isinstance(outputs, dict) and all(_is_output(name, output) for name, output in outputs.items())


def _is_output(name: str, output: Any) -> bool:
    is_plain = name not in ("", ".", "..") and Path(name).name == name
    return is_plain and isinstance(output, dict) and isinstance(output.get("sha256"), str)
