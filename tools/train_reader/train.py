"""The first part of training: all tasks in one batch, with passages that look right and are not."""

from __future__ import annotations

import argparse
import json
import random  # noqa: TID251 - seeded: what is drawn is the same on every run
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from tools.train_reader.base import tokenizer_of
from tools.train_reader.batches import UNKNOWN, Numbering, Row, padded
from tools.train_reader.examples import Example, boolq, content, pronouns, squad, written
from tools.train_reader.network import Network, Reading, from_base
from tools.train_reader.passage import Passage, load
from torch import Tensor
from torch.nn import functional

SEED = 20261116
BATCH_TOKENS = 36_864
RATE = 1.5e-4
WARM_UP = 0.06
NEGATIVES = 2
NEAREST = 24
LIKE_TEXTS = 96
WEIGHTS = {"span": 1.0, "sentence": 1.0, "passage": 0.7, "verdict": 0.3, "likeness": 2.0, "teacher": 1.0}


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is trained on."""

    passages: Sequence[Passage]
    examples: Sequence[Example]


def read_corpus(folder: Path) -> Corpus:
    """Passages and all examples of one folder that `prepare` has filled."""
    passages = load(folder / "passages.jsonl")
    lines = (folder / "boolq.jsonl").read_text(encoding="utf-8").splitlines()
    people = list(squad(folder / "squad.jsonl", passages))
    examples = [
        *written(folder / "questions.jsonl", passages),
        *people,
        *people,  # what people asked counts twice
        *boolq(lines, passages),
        *pronouns(passages),
    ]
    return Corpus(passages, examples)


@torch.inference_mode()
def vectors_of(network: Network, tokenizer: Tokenizer, texts: Sequence[str], device: str) -> Tensor:
    """Unit vectors of texts read alone."""
    ids = [[*_alone(tokenizer, text)] for text in texts]
    order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    found = torch.zeros(len(ids), network.shape.width, device=device)
    network.eval()
    for start in range(0, len(order), 512):
        some = order[start : start + 512]
        found[some] = _read_alone(network, [ids[row] for row in some], device).float()
    return functional.normalize(found, dim=1)


def _alone(tokenizer: Tokenizer, text: str) -> list[int]:
    ids = tokenizer.encode(text, add_special_tokens=False).ids[:126]
    return [tokenizer.token_to_id("[CLS]"), *ids, tokenizer.token_to_id("[SEP]")]


def _read_alone(network: Network, ids: Sequence[list[int]], device: str) -> Tensor:
    tokens = torch.tensor(padded(ids, 0), device=device)
    mask = torch.tensor(padded([[1] * len(row) for row in ids], 0), device=device)
    with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
        reading: Reading = network(tokens, torch.zeros_like(tokens), mask)
    return reading.vectors


def with_negatives(corpus: Corpus, base: Network, tokenizer: Tokenizer, device: str) -> list[Example]:
    """Each question also with passages that are near it in meaning and do not hold its answer."""
    draw = random.Random(SEED)  # noqa: S311
    asked = [one for one in corpus.examples if not one.is_pronoun]
    texts = [f"{one.title}. {' '.join(one.units)[:600]}" for one in corpus.passages]
    places = vectors_of(base, tokenizer, texts, device)
    questions = vectors_of(base, tokenizer, [one.question for one in asked], device)
    found: list[Example] = []
    for start in range(0, len(asked), 4096):
        near = (questions[start : start + 4096] @ places.T).topk(min(NEAREST, len(texts)), dim=1).indices.tolist()
        for example, rows in zip(asked[start : start + 4096], near, strict=True):
            others = [corpus.passages[row] for row in rows if _is_wrong(example, corpus.passages[row])]
            chosen = draw.sample(others, min(NEGATIVES, len(others)))
            found += [
                replace(example, passage=one, answers=False, unit=-1, start=-1, end=-1, verdict="") for one in chosen
            ]
    return found


def _is_wrong(example: Example, passage: Passage) -> bool:
    if passage.id == example.passage.id:
        return False
    text = " ".join(passage.units).casefold()
    if not example.answer:
        return passage.title != example.passage.title
    if example.answer.casefold() in text:
        return False
    # A question that does not name its subject may be answered by any page of the kind.
    return passage.title == example.passage.title or bool(content(example.question) & content(example.passage.title))


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows as tensors."""

    ids: Tensor
    kinds: Tensor
    mask: Tensor
    marks: Tensor
    right: Tensor
    span: Tensor
    answers: Tensor
    verdict: Tensor


def to_batch(rows: Sequence[Row], device: str) -> Batch:
    def tensor(values: list[list[int]]) -> Tensor:
        return torch.tensor(values).to(device, non_blocking=True)

    return Batch(
        tensor(padded([row.ids for row in rows], 0)),
        tensor(padded([row.kinds for row in rows], 0)),
        tensor(padded([[1] * len(row.ids) for row in rows], 0)),
        tensor(padded([row.marks for row in rows], 0)),
        tensor(padded([row.right for row in rows], UNKNOWN)),
        torch.tensor([(row.start, row.end) for row in rows], device=device),
        torch.tensor([row.answers for row in rows], device=device),
        torch.tensor([row.verdict for row in rows], device=device),
    )


def loss_of(reading: Reading, batch: Batch) -> dict[str, Tensor]:
    """One loss for each task."""
    may_be = batch.kinds.bool() & batch.mask.bool()
    may_be[:, 0] = True
    spans = reading.spans.float().masked_fill(~may_be[:, :, None], -1e4)
    span = sum(
        functional.cross_entropy(spans[:, :, side], batch.span[:, side], ignore_index=UNKNOWN) for side in (0, 1)
    )
    sentences = reading.sentences.float().gather(1, batch.marks)
    known = batch.right != UNKNOWN
    sentence = functional.binary_cross_entropy_with_logits(sentences[known], batch.right[known].float())
    told = batch.answers != UNKNOWN
    passage = functional.binary_cross_entropy_with_logits(reading.passage[told, 0].float(), batch.answers[told].float())
    verdict = functional.cross_entropy(reading.passage[:, 1:].float(), batch.verdict, ignore_index=UNKNOWN)
    return {"span": span, "sentence": sentence, "passage": passage, "verdict": torch.nan_to_num(verdict)}


def taught(reading: Reading, teacher: Reading, batch: Batch) -> Tensor:
    """How far a student's readings are from its teacher's."""
    may_be = batch.kinds.bool() & batch.mask.bool()
    may_be[:, 0] = True
    hide = ~may_be[:, :, None]
    ours = reading.spans.float().masked_fill(hide, -1e4).log_softmax(1)
    theirs = teacher.spans.float().masked_fill(hide, -1e4).softmax(1)
    spans = functional.kl_div(ours, theirs, reduction="batchmean")
    marks = torch.arange(batch.marks.shape[1], device=batch.marks.device) < (batch.marks > 0).sum(1, keepdim=True)
    sentences = functional.mse_loss(
        reading.sentences.float().gather(1, batch.marks)[marks], teacher.sentences.float().gather(1, batch.marks)[marks]
    )
    passage = functional.mse_loss(reading.passage.float(), teacher.passage.float())
    return spans + 0.1 * sentences + 0.1 * passage


def grouped(rows: Sequence[Row], draw: random.Random) -> list[list[int]]:
    """Rows of like length together, about BATCH_TOKENS a group, in random order."""
    order = sorted(range(len(rows)), key=lambda row: (len(rows[row].ids) // 24, draw.random()))
    groups: list[list[int]] = [[]]
    for row in order:
        if groups[-1] and (len(groups[-1]) + 1) * len(rows[row].ids) > BATCH_TOKENS:
            groups.append([])
        groups[-1].append(row)
    draw.shuffle(groups)
    return groups


def train(
    network: Network,
    rows: Sequence[Row],
    texts: Sequence[list[int]],
    base: Network,
    options: argparse.Namespace,
    teacher: Network | None = None,
) -> None:
    """Down the sum of all losses, with a rate that rises and falls once."""
    device = options.device
    draw = random.Random(SEED)  # noqa: S311
    torch.manual_seed(SEED)
    plan = [group for _ in range(options.epochs) for group in grouped(rows, draw)]
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    started = time.monotonic()
    for step, group in enumerate(plan):
        share = step / len(plan)
        spent = (time.monotonic() - started) / options.seconds if options.seconds else 0.0
        share = max(share, spent)
        if share >= 1:
            break
        rate = RATE * min(share / WARM_UP if WARM_UP else 1.0, (1 - share) / (1 - WARM_UP))
        for part in optimizer.param_groups:
            part["lr"] = max(rate, RATE * 1e-3)
        network.train()
        batch = to_batch([rows[row] for row in group], device)
        alone = draw.sample(range(len(texts)), min(LIKE_TEXTS, len(texts)))
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            reading = network(batch.ids, batch.kinds, batch.mask)
        losses = loss_of(reading, batch)
        with torch.no_grad():
            wanted = functional.normalize(_read_alone(base, [texts[row] for row in alone], device).float(), dim=1)
        made = functional.normalize(_read_alone(network, [texts[row] for row in alone], device).float(), dim=1)
        losses["likeness"] = (
            functional.mse_loss(made @ made.T, wanted @ wanted.T) * 20 + (1 - (made * wanted).sum(1)).mean()
        )
        if teacher is not None:
            with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                theirs = teacher(batch.ids, batch.kinds, batch.mask)
            losses["teacher"] = taught(reading, theirs, batch)
        total = sum(WEIGHTS[name] * loss for name, loss in losses.items())
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0 or step == len(plan) - 1:
            told = ", ".join(f"{name} {float(loss):.3f}" for name, loss in losses.items())
            print(f"step {step}/{len(plan)} {time.monotonic() - started:.0f} s: {told}", flush=True)


@torch.inference_mode()
def judge(network: Network, numbering: Numbering, examples: Sequence[Example], device: str) -> dict[str, float]:
    """On questions of pages kept apart: the right sentence first, the words exactly, and by overlap."""
    network.eval()
    first = exact = overlap = 0.0
    rows = [(numbering.row(one), one) for one in examples]
    for start in range(0, len(rows), 128):
        some = rows[start : start + 128]
        batch = to_batch([row for row, _ in some], device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            reading = network(batch.ids, batch.kinds, batch.mask)
        spans = reading.spans.float().masked_fill(~(batch.kinds.bool() & batch.mask.bool())[:, :, None], -1e4).cpu()
        sentences = reading.sentences.float().cpu()
        for at, (row, _) in enumerate(some):
            best = max(range(len(row.marks)), key=lambda number: sentences[at, row.marks[number]].item())
            first += float(row.right[best] == 1)
            a, b = best_span(spans[at].numpy())
            exact += float((a, b) == (row.start, row.end))
            shared = max(0, min(b, row.end) - max(a, row.start) + 1)
            overlap += 2 * shared / ((b - a + 1) + (row.end - row.start + 1))
    count = len(rows)
    return {"first sentence": first / count, "exact": exact / count, "overlap": overlap / count}


def best_span(spans: np.ndarray[Any, Any], most: int = 24) -> tuple[int, int]:
    starts = np.argsort(-spans[:, 0])[:10]
    ways = [(spans[a, 0] + spans[b, 1], int(a), int(b)) for a in starts for b in range(a, min(a + most, len(spans)))]
    _, a, b = max(ways)
    return a, b


def save(network: Network, file: Path) -> None:
    arrays = {name: value.detach().cpu().numpy().astype(np.float16) for name, value in network.state_dict().items()}
    np.savez(file, **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", type=Path, help="what prepare made")
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.0, help="train no longer than this")
    parser.add_argument("--layers", default="0,1,2,3,4,5", help="the base's layers to keep")
    parser.add_argument("--teacher", type=Path, help="a trained network to learn from")
    parser.add_argument("--most", type=int, default=0, help="no more examples than this, to rehearse")
    options = parser.parse_args()
    with np.load(options.folder / "base.npz") as file:
        weights = {name: file[name].astype(np.float32) for name in file.files}
    words = (options.folder / "words.txt").read_text(encoding="utf-8").split("\n")
    tokenizer = tokenizer_of(words)
    base = from_base(weights, tuple(range(6))).to(options.device).eval()
    corpus = read_corpus(options.folder)
    if options.most:
        draw = random.Random(SEED)  # noqa: S311
        corpus = Corpus(corpus.passages[: options.most], draw.sample(list(corpus.examples), options.most))
    wrong = with_negatives(corpus, base, tokenizer, options.device)
    numbering = Numbering(tokenizer)
    rows = [numbering.row(one) for one in (*corpus.examples, *wrong)]
    texts = [_alone(tokenizer, text) for one in corpus.passages[::4] for text in (one.title, *one.units[:2])]
    texts += [_alone(tokenizer, one.question) for one in corpus.examples[::5]]
    print(f"{len(corpus.examples)} examples, {len(wrong)} negatives", flush=True)
    network = from_base(weights, tuple(map(int, options.layers.split(",")))).to(options.device)
    teacher = None
    if options.teacher:
        teacher = from_base(weights, tuple(range(6))).to(options.device).eval()
        with np.load(options.teacher) as file:
            teacher.load_state_dict({name: torch.as_tensor(file[name]).float() for name in file.files})
    train(network, rows, texts, base, options, teacher)
    save(network, options.out)
    dev = load(options.folder / "dev_passages.jsonl")
    examples = list(squad(options.folder / "dev_squad.jsonl", [replace(one, source="squad") for one in dev]))
    print(json.dumps(judge(network, numbering, examples, options.device)), len(examples), "questions", flush=True)


if __name__ == "__main__":
    main()
