"""Labelled sentences: rows with a place in a book, and the sentences at these places.

The texts of books are not in the repository, so a row has offsets and a hash, and its sentence is read from the book.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evals.data import SHARED_DATA
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.book_writer import build_sample
from kiwiresearch.zim.libzim import LibzimArchive

LABELS = Path(__file__).with_name("labels")
TYPES = LABELS / "claim_types.jsonl"
SUBJECTS = LABELS / "subjects.jsonl"
TYPES_HELD = LABELS / "claim_types_held.jsonl"
"""Rows of a second annotator, which nothing is tuned on."""
SUBJECTS_HELD = LABELS / "subjects_held.jsonl"
TYPES_REREAD = LABELS / "claim_types_reread.jsonl"
"""Rows of the first set as the second annotator labelled them, without having seen the first labels."""
SUBJECTS_REREAD = LABELS / "subjects_reread.jsonl"
SCHOOLS = SHARED_DATA / "zims" / "schools-2007.zim"
CLASSES = ("definition", "causal", "numeric", "timeline", "comparative", "disputed", "quote", "none")
NOTHING_TO_NAME = ("clause", "expletive", "no name", "self-contained", "within")
ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file of labels: the place of a sentence, and its labels."""

    book: str
    path: str
    start: int
    end: int
    sha: str
    label: str = ""
    also: tuple[str, ...] = ()
    draw: str = ""
    passes: tuple[str, ...] = ()
    pronoun: str = ""
    p_start: int = -1
    p_end: int = -1
    stands_for: str = ""
    accept: tuple[str, ...] = ()
    why: str = ""

    def accepts(self, label: str) -> bool:
        """Whether a careful reader accepts this class for the sentence."""
        return label == self.label or label in self.also

    def is_named_by(self, answer: str) -> bool:
        """Whether the answer is what the pronoun stands for, ignoring case, article and possessive."""
        return _normalize_name(answer) in {_normalize_name(name) for name in (self.stands_for, *self.accept)}


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A row with its sentence, `page.text[start:end]`."""

    row: Row
    page: PageDoc = field(repr=False)
    text: str

    @property
    def start(self) -> int:
        return self.row.start

    @property
    def end(self) -> int:
        return self.row.end


def load_rows(file: Path) -> list[Row]:
    """All rows of a file, in its order; this needs no book."""
    return [_row(line) for line in file.read_text(encoding="utf-8").splitlines()]


def load_sentences(file: Path, *, schools: Path = SCHOOLS) -> Iterator[LabelledSentence]:
    """The sentences of a file, in its order. If the schools book is missing, its rows are left out.

    A row whose sentence is no longer at its place is an error, as figures would be about other sentences.
    """
    with tempfile.TemporaryDirectory(prefix="kiwiresearch-labels-") as folder:
        sample = Path(folder) / "sample.zim"
        build_sample(sample)
        books = {"sample": LibzimArchive(sample)}
        if schools.is_file():
            books["schools"] = LibzimArchive(schools)
        try:
            yield from _find_sentences(load_rows(file), books)
        finally:
            for archive in books.values():
                archive.close()


def sha_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _find_sentences(rows: list[Row], books: dict[str, LibzimArchive]) -> Iterator[LabelledSentence]:
    page: PageDoc | None = None
    at = ("", "")
    for row in rows:
        if row.book not in books:
            continue
        if page is None or at != (row.book, row.path):
            page, at = open_page(books[row.book], row.path), (row.book, row.path)
        text = page.text[row.start : row.end]
        if sha_of(text) != row.sha:
            raise QuoteNotFound(
                f"The page {row.path!r} of {row.book!r} no longer has its labelled sentence at {row.start}.",
                remedy="Find the sentence again and correct the row's offsets.",
            )
        yield LabelledSentence(row, page, text)


def _row(line: str) -> Row:
    values = json.loads(line).items()
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values}
    return Row(**fields)


def _normalize_name(name: str) -> str:
    normalized = ARTICLE.sub("", name.strip()).casefold().replace("’", "'")
    return normalized.removesuffix("'s").removesuffix("'")
