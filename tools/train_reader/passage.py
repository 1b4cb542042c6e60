"""Passages to train on: adjacent sentences or rows with their title and heading."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Passage:
    """Adjacent sentences or rows, with the place where they are from."""

    source: str
    title: str
    heading: str
    units: tuple[str, ...]
    kind: str = "text"

    @property
    def id(self) -> str:
        return sha256("\n".join((self.title, self.heading, *self.units)).encode()).hexdigest()[:12]

    @property
    def size(self) -> int:
        return sum(map(len, self.units))


def save_passages(passages: Sequence[Passage], file: Path) -> None:
    lines = [json.dumps({"id": passage.id, **asdict(passage)}, ensure_ascii=False) + "\n" for passage in passages]
    file.write_text("".join(lines), encoding="utf-8")


def load_passages(file: Path) -> list[Passage]:
    """Passages that were saved."""
    passages = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passages.append(Passage(row["source"], row["title"], row["heading"], tuple(row["units"]), row["kind"]))
    return passages
