"""Whether a query is worth asking: the same words in another order, spelling or dress were asked already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz.fuzz import token_sort_ratio

from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.names import parse_name
from kiwiresearch.text.fold import fold

NEAR = 90
"""From this likeness on two queries of the same people and years are one."""
FAMILY_WORDS = frozenset({"father", "mother", "wife", "husband", "son", "daughter", "brother", "sister", "parents"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A query in the form that is compared."""

    source: str
    words: str
    """Folded and sorted."""
    telling: tuple[str, ...]
    """Numbers of kings, junior and senior, years, and words of kinship: where these differ, so do the people."""

    @property
    def hash(self) -> str:
        return id_of("query", self.source, self.words)


def asked(query: str, source: str, years: Iterable[int] = ()) -> Asked:
    """A query as it is remembered."""
    name = parse_name(query)
    words = sorted(fold(query).split())
    kin = sorted(FAMILY_WORDS & set(words))
    regnal, generation = name.discriminators
    telling = (str(regnal), generation, *kin, *map(str, sorted(years)))
    return Asked(source, " ".join((*words, *map(str, sorted(years)))), telling)


def is_novel(query: Asked, known: Iterable[Asked], *, fuzzy: bool = True) -> bool:
    """Whether nothing near it was asked of the same source; one that finds other spellings itself needs no second."""
    for other in known:
        if other.source != query.source or other.telling != query.telling:
            continue
        if other.words == query.words or (fuzzy and token_sort_ratio(other.words, query.words) >= NEAR):
            return False
    return True
