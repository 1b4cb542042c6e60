"""Training on an accelerator: first the teacher on labelled examples, then the network on these and on its scores.

python -m tools.train_reader.train teacher WORK
python -m tools.train_reader.train network WORK WORK/six.npz --layers 0,1,2,3,4,5

The teacher is trained on groups with known answers and then scores all groups (`scores.npz`). The network learns
from the labels and, where there are none, from the scores.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tools.train_reader.examples import ONCE, PERHAPS, UNKNOWN, VALIDATION
from tools.train_reader.network import Reading, from_base
from tools.train_reader.teacher_network import load_packed
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

SEED = 20261117
WARM_UP_SHARE = 0.06
TEACHER_LEARNING_RATE, TEACHER_BATCH_TOKENS = 3e-5, 16_384
LEARNING_RATE, BATCH_TOKENS = 2e-4, 32_768
VECTOR_LOSS_WEIGHT = 2.0
VECTOR_LOSS_ROWS = 96
SURE = 0.9

Array = np.ndarray[Any, Any]
Batch = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Groups(Dataset[dict[str, Array]]):
    """Groups as one array of each kind, with start positions; as a data set, its items are batches."""

    data: dict[str, Array]
    rows_at: Array
    tokens_at: Array
    marks_at: Array
    names_at: Array
    scores: dict[str, Array]

    @classmethod
    def load(cls, file: Path, scores: Path | None = None) -> Groups:
        data, soft = ({name: arrays[name] for name in arrays.files} for arrays in map(_open, (file, scores)))

        def starts(lengths: Array) -> Array:
            return np.concatenate([[0], np.cumsum(lengths.astype(np.int64))])

        places = [starts(data[name]) for name in ("sizes", "lengths", "counts", "name_counts")]
        return cls(data, *places, soft)

    def __len__(self) -> int:
        return len(self.data["sizes"])

    def known(self) -> Array:
        """For each group, whether it has any label."""
        rows = (self.data["told"] != UNKNOWN).any(1)
        for values, at in ((self.data["right"], self.marks_at), (self.data["meant"], self.names_at)):
            sums = np.concatenate([[0], np.cumsum(values != UNKNOWN)])
            rows |= sums[at[1:]] > sums[at[:-1]]
        sums = np.concatenate([[0], np.cumsum(rows)])
        return np.asarray(sums[self.rows_at[1:]] > sums[self.rows_at[:-1]])

    def longest(self, group: int) -> int:
        return int(self.data["lengths"][self.rows_at[group] : self.rows_at[group + 1]].max())

    def plan(self, chosen: Sequence[int], tokens: int, rng: np.random.Generator) -> list[list[int]]:
        """Batches of groups of similar length, with about `tokens` tokens each, in random order."""
        order = sorted(chosen, key=lambda group: (self.longest(group) // 24, rng.random()))
        batches: list[list[int]] = [[]]
        longest = rows = 0
        for group in order:
            size = int(self.data["sizes"][group])
            longest = max(longest, self.longest(group))
            if batches[-1] and (rows + size) * longest > tokens:
                batches.append([])
                longest, rows = self.longest(group), 0
            batches[-1].append(group)
            rows += size
        return [batches[number] for number in rng.permutation(len(batches))]

    def __getitem__(self, groups: Sequence[int]) -> dict[str, Array]:  # type: ignore[override]
        rows = np.concatenate([np.arange(self.rows_at[group], self.rows_at[group + 1]) for group in groups])
        owners = np.repeat(np.arange(len(groups)), [self.data["sizes"][group] for group in groups])
        ids = self._padded("ids", self.tokens_at, rows, 0)
        position = np.arange(ids.shape[1])[None]
        lengths, asked = self.data["lengths"][rows, None], self.data["asked"][rows, None]
        batch = {
            "rows": rows,
            "owners": owners,
            "ids": ids,
            "mask": (position < lengths).astype(np.int64),
            "kinds": ((position >= asked) & (position < lengths)).astype(np.int64),
            "marks": self._padded("marks", self.marks_at, rows, 0),
            "right": self._padded("right", self.marks_at, rows, UNKNOWN),
            "there": np.arange(max(1, int(self.data["counts"][rows].max())))[None] < self.data["counts"][rows, None],
            "told": self.data["told"][rows].astype(np.int64),
            "names": self._padded("names", self.names_at, rows, 0),
            "meant": self._padded("meant", self.names_at, rows, UNKNOWN),
            "named": np.arange(max(1, int(self.data["name_counts"][rows].max())))[None]
            < self.data["name_counts"][rows, None],
        }
        if self.scores:
            batch["soft_sentences"] = self._padded("sentences", self.marks_at, rows, np.nan)
            batch["soft_names"] = self._padded("name_scores", self.names_at, rows, np.nan)
            batch["soft_passage"] = self.scores["passage"][rows].astype(np.float32)
        return batch

    def _padded(self, name: str, starts: Array, rows: Array, fill: float) -> Array:
        values = self.scores[name] if name in self.scores else self.data[name]
        sizes = starts[rows + 1] - starts[rows]
        width = max(1, int(sizes.max()))
        kind = np.float32 if values.dtype.kind == "f" else np.int64
        out = np.full((len(rows), width, *values.shape[1:]), fill, kind)
        for at, row in enumerate(rows):
            out[at, : sizes[at]] = values[starts[row] : starts[row + 1]]
        return out

    def batches(self, plan: Sequence[Sequence[int]], device: str) -> Iterator[Batch]:
        loader = DataLoader(
            self,
            sampler=plan,  # type: ignore[arg-type]
            batch_size=None,
            num_workers=8 if device == "cuda" else 0,
            pin_memory=device == "cuda",
            prefetch_factor=8 if device == "cuda" else None,
        )
        for batch in loader:
            yield {name: value.to(device, non_blocking=True) for name, value in batch.items()}


def _open(file: Path | None) -> Any:
    return np.load(file) if file else _NoArrays()


class _NoArrays:
    files: tuple[str, ...] = ()


def competition_loss(scores: Tensor, owners: Tensor, right: Tensor, there: Tensor) -> Tensor:
    """The log-probability that a right candidate of a question is chosen among all of them."""
    known = torch.zeros(int(owners.max()) + 1, device=scores.device).index_add(0, owners, right.sum(1).float()) > 0
    lost = log_sum(scores, owners, there) - log_sum(scores, owners, right & there)
    return lost[known].sum() / known.sum().clamp_min(1)


def log_sum(scores: Tensor, owners: Tensor, which: Tensor) -> Tensor:
    count = int(owners.max()) + 1
    flat = torch.where(which, scores, torch.full_like(scores, -1e4))
    top = torch.full((count,), -1e4, device=scores.device).scatter_reduce(0, owners, flat.amax(1).detach(), "amax")
    sums = torch.zeros(count, device=scores.device).index_add(0, owners, (flat - top[owners, None]).exp().sum(1))
    return sums.clamp_min(1e-9).log() + top


def masked_mean(values: Tensor, which: Tensor) -> Tensor:
    return torch.where(which, values, torch.zeros_like(values)).sum() / which.sum().clamp_min(1)


def name_scores(reading: Reading, batch: Batch) -> Tensor:
    """For each name, how much better it fits the pronoun than no name."""
    spans = reading.spans.float()
    rows = torch.arange(len(spans), device=spans.device)[:, None]
    fits = spans[rows, batch["names"][:, :, 0], 0] + spans[rows, batch["names"][:, :, 1], 1]
    return (fits - spans[:, 0].sum(1, keepdim=True)).masked_fill(~batch["named"], -1e4)


def with_no_name(scores: Tensor) -> Tensor:
    return torch.cat((scores.new_zeros(len(scores), 1), scores), 1)


def hard_losses(reading: Reading, batch: Batch) -> dict[str, Tensor]:
    """The losses from labels."""
    labels, owners, right = batch["told"], batch["owners"], batch["right"]
    sentences = reading.sentences.float().gather(1, batch["marks"])
    is_known = (right != UNKNOWN) & batch["there"]
    is_certain = is_known & (right != PERHAPS)
    sentence_losses = functional.binary_cross_entropy_with_logits(sentences, (right == 1).float(), reduction="none")
    in_passage = batch["kinds"].bool() & batch["mask"].bool()
    spans = reading.spans.float()
    position = torch.arange(spans.shape[1], device=spans.device)[None]
    span_loss = spans.new_zeros(())
    for side in (0, 1):
        is_answer = (position == labels[:, side, None]) & (labels[:, side, None] > 0)
        # Compared with all passages of the question, and in each passage with the option that nothing answers.
        span_loss = span_loss + competition_loss(spans[:, :, side], owners, is_answer, in_passage)
        own_scores = spans[:, :, side].masked_fill(~(in_passage | (position == 0)), -1e4)
        span_loss = span_loss + 0.5 * functional.cross_entropy(
            own_scores, labels[:, side], ignore_index=UNKNOWN, reduction="sum"
        ) / (labels[:, side] != UNKNOWN).sum().clamp_min(1)
    has_label = labels[:, 2] != UNKNOWN
    passage_losses = functional.binary_cross_entropy_with_logits(
        reading.passage[:, 0].float(), (labels[:, 2] == 1).float(), reduction="none"
    )
    verdict_scores = reading.passage[:, 1:].float()
    verdict_loss = functional.cross_entropy(verdict_scores, labels[:, 3], ignore_index=UNKNOWN, reduction="sum")
    names = with_no_name(name_scores(reading, batch)).log_softmax(1)
    meant = batch["meant"] == 1
    meant = torch.cat((~meant.any(1, keepdim=True), meant), 1)
    pronoun_losses = -names.masked_fill(~meant, -1e4).logsumexp(1)
    return {
        "sentence": masked_mean(sentence_losses, is_certain),
        "list": competition_loss(sentences, owners, is_known & (right >= 1), is_known),
        "words": 0.5 * span_loss,
        "passage": 0.5 * masked_mean(passage_losses, has_label),
        "verdict": 0.3 * verdict_loss / (labels[:, 3] != UNKNOWN).sum().clamp_min(1),
        "pronoun": masked_mean(pronoun_losses, ((batch["meant"] != UNKNOWN) & batch["named"]).any(1)),
    }


def soft_losses(reading: Reading, batch: Batch) -> dict[str, Tensor]:
    """The losses from the teacher's scores."""
    owners = batch["owners"]
    sentences = reading.sentences.float().gather(1, batch["marks"])
    teacher_sentences = batch["soft_sentences"]
    there = batch["there"] & ~teacher_sentences.isnan()
    teacher_sentences = teacher_sentences.nan_to_num()
    sentence_losses = functional.binary_cross_entropy_with_logits(
        sentences, teacher_sentences.sigmoid(), reduction="none"
    )
    share = torch.where(
        there,
        (teacher_sentences - log_sum(teacher_sentences, owners, there)[owners, None]).exp(),
        torch.zeros_like(teacher_sentences),
    )
    log_shares = sentences - log_sum(sentences, owners, there)[owners, None]
    groups = (
        torch.zeros(int(owners.max()) + 1, device=teacher_sentences.device).index_add(0, owners, there.sum(1).float())
        > 0
    )
    list_loss = -(share * torch.where(there, log_shares, torch.zeros_like(log_shares))).sum() / groups.sum().clamp_min(
        1
    )
    passage_losses = functional.binary_cross_entropy_with_logits(
        reading.passage[:, 0].float(), batch["soft_passage"][:, 0].nan_to_num().sigmoid(), reduction="none"
    )
    names = with_no_name(name_scores(reading, batch)).log_softmax(1)
    teacher_names = batch["soft_names"].nan_to_num().masked_fill(~batch["named"], -1e4)
    pronoun_losses = -(with_no_name(teacher_names).softmax(1) * names.clamp_min(-1e3)).sum(1)
    return {
        "soft sentence": masked_mean(sentence_losses, there),
        "soft list": list_loss,
        "soft passage": 0.5 * masked_mean(passage_losses, ~batch["soft_passage"][:, 0].isnan() & batch["there"].any(1)),
        "soft pronoun": masked_mean(pronoun_losses, (~batch["soft_names"].isnan() & batch["named"]).any(1)),
    }


def vector_loss(network: nn.Module, base: nn.Module, batch: Batch) -> Tensor:
    """How far the vectors of questions have moved from those of the base."""
    ids, mask = batch["ids"][:VECTOR_LOSS_ROWS, :48], (batch["mask"] * (1 - batch["kinds"]))[:VECTOR_LOSS_ROWS, :48]
    vectors = network(ids, torch.zeros_like(ids), mask).vectors
    with torch.no_grad():
        base_vectors = base(ids, torch.zeros_like(ids), mask).vectors
    return VECTOR_LOSS_WEIGHT * (1 - functional.cosine_similarity(vectors.float(), base_vectors.float())).mean()


@dataclass(frozen=True, slots=True)
class Options:
    """How a network is trained."""

    rate: float
    tokens: int
    epochs: int
    seconds: float
    device: str


def fit(
    network: nn.Module, groups: Groups, chosen: Sequence[int], options: Options, base: nn.Module | None = None
) -> None:
    """Minimize the sum of all losses, with a learning rate that rises and falls once."""
    device = options.device
    rng = np.random.default_rng(SEED)
    torch.manual_seed(SEED)
    plan = [batch for _ in range(options.epochs) for batch in groups.plan(chosen, options.tokens, rng)]
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=options.rate, weight_decay=0.01, betas=(0.9, 0.98), fused=device == "cuda"
    )
    torch.backends.cuda.enable_cudnn_sdp(enabled=False)  # with it, a gradient in some hundred steps is not a number
    started = time.monotonic()
    network.train()
    for step, batch in enumerate(groups.batches(plan, device)):
        time_share = (time.monotonic() - started) / options.seconds if options.seconds else 0.0
        progress = max(step / len(plan), time_share)
        if progress >= 1:
            break
        for parameter_group in optimizer.param_groups:
            parameter_group["lr"] = options.rate * max(
                min(progress / WARM_UP_SHARE, (1 - progress) / (1 - WARM_UP_SHARE)), 1e-3
            )
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            reading = network(batch["ids"], batch["kinds"], batch["mask"])
            losses = {} if base is None else {"likeness": vector_loss(network, base, batch)}
        losses |= hard_losses(reading, batch)
        if groups.scores:
            losses |= soft_losses(reading, batch)
        optimizer.zero_grad(set_to_none=True)
        torch.stack(list(losses.values())).sum().backward()
        norm = nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        if not torch.isfinite(norm):
            print(f"skipped step {step}, as its gradient is {norm.item()}", flush=True)
            continue
        optimizer.step()
        if step % 100 == 0:
            summary = ", ".join(f"{name} {loss.item():.3f}" for name, loss in losses.items())
            print(f"step {step}/{len(plan)} {time.monotonic() - started:.0f} s: {summary}", flush=True)


@torch.inference_mode()
def read_batches(
    network: nn.Module, groups: Groups, chosen: Sequence[Sequence[int]], options: Options
) -> Iterator[tuple[Batch, Reading]]:
    """The output of the network for batches of these groups, in order, until the time is up."""
    network.eval()
    started = time.monotonic()
    rng = np.random.default_rng(SEED)
    plan = [batch for part in chosen if part for batch in groups.plan(part, 4 * options.tokens, rng)]
    for number, batch in enumerate(groups.batches(plan, options.device)):
        if options.seconds and time.monotonic() - started > options.seconds:
            print(f"the time was up after {number} of {len(plan)} batches", flush=True)
            return
        with torch.autocast(options.device, dtype=torch.bfloat16, enabled=options.device == "cuda"):
            yield batch, network(batch["ids"], batch["kinds"], batch["mask"])


def validate(network: nn.Module, groups: Groups, chosen: Sequence[int], options: Options) -> dict[str, float]:
    """How often the first sentence is right, and the name of a pronoun: in all cases, and if the network is sure."""
    first: list[float] = []
    names: list[tuple[float, float]] = []
    for batch, reading in read_batches(network, groups, [chosen], options):
        sentences = reading.sentences.float().gather(1, batch["marks"]).masked_fill(~batch["there"], -1e4)
        best, place = sentences.max(1)
        owners, right = batch["owners"], batch["right"]
        for owner in range(int(owners.max()) + 1):
            rows = (owners == owner).nonzero()[:, 0]
            if (right[rows] == 1).any():
                row = rows[best[rows].argmax()]
                first.append(float(right[row, place[row]] >= 1))
        shares = with_no_name(name_scores(reading, batch)).softmax(1)
        for row in ((batch["meant"] != UNKNOWN) & batch["named"]).any(1).nonzero()[:, 0]:
            meant = batch["meant"][row] == 1
            meant = torch.cat((~meant.any(keepdim=True), meant))
            top = shares[row].argmax()
            names.append((float(shares[row, top]), float(meant[top])))
    sure = [right for share, right in names if share > SURE]
    return {
        "questions": len(first),
        "first": sum(first) / max(len(first), 1),
        "pronouns": len(names),
        "pronoun": sum(right for _, right in names) / max(len(names), 1),
        "sure": len(sure) / max(len(names), 1),
        "right where sure": sum(sure) / max(len(sure), 1),
    }


def train_teacher(folder: Path, options: Options, score_seconds: float) -> None:
    """Train the teacher, and let it score all groups."""
    teacher, number_of = load_packed(folder / "teacher.npz", options.device)
    groups = Groups.load(folder / "teacher_groups.npz")
    groups.data["ids"] = number_of.cpu().numpy()[groups.data["ids"]].astype("i4")
    weights, has_label = groups.data["weights"], groups.known()
    validation = np.flatnonzero(has_label & (weights == VALIDATION))
    training = np.flatnonzero(has_label & (weights != VALIDATION)).tolist()
    print(f"{len(training)} of {len(groups)} groups train the teacher", flush=True)
    fit(teacher, groups, training, options)
    torch.save(teacher.state_dict(), folder / "teacher.pt")
    print(json.dumps(validate(teacher, groups, validation.tolist(), options)), flush=True)
    count, names = len(groups.data["marks"]), len(groups.data["names"])
    scores = {
        "sentences": np.full(count, np.nan, "f2"),
        "name_scores": np.full(names, np.nan, "f2"),
        "passage": np.full((len(groups.data["lengths"]), 3), np.nan, "f2"),
    }
    score_options = Options(options.rate, options.tokens, 1, score_seconds, options.device)
    # Labelled groups come last, because they can do without scores if the time is up.
    order = [np.flatnonzero(~has_label).tolist(), training]
    for batch, reading in read_batches(teacher, groups, order, score_options):
        rows = batch["rows"].cpu().numpy()
        scores["passage"][rows] = reading.passage.float().cpu().numpy()
        sentences = reading.sentences.float().gather(1, batch["marks"]).cpu().numpy()
        name_fits = name_scores(reading, batch).cpu().numpy()
        for number, row in enumerate(rows):
            first, last = groups.marks_at[row : row + 2]
            scores["sentences"][first:last] = sentences[number, : last - first]
            first, last = groups.names_at[row : row + 2]
            scores["name_scores"][first:last] = name_fits[number, : last - first]
    np.savez_compressed(folder / "scores.npz", **scores)


def train_network(folder: Path, out: Path, layers: tuple[int, ...], options: Options) -> None:
    """Train the network that ships, or one with fewer layers."""
    with np.load(folder / "base.npz") as file:
        arrays = {name: file[name].astype(np.float32) for name in file.files}
    torch.manual_seed(SEED)
    base_layers = 1 + max(int(name.split(".")[2]) for name in arrays if name.startswith("encoder.layer."))
    base = from_base(arrays, tuple(range(base_layers))).to(options.device).eval()
    network = from_base(arrays, layers).to(options.device)
    scores = folder / "scores.npz"
    groups = Groups.load(folder / "groups.npz", scores if scores.exists() else None)
    weights, has_label = groups.data["weights"], groups.known()
    validation = np.flatnonzero(has_label & (weights == VALIDATION))
    training = np.flatnonzero((has_label | bool(groups.scores)) & (weights != VALIDATION))
    training = np.concatenate([training, training[weights[training] > ONCE]]).tolist()
    fit(network, groups, training, options, base)
    arrays = {name: value.detach().cpu().numpy().astype(np.float16) for name, value in network.state_dict().items()}
    np.savez(out, **arrays)
    print(json.dumps(validate(network, groups, validation.tolist(), options)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("which", choices=["teacher", "network"])
    parser.add_argument("folder", type=Path, help="the folder with the files of the previous steps")
    parser.add_argument("out", type=Path, nargs="?", help="for a network: the file for its weights")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.0, help="train no longer than this")
    parser.add_argument("--score-seconds", type=float, default=0.0, help="let the teacher score no longer than this")
    parser.add_argument("--tokens", type=int, default=0, help="the tokens in a batch; fewer to rehearse")
    parser.add_argument("--rate", type=float, default=0.0, help="the learning rate; higher to rehearse")
    parser.add_argument("--layers", default="0,1,2,3,4,5", help="for a network: the layers of the base to keep")
    arguments = parser.parse_args()
    if arguments.which == "teacher":
        limits = arguments.tokens or TEACHER_BATCH_TOKENS, arguments.epochs, arguments.seconds, arguments.device
        options = Options(arguments.rate or TEACHER_LEARNING_RATE, *limits)
        train_teacher(arguments.folder, options, arguments.score_seconds)
    else:
        options = Options(
            arguments.rate or LEARNING_RATE,
            arguments.tokens or BATCH_TOKENS,
            arguments.epochs,
            arguments.seconds,
            arguments.device,
        )
        train_network(arguments.folder, arguments.out, tuple(map(int, arguments.layers.split(","))), options)


if __name__ == "__main__":
    main()
