"""Questions that a book cannot answer, made from templates and checked against the book.

Questions about a name: no title and no page has all of its words.
Questions about a page: no word of the page starts like one that an answer would need.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from evals.golds import Row, normalize
from kiwiresearch.page.html import bare_text
from kiwiresearch.zim.archive import Archive

LABELS = Path(__file__).with_name("labels") / "absent.toml"
PAGES_PER_QUESTION = 4
"""How many pages each question is asked about."""


def absent_rows(archive: Archive, subjects: Path) -> list[Row]:
    """A hundred questions. Those about a page have its path; those about a name have none."""
    labels = tomllib.loads(LABELS.read_text(encoding="utf-8"))
    titles = [frozenset(normalize(entry.title).split()) for entry in archive.titles()]
    rows = []
    for kind in labels["names"].values():
        absent = [name for name in kind["of"] if is_absent(archive, titles, name)][: kind["take"]]
        rows += [Row(_pick_form(kind["ask"], number).format(name), (), "") for number, name in enumerate(absent)]
    by_subject = json.loads(subjects.read_text(encoding="utf-8"))
    used_paths: set[str] = set()
    for template in labels["lacking"]:
        paths = [
            path
            for path, page_subjects in sorted(by_subject.items())
            if template["subject"] in page_subjects and path not in used_paths
        ]
        lacking_paths = sample_evenly(
            [path for path in paths if _fits_into_question(path) and lacks_words(archive, path, template["words"])],
            PAGES_PER_QUESTION,
        )
        used_paths.update(lacking_paths)
        rows += [Row(template["ask"].format(archive.title(path)), (), path) for path in lacking_paths]
    return rows


def is_absent(archive: Archive, titles: Iterable[frozenset[str]], name: str) -> bool:
    """Whether no title and no page has all words of a name."""
    words = normalize(name).split()
    return not any(title.issuperset(words) for title in titles) and not archive.paths_with(" ".join(words), 1)


def lacks_words(archive: Archive, path: str, prefixes: Sequence[str]) -> bool:
    """Whether no word of a page starts with one of these."""
    words = bare_text(archive.read(path).content).text.casefold().split()
    prefix_tuple = tuple(prefixes)
    return not any(word.lstrip("([\"'\u201c\u2018-").startswith(prefix_tuple) for word in words)


def sample_evenly(items: Sequence[str], count: int) -> list[str]:
    """`count` of the items, at equal distances; all of them if there are fewer."""
    size = min(count, len(items))
    return [items[(2 * number + 1) * len(items) // (2 * size)] for number in range(size)]


def _pick_form(forms: Sequence[str], number: int) -> str:
    return forms[number % len(forms)]


def _fits_into_question(path: str) -> bool:
    """Whether a title can be part of a question as it is."""
    return not any(char in path for char in "(),:") and not path.startswith(("List_of", "Geography_of", "History_of"))
