"""Fit the weights by which a brief chooses sentences: is one about the aspect (`aspect`), is it important (`salience`),
and does a sentence of another page confirm it (`second source`)?

The aspect's weights are fitted, in log-odds, on the sentences that readers marked for every other topic of
`evals/labels/brief_aspects.jsonl`; all topics have the same weight. Salience needs no labels: the more words of a
sentence of the body occur in the article's introduction, the more it is worth. Second sources are fitted on
pairs that readers judged for every other topic of `evals/labels/second_sources.jsonl`. The weights are printed in the
format of `brief/data/weights.toml`.

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
from evals.brief_aspects import Marked, is_marked, marked, sentence_start
from evals.second_sources import judged, labelled
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
FEWEST_IN_LEAD, FEWEST_IN_BODY = 4, 25
RIDGE = 1.0
Signs = Sequence[Mapping[str, float]]


def marked_signs(archive: LibzimArchive, topic: Marked) -> tuple[Signs, list[bool]]:
    """The sentences about a topic, with the features of each, and whether readers marked it."""
    book = OpenBook(archive)
    walker = Walker(CrawlPlan([book], topic.topic, settings=CrawlSettings(max_pages=PAGES, fast=True)))
    pages = []
    while walker.state.ended is None:
        move = walker.next()
        walker.state.apply(move.step)
        pages += [move.page] if move.page else []
    claims = [claim for page in pages for claim in claims_of(page, "", sentence_filter_for(walker.state.started, page))]
    sentences = sentences_on(claims)
    relevance = Relevance(walker.state, sentences, {book.id: book.language})
    by_path = {page.ref: page for page in pages}
    signs, right = [], []
    for ref, several in sentences.items():
        for number, found in relevance.features(several).items():
            signs.append(found)
            page, start = by_path[ref], several[number].quotes[0].start
            right.append(is_marked(topic, page, sentence_start(page, start)))
    return signs, right


def introduced_signs(archive: LibzimArchive) -> Iterator[tuple[Signs, list[float]]]:
    """The sentences of articles' bodies, with the features of each, and how much of it the introduction repeats."""
    paths = sorted(archive.articles(), key=lambda path: hashlib.sha256(path.encode()).digest())
    for path in paths[:ARTICLES]:
        page = open_page(archive, path)
        sentences = sentences_on(claims_of(page, "", all_sentences)).get(page.ref, [])
        lead = [stems_in(claim.text, page.language) for claim in sentences if not claim.headings]
        body = [claim for claim in sentences if claim.headings]
        if len(lead) < FEWEST_IN_LEAD or len(body) < FEWEST_IN_BODY:
            continue
        yield (
            salience_features(body, page.language),
            [_said_again(stems_in(one.text, page.language), lead) for one in body],
        )


def _said_again(stems: frozenset[str], lead: Sequence[frozenset[str]]) -> float:
    """The largest share of words that a sentence has in common with one of the introduction."""
    return max((2 * len(stems & one) / (len(stems) + len(one)) for one in lead if stems and one), default=0.0)


def logistic(rows: NDArray[np.float64], right: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-odds by Newton's method; the last column is 1."""
    middle, spread = _scale(rows)
    table = np.column_stack([(rows - middle) / spread, np.ones(len(rows))])
    worth = np.zeros(table.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-table @ worth))
        slope = table.T @ (weight * (likely - right)) + RIDGE * worth
        bend = (table * (weight * likely * (1 - likely))[:, None]).T @ table + RIDGE * np.eye(len(worth))
        worth -= np.linalg.solve(bend, slope)
    raw = worth[:-1] / spread
    return np.append(raw, worth[-1] - float(raw @ middle))


def ridge(rows: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    middle, spread = _scale(rows)
    table = (rows - middle) / spread
    worth = np.linalg.solve(table.T @ table + 30 * np.eye(table.shape[1]), table.T @ wanted)
    return np.asarray(worth / spread)


def _scale(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    spread = rows.std(axis=0)
    return rows.mean(axis=0), np.where(spread > 0, spread, 1.0)


def _rows(signs: Signs) -> NDArray[np.float64]:
    return np.array([list(one.values()) for one in signs])


def fit_aspect(archive: LibzimArchive) -> dict[str, float]:
    found = [marked_signs(archive, topic) for topic in marked("dev")]
    found = [(signs, right) for signs, right in found if signs]
    weight = np.concatenate([np.full(len(right), len(right) ** -0.5) for _, right in found])
    rows = np.vstack([_rows(signs) for signs, _ in found])
    worth = logistic(rows, np.concatenate([right for _, right in found]).astype(float), weight / weight.mean())
    return dict(zip((*found[0][0][0], "before anything is known"), map(float, worth), strict=True))


def fit_salience(archive: LibzimArchive) -> dict[str, float]:
    found = list(introduced_signs(archive))
    wanted = [np.array(said) for _, said in found]
    leveled = [(one - one.mean()) / (one.std() or 1.0) for one in wanted]
    worth = ridge(np.vstack([_rows(signs) for signs, _ in found]), np.concatenate(leveled))
    return dict(zip(found[0][0][0], map(float, worth), strict=True))


def fit_second_source() -> dict[str, float]:
    found = judged(labelled("dev"))
    right = np.array([pair.label == "confirms" for pair in found], float)
    worth = logistic(_rows([pair.signs for pair in found]), right, np.ones(len(right)))
    return dict(zip((*found[0].signs, "before anything is known"), map(float, worth), strict=True))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tools.fit_brief")
    parser.add_argument("what", choices=("aspect", "salience", "second source"))
    parser.add_argument("shared", type=Path, help="the folder of shared data")
    options = parser.parse_args(arguments)
    archive = LibzimArchive(options.shared / "zims" / "schools-2007.zim")
    if options.what == "second source":
        worth = fit_second_source()
    else:
        worth = fit_aspect(archive) if options.what == "aspect" else fit_salience(archive)
    print(f'["{options.what}"]' if " " in options.what else f"[{options.what}]")
    for name, value in worth.items():
        print(f'"{name}" = {value:.2f}')
    return 0


if __name__ == "__main__":
    sys.exit(main())
