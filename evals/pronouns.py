"""Which name a pronoun means: the reading model's choice against pronouns of the 2007 Schools selection.

The labels are ours, made by reading, before any output was seen: 200 hard ones (`labels/pronouns.jsonl`), and 554 drawn
at random from pages that trained nothing (`labels/pronouns_held.jsonl`; the threshold was chosen on these). A choice is
right if it names what the label names, in whichever of its words.

python -m evals.pronouns           precision and coverage at several thresholds
python -m evals.pronouns --wrong   and what is wrong at the one that is used
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.data import SHARED_DATA, digest_of
from evals.labelled import LABELS
from kiwiresearch.ask.pronouns import (
    HE_PATTERN,
    MIN_CONFIDENCE,
    MIN_PRONOUNS,
    SENTENCES_BEFORE,
    SHE_PATTERN,
    PronounContext,
    context_in,
    likely_referent,
)
from kiwiresearch.ask.pronouns import PERSONAL_PRONOUN_PATTERN as PERSONAL_PRONOUN
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.reader.reader import Reader, TextToRead, shared_reader
from kiwiresearch.text.words import fold
from kiwiresearch.zim.libzim import LibzimArchive

PRONOUNS = {"": LABELS / "pronouns.jsonl", "held_": LABELS / "pronouns_held.jsonl"}
BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
THRESHOLDS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.985, 0.99)
PERSONAL_PRONOUN_PATTERN = frozenset({"he", "him", "his", "she", "her", "hers"})
NEUTRAL = re.compile(r"its?", re.IGNORECASE)
OPENING_SENTENCES, MANY_PRONOUNS = 8, 4
"""A page with at least `MIN_PRONOUNS` personal pronouns in this many first sentences is about a person."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A pronoun, what it means, and what was chosen; nothing where no name stands before it."""

    path: str
    word: str
    means: tuple[str, ...]
    chosen: str
    confidence: float

    @property
    def is_right(self) -> bool:
        chosen = set(fold(self.chosen).split())
        return bool(chosen) and any(chosen <= set(fold(one).split()) for one in self.means)


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Precision and coverage at the threshold that is used; beside them, for persons alone."""
    if not BOOK.is_file():
        return None
    figures: dict[str, float] = {}
    beside: dict[str, float] = {}
    for before, labels in PRONOUNS.items():
        choices = list(chosen(shared_reader(), labels))
        persons = [one for one in choices if one.word.lower() in PERSONAL_PRONOUN_PATTERN]
        figures |= {
            f"{before}pronoun_precision": precision(choices, MIN_CONFIDENCE),
            f"{before}pronoun_coverage": coverage(choices, MIN_CONFIDENCE),
        }
        beside |= {
            f"{before}pronoun_rows": float(len(choices)),
            f"{before}person_precision": precision(persons, MIN_CONFIDENCE),
            f"{before}person_coverage": coverage(persons, MIN_CONFIDENCE),
            f"{before}pronoun_accuracy": precision(choices, 0.0),
        }
    return digest_of(*PRONOUNS.values(), BOOK), figures, beside


def precision(choices: Sequence[Choice], least: float) -> float:
    made = [one for one in choices if one.chosen and one.confidence >= least]
    return sum(one.is_right for one in made) / len(made) if made else 1.0


def coverage(choices: Sequence[Choice], least: float) -> float:
    return sum(bool(one.chosen) and one.confidence >= least for one in choices) / len(choices)


def chosen(reader: Reader, labels: Path) -> Iterator[Choice]:
    """The choice for each label."""
    archive = LibzimArchive(BOOK)
    pages: dict[str, PageDoc] = {}
    for line in labels.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        page = pages.setdefault(row["path"], open_page(archive, row["path"]))
        names = [row["antecedent"], *row["also"], *([page.title] if row["about_title"] else [])]
        means = tuple(filter(None, names))  # none where a pronoun means nothing: "it rains"
        yield _choice(reader, page, row["start"], row["word"], means)


def _choice(reader: Reader, page: PageDoc, start: int, word: str, means: tuple[str, ...]) -> Choice:
    found = likely_referent(reader, context_on(page, start, start + len(word)))
    return Choice(page.ref.path, word, means, found.name, found.confidence)


def context_on(page: PageDoc, start: int, end: int) -> PronounContext:
    """The pronoun at `page.text[start:end]`, with its sentence, some before it, and the names in them.

    As for the reading model's training; answers start from passages, with `context_in`.
    """
    first, own = sentences_around(page, start)
    ends = (*page.sentences[1:], len(page.text))
    units = [page.text[page.sentences[index] : ends[index]].rstrip() for index in range(first, own + 1)]
    at = start - page.sentences[own]
    opening = page.text[: page.sentences[OPENING_SENTENCES]] if len(page.sentences) > OPENING_SENTENCES else page.text
    text = TextToRead(page.title, "", tuple(units))
    with_title = _may_mean_title(opening, page.text[start:end])
    return context_in(text, at, at + end - start, opening, page.language, with_title=with_title)


def sentences_around(page: PageDoc, start: int) -> tuple[int, int]:
    """The first sentence of the context of a pronoun on a page, and the pronoun's own."""
    own = bisect_right(page.sentences, start) - 1
    return max(0, own - SENTENCES_BEFORE), own


def _may_mean_title(opening: str, pronoun: str) -> bool:
    """Whether a pronoun can mean the subject of a page, judging by the pronouns in the page's opening.

    "He" cannot on a page about a thing, nor "it" on a page about a person.
    """
    he, she = len(HE_PATTERN.findall(opening)), len(SHE_PATTERN.findall(opening))
    if NEUTRAL.fullmatch(pronoun):
        return he + she < MANY_PRONOUNS
    return not PERSONAL_PRONOUN.fullmatch(pronoun) or he + she >= MIN_PRONOUNS


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.pronouns")
    parser.add_argument("--wrong", action="store_true", help="show what is wrong at the threshold that is used")
    options = parser.parse_args(arguments)
    for labels in PRONOUNS.values():
        choices = list(chosen(shared_reader(), labels))
        print(f"{labels.name}: {len(choices)} pronouns")
        for least in THRESHOLDS:
            print(f"at {least:.2f}: precision {precision(choices, least):.3f}, coverage {coverage(choices, least):.3f}")
        for one in choices if options.wrong else ():
            if one.confidence >= MIN_CONFIDENCE and not one.is_right:
                print(f"{one.path}: {one.word!r} means {one.means[:1]}, not {one.chosen!r} ({one.confidence:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
