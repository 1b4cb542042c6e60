"""What a search gives: pages, each with a score that remembers its terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kiwiresearch.zim.entry import EntryRef


class ScoreLine(NamedTuple):
    """One reason for a score, and what it counts."""

    signal: str
    points: float


@dataclass(frozen=True, slots=True)
class Score:
    """A sum that remembers its terms, so that every rank can be explained."""

    lines: tuple[ScoreLine, ...] = ()

    @property
    def total(self) -> float:
        return round(sum(line.points for line in self.lines), 2)

    def plus(self, signal: str, points: float) -> Score:
        """The score with one more line; a line of nothing is left out."""
        points = round(float(points), 2)
        return Score((*self.lines, ScoreLine(signal, points))) if points else self

    def __add__(self, other: Score) -> Score:
        return Score(self.lines + other.lines)

    def __str__(self) -> str:
        return f"{shown(self.total)} ({terms(self.lines) or 'no signal'})"


def terms(lines: Sequence[ScoreLine]) -> str:
    """The lines of a score, one after the other."""
    return ", ".join(f"{line.signal} {'+' if line.points > 0 else ''}{shown(line.points)}" for line in lines)


def shown(points: float) -> str:
    """Points as people read them: no more digits than they have, and no fewer."""
    return f"{points:.2f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that answers a query."""

    ref: EntryRef
    title: str
    score: Score
    snippet: str = ""
    alias: str = ""
    """The other name that led here, where the page's own did not."""

    copies: tuple[EntryRef, ...] = ()
    """The same article in other books of the shelf."""

    def record(self, book: str) -> dict[str, object]:
        """The hit as plain data, with the name of its book."""
        return {
            "book": book,
            "book_id": self.ref.book,
            "path": self.ref.path,
            "title": self.title,
            "alias": self.alias,
            "snippet": self.snippet,
            "score": self.score.total,
            "lines": [{"signal": line.signal, "points": line.points} for line in self.score.lines],
            "copies": [{"book_id": ref.book, "path": ref.path} for ref in self.copies],
        }


def in_order(hits: list[Hit]) -> list[Hit]:
    """Best first; equal scores by book and path, so that the order is total."""
    return sorted(hits, key=lambda hit: (-hit.score.total, hit.ref))
