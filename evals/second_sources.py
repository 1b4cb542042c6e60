"""Sentences of other pages that say the same: would a reader agree?

Readers judged 2,000 pairs from briefs on fifty topics: a sentence of the brief and one of another page that the run
read (`labels/second_sources.jsonl`: places only). Does the other one confirm what the first mainly says, only a part of
it, or nothing, or does it give another value? Every other topic, by name, is for choosing (`dev`); the others judge.

python -m evals.second_sources                 all topics, and what is wrong
python -m evals.second_sources --part dev      those for choosing
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from evals.briefs import desk_with, ran
from evals.data import SHARED_DATA, digest_of
from evals.labelled import LABELS
from kiwiresearch.brief.second_sources import SecondSources
from kiwiresearch.claims.claim import Claim
from kiwiresearch.embed.embedder import similarity
from kiwiresearch.embed.static import static_embedder

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
FILE = LABELS / "second_sources.jsonl"
PAGES = 40
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences by where they begin, and what readers say of the second."""

    topic: str
    one: Place
    other: Place
    label: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What the program says of a pair, and why."""

    label: str
    verdict: str
    """'confirms', 'differs' or 'no'."""
    signs: Mapping[str, float]
    texts: tuple[str, str]


def labelled(part: str = "") -> list[Pair]:
    """The pairs of a part; all without one."""
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    topics = sorted({row["topic"] for row in rows})
    kept = set(topics if not part else topics[::2] if part == "dev" else topics[1::2])
    return [Pair(row["topic"], tuple(row["a"]), tuple(row["b"]), row["label"]) for row in rows if row["topic"] in kept]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Over the topics that judge."""
    if not BOOK.is_file():
        return None
    found = judged(labelled("test"))
    return digest_of(BOOK, FILE), figures(found), counts(found)


def judged(pairs: Sequence[Pair]) -> list[Judged]:
    """Each pair, as the program judges it among all sentences of its run."""
    topics = [list(some) for _, some in groupby(pairs, key=lambda pair: pair.topic)]
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        found = pool.map(partial(_some, BOOK), [topics[number::cores] for number in range(cores)])
    return [one for some in found for one in some]


def _some(book: Path, topics: Sequence[Sequence[Pair]]) -> list[Judged]:
    with desk_with(book) as (finder, folder):
        return [
            one
            for number, pairs in enumerate(topics)
            for one in judge(ran(finder, pairs[0].topic, folder / str(number), pages=PAGES).claims, pairs)
        ]


def judge(claims: Sequence[Claim], pairs: Sequence[Pair]) -> list[Judged]:
    """The pairs whose sentences are among the claims of a run."""
    by_place = {(claim.ref.path, claim.quotes[0].start): claim for claim in reversed(claims)}
    sources = SecondSources(claims, lambda _: "eng")
    found = []
    for pair in pairs:
        one, other = by_place.get(pair.one), by_place.get(pair.other)
        if one is None or other is None:
            continue
        rows = static_embedder().embed([one.text, other.text])
        alike = float(similarity(rows[0], rows[1:])[0])
        second = sources.judge(one, other, alike)
        verdict = "no" if second is None else "differs" if second.difference else "confirms"
        found.append(Judged(pair.label, verdict, sources.features(one, other, alike), (one.text, other.text)))
    return found


def figures(pairs: Sequence[Judged]) -> dict[str, float]:
    """How often a reader agrees that a sentence is confirmed, and how many of those that are confirmed are seen."""
    said = Counter((pair.verdict, pair.label) for pair in pairs)
    confirmed = sum(count for (verdict, _), count in said.items() if verdict == "confirms") or 1
    there = sum(count for (_, label), count in said.items() if label == "confirms") or 1
    right = said["confirms", "confirms"]
    return {
        "confirmed_right": right / confirmed,
        "confirmed_right_or_in_part": (right + said["confirms", "in part"]) / confirmed,
        "confirmed_found": right / there,
    }


def counts(pairs: Sequence[Judged]) -> dict[str, float]:
    """How many pairs there are, and how many differ by the program and by readers."""
    differing = [pair for pair in pairs if pair.verdict == "differs"]
    return {
        "pairs": float(len(pairs)),
        "differing": float(len(differing)),
        "differing_right": float(sum(pair.label == "differs" for pair in differing)),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evals.second_sources")
    parser.add_argument("--part", choices=("dev", "test"), default="")
    options = parser.parse_args(arguments)
    pairs = judged(labelled(options.part))
    for pair in pairs:
        if pair.verdict != "no" and pair.verdict != pair.label:
            print(f"{pair.verdict}, readers: {pair.label}\n  {pair.texts[0]}\n  {pair.texts[1]}")
    for name, value in (figures(pairs) | counts(pairs)).items():
        print(f"{name} {value:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
