"""The titles of a book in the order of the alphabet, a page at a time, and the letters they begin with."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kiwiresearch.text import fold, without_spaces

RunQuery = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
LAST = "\U0010ffff"
MAX_HEADS = 60
"""How many letters are offered; a book in Chinese begins its titles with thousands."""
ROWS = "SELECT key, title, path, alias FROM names JOIN titles USING (id) WHERE alias = 0 AND key"


QUALIFIED = ROWS.removesuffix("key") + "title LIKE '%)'"
MAX_QUALIFIED = 100_000
SHORT_QUALIFIER = re.compile(r"\(([^()]{2,60})\)$")


@dataclass(frozen=True, slots=True)
class TitleRow:
    """A title and the page it leads to; an alias is the title of a redirect."""

    path: str
    title: str
    alias: bool = False


@dataclass(frozen=True, slots=True)
class TitleSlice:
    """Some titles in order; `before` and `after` are where the neighbouring pages start, empty if there are none."""

    rows: tuple[TitleRow, ...]
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class AlphabeticalTitles:
    """Reads a title index in the order of its keys: titles in plain lower case without spaces. Aliases are left out."""

    ask: RunQuery
    row: Callable[[tuple[Any, ...]], TitleRow]
    hides: Callable[[str, str], bool]

    def page(self, start: str, size: int, within: str = "") -> TitleSlice:
        """The page that starts with the first title at or after `start`, among those that begin with `within`."""
        # All keys with a prefix are between it and it with the last code point, so the B-tree is read as a range.
        first, end = self._key(within), self._key(within) + LAST
        start = max(self._key(start), first)
        found = self.ask(f"{ROWS} >= ? AND key < ? ORDER BY key, id LIMIT ?", (start, end, size + 1))
        back = self.ask(f"{ROWS} >= ? AND key < ? ORDER BY key DESC, id DESC LIMIT ?", (first, start, size))
        after = str(found[size][0]) if len(found) > size and found[size][0] > start else None
        rows = (self.row(item[1:]) for item in found[:size])
        shown = tuple(row for row in rows if _begins(row.title, within) and not self.hides(row.title, row.path))
        return TitleSlice(shown, str(back[-1][0]) if back else None, after)

    def count(self, within: str, limit: int) -> int:
        """How many titles begin with some text, at most `limit`."""
        first = self._key(within)
        found = self.ask(f"{ROWS} >= ? AND key < ? LIMIT ?", (first, first + LAST, limit))
        return sum(_begins(title, within) for _, title, *_ in found)

    def qualified(self) -> tuple[tuple[str, TitleRow], ...]:
        """Titles that say in parentheses what they are about, such as 'Mercury (planet)', each with those words."""
        found = self.ask(f"{QUALIFIED} ORDER BY key, id LIMIT ?", (MAX_QUALIFIED,))
        rows = (self.row(item[1:]) for item in found)
        pairs = ((SHORT_QUALIFIER.search(row.title), row) for row in rows if not self.hides(row.title, row.path))
        return tuple((match[1], row) for match, row in pairs if match)

    def heads(self, within: str = "") -> tuple[str, ...]:
        """The texts, one letter longer than `within`, that titles begin with."""
        start = self._key(within)
        found: list[str] = []
        end, key = start + LAST, start
        while len(found) < MAX_HEADS:
            row = self.ask("SELECT key FROM names WHERE key >= ? AND key < ? ORDER BY key LIMIT 1", (key, end))
            if not row:
                break
            head = str(row[0][0])[: len(start) + 1]
            if len(head) > len(start):
                found.append(head)
            # A loose index scan: one query for each letter jumps past all titles with it.
            key = head + (LAST if len(head) > len(start) else "\0")
        return tuple(found)

    def _key(self, text: str) -> str:
        return without_spaces(fold(text)) if text.strip() else ""


def _begins(title: str, text: str) -> bool:
    """Whether a title begins with a text as it is written: 'Portal:' is not 'Portalegre', whose keys begin alike."""
    return title.casefold().startswith(text.casefold())
