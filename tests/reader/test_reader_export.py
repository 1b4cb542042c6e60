"""The exported graph computes what the trained network computes, on weights small enough for a test."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.train_reader.export import HEADS, graph_of, write

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra 'reader' is not installed")

WIDTH, INNER, WORDS = 24, 48, 40
Array = np.ndarray[Any, Any]


def _numbers(*shape: int) -> Array:
    """Numbers without a pattern, the same on every run."""
    return np.asarray(np.sin(np.arange(math.prod(shape)) ** 2 + 1.0).reshape(shape) * 0.3, np.float32)


def _weights() -> dict[str, Array]:
    made: dict[str, Array] = {
        "words.weight": _numbers(WORDS, WIDTH),
        "positions.weight": _numbers(32, WIDTH),
        "kinds.weight": _numbers(2, WIDTH),
    }
    linear = {"spans": (2, WIDTH), "sentences": (1, WIDTH), "passage": (3, WIDTH)}
    norms = ["after_words"]
    for layer in ("layers.0", "layers.1"):
        linear |= {f"{layer}.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value", "mixed")}
        linear |= {f"{layer}.inner": (INNER, WIDTH), f"{layer}.outer": (WIDTH, INNER)}
        norms += [f"{layer}.after_attention", f"{layer}.after_inner"]
    for name, shape in linear.items():
        made |= {f"{name}.weight": _numbers(*shape), f"{name}.bias": _numbers(shape[0])}
    for name in norms:
        made |= {f"{name}.weight": 1 + _numbers(WIDTH), f"{name}.bias": _numbers(WIDTH)}
    return made


def _by_hand(w: dict[str, Array], ids: Array, kinds: Array) -> dict[str, Array]:
    """The network in numpy, as plainly as can be."""

    def norm(x: Array, name: str) -> Array:
        x = x - x.mean(-1, keepdims=True)
        return np.asarray(x / np.sqrt((x * x).mean(-1, keepdims=True)) * w[f"{name}.weight"] + w[f"{name}.bias"])

    def linear(x: Array, name: str) -> Array:
        return np.asarray(x @ w[f"{name}.weight"].T + w[f"{name}.bias"])

    x = w["words.weight"][ids] + w["kinds.weight"][kinds] + w["positions.weight"][: ids.shape[1]]
    x = norm(x, "after_words")
    for layer in ("layers.0", "layers.1"):
        parts = [
            linear(x, f"{layer}.{part}").reshape(1, -1, HEADS, WIDTH // HEADS) for part in ("query", "key", "value")
        ]
        query, key, value = (part.transpose(0, 2, 1, 3) for part in parts)
        scores = np.exp(query @ key.transpose(0, 1, 3, 2) / math.sqrt(WIDTH // HEADS))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ value
        x = norm(x + linear(mixed.transpose(0, 2, 1, 3).reshape(x.shape), f"{layer}.mixed"), f"{layer}.after_attention")
        inner = linear(x, f"{layer}.inner")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(x + linear(inner, f"{layer}.outer"), f"{layer}.after_inner")
    return {"tokens": x} | {f"{head}_of_tokens": linear(x, head) for head in ("spans", "sentences", "passage")}


def test_the_graph_says_what_the_network_says() -> None:
    """Every output agrees with the network's, but for what is lost by keeping a weight in one byte."""
    ids, kinds = np.arange(2, 13)[None], np.array([[0] * 4 + [1] * 7])
    session = onnxruntime.InferenceSession(graph_of(_weights()).SerializeToString())
    given = {
        "ids": ids,
        "kinds": kinds,
        "positions": np.arange(11)[None],
        "hidden": np.zeros((1, 1, 1, 11), np.float32),
    }
    wanted = _by_hand(_weights(), ids, kinds)
    for output, value in zip(session.get_outputs(), session.run(None, given), strict=True):
        assert np.abs(value - wanted[output.name]).max() < 0.05, output.name


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    """Exporting twice gives the same files, and the manifest has their checksums."""
    for name in ("one", "two"):
        write(_weights(), ["[PAD]", "a"], tmp_path / name, {"squad.jsonl": "0"})
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name
    assert {file.name for file in (tmp_path / "one").iterdir()} == {"model.json", "reader.onnx", "words.txt"}
