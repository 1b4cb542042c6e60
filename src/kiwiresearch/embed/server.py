"""An embedder on the user's own server, using OpenAI's `/v1/embeddings`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwiresearch.embed.embedder import Vectors, unit_rows
from kiwiresearch.errors import EmbedderError
from kiwiresearch.http_client import Deadline, HttpClient, HttpFailure, retried_once
from kiwiresearch.network import split_server_address
from kiwiresearch.text import encodable

TIMEOUT_S = 30.0
TEXTS_PER_BATCH = 32
MAX_CHARS = 2_000
"""The maximum for one text: longer than any lead or passage, but short enough for a model that reads 512 tokens."""

MAX_BYTES = 32 * 2**20
MAX_DIMENSIONS = 16_384
MAX_CONNECTIONS = 20
# '/v1' and '/v1beta/…' in an address; '/v1' is added to any other.
VERSIONED = re.compile(r"/v\d+\w*(/|$)")


class ServerEmbedder:
    """Sends texts in batches, and validates the vectors that come back."""

    def __init__(self, base_url: str, model: str, key: str = "", timeout_s: float = TIMEOUT_S) -> None:
        self._url = embeddings_url(base_url)
        self._model = model
        self._timeout_s = timeout_s
        self._dimensions = 0
        if not (key.isascii() and key.isprintable()):
            raise self._broken("cannot be used: the key contains characters that are not allowed")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = HttpClient(read_s=timeout_s, headers=headers, max_connections=MAX_CONNECTIONS)

    @property
    def id(self) -> str:
        """Address and model name, since servers do not report a hash of the model."""
        return f"server-{self._model}@{self._url}"

    @property
    def dimensions(self) -> int:
        """Known from the first embedding; if there is none yet, one is requested."""
        if not self._dimensions:
            self.embed(["dimensions"])
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        cut = [encodable(text[:MAX_CHARS]) for text in texts]
        # Texts without words are not sent: their vector is zero by definition.
        full = [row for row, text in enumerate(cut) if text.strip()]
        batches = [full[start : start + TEXTS_PER_BATCH] for start in range(0, len(full), TEXTS_PER_BATCH)]
        found = [self._batch([cut[row] for row in batch]) for batch in batches]
        rows = np.zeros((len(cut), self.dimensions), np.float32)
        if found:
            rows[full] = unit_rows(np.concatenate(found))
        return rows

    def close(self) -> None:
        self._client.close()

    def _batch(self, texts: list[str]) -> NDArray[np.float64]:
        reply = self._ask({"model": self._model, "input": texts, "encoding_format": "float"})
        vectors: dict[int, list[float]] = {}
        try:
            for item in json.loads(reply)["data"]:
                vectors[_checked_index(item["index"])] = [_checked_float(value) for value in item["embedding"]]
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as problem:
            raise self._broken("replied, but not with vectors") from problem
        if sorted(vectors) != list(range(len(texts))):
            raise self._broken(f"got {len(texts)} texts but did not return one vector for each")
        self._check_lengths({len(vector) for vector in vectors.values()})
        rows = np.array([vectors[row] for row in range(len(texts))], np.float64)
        if not np.isfinite(rows).all():
            raise self._broken("returned vectors that are not numbers")
        return rows

    def _check_lengths(self, lengths: set[int]) -> None:
        if not self._dimensions and len(lengths) == 1 and 0 < min(lengths) <= MAX_DIMENSIONS:
            (self._dimensions,) = lengths
        if lengths != {self._dimensions}:
            raise self._broken("returned vectors of different lengths, or empty ones")

    def _ask(self, body: dict[str, Any]) -> bytes:
        def ask_once() -> tuple[int, bytes]:
            with self._client.open("POST", self._url, Deadline(self._timeout_s), json=body) as response:
                return response.status, response.read(MAX_BYTES)

        try:
            status, content = retried_once(ask_once, "connect", "broken")
        except HttpFailure as failure:
            if failure.kind in ("silent", "late"):
                raise self._broken(f"did not reply within {self._timeout_s:g} s") from failure
            if failure.kind == "large":
                raise self._broken(f"sent more than {MAX_BYTES // 2**20} MiB") from failure
            way = "is not responding" if failure.kind in ("connect", "broken") else "cannot be reached"
            raise self._broken(f"{way}: {failure}") from failure
        if status != 200:
            raise self._broken(f"returned an error ({status})")
        return content

    def _broken(self, what: str) -> EmbedderError:
        return EmbedderError(
            f"The embedding server {self._url!r} (model {self._model!r}) {what}.",
            remedy="Check the address, the model's name and the key, or remove the setting 'embedder'.",
        )


def embeddings_url(base_url: str) -> str:
    """The URL of the endpoint, from an address with or without `/v1`."""
    parts = split_server_address(base_url)
    if parts is None or "@" in parts.netloc:  # a password in an address would show up in messages
        raise EmbedderError(
            f"{base_url!r} is not the address of a server.", remedy="Example: http://localhost:11434/v1"
        )
    path = parts.path.rstrip("/").removesuffix("/embeddings")
    if not VERSIONED.search(path):
        path += "/v1"
    return f"{parts.scheme}://{parts.netloc}{path}/embeddings"


# Not isinstance below: true is an int in Python, but neither an index nor a part of a vector.
def _checked_index(value: object) -> int:
    if type(value) is not int:
        raise TypeError("index")
    return value


def _checked_float(value: object) -> float:
    if type(value) is not float and type(value) is not int:
        raise TypeError("embedding")
    return float(value)
