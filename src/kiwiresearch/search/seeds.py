"""The few pages worth a closer look: where a crawl begins, and what an answer is sought in."""

from __future__ import annotations

from kiwiresearch.search.books import WORTH_MERGING
from kiwiresearch.search.find import Findings
from kiwiresearch.search.hit import Hit

TOP_PAGES = 3


def pick_seeds(found: Findings, most: int = TOP_PAGES) -> tuple[Hit, ...]:
    """One to three pages: the best, and those that stand beside it; never a page that only lists senses.

    The order is the search's: exact titles, then redirects, then close
    matches. Of a name with several senses, a hint has decided already.
    """
    pages = [hit for hit in found.hits if not lists_senses(hit)]
    top = pages[0].score.total if pages else 0.0
    return tuple(hit for hit in pages if hit.score.total >= WORTH_MERGING * top)[:most]


def lists_senses(hit: Hit) -> bool:
    return any(line.signal == "disambiguation page" for line in hit.score.lines)
