"""Questions that a book cannot answer, made by rule and checked against the book.

About a name: no title and no page holds all words of it.
About a page: none of its words begins like one that an answer would need.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from evals.golds import Row, normal
from kiwiresearch.page.html import bare_text
from kiwiresearch.zim.archive import Archive

LABELS = Path(__file__).with_name("labels") / "absent.toml"
PAGES_EACH = 4
"""How many pages are asked for each thing that they lack."""


def absent_rows(archive: Archive, subjects: Path) -> list[Row]:
    """A hundred questions; those about a page have it as their path, those about a name none."""
    labels = tomllib.loads(LABELS.read_text(encoding="utf-8"))
    titles = [frozenset(normal(entry.title).split()) for entry in archive.titles()]
    rows = []
    for kind in labels["names"].values():
        absent = [name for name in kind["of"] if is_absent(archive, titles, name)][: kind["take"]]
        rows += [Row(_form(kind["ask"], number).format(name), (), "") for number, name in enumerate(absent)]
    by_subject = json.loads(subjects.read_text(encoding="utf-8"))
    asked: set[str] = set()
    for one in labels["lacking"]:
        paths = [path for path, some in sorted(by_subject.items()) if one["subject"] in some and path not in asked]
        lacking = spread([path for path in paths if _plain(path) and lacks(archive, path, one["words"])], PAGES_EACH)
        asked.update(lacking)
        rows += [Row(one["ask"].format(archive.title(path)), (), path) for path in lacking]
    return rows


def is_absent(archive: Archive, titles: Iterable[frozenset[str]], name: str) -> bool:
    """Whether no title holds all words of a name, nor any page."""
    words = normal(name).split()
    return not any(title.issuperset(words) for title in titles) and not archive.paths_with(" ".join(words), 1)


def lacks(archive: Archive, path: str, beginnings: Sequence[str]) -> bool:
    """Whether no word of a page begins like one of these."""
    words = bare_text(archive.read(path).content).text.casefold().split()
    starts = tuple(beginnings)
    return not any(word.lstrip("([\"'\u201c\u2018-").startswith(starts) for word in words)


def spread(items: Sequence[str], count: int) -> list[str]:
    """So many of them, at even distances."""
    fewer = min(count, len(items))
    return [items[(2 * number + 1) * len(items) // (2 * fewer)] for number in range(fewer)]


def _form(forms: Sequence[str], number: int) -> str:
    return forms[number % len(forms)]


def _plain(path: str) -> bool:
    """A title that can stand in a question as it is."""
    return not any(char in path for char in "(),:") and not path.startswith(("List_of", "Geography_of", "History_of"))
