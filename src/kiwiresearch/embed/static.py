"""The default embedder: a table with one vector for each word piece, shipped with the program."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from kiwiresearch.embed.embedder import Vectors, unit_rows
from kiwiresearch.errors import EmbedderError
from kiwiresearch.text import encodable

MANIFEST, TABLE, SCALES, VOCABULARY = "model.json", "table.i8", "scales.f32", "vocabulary.txt"
UNKNOWN = "[UNK]"
MAX_TOKENS = 512
MAX_CHARS = 16 * MAX_TOKENS
TEXTS_PER_BATCH = 16


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The loaded model: a row of small integers for each token, and the factor to multiply it with."""

    tokenizer: Tokenizer
    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    unknown: int


class StaticEmbedder:
    """Adds up the vectors of a text's tokens; loads its data on first use."""

    def __init__(self, folder: Traversable | None = None) -> None:
        self._is_shipped = folder is None
        self._folder = folder or _own()
        self._lock = Lock()
        self._loaded: TokenTable | None = None
        self._manifest = _manifest(self._folder)

    @property
    def id(self) -> str:
        return self._manifest.id

    @property
    def dimensions(self) -> int:
        return self._manifest.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        table = self._table()
        found = [
            self._sums(table, texts[start : start + TEXTS_PER_BATCH]) for start in range(0, len(texts), TEXTS_PER_BATCH)
        ]
        return unit_rows(np.concatenate(found)) if found else np.zeros((0, self.dimensions), np.float32)

    def _sums(self, table: TokenTable, texts: Sequence[str]) -> Vectors:
        encoded = table.tokenizer.encode_batch_fast([encodable(text[:MAX_CHARS]) for text in texts])
        # Unknown words say nothing; with a vector of their own, all texts with one would be alike.
        ids = [[token for token in item.ids if token != table.unknown] for item in encoded]
        sums = np.zeros((len(ids), self.dimensions), np.float32)
        full = [row for row, tokens in enumerate(ids) if tokens]
        if full:
            flat = np.fromiter(chain.from_iterable(ids), np.int64)
            starts = np.cumsum([0, *(len(ids[row]) for row in full[:-1])])
            weighted = table.rows[flat] * table.scales[flat, np.newaxis]
            # Summed row by row, in order, for the same result on every machine and in every batch.
            sums[full] = np.add.reduceat(weighted, starts, axis=0)
        return sums

    def _table(self) -> TokenTable:
        with self._lock:
            if self._loaded is None:
                self._loaded = _shipped() if self._is_shipped else _load(self._folder, self._manifest)
            return self._loaded


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """The name and size of the model, and the hashes of its files."""

    name: str
    dimensions: int
    table: str
    scales: str
    vocabulary: str

    @property
    def id(self) -> str:
        content = hashlib.sha256(f"{self.table} {self.scales} {self.vocabulary}".encode())
        return f"{self.name}-{content.hexdigest()[:12]}"


def _manifest(folder: Traversable) -> ModelManifest:
    try:
        found = json.loads(_content(folder, MANIFEST))
        sums = (str(found["sha256"][name]) for name in (TABLE, SCALES, VOCABULARY))
        return ModelManifest(str(found["name"]), int(found["dimensions"]), *sums)
    except (ValueError, KeyError, TypeError) as problem:
        raise _damaged(folder, MANIFEST) from problem


@functools.cache
def _shipped() -> TokenTable:
    """The table that ships with the program, loaded once per process since that takes longer than a short run."""
    return _load(_own(), _manifest(_own()))


def _own() -> Traversable:
    return files("kiwiresearch.embed") / "data"


def _load(folder: Traversable, manifest: ModelManifest) -> TokenTable:
    table = _checked(folder, TABLE, manifest.table)
    scales = _checked(folder, SCALES, manifest.scales)
    words = _checked(folder, VOCABULARY, manifest.vocabulary).decode("utf-8", "replace").split("\n")
    try:
        return TokenTable(
            word_pieces(words),
            np.frombuffer(table, np.int8).reshape(len(words), manifest.dimensions),
            np.frombuffer(scales, "<f4").astype(np.float32).reshape(len(words)),
            words.index(UNKNOWN),
        )
    except ValueError as problem:
        raise _damaged(folder, MANIFEST) from problem


def _checked(folder: Traversable, name: str, wanted: str) -> bytes:
    content = _content(folder, name)
    if hashlib.sha256(content).hexdigest() != wanted:
        raise _damaged(folder, name)
    return content


def word_pieces(words: Sequence[str]) -> Tokenizer:
    """A tokenizer like BERT's: lower case, no accents, the longest known pieces of each word."""
    vocabulary = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _content(folder: Traversable, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as problem:
        raise EmbedderError(
            f"Could not read the embedder file {str(folder / name)!r}: {problem.strerror}.", remedy=REMEDY
        ) from problem


def _damaged(folder: Traversable, name: str) -> EmbedderError:
    return EmbedderError(f"The embedder file {str(folder / name)!r} is damaged.", remedy=REMEDY)


REMEDY = "Install kiwiresearch again, or remove the setting 'embedder'."


@functools.cache
def static_embedder() -> StaticEmbedder:
    """The one of this process: it needs no model and no settings, so that its results are the same everywhere."""
    return StaticEmbedder()
