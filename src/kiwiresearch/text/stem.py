"""Roots of words: the light rules of the point table, and full stemmers for reading pages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from kiwiresearch.text.fold import fold
from kiwiresearch.text.spellings import one_spelling

EXCEPTIONS = frozenset({"this", "less", "across", "always", "towards"})
"""Words that end in 's' and are no plurals."""

SHORTEST_ROOT = 3

ALGORITHMS = {
    "ara": "arabic", "cat": "catalan", "ces": "czech", "dan": "danish", "deu": "german", "ell": "greek",
    "eng": "english", "epo": "esperanto", "est": "estonian", "eus": "basque", "fas": "persian", "fin": "finnish",
    "fra": "french", "gle": "irish", "hin": "hindi", "hun": "hungarian", "hye": "armenian", "ind": "indonesian",
    "ita": "italian", "lit": "lithuanian", "nep": "nepali", "nld": "dutch", "nno": "norwegian", "nob": "norwegian",
    "nor": "norwegian", "pol": "polish", "por": "portuguese", "ron": "romanian", "rus": "russian", "spa": "spanish",
    "srp": "serbian", "swe": "swedish", "tam": "tamil", "tur": "turkish", "yid": "yiddish",
}  # fmt: skip
"""Which of the Snowball algorithms serves a language, by its ISO 639-3 code."""


@lru_cache(maxsize=65_536)
def roots(word: str) -> frozenset[str]:
    """What a word may be the plural of, and the word itself.

    One rule cannot know whether 'lenses' comes from 'lens' or 'lense', so both
    stand, and two words match if they share a root. '-es' comes off only
    where English puts it on, or 'planes' would meet 'plan'.
    """
    found = {word}
    if word in EXCEPTIONS or len(word) <= SHORTEST_ROOT or not word.endswith("s") or word.endswith("ss"):
        return frozenset(found)
    if word.endswith("ies"):
        found |= {f"{word[:-3]}y", word[:-1]}
    elif word.endswith("es"):
        found.add(word[:-1])
        if word[:-2].endswith(("s", "x", "z", "ch", "sh", "o")):
            found.add(word[:-2])
    else:
        found.add(word[:-1])
    return frozenset(root for root in found if len(root) >= SHORTEST_ROOT)


def share_root(word: str, others: Iterable[str]) -> bool:
    """Whether the word and any of the others may be forms of one word."""
    mine = roots(word)
    return any(not mine.isdisjoint(roots(other)) for other in others)


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """The stemmer of a language, for words of any spelling; where there is none, words stay as they are."""
    algorithm = ALGORITHMS.get(language)
    if algorithm is None:
        return fold
    import importlib

    # Not through the package's own factory, which takes another library where it happens to be installed.
    module = importlib.import_module(f"snowballstemmer.{algorithm}_stemmer")
    stem = getattr(module, f"{algorithm.capitalize()}Stemmer")().stemWord
    lock = threading.Lock()  # one object works on one word at a time

    @lru_cache(maxsize=131_072)
    def stem_of(word: str) -> str:
        folded = one_spelling(fold(word))
        if not folded.isalpha():
            return folded
        with lock:
            return str(stem(folded))

    return stem_of
