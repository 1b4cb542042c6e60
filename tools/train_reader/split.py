"""Which pages are for training and which for evaluation: decided by title, the same for every set and book."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Literal

Part = Literal["train", "dev", "test"]

TRAINED_SHARE = 0.45
"""Of the pages of the SQuAD book that have questions, about this share trains."""

DEV_SHARE = 0.40
"""Of the pages that judge, about this share is for choosing settings; the rest is looked at once, at the end."""

SCHOOLS_SHARE = 1 / 3
"""Of the encyclopedia's pages without a shared question, the share that questions are written for."""


def drawn(name: str, purpose: str) -> float:
    """A number from 0 to 1 that looks random and never changes."""
    return int(sha256(f"{purpose}:{name}".encode()).hexdigest()[:12], 16) / 16**12


def plain(title: str) -> str:
    return title.replace("_", " ").strip().casefold()


def judging_part(path: str) -> Part:
    """Whether a page with shared questions is for development or for the final evaluation."""
    return "dev" if drawn(plain(path), "dev") < DEV_SHARE else "test"


def squad_part(path: str, questioned_in_schools: frozenset[str]) -> Part:
    """The part of a page of the SQuAD book; pages with questions in the encyclopedia, too, are for evaluation."""
    if plain(path) not in questioned_in_schools and drawn(plain(path), "squad") < TRAINED_SHARE:
        return "train"
    return judging_part(path)


def questioned(folder: Path) -> frozenset[str]:
    """Titles of all pages that a shared question or claim in this folder is about."""
    return frozenset(plain(path) for file in sorted(folder.glob("*.jsonl")) for path in _paths(file))


def _paths(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield from row.get("paths") or [row["path"]]
