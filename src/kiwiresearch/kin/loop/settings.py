"""The settings of a case: whom it starts with, how far it goes, and when it stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from kiwiresearch.errors import BadSettings

BOUNDS: Mapping[str, tuple[int, int]] = {
    "generations": (0, 20),
    "collaterals": (0, 5),
    "budget": (1, 1_000_000),
    "max_iterations": (1, 1_000_000),
    "revisits": (0, 20),
    "revisit_hours": (0, 10_000),
    "clue_queries": (0, 5),
    "years_after_death": (0, 200),
}


@dataclass(frozen=True, slots=True)
class CaseScope:
    """How far a case goes, when it stops, and what a model may see."""

    generations: int = 3
    """How many generations up and down from the seed are looked for."""
    collaterals: int = 1
    """How many steps aside: brothers and sisters, wives and husbands of those in the line."""
    budget: int = 300
    """How many records may be fetched."""
    max_iterations: int = 500
    """How many steps at most."""
    revisits: int = 3
    """How many times, at most, a source is asked again for the same person."""
    revisit_hours: int = 24
    """How long a source that is not on this machine is left alone between two such questions."""
    clue_queries: int = 3
    """How many queries one clue may lead to."""
    years_after_death: int = 0
    """How many years after death people are treated as living."""
    model_sees_living: bool = False
    """A model on this machine may see people who may be alive; no other model ever may."""

    def __post_init__(self) -> None:
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise BadSettings(f"{name!r} cannot be {value!r}.", remedy=f"Use a number from {least} to {most}.")


@dataclass(frozen=True, slots=True)
class CaseSettings(CaseScope):
    """Everything that decides what a case does, fixed when it is created."""

    seeds: tuple[str, ...] = ()
    """Names of the people it begins with, or titles of their pages."""
    books: tuple[str, ...] = ()
    sources: tuple[str, ...] = ("wikipedia",)
    """Unused, but part of the id of older cases; `cases/sources.py` has the sources that are switched on."""

    @classmethod
    def from_scope(cls, scope: CaseScope, seeds: tuple[str, ...] = ()) -> CaseSettings:
        """Settings with the limits of a scope."""
        return cls(**{field.name: getattr(scope, field.name) for field in fields(CaseScope)}, seeds=seeds)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> CaseSettings:
        """The settings as a case stores them, without those that a later version added."""
        known = {field.name for field in fields(cls)}
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in record.items() if name in known
        }
        return cls(**given)
