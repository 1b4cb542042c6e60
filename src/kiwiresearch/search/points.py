"""The point table: what titles and excerpts are worth, as `points.toml` says."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from kiwiresearch.search.hit import Score
from kiwiresearch.search.query import Query
from kiwiresearch.text.fold import fold
from kiwiresearch.text.stem import roots, share_root


@cache
def table() -> dict[str, dict[str, Any]]:
    """The points by name."""
    return tomllib.loads((files("kiwiresearch.search") / "points.toml").read_text(encoding="utf-8"))


def points(query: Query, title: str, excerpt: str = "", *, primary: bool = False) -> Score:
    """The one scoring of titles and excerpts, whatever search they come from."""
    score = _title(query, title).plus("excerpt words", _excerpt(query, excerpt))
    starts = table()["list"]["starts"]
    if " ".join(title.casefold().split()).startswith(tuple(starts)):
        offset = "offset_definitional" if query.definitional else "offset_other"
        score = score.plus("list page", table()["list"]["penalty"]).plus("list offset", table()["list"][offset])
    return score.plus("primary book", table()["book"]["primary"]) if primary else score


@lru_cache(maxsize=4_096)
def _title(query: Query, title: str) -> Score:
    score = Score()
    worth = table()["title"]
    words = folded_words(title)
    plain = " ".join(title.casefold().split())
    if query.asked.casefold() == plain:
        score = score.plus("exact title", worth["exact"])
    elif any(_same_forms(folded_words(run), words) for run in (query.asked, query.core)) or any(
        _same_forms((w,), words) for w in query.content
    ):
        score = score.plus("stemmed title", worth["stemmed"])
    meaningful = [word for word in query.content if len(word) >= worth["starts_letters"]]
    if any(" ".join(words).startswith(word) for word in meaningful):
        score = score.plus("title starts with word", worth["starts"])
    return score.plus("title word", worth["word"] * sum(share_root(word, words) for word in query.content))


@lru_cache(maxsize=16_384)
def folded_words(title: str) -> tuple[str, ...]:
    return tuple(fold(title).split())


def _same_forms(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two runs of words are forms of the same words, one for one."""
    return len(some) == len(others) and all(
        not roots(a).isdisjoint(roots(b)) for a, b in zip(some, others, strict=True)
    )


def _excerpt(query: Query, excerpt: str) -> float:
    words = set(fold(excerpt).split())
    if not words:
        return 0.0
    known = {root for word in words for root in roots(word)}
    hits = sum(not roots(word).isdisjoint(known) for word in query.content)
    most = float(table()["excerpt"]["most"])
    return min(most, hits / len(words) * most)
