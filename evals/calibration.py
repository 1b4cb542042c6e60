"""Confidence against truth: of the claims that were read by somebody, how many of each confidence are right?

A claim is right if a reader who sees nothing else understands what it is about,
the page says exactly that, and its type is one that such a reader accepts.

Judgements on claims that are no longer made are left out. So what was mended
leaves the set, and what went wrong since is not in it: draw anew before the
share of right claims is told to anybody.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from evals.labelled import LABELS, SCHOOLS, sha_of
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.book_writer import build_sample
from kiwiresearch.zim.libzim import LibzimArchive

JUDGED = LABELS / "claims_right.jsonl"
BINS = (0.0, 0.7, 0.8, 0.85, 0.9, 0.95, 1.01)
STIFFNESS = 4.0
"""How much the present value of a term counts, in claims that would speak for it."""
STEPS = 60


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody said of a claim: the types it may be filed under, and what is wrong with its words, if anything."""

    book: str
    path: str
    start: int
    end: int
    sha: str
    """Of the first quote."""
    claim: str
    """The hash of the claim's text."""
    types: tuple[str, ...]
    share: float
    """How many claims of the books it stands for, as more were drawn where there are few."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim as it is made now, with its judgement."""

    claim: Claim
    right: bool
    share: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Figures that have floors, and those beside them."""

    pinned: dict[str, float]
    beside: dict[str, float]


@dataclass(frozen=True, slots=True)
class Bin:
    """A row of the table: claims of about one confidence."""

    low: float
    high: float
    claims: int
    said: float
    right: float


def judgements(file: Path = JUDGED) -> list[Judgement]:
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return [Judgement(**row | {"types": tuple(row["types"])}) for row in rows]


def judged_claims(file: Path = JUDGED) -> list[Judged]:
    """The judged claims that the rules still make; those they no longer make, or word otherwise, are left out."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "sample.zim"
        build_sample(sample)
        books = {"sample": LibzimArchive(sample)} | ({"schools": LibzimArchive(SCHOOLS)} if SCHOOLS.is_file() else {})
        made: dict[tuple[str, str], dict[tuple[int, str], Claim]] = {}
        for one in judgements(file):
            at = (one.book, one.path)
            if one.book in books and at not in made:
                claims = claims_of(open_page(books[one.book], one.path))
                made[at] = {(claim.quotes[0].start, sha_of(claim.text)): claim for claim in claims}
            claim = made.get(at, {}).get((one.start, one.claim))
            if claim is not None and sha_of(claim.quotes[0].text) == one.sha:
                found.append(Judged(claim, not one.why and claim.type in one.types, one.share, one.why))
        for archive in books.values():
            archive.close()
    return found


def figures(judged: Sequence[Judged]) -> Calibrated:
    """How many claims are right, weighed as they occur in the books, and how far their confidence is off."""
    if not judged:
        return Calibrated({}, {})
    said, right, weights = _columns(judged)
    weights /= weights.sum()
    brier = float(weights @ (said - right) ** 2)
    rate = float(weights @ right)
    off = sum(abs(row.said - row.right) * row.claims for row in table(judged)) / len(judged)
    return Calibrated(
        {"confidence_near": 1 - float(off)},
        {
            "claims_judged": float(len(judged)),
            "claims_right": rate,
            "brier": brier,
            "brier_of_one_figure_for_all": rate * (1 - rate),
        },
    )


def _columns(judged: Sequence[Judged]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.array([one.claim.confidence for one in judged]),
        np.array([float(one.right) for one in judged]),
        np.array([one.share for one in judged]),
    )


def table(judged: Sequence[Judged]) -> list[Bin]:
    """Claims by their confidence, with what it says on average and what is so."""
    rows = []
    for low, high in pairwise(BINS):
        inside = [one for one in judged if low <= one.claim.confidence < high]
        if inside:
            said, right, weights = _columns(inside)
            rows.append(
                Bin(
                    low,
                    min(high, 1.0),
                    len(inside),
                    float(weights @ said) / weights.sum(),
                    float(weights @ right) / weights.sum(),
                )
            )
    return rows


def fitted(judged: Sequence[Judged], stiffness: float = STIFFNESS) -> dict[str, tuple[float, float, int]]:
    """The terms of the score: what each counts now, what it would count by the judgements, and how often it occurs.

    A logistic regression by Newton's method, held towards the present values.
    """
    now: dict[str, float] = {}
    for one in judged:
        now |= {term.signal: term.points for term in one.claim.score.terms}
    names = sorted(now)
    inputs = np.array(
        [[float(any(term.signal == name for term in one.claim.score.terms)) for name in names] for one in judged]
    )
    right = np.array([float(one.right) for one in judged])
    present = np.array([now[name] for name in names])
    weights = present.copy()
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (right - guess) - stiffness * (weights - present)
        bend = (inputs * (guess * (1 - guess))[:, None]).T @ inputs + stiffness * np.eye(len(names))
        weights = weights + np.linalg.solve(bend, slope)
    counts = Counter(term.signal for one in judged for term in one.claim.score.terms)
    return {name: (now[name], float(value), counts[name]) for name, value in zip(names, weights, strict=True)}


def told(judged: Sequence[Judged]) -> Iterator[str]:
    """The table of a page of the reference, and the terms."""
    yield "| confidence | claims | says | right |"
    yield "| --- | --- | --- | --- |"
    for row in table(judged):
        yield f"| {row.low:.2f} to {row.high:.2f} | {row.claims} | {row.said:.2f} | {row.right:.2f} |"
    yield ""
    yield from _wrong(judged)
    yield ""
    for name, (now, value, count) in fitted(judged).items():
        yield f"{name:40} {now:+.2f} -> {value:+.2f}  ({count} claims)"


def _wrong(judged: Iterable[Judged]) -> Iterator[str]:
    reasons = Counter(one.why or "type" for one in judged if not one.right)
    yield ", ".join(f"{why} {count}" for why, count in sorted(reasons.items(), key=lambda row: (-row[1], row[0])))


if __name__ == "__main__":
    for row in told(judged_claims()):
        sys.stdout.write(f"{row}\n")
