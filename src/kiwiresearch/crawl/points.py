"""The points of the crawl, from their table."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def points() -> dict[str, dict[str, float]]:
    """All groups of points by name."""
    text = (files("kiwiresearch.crawl") / "points.toml").read_text(encoding="utf-8")
    return {name: {key: float(value) for key, value in group.items()} for name, group in tomllib.loads(text).items()}
