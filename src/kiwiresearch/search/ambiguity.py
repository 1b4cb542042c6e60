"""A model's help with one ambiguous word, and a cache of what it offered."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, Field

from kiwiresearch.errors import BadReply, ModelUnreachable, PromptTooLong
from kiwiresearch.ids import canonical_json
from kiwiresearch.llm.model import Model, extraction, prompt
from kiwiresearch.llm.structured import ask
from kiwiresearch.search.query import Query, parse_query
from kiwiresearch.system import write_atomically
from kiwiresearch.text.words import fold
from kiwiresearch.zim.archive import Book

TTL_S = 3_600.0


class PhraseCache:
    """Lists of phrases by key; in memory, and in a folder if one is given."""

    def __init__(self, clock: Callable[[], float], folder: Path | None = None, *, ttl_s: float = TTL_S) -> None:
        self._clock = clock
        self._folder = folder
        self._ttl_s = ttl_s
        self._kept: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: str, ask: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """What is kept under the key, else what `ask` says; an error of `ask` is passed on and not kept."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            known = self._known(key)
            if known is not None:
                return known
            value = ask()
            self._keep(key, value)
            return value

    def _known(self, key: str) -> tuple[str, ...] | None:
        at, value = self._kept.get(key) or self._on_disk(key) or (0.0, ())
        fresh = 0 <= self._clock() - at < self._ttl_s
        return value if fresh and value else None

    def _keep(self, key: str, value: tuple[str, ...]) -> None:
        at = self._clock()
        self._kept[key] = (at, value)
        if self._folder is not None:
            text = canonical_json({"key": key, "at": at, "phrases": list(value)})
            try:
                write_atomically(self._file(key), text + "\n")
            except OSError:
                return  # a cache that cannot be written is only slower

    def _on_disk(self, key: str) -> tuple[float, tuple[str, ...]] | None:
        if self._folder is None:
            return None
        try:
            row = json.loads(self._file(key).read_text(encoding="utf-8"))
            phrases, at = row["phrases"], float(row["at"])
            good = row["key"] == key and isinstance(phrases, list) and all(isinstance(p, str) for p in phrases)
            return (at, tuple(phrases)) if good else None
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None  # damaged, so it is asked for again

    def _file(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:32]}.json"


MAX_PHRASES = 3
MAX_WORDS = 3


class Phrases(BaseModel):
    """What a model is asked for."""

    phrases: list[str] = Field(min_length=1, max_length=8)


def is_ambiguous(query: Query, book: Book, model: Model | None) -> bool:
    """Whether a model is to be asked; the last condition looks at the whole cleaned query, not at one word of it."""
    return model is not None and query.definitional and book.is_wikipedia and len(query.content) == 1


def phrases_for(
    query: Query, model: Model, cache: PhraseCache, say: Callable[[str], None] | None = None
) -> tuple[Query, ...]:
    """The queries to search: the bare word, and what the model offers that holds it.

    A model that cannot be reached or answers nonsense leaves the bare word,
    and is asked again the next time. Phrases that fail the check are no
    failure: the same question would bring them again, so the outcome is kept.
    """
    term = query.content[0]
    bare = parse_query(term, query.language)

    def offered() -> tuple[str, ...]:
        said = ask(model, prompt("senses").fill(term=term, question=query.text), Phrases, extraction(max_tokens=200))
        return (term, *usable_phrases(term, said.phrases))

    try:
        phrases = cache.get(f"disambig_candidates:{term}", offered)
    except (ModelUnreachable, BadReply, PromptTooLong) as problem:
        if say:
            say(f"The model could not help: {problem.message}")
        return (bare,)
    return tuple(parse_query(phrase, query.language) for phrase in phrases)


def usable_phrases(term: str, phrases: list[str]) -> tuple[str, ...]:
    """Phrases of a few words that hold the term as a word of its own: 'C' is not in 'chemistry'."""
    kept = []
    for phrase in phrases:
        words = fold(re.sub(r"\s+", " ", phrase)).split()
        if term in words and words != [term] and len(words) <= MAX_WORDS:
            kept.append(" ".join(words))
    return tuple(dict.fromkeys(kept))[:MAX_PHRASES]
