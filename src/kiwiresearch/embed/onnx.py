"""An embedder from a user's ONNX file: a transformer, slower and better; needs the extra `rerank`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kiwiresearch.embed.embedder import Vectors, unit_rows
from kiwiresearch.errors import EmbedderError
from kiwiresearch.text import encodable

MAX_TOKENS = 256
MAX_CHARS = 16 * MAX_TOKENS
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class OnnxEmbedder:
    """The mean of the last layer over a text's tokens, as for all-MiniLM-L6-v2 and similar models."""

    def __init__(self, model_file: Path, tokenizer_file: Path, *, threads: int = 1) -> None:
        self._file = model_file
        digest = hashlib.sha256(_content(model_file) + _content(tokenizer_file)).hexdigest()
        self._id = f"onnx-{model_file.stem}-{digest[:12]}"
        self._tokenizer = _tokenizer(tokenizer_file)
        self._session = _session(model_file, threads)
        self._inputs = [item.name for item in self._session.get_inputs()]
        shape = self._session.get_outputs()[0].shape
        unknown = [name for name in self._inputs if name not in INPUTS]
        if unknown or len(shape) != 3 or not isinstance(shape[2], int):
            raise self._useless("does not give a vector for each token")
        self._dimensions = shape[2]

    @property
    def id(self) -> str:
        return self._id

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch_fast([encodable(text[:MAX_CHARS]) for text in texts])
        ids = [item.ids if text.strip() else [] for item, text in zip(encoded, texts, strict=True)]
        means = np.zeros((len(ids), self._dimensions), np.float32)
        # One text at a time: quantised models scale by the entire batch, so the other texts would change a
        # text's vector (cosine 0.99), and batches save only 7 % of the time.
        for row, tokens in enumerate(ids):
            if tokens:
                means[row] = self._run(np.array([tokens], np.int64)).mean(axis=1)
        if not np.isfinite(means).all():
            raise self._useless("gives vectors that are not numbers")
        return unit_rows(means)

    def _run(self, ids: NDArray[np.int64]) -> Vectors:
        given = dict(zip(INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
        try:
            layer = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        except Exception as problem:  # onnxruntime's errors have no common class of their own
            raise self._useless(f"failed: {_first_line(problem)}") from problem
        if layer.shape != (*ids.shape, self._dimensions):
            raise self._useless("does not give a vector for each token")
        return np.asarray(layer, np.float32)

    def _useless(self, what: str) -> EmbedderError:
        return EmbedderError(f"The model {str(self._file)!r} {what}.", remedy=REMEDY)


def _session(file: Path, threads: int) -> Any:
    try:
        import onnxruntime
    except ImportError as problem:
        raise EmbedderError(
            f"The model {str(file)!r} needs onnxruntime, which is not installed.",
            remedy="Install it with: pip install 'kiwiresearch[rerank]'",
        ) from problem
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as problem:
        raise EmbedderError(
            f"Could not load {str(file)!r} as an ONNX model: {_first_line(problem)}.", remedy=REMEDY
        ) from problem


def _tokenizer(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as problem:  # tokenizers raises Exception itself
        raise EmbedderError(f"Could not load {str(file)!r} as a tokenizer.", remedy=REMEDY) from problem
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as problem:
        raise EmbedderError(f"Could not read the file {str(file)!r}: {problem.strerror}.", remedy=REMEDY) from problem


def _first_line(problem: Exception) -> str:
    return next(iter(str(problem).splitlines()), type(problem).__name__).rstrip(".")


REMEDY = "Use the model.onnx and tokenizer.json of a sentence encoder such as all-MiniLM-L6-v2."
