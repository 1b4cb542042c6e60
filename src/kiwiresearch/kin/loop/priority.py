"""How much an item of a queue promises: a sum whose terms have names, so that the order can be explained."""

from __future__ import annotations

from dataclasses import dataclass

WEIGHTS = {"closeness": 0.35, "gain": 0.25, "reliability": 0.2, "clue": 0.1, "age": 0.1, "tier": -0.15}


@dataclass(frozen=True, slots=True)
class Priority:
    """The terms of an item's place in its queue, each from 0 to 1 but for the tier; items of equal sums go by id."""

    closeness: float
    """To the seed: 1 for the seed, a half for its parents."""
    gain: float
    """What is missing of the person, as far as the query is likely to find it."""
    reliability: float
    """Of the source that will be asked."""
    clue: float = 0.0
    """The priority of the clue that led here."""
    age: float = 0.0
    """What was queued early comes before what was queued late, so that nothing waits for ever."""
    tier: int = 0

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """Each term with its points."""
        return tuple((name, weight * float(getattr(self, name))) for name, weight in WEIGHTS.items())

    @property
    def total(self) -> float:
        return round(sum(points for _, points in self.terms), 4)

    def __str__(self) -> str:
        told = ", ".join(f"{name} {points:+.3g}" for name, points in self.terms if points)
        return f"{self.total:g} ({told or 'nothing'})"


def age_of(step: int, last_step: int) -> float:
    """The term of an item that is queued at a step: it falls as the case goes on.

    To lift all that wait with every step gives the same order, and would mean to write them all each time.
    """
    return round(1 - min(step / max(last_step, 1), 1.0), 4)
