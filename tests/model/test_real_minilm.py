"""A real sentence model through onnxruntime, from a folder of the user's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kiwiresearch.embed.embedder import similarity
from kiwiresearch.embed.onnx import OnnxEmbedder

pytestmark = pytest.mark.model
FOLDER = "KIWIRESEARCH_TEST_MINILM"


@pytest.fixture(scope="module")
def minilm() -> OnnxEmbedder:
    """The real all-MiniLM-L6-v2: one .onnx file and its tokenizer.json in a folder."""
    folder = Path(os.environ.get(FOLDER, ""))
    models = sorted(folder.glob("*.onnx")) if os.environ.get(FOLDER) else []
    if not models:
        pytest.skip(f"{FOLDER} names no folder with a model")
    return OnnxEmbedder(models[0], folder / "tokenizer.json")


def test_the_real_model_knows_what_is_meant(minilm: OnnxEmbedder) -> None:
    """MiniLM finds a lead from a question that shares no word with it (R221)."""
    leads = [
        "A volcano is an opening in a planet's crust through which molten rock escapes.",
        "The violin is a wooden string instrument, the smallest of its family.",
    ]
    assert minilm.dimensions == 384
    query = minilm.embed(["Where does lava come from?"])
    near, far = similarity(query, minilm.embed(leads)).tolist()
    assert near > far + 0.2


def test_the_real_model_reads_each_text_alone(minilm: OnnxEmbedder) -> None:
    """A text's vector is the same, bit for bit, alone and among others."""
    texts = ["Paris", "Rome", "the capital city of a country in Europe", ""]
    together = minilm.embed(texts)
    assert all((minilm.embed([text])[0] == row).all() for text, row in zip(texts, together, strict=True))
