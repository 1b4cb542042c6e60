"""The confidence of claims: of the claims that somebody judged, how many of each confidence are right?

A claim is right if a reader who sees nothing else understands what it is about, the page says exactly that, and its
type is one that such a reader accepts.

Judgements of claims that are no longer made are left out. So claims that were corrected leave the set, and claims that
are wrong since then are not in it: draw a new sample before publishing the share of right claims.
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

LABELS_FILE = LABELS / "claims_right.jsonl"
BINS = (0.0, 0.7, 0.8, 0.85, 0.9, 0.95, 1.01)
STIFFNESS = 4.0
"""How strongly a term is held at its current value, as a number of claims that support it."""
STEPS = 60


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody said about a claim: the types it may have, and what is wrong with its words, if anything."""

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
    """How many claims of the books it represents: of rare kinds of claims, more were drawn."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim as it is extracted now, with its judgement."""

    claim: Claim
    is_right: bool
    share: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The pinned figures, and those that are not pinned."""

    pinned: dict[str, float]
    unpinned: dict[str, float]


@dataclass(frozen=True, slots=True)
class Bin:
    """A row of the table: claims of similar confidence, with its mean and the share that is right."""

    low: float
    high: float
    claims: int
    mean_confidence: float
    share_right: float


def load_judgements(file: Path = LABELS_FILE) -> list[Judgement]:
    rows = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    return [Judgement(**row | {"types": tuple(row["types"])}) for row in rows]


def load_judged_claims(file: Path = LABELS_FILE) -> list[JudgedClaim]:
    """The judged claims that are still extracted with the same words."""
    judged = []
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "sample.zim"
        build_sample(sample)
        books = {"sample": LibzimArchive(sample)} | ({"schools": LibzimArchive(SCHOOLS)} if SCHOOLS.is_file() else {})
        claims_by_page: dict[tuple[str, str], dict[tuple[int, str], Claim]] = {}
        for judgement in load_judgements(file):
            page_key = (judgement.book, judgement.path)
            if judgement.book in books and page_key not in claims_by_page:
                claims = claims_of(open_page(books[judgement.book], judgement.path))
                claims_by_page[page_key] = {(claim.quotes[0].start, sha_of(claim.text)): claim for claim in claims}
            claim = claims_by_page.get(page_key, {}).get((judgement.start, judgement.claim))
            if claim is not None and sha_of(claim.quotes[0].text) == judgement.sha:
                judged.append(
                    JudgedClaim(
                        claim, not judgement.why and claim.type in judgement.types, judgement.share, judgement.why
                    )
                )
        for archive in books.values():
            archive.close()
    return judged


def figures(judged: Sequence[JudgedClaim]) -> Calibrated:
    """How many claims are right, weighted as they occur in the books, and how far their confidence is off."""
    if not judged:
        return Calibrated({}, {})
    confidences, is_right, weights = _columns(judged)
    weights /= weights.sum()
    brier = float(weights @ (confidences - is_right) ** 2)
    share_right = float(weights @ is_right)
    mean_error = sum(abs(row.mean_confidence - row.share_right) * row.claims for row in table(judged)) / len(judged)
    return Calibrated(
        {"confidence_near": 1 - float(mean_error)},
        {
            "claims_judged": float(len(judged)),
            "claims_right": share_right,
            "brier": brier,
            "brier_of_one_figure_for_all": share_right * (1 - share_right),
        },
    )


def _columns(judged: Sequence[JudgedClaim]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.array([judged_claim.claim.confidence for judged_claim in judged]),
        np.array([float(judged_claim.is_right) for judged_claim in judged]),
        np.array([judged_claim.share for judged_claim in judged]),
    )


def table(judged: Sequence[JudgedClaim]) -> list[Bin]:
    """The claims in bins of similar confidence."""
    bins = []
    for low, high in pairwise(BINS):
        bin_claims = [judged_claim for judged_claim in judged if low <= judged_claim.claim.confidence < high]
        if bin_claims:
            confidences, is_right, weights = _columns(bin_claims)
            bins.append(
                Bin(
                    low,
                    min(high, 1.0),
                    len(bin_claims),
                    float(weights @ confidences) / weights.sum(),
                    float(weights @ is_right) / weights.sum(),
                )
            )
    return bins


def fit_terms(judged: Sequence[JudgedClaim], stiffness: float = STIFFNESS) -> dict[str, tuple[float, float, int]]:
    """For each term of the score, its current points, those that fit the judgements, and how often it occurs.

    This is a logistic regression by Newton's method, regularised towards the current points.
    """
    points: dict[str, float] = {}
    for judged_claim in judged:
        points |= {term.signal: term.points for term in judged_claim.claim.score.terms}
    names = sorted(points)
    inputs = np.array(
        [
            [float(any(term.signal == name for term in judged_claim.claim.score.terms)) for name in names]
            for judged_claim in judged
        ]
    )
    is_right = np.array([float(judged_claim.is_right) for judged_claim in judged])
    current = np.array([points[name] for name in names])
    weights = current.copy()
    for _ in range(STEPS):
        predicted = 1 / (1 + np.exp(-inputs @ weights))
        gradient = inputs.T @ (is_right - predicted) - stiffness * (weights - current)
        hessian = (inputs * (predicted * (1 - predicted))[:, None]).T @ inputs + stiffness * np.eye(len(names))
        weights = weights + np.linalg.solve(hessian, gradient)
    counts = Counter(term.signal for judged_claim in judged for term in judged_claim.claim.score.terms)
    return {name: (points[name], float(value), counts[name]) for name, value in zip(names, weights, strict=True)}


def report(judged: Sequence[JudgedClaim]) -> Iterator[str]:
    """The lines to print: the table of docs/reference/claims.md, the mistakes, and the terms."""
    yield "| confidence | claims | says, on average | right |"
    yield "| --- | --- | --- | --- |"
    for bin_ in table(judged):
        confidence = f"{bin_.low:.2f} to {bin_.high:.2f}"
        yield f"| {confidence} | {bin_.claims} | {bin_.mean_confidence:.2f} | {bin_.share_right:.2f} |"
    yield ""
    yield from _mistakes(judged)
    yield ""
    for name, (points, fitted_points, count) in fit_terms(judged).items():
        yield f"{name:40} {points:+.2f} -> {fitted_points:+.2f}  ({count} claims)"


def _mistakes(judged: Iterable[JudgedClaim]) -> Iterator[str]:
    reasons = Counter(judged_claim.why or "type" for judged_claim in judged if not judged_claim.is_right)
    yield ", ".join(f"{why} {count}" for why, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


if __name__ == "__main__":
    for row in report(load_judged_claims()):
        sys.stdout.write(f"{row}\n")
