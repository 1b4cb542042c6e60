"""Which pages are for training and which for evaluation: decided by title, in the same way for all sets and books."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Literal

Part = Literal["train", "dev", "test"]

TRAINED_SHARE = 0.45
"""About this share of the pages of the SQuAD book that have questions is for training."""

DEV_SHARE = 0.40
"""About this share of the evaluation pages is for development; the others are used once, at the end."""

SCHOOLS_SHARE = 1 / 3
"""The share of the encyclopedia's pages without a shared question that questions are written for."""


def stable_fraction(name: str, purpose: str) -> float:
    """A number from 0 to 1 that looks random but is always the same for a name and a purpose."""
    return int(sha256(f"{purpose}:{name}".encode()).hexdigest()[:12], 16) / 16**12


def normalize_title(title: str) -> str:
    return title.replace("_", " ").strip().casefold()


def evaluation_part(path: str) -> Part:
    """The part of a page with shared questions: development or the final evaluation."""
    return "dev" if stable_fraction(normalize_title(path), "dev") < DEV_SHARE else "test"


def squad_part(path: str, schools_titles: frozenset[str]) -> Part:
    """The part of a page of the SQuAD book; pages with questions in the encyclopedia, too, are for evaluation."""
    if normalize_title(path) not in schools_titles and stable_fraction(normalize_title(path), "squad") < TRAINED_SHARE:
        return "train"
    return evaluation_part(path)


def titles_with_questions(folder: Path) -> frozenset[str]:
    """Titles of all pages that a shared question or claim in this folder is about."""
    return frozenset(normalize_title(path) for file in sorted(folder.glob("*.jsonl")) for path in _paths(file))


def _paths(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield from row.get("paths") or [row["path"]]
