"""Places without their towns: state and country, which is as much as may be said of a living person."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from kiwiresearch.text.fold import fold

DATA = Path(__file__).with_name("data") / "regions.toml"


@cache
def _names() -> tuple[frozenset[str], frozenset[str]]:
    table = tomllib.loads(DATA.read_text(encoding="utf-8"))
    return frozenset(map(fold, table["countries"])), frozenset(map(fold, table["states"]))


def is_region(part: str) -> bool:
    """Whether a part of a place is a state or a country."""
    countries, states = _names()
    return fold(part) in countries or fold(part) in states


def parts_of(place: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in place.split(",") if part.strip())


def region(place: str) -> str:
    """'Hope, Hempstead, Arkansas, USA' as 'Arkansas, USA'; nothing of a place that names neither.

    >>> region("Leeds, Yorkshire")
    ''
    """
    countries, states = _names()
    left = list(parts_of(place))
    kept: list[str] = []
    for names in (countries, states):
        if left and fold(left[-1]) in names:
            kept.insert(0, left.pop())
    return ", ".join(kept)
