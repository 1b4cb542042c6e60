"""How much a sentence of a page would be missed: what an introduction of the page would say again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kiwiresearch.brief.relevance import added, centroid, embedder, weights
from kiwiresearch.claims.claim import Claim
from kiwiresearch.embed.embedder import similarity
from kiwiresearch.search.hit import Score
from kiwiresearch.text.aspect import stems_in

LONG, SHORT = 200, 60
FEW = 20
"""Of a page of which fewer sentences are known, nobody can tell which words are common on it."""


def salience(sentences: Sequence[Claim], language: str) -> list[Score]:
    """The score of each sentence of one page, in their order."""
    worth = weights()["salience"]
    return [added(Score(), signs, worth) for signs in signs_of(sentences, language)]


def signs_of(sentences: Sequence[Claim], language: str) -> list[dict[str, float]]:
    """What speaks for each sentence of one page: names of `weights`."""
    if not sentences:
        return []
    title = sentences[0].page_title
    rows = embedder().embed([title, *(claim.text for claim in sentences)])
    like_page = similarity(centroid(rows[1:]), rows[1:])
    like_title = similarity(rows[0], rows[1:])
    stems = [stems_in(claim.text, language) for claim in sentences]
    counts = Counter(stem for one in stems for stem in one)
    of_title = stems_in(title, language)
    seen: set[tuple[str, ...]] = set()
    found = []
    for number, claim in enumerate(sentences):
        own = stems[number]
        common = sum(counts[stem] for stem in own) / len(own) / max(len(sentences), FEW) if own else 0.0
        found.append(
            {
                "common words": common,
                "like the page": float(like_page[number]),
                "like the title": float(like_title[number]),
                "names the title": len(own & of_title) / len(of_title) if of_title else 0.0,
                "late": number / len(sentences),
                "opens its section": float(claim.headings not in seen),
                "long": max(0, len(claim.text) - LONG) / 100,
                "short": float(len(claim.text) < SHORT),
                "dated": float(bool(claim.dates)),
                "deep": float(len(claim.headings) > 1),
            }
        )
        seen.add(claim.headings)
    return found
