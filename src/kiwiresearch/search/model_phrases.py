"""Phrases from a model for an ambiguous word, and a cache of them."""

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
from kiwiresearch.llm import Model, extraction_options, prompt, structured_reply
from kiwiresearch.search.query import Query, parse_query
from kiwiresearch.system import write_atomically
from kiwiresearch.text import fold
from kiwiresearch.zim import Book

TTL_S = 3_600.0
LOCKS = 64
"""With one lock for all keys, different phrases would wait for each other; these share one only by chance."""
MAX_IN_MEMORY = 1_000


class PhraseCache:
    """Lists of phrases by key; in memory, and in a folder if one is given.

    The folder is called "routing", and the setting for their age `routing_ttl_s`: with these phrases a word that means
    several things leads to the page that was meant.
    """

    def __init__(self, clock: Callable[[], float], folder: Path | None = None, *, ttl_s: float = TTL_S) -> None:
        self._clock = clock
        self._folder = folder
        self._ttl_s = ttl_s
        self._phrases: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._locks = tuple(threading.Lock() for _ in range(LOCKS))

    def get(self, key: str, ask: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """The phrases in the cache, else what `ask` returns; an error of `ask` is passed on and not cached."""
        # So that threads that want the same phrases ask only once.
        with self._locks[hash(key) % LOCKS]:
            at, value = self._phrases.get(key) or self._on_disk(key) or (0.0, ())
            # Not below 0: a time in the future, after the clock was set back, must not keep an entry forever.
            is_fresh = 0 <= self._clock() - at < self._ttl_s
            if not value or not is_fresh:
                value = ask()
                self._store(key, value)
            return value

    def _store(self, key: str, value: tuple[str, ...]) -> None:
        at = self._clock()
        if len(self._phrases) >= MAX_IN_MEMORY:
            self._phrases.clear()
        self._phrases[key] = (at, value)
        if self._folder is not None:
            text = canonical_json({"key": key, "at": at, "phrases": list(value)})
            try:
                write_atomically(self._file(key), text + "\n")
            except OSError:
                return  # without its file the cache is only slower

    def _on_disk(self, key: str) -> tuple[float, tuple[str, ...]] | None:
        if self._folder is None:
            return None
        try:
            row = json.loads(self._file(key).read_text(encoding="utf-8"))
            phrases, at = row["phrases"], float(row["at"])
            good = row["key"] == key and isinstance(phrases, list) and all(isinstance(p, str) for p in phrases)
            return (at, tuple(phrases)) if good else None
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None  # damaged, so the model is asked again

    def _file(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:32]}.json"


MAX_PHRASES = 3
MAX_WORDS = 3


class PhraseSuggestions(BaseModel):
    """The form of the model's reply."""

    phrases: list[str] = Field(min_length=1, max_length=8)


def is_ambiguous(query: Query, book: Book, model: Model | None) -> bool:
    """Whether to ask a model: there is one, and the query asks what a single word is, in a Wikipedia."""
    return model is not None and query.definitional and book.is_wikipedia and len(query.content) == 1


def phrases_for(
    query: Query, model: Model, cache: PhraseCache, say: Callable[[str], None] | None = None
) -> tuple[Query, ...]:
    """The queries to search: the bare word, and phrases of the model that include it.

    If the model fails, only the bare word is searched, and the model is asked again the next time. If none of its
    phrases is usable, that is cached too, since asking again would give the same.
    """
    term = query.content[0]
    bare = parse_query(term, query.language)

    def offered() -> tuple[str, ...]:
        said = structured_reply(
            model,
            prompt("senses").fill(term=term, question=query.text),
            PhraseSuggestions,
            extraction_options(max_tokens=200),
        )
        return (term, *usable_phrases(term, said.phrases))

    try:
        phrases = cache.get(_key(term, query.language), offered)
    except (ModelUnreachable, BadReply, PromptTooLong) as problem:
        if say:
            say(f"The model could not help: {problem.message}")
        return (bare,)
    return tuple(parse_query(phrase, query.language) for phrase in phrases)


def _key(term: str, language: str) -> str:
    """Without the question and the model, so that all wordings of a question share the phrases of one call."""
    key = f"disambig_candidates:{term}"
    return key if language == "eng" else f"{key}:{language}"


def usable_phrases(term: str, phrases: list[str]) -> tuple[str, ...]:
    """Phrases of a few words that include the term as a word: 'C' is not in 'chemistry'."""
    split = [fold(re.sub(r"\s+", " ", phrase)).split() for phrase in phrases]
    usable = [words for words in split if term in words and words != [term] and len(words) <= MAX_WORDS]
    return tuple(dict.fromkeys(" ".join(words) for words in usable))[:MAX_PHRASES]
