"""Fit the weights by which a brief chooses sentences: is one about the aspect (`aspect`), is it important (`salience`),
and does a sentence of another page confirm it (`second source`)?

The weights of the aspect are fitted, in log-odds, on the sentences that readers marked for every other topic of
`evals/labels/brief_aspects.jsonl`; all topics count the same. Salience needs no labels: a sentence of the body is the
more important, the more of its words the article's introduction repeats. Second sources are fitted on pairs that
readers judged for every other topic of `evals/labels/second_sources.jsonl`. The weights are printed in the format of
`brief/data/weights.toml`.

python -m tools.fit_brief aspect SHARED
python -m tools.fit_brief salience SHARED
python -m tools.fit_brief "second source" SHARED
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from evals.brief_aspects import MarkedTopic, is_marked, load_topics, sentence_start
from evals.second_sources import judge_pairs, load_pairs
from numpy.typing import NDArray

from kiwiresearch.brief.relevance import Relevance, salience_features, sentence_filter_for, sentences_on
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.plain_claims import all_sentences
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.walker import Walker
from kiwiresearch.page.parser import open_page
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text.similarity import stems_in
from kiwiresearch.zim.libzim import LibzimArchive

PAGES, ARTICLES = 20, 400
MIN_LEAD_SENTENCES, MIN_BODY_SENTENCES = 4, 25
RIDGE = 1.0
Features = Sequence[Mapping[str, float]]


def marked_sentences(archive: LibzimArchive, topic: MarkedTopic) -> tuple[Features, list[bool]]:
    """For the sentences about a topic, their features, and whether readers marked them."""
    book = OpenBook(archive)
    walker = Walker(CrawlPlan([book], topic.topic, settings=CrawlSettings(max_pages=PAGES, fast=True)))
    pages = []
    while walker.state.ended is None:
        result = walker.next()
        walker.state.apply(result.step)
        pages += [result.page] if result.page else []
    claims = [claim for page in pages for claim in claims_of(page, "", sentence_filter_for(walker.state.started, page))]
    sentences = sentences_on(claims)
    relevance = Relevance(walker.state, sentences, {book.id: book.language})
    page_by_ref = {page.ref: page for page in pages}
    features, is_right = [], []
    for ref, claims_of_page in sentences.items():
        for number, sentence_features in relevance.features(claims_of_page).items():
            features.append(sentence_features)
            page, start = page_by_ref[ref], claims_of_page[number].quotes[0].start
            is_right.append(is_marked(topic, page, sentence_start(page, start)))
    return features, is_right


def introduced_sentences(archive: LibzimArchive) -> Iterator[tuple[Features, list[float]]]:
    """For the sentences in bodies of articles, their features, and how much of them the introduction repeats."""
    paths = sorted(archive.articles(), key=lambda path: hashlib.sha256(path.encode()).digest())
    for path in paths[:ARTICLES]:
        page = open_page(archive, path)
        sentences = sentences_on(claims_of(page, "", all_sentences)).get(page.ref, [])
        lead = [stems_in(claim.text, page.language) for claim in sentences if not claim.headings]
        body = [claim for claim in sentences if claim.headings]
        if len(lead) < MIN_LEAD_SENTENCES or len(body) < MIN_BODY_SENTENCES:
            continue
        yield (
            salience_features(body, page.language),
            [_overlap_with(stems_in(claim.text, page.language), lead) for claim in body],
        )


def _overlap_with(stems: frozenset[str], lead: Sequence[frozenset[str]]) -> float:
    """The largest share of words that a sentence has in common with a sentence of the introduction."""
    return max((2 * len(stems & other) / (len(stems) + len(other)) for other in lead if stems and other), default=0.0)


def logistic(
    rows: NDArray[np.float64], is_right: NDArray[np.float64], sample_weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The weights of a logistic regression, by Newton's method; the last one is the constant."""
    mean, deviation = _moments(rows)
    table = np.column_stack([(rows - mean) / deviation, np.ones(len(rows))])
    weights = np.zeros(table.shape[1])
    for _ in range(30):
        predicted = 1 / (1 + np.exp(-table @ weights))
        gradient = table.T @ (sample_weights * (predicted - is_right)) + RIDGE * weights
        hessian = (table * (sample_weights * predicted * (1 - predicted))[:, None]).T @ table + RIDGE * np.eye(
            len(weights)
        )
        weights -= np.linalg.solve(hessian, gradient)
    unscaled = weights[:-1] / deviation
    return np.append(unscaled, weights[-1] - float(unscaled @ mean))


def ridge(rows: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    mean, deviation = _moments(rows)
    table = (rows - mean) / deviation
    weights = np.linalg.solve(table.T @ table + 30 * np.eye(table.shape[1]), table.T @ wanted)
    return np.asarray(weights / deviation)


def _moments(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    deviation = rows.std(axis=0)
    return rows.mean(axis=0), np.where(deviation > 0, deviation, 1.0)


def _matrix(features: Features) -> NDArray[np.float64]:
    return np.array([list(sentence_features.values()) for sentence_features in features])


def fit_aspect(archive: LibzimArchive) -> dict[str, float]:
    topics = [marked_sentences(archive, topic) for topic in load_topics("dev")]
    topics = [(features, is_right) for features, is_right in topics if features]
    sample_weights = np.concatenate([np.full(len(is_right), len(is_right) ** -0.5) for _, is_right in topics])
    rows = np.vstack([_matrix(features) for features, _ in topics])
    weights = logistic(
        rows, np.concatenate([is_right for _, is_right in topics]).astype(float), sample_weights / sample_weights.mean()
    )
    return dict(zip((*topics[0][0][0], "before anything is known"), map(float, weights), strict=True))


def fit_salience(archive: LibzimArchive) -> dict[str, float]:
    articles = list(introduced_sentences(archive))
    overlaps = [np.array(article_overlaps) for _, article_overlaps in articles]
    standardized = [
        (article_overlaps - article_overlaps.mean()) / (article_overlaps.std() or 1.0) for article_overlaps in overlaps
    ]
    weights = ridge(np.vstack([_matrix(features) for features, _ in articles]), np.concatenate(standardized))
    return dict(zip(articles[0][0][0], map(float, weights), strict=True))


def fit_second_source() -> dict[str, float]:
    pairs = judge_pairs(load_pairs("dev"))
    is_right = np.array([pair.label == "confirms" for pair in pairs], float)
    weights = logistic(_matrix([pair.features for pair in pairs]), is_right, np.ones(len(is_right)))
    return dict(zip((*pairs[0].features, "before anything is known"), map(float, weights), strict=True))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tools.fit_brief")
    parser.add_argument("what", choices=("aspect", "salience", "second source"))
    parser.add_argument("shared", type=Path, help="the folder of shared data")
    options = parser.parse_args(arguments)
    archive = LibzimArchive(options.shared / "zims" / "schools-2007.zim")
    if options.what == "second source":
        weights = fit_second_source()
    else:
        weights = fit_aspect(archive) if options.what == "aspect" else fit_salience(archive)
    print(f'["{options.what}"]' if " " in options.what else f"[{options.what}]")
    for name, value in weights.items():
        print(f'"{name}" = {value:.2f}')
    return 0


if __name__ == "__main__":
    sys.exit(main())
