"""PageRank: how likely somebody who follows links at random stands on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from kiwiresearch.atlas.edges import Edges

    Shares = np.ndarray[Any, np.dtype[np.float64]]

DAMPING = 0.85
ROUNDS = 100
CLOSE = 1e-10
"""Where all pages together change by less than this, the next round would tell nothing new."""
DIGITS = 9
"""Of a rank times the number of pages, so many decimals are kept."""


def pagerank(edges: Edges) -> Shares:
    """The rank of each page, 1 for a page like the average; the same bits on every machine.

    Sums are taken one by one in the order of the links, whatever the number of cores and the size of the parts.
    Needs four numbers of 8 bytes for each page, and one part of the links.
    """
    import numpy as np

    pages = edges.pages
    if not pages:
        return np.zeros(0)
    out = np.zeros(pages)
    for sources, _ in edges.parts():
        out += np.bincount(sources, minlength=pages)
    rank = np.full(pages, 1.0 / pages)
    for _ in range(ROUNDS):
        lost = _total(rank[out == 0])
        share = np.divide(rank, out, out=np.zeros(pages), where=out > 0)
        following = np.full(pages, (1.0 - DAMPING + DAMPING * lost) / pages)
        for sources, targets in edges.parts():
            np.add.at(following, targets, DAMPING * share[sources])
        change = _total(np.abs(following - rank))
        rank = following
        if change < CLOSE:
            break
    return np.round(rank * pages, DIGITS)


def _total(values: Shares) -> float:
    """The sum from left to right: `sum` of numpy may add in another order on another processor."""
    import numpy as np

    return float(np.cumsum(values)[-1]) if len(values) else 0.0
