"""Second sources of sentences in briefs: do readers agree that another page confirms a sentence?

Readers judged 2,000 pairs from briefs on fifty topics: a sentence of the brief and one of another page of the same run
(`labels/second_sources.jsonl`, which has only their places). Does the second confirm the main point of the first, only
a part of it, or nothing, or does it give a different value? In order of name, every other topic is for development
(`dev`), and the others are for evaluation.

python -m evals.second_sources                 all topics, and the pairs that were judged wrongly
python -m evals.second_sources --part dev      the topics for development
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

from evals.briefs import finder_for, run_research
from evals.data import SHARED_DATA, digest_of
from evals.labelled import LABELS
from kiwiresearch.brief.second_sources import SecondSources
from kiwiresearch.claims.claim import Claim
from kiwiresearch.embed.embedder import similarity
from kiwiresearch.embed.static import static_embedder

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
LABELS_FILE = LABELS / "second_sources.jsonl"
PAGES = 40
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences by their places, and what readers say about the second."""

    topic: str
    sentence: Place
    other: Place
    label: str


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """What the program says about a pair, and why."""

    label: str
    verdict: str
    """'confirms', 'differs' or 'no'."""
    features: Mapping[str, float]
    texts: tuple[str, str]


def load_pairs(part: str = "") -> list[Pair]:
    """The pairs of a part; by default all of them."""
    rows = [json.loads(line) for line in LABELS_FILE.read_text(encoding="utf-8").splitlines()]
    topics = sorted({row["topic"] for row in rows})
    part_topics = set(topics if not part else topics[::2] if part == "dev" else topics[1::2])
    return [
        Pair(row["topic"], tuple(row["a"]), tuple(row["b"]), row["label"])
        for row in rows
        if row["topic"] in part_topics
    ]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """The figures of the topics for evaluation; counts are not pinned."""
    if not BOOK.is_file():
        return None
    pairs = judge_pairs(load_pairs("test"))
    return digest_of(BOOK, LABELS_FILE), figures(pairs), counts_of(pairs)


def judge_pairs(pairs: Sequence[Pair]) -> list[JudgedPair]:
    """Research the topics of these pairs, and judge the pairs among all sentences of their runs."""
    pairs_by_topic = [list(topic_pairs) for _, topic_pairs in groupby(pairs, key=lambda pair: pair.topic)]
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        parts = pool.map(partial(_judge_part, BOOK), [pairs_by_topic[number::cores] for number in range(cores)])
    return [pair for topic_pairs in parts for pair in topic_pairs]


def _judge_part(book: Path, pairs_by_topic: Sequence[Sequence[Pair]]) -> list[JudgedPair]:
    with finder_for(book) as (finder, folder):
        return [
            pair
            for number, topic_pairs in enumerate(pairs_by_topic)
            for pair in judge(
                run_research(finder, topic_pairs[0].topic, folder / str(number), pages=PAGES).claims, topic_pairs
            )
        ]


def judge(claims: Sequence[Claim], pairs: Sequence[Pair]) -> list[JudgedPair]:
    """Judge the pairs whose sentences are both among the claims of a run."""
    by_place = {(claim.ref.path, claim.quotes[0].start): claim for claim in reversed(claims)}
    sources = SecondSources(claims, lambda _: "eng")
    judged = []
    for pair in pairs:
        sentence, other = by_place.get(pair.sentence), by_place.get(pair.other)
        if sentence is None or other is None:
            continue
        vectors = static_embedder().embed([sentence.text, other.text])
        likeness = float(similarity(vectors[0], vectors[1:])[0])
        second_source = sources.judge(sentence, other, likeness)
        verdict = "no" if second_source is None else "differs" if second_source.difference else "confirms"
        judged.append(
            JudgedPair(pair.label, verdict, sources.features(sentence, other, likeness), (sentence.text, other.text))
        )
    return judged


def figures(pairs: Sequence[JudgedPair]) -> dict[str, float]:
    """How often readers agree that a sentence is confirmed, and how many of the confirmed ones are found."""
    verdicts = Counter((pair.verdict, pair.label) for pair in pairs)
    confirmed_by_program = sum(count for (verdict, _), count in verdicts.items() if verdict == "confirms") or 1
    confirmed_by_readers = sum(count for (_, label), count in verdicts.items() if label == "confirms") or 1
    right = verdicts["confirms", "confirms"]
    return {
        "confirmed_right": right / confirmed_by_program,
        "confirmed_right_or_in_part": (right + verdicts["confirms", "in part"]) / confirmed_by_program,
        "confirmed_found": right / confirmed_by_readers,
    }


def counts_of(pairs: Sequence[JudgedPair]) -> dict[str, float]:
    """The number of pairs, of those that differ according to the program, and of those where readers agree."""
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
    pairs = judge_pairs(load_pairs(options.part))
    for pair in pairs:
        if pair.verdict != "no" and pair.verdict != pair.label:
            print(f"{pair.verdict}, readers: {pair.label}\n  {pair.texts[0]}\n  {pair.texts[1]}")
    for name, value in (figures(pairs) | counts_of(pairs)).items():
        print(f"{name} {value:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
