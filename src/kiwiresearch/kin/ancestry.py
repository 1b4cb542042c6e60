"""Labels of ancestors: 'Father', 'Paternal grandmother', "Mother's father's mother"."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Parent = Literal["father", "mother"]
Line = tuple[Parent, ...]
"""The way up from a person: ('father', 'mother') is the father's mother."""

SIDES: dict[str, Parent] = {"paternal": "father", "maternal": "mother"}
SIDED = re.compile(r"(?P<side>paternal|maternal) grand(?P<last>father|mother)\s*:\s*", re.IGNORECASE)
STEPS = re.compile(r"(?P<steps>(?:(?:father|mother)['’]s )*)(?P<last>father|mother)\s*:\s*", re.IGNORECASE)
"""A 'paternal great-grandfather' may be one of two people, so that label alone tells nobody's father."""


class Labelled(NamedTuple):
    """A label that opens a text: whom it names, and where the name begins."""

    line: Line
    end: int


def line_of(text: str) -> Labelled | None:
    """The label at the beginning of a cell; None where there is none, or one that does not tell which line it is."""
    sided = SIDED.match(text)
    if sided:
        return Labelled((SIDES[sided["side"].lower()], _parent(sided["last"])), sided.end())
    steps = STEPS.match(text)
    if steps is None:
        return None
    ways = [_parent(word) for word in re.findall(r"father|mother", steps["steps"], re.IGNORECASE)]
    return Labelled((*ways, _parent(steps["last"])), steps.end())


def _parent(word: str) -> Parent:
    return "father" if word.lower() == "father" else "mother"
