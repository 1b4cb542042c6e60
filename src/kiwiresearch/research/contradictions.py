"""Where the pages of a finished run do not agree, as its brief has it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwiresearch.brief.brief import Brief, View
from kiwiresearch.brief.record import brief_of
from kiwiresearch.errors import KiwiError, RunDamaged
from kiwiresearch.research.manifest import read_manifest

BRIEF = "brief.json"
MOST_BYTES = 2**29


@dataclass(frozen=True, slots=True)
class Side:
    """One side: what it says, in the page's words too, and where."""

    text: str
    quote: str
    place: str
    claim: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Sides that do not say the same of one thing."""

    about: str
    kind: str
    why: str
    sides: tuple[Side, ...]

    def record(self) -> dict[str, Any]:
        sides = [{"text": s.text, "quote": s.quote, "place": s.place, "claim": s.claim} for s in self.sides]
        return {"about": self.about, "kind": self.kind, "why": self.why, "sides": sides}


def contradictions_of(folder: Path) -> tuple[Contradiction, ...]:
    """The disagreements of a run, in the order of its brief."""
    brief = _brief(folder)
    found = []
    for dispute in brief.disputes:
        kind, _, why = dispute.kind.partition(": ")
        if kind:
            sides = tuple(_side(view, brief) for view in dispute.views)
            found.append(Contradiction(dispute.about, kind, why, sides))
    return tuple(found)


def _side(view: View, brief: Brief) -> Side:
    claim = brief.claims[view.statement.claims[0]]
    return Side(view.statement.text, claim.quotes[0].text, claim.citation.words, claim.id)


def _brief(folder: Path) -> Brief:
    read_manifest(folder)
    file = folder / BRIEF
    try:
        if file.is_file() and file.stat().st_size <= MOST_BYTES:
            return brief_of(json.loads(file.read_text(encoding="utf-8")))
        problem = "there is no such file, or it is too large"
    except OSError as trouble:
        problem = str(trouble.strerror)
    except (KiwiError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        problem = "it is not as a run writes it"
    raise RunDamaged(f"The file {str(file)!r} cannot be read: {problem}.", remedy="Do the run again in another folder.")
