"""The second part of training: all sentences of a question's passages compete, as they do when a book is asked."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tools.train_reader.batches import PERHAPS, UNKNOWN
from tools.train_reader.network import Network, Shape
from torch import Tensor
from torch.nn import functional

SEED = 20261117
RATE = 1e-4
WARM_UP = 0.05
BATCH_TOKENS = 36_864
LIKE_ROWS = 64

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Groups:
    """What `groups` saved, with where each row and each mark begins."""

    data: dict[str, Array]
    rows_at: Array
    tokens_at: Array
    marks_at: Array

    @classmethod
    def load(cls, file: Path) -> Groups:
        with np.load(file) as arrays:
            data = {name: arrays[name] for name in arrays.files}

        def starts(lengths: Array) -> Array:
            return np.concatenate([[0], np.cumsum(lengths.astype(np.int64))])

        return cls(data, starts(data["sizes"]), starts(data["lengths"]), starts(data["counts"]))

    def __len__(self) -> int:
        return len(self.data["sizes"])

    def size(self, group: int) -> int:
        """How many tokens a group has if all its rows are as long as the longest."""
        rows = slice(self.rows_at[group], self.rows_at[group + 1])
        lengths = self.data["lengths"][rows]
        return int(lengths.max()) * len(lengths)

    def batch(self, groups: Sequence[int], device: str) -> dict[str, Tensor]:
        """The rows of some groups as tensors."""
        rows = np.concatenate([np.arange(self.rows_at[one], self.rows_at[one + 1]) for one in groups])
        owners = np.concatenate([np.full(self.data["sizes"][one], at) for at, one in enumerate(groups)])
        width = int(self.data["lengths"][rows].max())
        most = int(self.data["counts"][rows].max())
        ids = np.zeros((len(rows), width), np.int64)
        kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
        marks = np.zeros((len(rows), most), np.int64)
        right = np.full((len(rows), most), UNKNOWN, np.int64)
        there = np.zeros((len(rows), most), bool)
        for at, row in enumerate(rows):
            size, count = int(self.data["lengths"][row]), int(self.data["counts"][row])
            ids[at, :size] = self.data["ids"][self.tokens_at[row] : self.tokens_at[row + 1]]
            kinds[at, self.data["asked"][row] : size] = 1
            mask[at, :size] = 1
            marks[at, :count] = self.data["marks"][self.marks_at[row] : self.marks_at[row + 1]]
            right[at, :count] = self.data["right"][self.marks_at[row] : self.marks_at[row + 1]]
            there[at, :count] = True
        arrays = {"ids": ids, "kinds": kinds, "mask": mask, "marks": marks, "right": right, "there": there}
        arrays |= {"owners": owners, "told": self.data["told"][rows].astype(np.int64)}
        return {name: torch.from_numpy(value).to(device, non_blocking=True) for name, value in arrays.items()}


def competing(scores: Tensor, owners: Tensor, right: Tensor, there: Tensor) -> Tensor:
    """How surely one of the right candidates of a question is chosen among all of them."""
    count = int(owners.max()) + 1

    def log_sum(which: Tensor) -> Tensor:
        flat = torch.where(which, scores, torch.full_like(scores, -1e4))
        top = torch.full((count,), -1e4, device=scores.device).scatter_reduce(0, owners, flat.amax(1).detach(), "amax")
        sums = torch.zeros(count, device=scores.device).index_add(0, owners, (flat - top[owners, None]).exp().sum(1))
        return sums.clamp_min(1e-9).log() + top

    known = torch.zeros(count, device=scores.device).index_add(0, owners, right.sum(1).float()) > 0
    return (log_sum(there) - log_sum(right & there))[known].mean()


def losses_of(network: Network, batch: dict[str, Tensor], device: str) -> dict[str, Tensor]:
    with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
        reading = network(batch["ids"], batch["kinds"], batch["mask"])
    told, owners = batch["told"], batch["owners"]
    sentences = reading.sentences.float().gather(1, batch["marks"])
    known = batch["right"] != UNKNOWN
    sure = known & (batch["right"] != PERHAPS)
    sentence = functional.binary_cross_entropy_with_logits(sentences[sure], batch["right"][sure].float())
    # Other sentences with the answer's words are neither right nor wrong, so they do not compete.
    list_loss = competing(sentences, owners, batch["right"] >= 1, known)
    inside = batch["kinds"].bool() & batch["mask"].bool()
    spans = reading.spans.float()
    at = torch.arange(spans.shape[1], device=spans.device)[None]
    has_words = told[:, 0] > 0
    words = torch.zeros((), device=spans.device)
    for side in (0, 1):
        hit = (at == told[:, side, None]) & has_words[:, None]
        # Among all passages of the question, and against saying that nothing answers, in each passage alone.
        words = words + competing(spans[:, :, side], owners, hit, inside)
        may_be = inside | (at == 0)
        words = words + 0.5 * functional.cross_entropy(
            spans[:, :, side].masked_fill(~may_be, -1e4), told[:, side], ignore_index=UNKNOWN
        )
    judged = told[:, 2] != UNKNOWN
    passage = functional.binary_cross_entropy_with_logits(reading.passage[judged, 0].float(), told[judged, 2].float())
    return {"sentence": sentence, "list": list_loss, "words": 0.5 * words, "passage": 0.5 * passage}


def alike(network: Network, before: Network, batch: dict[str, Tensor], device: str) -> Tensor:
    """How far the likeness of questions has moved from the base's."""
    rows = torch.arange(min(LIKE_ROWS, len(batch["ids"])), device=batch["ids"].device)
    ids, mask = batch["ids"][rows, :48], (batch["mask"] * (1 - batch["kinds"]))[rows, :48]
    with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
        made = network(ids, torch.zeros_like(ids), mask).vectors
        with torch.no_grad():
            wanted = before(ids, torch.zeros_like(ids), mask).vectors
    return (1 - functional.cosine_similarity(made.float(), wanted.float())).mean()


def tune(network: Network, before: Network, groups: Groups, epochs: int, seconds: float, device: str) -> None:
    """As in the first part, the rate rises and falls once."""
    draw = np.random.default_rng(SEED)
    torch.manual_seed(SEED)
    plan: list[list[int]] = []
    for _ in range(epochs):
        order = sorted(range(len(groups)), key=lambda one: (groups.size(one) // 96, draw.random()))
        batches: list[list[int]] = [[]]
        longest = rows = 0
        for one in order:
            size = int(groups.data["sizes"][one])
            longest = max(longest, groups.size(one) // size)
            if batches[-1] and (rows + size) * longest > BATCH_TOKENS:
                batches.append([])
                longest, rows = groups.size(one) // size, 0
            batches[-1].append(one)
            rows += size
        plan += [batches[at] for at in draw.permutation(len(batches))]
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    started = time.monotonic()
    for step, chosen in enumerate(plan):
        share = max(step / len(plan), (time.monotonic() - started) / seconds if seconds else 0.0)
        if share >= 1:
            break
        for part in optimizer.param_groups:
            part["lr"] = max(RATE * min(share / WARM_UP, (1 - share) / (1 - WARM_UP)), RATE * 1e-3)
        network.train()
        batch = groups.batch(chosen, device)
        losses = losses_of(network, batch, device) | {"alike": alike(network, before, batch, device)}
        optimizer.zero_grad(set_to_none=True)
        torch.stack(list(losses.values())).sum().backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            told = ", ".join(f"{name} {loss.item():.3f}" for name, loss in losses.items())
            print(f"step {step}/{len(plan)} {time.monotonic() - started:.0f} s: {told}", flush=True)


def load_network(file: Path, device: str) -> Network:
    with np.load(file) as arrays:
        state = {name: torch.as_tensor(arrays[name]).float() for name in arrays.files}
    layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    network = Network(Shape(state["words.weight"].shape[0], layers))
    network.load_state_dict(state)
    return network.to(device)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("trained", type=Path, help="what train made")
    parser.add_argument("groups", type=Path, help="what groups made")
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.0, help="train no longer than this")
    given = parser.parse_args()
    network = load_network(given.trained, given.device)
    before = load_network(given.trained, given.device).eval()
    tune(network, before, Groups.load(given.groups), given.epochs, given.seconds, given.device)
    arrays = {name: value.detach().cpu().numpy().astype(np.float16) for name, value in network.state_dict().items()}
    np.savez(given.out, **arrays)


if __name__ == "__main__":
    main()
