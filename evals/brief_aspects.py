"""Briefs on one side of a thing: is what they say about it, and do they say what matters?

Readers marked, for sixty topics such as "Malaria treatment", the sections and single sentences of the 2007 Schools
selection that are about what is asked for, and the six to twelve that a brief must have, before any output was seen
(`labels/brief_aspects.jsonl`: places only). Every other topic, by name, is for choosing (`dev`); the others judge.
A statement counts as off the topic if it is neither marked nor from the introduction of the page about the thing.

python -m evals.brief_aspects                 all topics, and what is off the topic in each
python -m evals.brief_aspects --part dev      those for choosing
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

from evals.briefs import desk_with, ran
from evals.data import SHARED_DATA, digest_of
from evals.labelled import LABELS
from kiwiresearch.brief.brief import Brief, Statement
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
FILE = LABELS / "brief_aspects.jsonl"
PAGES = 20
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Marked:
    """What readers marked for a topic: sections by their numbers, sentences by where they begin."""

    topic: str
    sections: frozenset[Place]
    also: frozenset[Place]
    beside: frozenset[Place]
    key: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Judged:
    """A brief, sentence by sentence: is it on the aspect?"""

    topic: str
    summary: tuple[bool, ...]
    body: tuple[bool, ...]
    others: tuple[bool, ...]
    key: float
    """Of the sentences that a brief must have, the share that is in the summary or the body."""
    off: tuple[str, ...]


def marked(part: str = "") -> list[Marked]:
    """The topics of a part; all without one."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    rows = rows if not part else rows[::2] if part == "dev" else rows[1::2]
    return [
        Marked(row["topic"], *(frozenset(map(tuple, row[name])) for name in ("sections", "also", "not", "key")))
        for row in rows
    ]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Over the topics that judge; those for choosing stand beside them."""
    if not BOOK.is_file():
        return None
    return digest_of(BOOK, FILE), figures(judged(marked("test"))), figures(judged(marked("dev")), "dev_")


def judged(topics: Sequence[Marked]) -> list[Judged]:
    """Each topic's brief."""
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        found = pool.map(partial(_some, BOOK), [topics[number::cores] for number in range(cores)])
    return sorted((one for some in found for one in some), key=lambda one: one.topic)


def _some(book: Path, topics: Sequence[Marked]) -> list[Judged]:
    archive = LibzimArchive(book)
    with desk_with(book) as (finder, folder):
        found = [
            judge(ran(finder, one.topic, folder / str(number), pages=PAGES).brief, one, archive)
            for number, one in enumerate(topics)
        ]
    archive.close()
    return found


def judge(brief: Brief, topic: Marked, archive: LibzimArchive) -> Judged:
    """Hold the statements of a brief against what was marked."""
    pages: dict[str, PageDoc] = {}

    def place_of(statement: Statement) -> Place:
        """Where the sentence begins that a statement is made of, which may have lost its first words."""
        quote = brief.claims[statement.claims[0]].quotes[0]
        path = quote.ref.path
        if path not in pages:
            pages[path] = open_page(archive, path)
        return path, sentence_start(pages[path], quote.start)

    def is_on(statement: Statement) -> bool:
        path, start = place_of(statement)
        return is_marked(topic, pages[path], start)

    def all_on(statements: Iterable[Statement]) -> tuple[bool, ...]:
        return tuple(map(is_on, statements))

    body = [one for group in brief.body for one in group.statements]
    told = [*brief.summary, *body]
    spans = [(*place_of(one), brief.claims[one.claims[0]].quotes[0].end) for one in told]
    key = [any(path == key[0] and start - NEAR <= key[1] < end for path, start, end in spans) for key in topic.key]
    others = [one for one in brief.statements() if one not in told]
    off = [one.text for one in told if not is_on(one)]
    return Judged(
        topic.topic,
        all_on(brief.summary),
        all_on(body),
        all_on(others),
        sum(key) / len(key) if key else 1.0,
        tuple(off),
    )


def is_marked(topic: Marked, page: PageDoc, start: int) -> bool:
    """Whether the sentence that begins here was marked as being about what is asked for."""
    path = page.ref.path
    section = max(number for number, one in enumerate(page.sections) if one.heading_start <= start or not number)
    near = {(path, start + more) for more in range(-NEAR, NEAR + 1)}
    return not near.isdisjoint(topic.also) or ((path, section) in topic.sections and near.isdisjoint(topic.beside))


NEAR = 3
"""A sentence that begins a few characters further is the same one without its first small word."""


def sentence_start(page: PageDoc, place: int) -> int:
    """Where the sentence begins that a place of a page is in."""
    return max((start for start in page.sentences if start <= place), default=place)


def figures(found: Sequence[Judged], before: str = "") -> dict[str, float]:
    """Means over the topics, and of the body over all its sentences; a topic without a summary counts as 0."""

    def mean(values: Iterable[float]) -> float:
        several = list(values)
        return sum(several) / len(several) if several else 0.0

    def share(flags: Sequence[bool]) -> float:
        return sum(flags) / len(flags) if flags else 0.0

    return {
        f"{before}summary_on_aspect": mean(share(one.summary) for one in found),
        f"{before}body_on_aspect": share([flag for one in found for flag in one.body]),
        f"{before}key_sentences": mean(one.key for one in found),
        f"{before}summaries": mean(bool(one.summary) for one in found),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.brief_aspects")
    parser.add_argument("--part", choices=("dev", "test"), default="")
    parser.add_argument("--off", action="store_true", help="show what is off the topic")
    options = parser.parse_args(arguments)
    found = judged(marked(options.part))
    for one in found:
        counts = " ".join(f"{sum(flags)}/{len(flags)}" for flags in (one.summary, one.body, one.others))
        print(f"{counts}  key {one.key:.2f}  {one.topic}")
        for text in one.off if options.off else ():
            print(f"      {text[:150]}")
    for name, value in figures(found).items():
        print(f"{name} {value:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
