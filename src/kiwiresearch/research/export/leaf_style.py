"""How the leaves of a run look, in e-readers and in Kiwix."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def style() -> str:
    return (files("kiwiresearch.research.export") / "leaf.css").read_text(encoding="utf-8")
