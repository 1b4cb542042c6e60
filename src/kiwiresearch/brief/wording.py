"""Names in claims, and names for claims."""

from __future__ import annotations

import re
from functools import lru_cache

from kiwiresearch.text.alike import containment, likeness, roots_of
from kiwiresearch.text.fold import fold

__all__ = ["containment", "folded", "likeness", "names_in", "same_name", "stems_of", "without_article"]

stems_of = roots_of
CAPITALISED = re.compile(r"(?<![.!?\"“(] )(?<!^)\b[^\W\d_a-z][\w'’-]+")


@lru_cache(maxsize=16_384)
def folded(name: str) -> str:
    """A name without case and signs."""
    return fold(name)


def same_name(one: str, other: str) -> bool:
    """Whether two names are one, with or without their article."""
    return without_article(one) == without_article(other)


def without_article(name: str) -> str:
    return folded(name).removeprefix("the ")


def names_in(text: str) -> frozenset[str]:
    """Words with a capital inside the sentence."""
    return frozenset(CAPITALISED.findall(text))
