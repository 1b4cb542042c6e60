"""Which name a pronoun means: the reading model's choices, for labelled pronouns of the 2007 Schools selection.

The labels were made by reading, before any output was seen: 200 difficult ones (`labels/pronouns.jsonl`), and 554
chosen at random from pages that were not used for training (`labels/pronouns_held.jsonl`; the threshold was chosen on
these). A choice is right if all its words are in one of the names of the label.

python -m evals.pronouns           print precision and coverage at several thresholds
python -m evals.pronouns --wrong   also print the wrong choices at the threshold in use
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
    PERSONAL_PRONOUN_PATTERN,
    SENTENCES_BEFORE,
    SHE_PATTERN,
    PronounContext,
    context_in,
    likely_referent,
)
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.reader.reader import Reader, TextToRead, shared_reader
from kiwiresearch.text.words import fold
from kiwiresearch.zim.libzim import LibzimArchive

PRONOUNS = {"": LABELS / "pronouns.jsonl", "held_": LABELS / "pronouns_held.jsonl"}
BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
THRESHOLDS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.985, 0.99)
PERSONAL_PRONOUNS = frozenset({"he", "him", "his", "she", "her", "hers"})
NEUTER_PATTERN = re.compile(r"its?", re.IGNORECASE)
OPENING_SENTENCES, MANY_PRONOUNS = 8, 4
"""Personal pronouns are counted in the first sentences of a page.

With at least `MIN_PRONOUNS` of them the page may be about a person, and with this many it certainly is.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A pronoun, what it means, and the name that was chosen, which is empty if there is none before it."""

    path: str
    word: str
    means: tuple[str, ...]
    chosen: str
    confidence: float

    @property
    def is_right(self) -> bool:
        words = set(fold(self.chosen).split())
        return bool(words) and any(words <= set(fold(name).split()) for name in self.means)


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Precision and coverage at the threshold in use; those of personal pronouns alone are not pinned."""
    if not BOOK.is_file():
        return None
    figures: dict[str, float] = {}
    unpinned: dict[str, float] = {}
    for prefix, labels in PRONOUNS.items():
        choices = list(choose_names(shared_reader(), labels))
        personal = [choice for choice in choices if choice.word.lower() in PERSONAL_PRONOUNS]
        figures |= {
            f"{prefix}pronoun_precision": precision_at(choices, MIN_CONFIDENCE),
            f"{prefix}pronoun_coverage": coverage_at(choices, MIN_CONFIDENCE),
        }
        unpinned |= {
            f"{prefix}pronoun_rows": float(len(choices)),
            f"{prefix}person_precision": precision_at(personal, MIN_CONFIDENCE),
            f"{prefix}person_coverage": coverage_at(personal, MIN_CONFIDENCE),
            f"{prefix}pronoun_accuracy": precision_at(choices, 0.0),
        }
    return digest_of(*PRONOUNS.values(), BOOK), figures, unpinned


def precision_at(choices: Sequence[Choice], threshold: float) -> float:
    made = [choice for choice in choices if choice.chosen and choice.confidence >= threshold]
    return sum(choice.is_right for choice in made) / len(made) if made else 1.0


def coverage_at(choices: Sequence[Choice], threshold: float) -> float:
    return sum(bool(choice.chosen) and choice.confidence >= threshold for choice in choices) / len(choices)


def choose_names(reader: Reader, labels: Path) -> Iterator[Choice]:
    """Let the reading model choose a name for each labelled pronoun."""
    archive = LibzimArchive(BOOK)
    pages: dict[str, PageDoc] = {}
    for line in labels.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        page = pages.setdefault(row["path"], open_page(archive, row["path"]))
        names = [row["antecedent"], *row["also"], *([page.title] if row["about_title"] else [])]
        means = tuple(filter(None, names))  # empty if the pronoun means nothing, as in "it rains"
        yield _choose_name(reader, page, row["start"], row["word"], means)


def _choose_name(reader: Reader, page: PageDoc, start: int, word: str, means: tuple[str, ...]) -> Choice:
    referent = likely_referent(reader, context_on(page, start, start + len(word)))
    return Choice(page.ref.path, word, means, referent.name, referent.confidence)


def context_on(page: PageDoc, start: int, end: int) -> PronounContext:
    """The pronoun at `page.text[start:end]`, with its sentence, some sentences before it, and the names in them.

    The training of the reading model uses this too. Answers use `context_in`, as they start from passages.
    """
    first, own_index = sentences_around(page, start)
    ends = (*page.sentences[1:], len(page.text))
    units = [page.text[page.sentences[index] : ends[index]].rstrip() for index in range(first, own_index + 1)]
    position = start - page.sentences[own_index]
    opening = page.text[: page.sentences[OPENING_SENTENCES]] if len(page.sentences) > OPENING_SENTENCES else page.text
    text = TextToRead(page.title, "", tuple(units))
    with_title = _may_mean_title(opening, page.text[start:end])
    return context_in(text, position, position + end - start, opening, page.language, with_title=with_title)


def sentences_around(page: PageDoc, start: int) -> tuple[int, int]:
    """The first sentence of the context of a pronoun on a page, and the pronoun's own."""
    own_index = bisect_right(page.sentences, start) - 1
    return max(0, own_index - SENTENCES_BEFORE), own_index


def _may_mean_title(opening: str, pronoun: str) -> bool:
    """Whether a pronoun can mean the subject of a page, judging by the pronouns in the page's opening.

    "He" cannot on a page about a thing, nor "it" on a page about a person.
    """
    he, she = len(HE_PATTERN.findall(opening)), len(SHE_PATTERN.findall(opening))
    if NEUTER_PATTERN.fullmatch(pronoun):
        return he + she < MANY_PRONOUNS
    return not PERSONAL_PRONOUN_PATTERN.fullmatch(pronoun) or he + she >= MIN_PRONOUNS


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.pronouns")
    parser.add_argument("--wrong", action="store_true", help="print the wrong choices at the threshold in use")
    options = parser.parse_args(arguments)
    for labels in PRONOUNS.values():
        choices = list(choose_names(shared_reader(), labels))
        print(f"{labels.name}: {len(choices)} pronouns")
        for threshold in THRESHOLDS:
            precision, coverage = precision_at(choices, threshold), coverage_at(choices, threshold)
            print(f"at {threshold:.2f}: precision {precision:.3f}, coverage {coverage:.3f}")
        for choice in choices if options.wrong else ():
            if choice.confidence >= MIN_CONFIDENCE and not choice.is_right:
                meaning = f"means {choice.means[:1]}, not {choice.chosen!r}"
                print(f"{choice.path}: {choice.word!r} {meaning} ({choice.confidence:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
