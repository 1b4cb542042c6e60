"""Briefs on one aspect of a subject: are they about it, and do they have the key sentences?

For sixty topics such as "Malaria treatment", readers marked the sections and single sentences of the 2007 Schools
selection that are about the aspect, and six to twelve key sentences that a brief must have, before any output was seen
(`labels/brief_aspects.jsonl`, which has only their places). In order of name, every other topic is for development
(`dev`), and the others are for evaluation.

python -m evals.brief_aspects                 all topics
python -m evals.brief_aspects --part dev      the topics for development
python -m evals.brief_aspects --off           also print the statements that are not about the aspect
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evals.briefs import finder_for, run_research
from evals.data import SHARED_DATA, digest_of
from evals.labelled import LABELS
from kiwiresearch.brief.brief import Brief, Statement
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
LABELS_FILE = LABELS / "brief_aspects.jsonl"
PAGES = 20
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class MarkedTopic:
    """What readers marked for a topic."""

    topic: str
    sections: frozenset[Place]
    """The sections about the aspect, by page and number."""
    sentences: frozenset[Place]
    """Other sentences about the aspect, by page and offset."""
    excluded: frozenset[Place]
    """Sentences of the marked sections that are not about it."""
    key_sentences: frozenset[Place]


@dataclass(frozen=True, slots=True)
class JudgedBrief:
    """For each statement of a brief, by part, whether it is about the aspect."""

    topic: str
    summary: tuple[bool, ...]
    body: tuple[bool, ...]
    others: tuple[bool, ...]
    key_share: float
    """The share of the key sentences that are in the summary or the body."""
    off_aspect: tuple[str, ...]
    """The statements of summary and body that are not about the aspect."""


def load_topics(part: str = "") -> list[MarkedTopic]:
    """The topics of a part; by default all of them."""
    rows = [json.loads(line) for line in LABELS_FILE.read_text(encoding="utf-8").splitlines()]
    rows = rows if not part else rows[::2] if part == "dev" else rows[1::2]
    return [
        MarkedTopic(row["topic"], *(frozenset(map(tuple, row[name])) for name in ("sections", "also", "not", "key")))
        for row in rows
    ]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The figures of the topics for evaluation; those of the topics for development are not pinned."""
    if not BOOK.is_file():
        return None
    return (
        digest_of(BOOK, LABELS_FILE),
        figures(judge_topics(load_topics("test"))),
        figures(judge_topics(load_topics("dev")), "dev_"),
    )


def judge_topics(topics: Sequence[MarkedTopic]) -> list[JudgedBrief]:
    """Research these topics and judge their briefs."""
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        parts = pool.map(partial(_judge_part, BOOK), [topics[number::cores] for number in range(cores)])
    return sorted((brief for part in parts for brief in part), key=lambda brief: brief.topic)


def _judge_part(book: Path, topics: Sequence[MarkedTopic]) -> list[JudgedBrief]:
    archive = LibzimArchive(book)
    with finder_for(book) as (finder, folder):
        briefs = [
            judge(run_research(finder, topic.topic, folder / str(number), pages=PAGES).brief, topic, archive)
            for number, topic in enumerate(topics)
        ]
    archive.close()
    return briefs


def judge(brief: Brief, topic: MarkedTopic, archive: LibzimArchive) -> JudgedBrief:
    """Compare the statements of a brief with what was marked."""
    pages: dict[str, PageDoc] = {}

    def place_of(statement: Statement) -> Place:
        """The start of the sentence that a statement is made from; the statement may lack its first words."""
        quote = brief.claims[statement.claims[0]].quotes[0]
        path = quote.ref.path
        if path not in pages:
            pages[path] = open_page(archive, path)
        return path, sentence_start(pages[path], quote.start)

    def is_on_aspect(statement: Statement) -> bool:
        path, start = place_of(statement)
        return is_marked(topic, pages[path], start)

    def flags_of(statements: Iterable[Statement]) -> tuple[bool, ...]:
        return tuple(map(is_on_aspect, statements))

    body = [statement for group in brief.body for statement in group.statements]
    statements = [*brief.summary, *body]
    spans = [(*place_of(statement), brief.claims[statement.claims[0]].quotes[0].end) for statement in statements]
    keys_found = [
        any(path == key_path and start - MAX_SHIFT <= key_start < end for path, start, end in spans)
        for key_path, key_start in topic.key_sentences
    ]
    others = [statement for statement in brief.statements() if statement not in statements]
    off_aspect = [statement.text for statement in statements if not is_on_aspect(statement)]
    return JudgedBrief(
        topic.topic,
        flags_of(brief.summary),
        flags_of(body),
        flags_of(others),
        sum(keys_found) / len(keys_found) if keys_found else 1.0,
        tuple(off_aspect),
    )


def is_marked(topic: MarkedTopic, page: PageDoc, start: int) -> bool:
    """Whether the sentence that starts here was marked as being about the aspect."""
    path = page.ref.path
    section_number = max(
        number for number, section in enumerate(page.sections) if section.heading_start <= start or not number
    )
    nearby_starts = {(path, start + shift) for shift in range(-MAX_SHIFT, MAX_SHIFT + 1)}
    return not nearby_starts.isdisjoint(topic.sentences) or (
        (path, section_number) in topic.sections and nearby_starts.isdisjoint(topic.excluded)
    )


MAX_SHIFT = 3
"""Offsets at most this many characters apart mean the same sentence, with or without a short first word."""


def sentence_start(page: PageDoc, offset: int) -> int:
    """The start of the sentence that an offset of a page is in."""
    return max((start for start in page.sentences if start <= offset), default=offset)


def figures(briefs: Sequence[JudgedBrief], prefix: str = "") -> dict[str, float]:
    """Means over the topics, and for the body the share of all statements; a missing summary counts as 0."""

    def mean(values: Iterable[float]) -> float:
        numbers = list(values)
        return sum(numbers) / len(numbers) if numbers else 0.0

    def share(flags: Sequence[bool]) -> float:
        return sum(flags) / len(flags) if flags else 0.0

    return {
        f"{prefix}summary_on_aspect": mean(share(brief.summary) for brief in briefs),
        f"{prefix}body_on_aspect": share([flag for brief in briefs for flag in brief.body]),
        f"{prefix}key_sentences": mean(brief.key_share for brief in briefs),
        f"{prefix}summaries": mean(bool(brief.summary) for brief in briefs),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.brief_aspects")
    parser.add_argument("--part", choices=("dev", "test"), default="")
    parser.add_argument("--off", action="store_true", help="print the statements that are not about the aspect")
    options = parser.parse_args(arguments)
    briefs = judge_topics(load_topics(options.part))
    for brief in briefs:
        counts = " ".join(f"{sum(flags)}/{len(flags)}" for flags in (brief.summary, brief.body, brief.others))
        print(f"{counts}  key {brief.key_share:.2f}  {brief.topic}")
        for text in brief.off_aspect if options.off else ():
            print(f"      {text[:150]}")
    for name, value in figures(briefs).items():
        print(f"{name} {value:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
