"""The files of a finished run as values, and what reading one raises that is not as a run writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwiresearch.brief.brief import Brief
from kiwiresearch.brief.images import Images, images_of
from kiwiresearch.brief.record import brief_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.record import claim_of
from kiwiresearch.errors import KiwiError
from kiwiresearch.research.export.claim_check import is_claim
from kiwiresearch.text.dates.ranges import ENDLESS
from kiwiresearch.zim.entry import EntryRef

BRIEF = "brief.json"
GRAPH = "graph.json"
PICTURES = "pictures.json"

NOT_AS_WRITTEN = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, KiwiError)
"""What reading a file raises that is not as a run writes it."""


@dataclass(frozen=True, slots=True)
class RunBook:
    """A book that a run was made from."""

    id: str
    name: str
    title: str
    date: str
    language: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page that a run took, in its turn."""

    number: int
    """Its place among the pages, from 1."""
    ref: EntryRef
    title: str
    language: str
    depth: int
    points: float
    why: str
    """In English, as the run says it."""
    opening: str
    claims: int


def read_brief(file: Path) -> Brief:
    found = brief_of(json.loads(file.read_text(encoding="utf-8")))
    if not all(abs(day) < ENDLESS for moment in found.timeline for day in (moment.earliest, moment.latest)):
        raise ValueError("a moment is within time")
    return found


def read_images(file: Path) -> Images:
    return images_of(json.loads(file.read_text(encoding="utf-8")))


def read_claims(file: Path) -> Mapping[str, Claim]:
    with file.open(encoding="utf-8", newline="\n") as stream:
        found = [claim_of(json.loads(line)) for line in stream]
    if not all(map(is_claim, found)):
        raise TypeError("a claim has words, and a place in a page")
    return {claim.id: claim for claim in found}


def read_graph(file: Path) -> Mapping[str, Any]:
    found = json.loads(file.read_text(encoding="utf-8"))
    if not all(isinstance(found[name], list) for name in ("nodes", "edges")):
        raise TypeError("a graph has nodes and edges")
    return dict(found)
