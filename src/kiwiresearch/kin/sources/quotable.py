"""Records that are data, as lines of text that can be read and quoted."""

from __future__ import annotations

from collections.abc import Mapping

from kiwiresearch.ids import canonical_json


def quotable(about: str, property_name: str, value: str, rest: Mapping[str, object]) -> str:
    """A statement in one line: in words first, since JSON would write some values otherwise, then the rest as JSON."""
    kept = {key: told for key, told in rest.items() if told not in ("", None)}
    said = f"{about}: {property_name}: {value}" if about else f"{property_name}: {value}"
    return f"{said}; {canonical_json(kept)}" if kept else said
