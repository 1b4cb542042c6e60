"""Questions with gold answers: loading them from the shared sets, sampling them, and finding answers in a text.

Texts are compared as SQuAD does it: case, punctuation, articles and white space do not count.
An answer must be whole words: "art" is not in "start".
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
WORD_SEPARATOR = re.compile(r"[-/\u2010-\u2015\u2212]")
"""Between words that can each be an answer: "1914-1918", "Austria/Hungary"."""
YES_OR_NO = re.compile(r"\s*(?:yes|no)\s*(?:[.,;:!]|$)", re.IGNORECASE)
TOKENS_PER_WORD = 1.33
"""An upper limit for English prose with any tokenizer in use."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question, its gold answers and its gold page."""

    question: str
    answers: tuple[str, ...]
    """Any of these is right. They are normalised, and none is empty."""
    path: str
    yes_or_no: bool = False
    """Whether the answer is yes or no, which cannot be quoted from a page."""


def load_rows(file: Path) -> list[Row]:
    """The rows of a set, sorted by page, so that a sample of every n-th row has a fair share of each page."""
    rows = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answers = tuple(dict.fromkeys(filter(None, map(normalize, row["answers"]))))
        rows.append(Row(row["question"], answers, row["path"], any(map(YES_OR_NO.match, row["answers"]))))
    return sorted(rows, key=lambda row: (row.yes_or_no, row.path))


def sample(rows: Sequence[Row], every: int) -> list[Row]:
    """Every n-th row. It starts in the middle of a step, so that the first row of a page is not preferred."""
    return list(rows[every // 2 :: every])


def normalize(text: str) -> str:
    """The words of a text in the form in which texts are compared."""
    folded = WORD_SEPARATOR.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    without_punctuation = "".join(char for char in folded if not _is_punctuation(char))
    return " ".join(ARTICLES.sub(" ", without_punctuation).split())


def has_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether a text has one of these normalised answers, as whole words."""
    return normalized_has_answer(normalize(text), answers)


def normalized_has_answer(text: str, answers: Sequence[str]) -> bool:
    """The same for a text that is already normalised."""
    padded = f" {text} "
    return any(f" {answer} " in padded for answer in answers)


def max_tokens(texts: Sequence[str]) -> float:
    """How many tokens these texts have at most."""
    return TOKENS_PER_WORD * sum(len(text.split()) for text in texts)


@functools.cache
def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char).startswith("P") or char in "$+<=>^`|~"
