"""Questions with gold answers: read from the shared sets, sampled by rule, and looked for in a text.

A gold answer is looked for as SQuAD does it: case, punctuation, articles and white space do not count.
Words do: "art" does not stand in "start".
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
APART = re.compile(r"[-/\u2010-\u2015\u2212]")
"""What joins two words that can each be an answer: "1914-1918", "Austria/Hungary"."""
YES_OR_NO = re.compile(r"\s*(?:yes|no)\s*(?:[.,;:!]|$)", re.IGNORECASE)
TOKENS_A_WORD = 1.33
"""More than a word of English prose has with any tokenizer in use."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question, the words any of which answer it, and the page that should."""

    question: str
    answers: tuple[str, ...]
    """Normalised, and none of them empty."""
    path: str
    yes_or_no: bool = False
    """Such an answer stands on no page: it must be drawn."""


def rows_of(file: Path) -> list[Row]:
    """The rows of a set, those of a page together, so that each n-th row takes of every page its share."""
    rows = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answers = tuple(dict.fromkeys(filter(None, map(normal, row["answers"]))))
        rows.append(Row(row["question"], answers, row["path"], any(map(YES_OR_NO.match, row["answers"]))))
    return sorted(rows, key=lambda row: (row.yes_or_no, row.path))


def sample(rows: Sequence[Row], every: int) -> list[Row]:
    """Each so many-th row, begun in the middle of a step so that no page's first row is favoured."""
    return list(rows[every // 2 :: every])


def normal(text: str) -> str:
    """The words of a text, as two texts are compared."""
    plain = APART.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(char for char in plain if not _is_mark(char))
    return " ".join(ARTICLES.sub(" ", bare).split())


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether one of these normalised answers stands in a text, as whole words."""
    return holds_normal(normal(text), answers)


def holds_normal(text: str, answers: Sequence[str]) -> bool:
    """The same in a text that is normalised already."""
    padded = f" {text} "
    return any(f" {answer} " in padded for answer in answers)


def tokens(texts: Sequence[str]) -> float:
    """How many tokens these texts have at the most."""
    return TOKENS_A_WORD * sum(len(text.split()) for text in texts)


@functools.cache
def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("P") or char in "$+<=>^`|~"
