"""Lists in running text: how many things stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

OPENING = re.compile(r": |\((?=[A-Z0-9])")
BETWEEN = {sign: re.compile(rf"\s*{sign}\s+(?:and\s+|or\s+)?") for sign in ",;"}
FIGURE = re.compile(r"\d+")
AND = re.compile(r"\s+(?:and|or|&)\s+")
WORDS = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*\.?")
LONGEST_ITEM = 7
FEWEST = 3


class Listed(NamedTuple):
    """A list: where it stands, where what it lists is named, and how many items it may have."""

    start: int
    end: int
    opening: int
    in_brackets: bool
    fewest: int
    most: int


def lists_in(text: str, open_words: frozenset[str], open_before: frozenset[str]) -> Iterator[Listed]:
    """Lists of names or figures behind a colon or in brackets that claim to be whole."""
    for found in OPENING.finditer(text):
        in_brackets = found[0] == "("
        start = found.end()
        end = text.find(")", start) if in_brackets else len(text.rstrip(" ."))
        if end < start:
            continue
        counted = _count(text[start:end], open_words)
        if counted and not (open_before & set(text[max(0, start - 40) : start].lower().split())):
            yield Listed(start, end, found.start(), in_brackets, *counted)


def _count(inside: str, open_words: frozenset[str]) -> tuple[int, int] | None:
    """The number of items, from and to; where 'and' may stand in a name, it is not known exactly."""
    if "(" in inside or ":" in inside or open_words & set(re.findall(r"[a-z.]+", inside.lower())):
        return None
    items = [item.strip() for item in BETWEEN[";" if ";" in inside else ","].split(inside.strip()) if item.strip()]
    if len(items) < FEWEST:
        return None
    for item in items:
        if not (item[0].isupper() or FIGURE.fullmatch(item)) or len(WORDS.findall(item)) > LONGEST_ITEM:
            return None
    joined = sum(len(AND.findall(item)) for item in items)
    last = len(AND.findall(items[-1]))
    if joined == 1 and last == 1 and not re.search(r"[,;]\s*(?:and|or)\s", inside):
        return len(items) + 1, len(items) + 1
    return len(items), len(items) + joined
