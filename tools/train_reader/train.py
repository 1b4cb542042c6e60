"""Training, on an accelerator: first the teacher on labelled examples, then the network on these and on its scores.

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
from tools.train_reader.examples import JUDGED, ORDINARY, PERHAPS, UNKNOWN
from tools.train_reader.network import Reading, from_base
from tools.train_reader.teacher_network import from_packed
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

SEED = 20261117
WARM_UP = 0.06
TEACHER_RATE, TEACHER_TOKENS = 3e-5, 16_384
RATE, TOKENS = 2e-4, 32_768
KEEP_LIKENESS = 2.0
LIKE_ROWS = 96
SURE = 0.9

Array = np.ndarray[Any, Any]
Batch = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Groups(Dataset[dict[str, Array]]):
    """Groups as one array of each kind, with their start positions; a data set whose items are batches."""

    data: dict[str, Array]
    rows_at: Array
    tokens_at: Array
    marks_at: Array
    names_at: Array
    scores: dict[str, Array]

    @classmethod
    def load(cls, file: Path, scores: Path | None = None) -> Groups:
        data, soft = ({name: arrays[name] for name in arrays.files} for arrays in map(_opened, (file, scores)))

        def starts(lengths: Array) -> Array:
            return np.concatenate([[0], np.cumsum(lengths.astype(np.int64))])

        places = [starts(data[name]) for name in ("sizes", "lengths", "counts", "name_counts")]
        return cls(data, *places, soft)

    def __len__(self) -> int:
        return len(self.data["sizes"])

    def known(self) -> Array:
        """For each group, whether it has a label."""
        rows = (self.data["told"] != UNKNOWN).any(1)
        for values, at in ((self.data["right"], self.marks_at), (self.data["meant"], self.names_at)):
            sums = np.concatenate([[0], np.cumsum(values != UNKNOWN)])
            rows |= sums[at[1:]] > sums[at[:-1]]
        sums = np.concatenate([[0], np.cumsum(rows)])
        return np.asarray(sums[self.rows_at[1:]] > sums[self.rows_at[:-1]])

    def longest(self, group: int) -> int:
        return int(self.data["lengths"][self.rows_at[group] : self.rows_at[group + 1]].max())

    def plan(self, chosen: Sequence[int], tokens: int, draw: np.random.Generator) -> list[list[int]]:
        """Batches of groups of similar length, with about this many tokens each, in random order."""
        order = sorted(chosen, key=lambda one: (self.longest(one) // 24, draw.random()))
        batches: list[list[int]] = [[]]
        longest = rows = 0
        for one in order:
            size = int(self.data["sizes"][one])
            longest = max(longest, self.longest(one))
            if batches[-1] and (rows + size) * longest > tokens:
                batches.append([])
                longest, rows = self.longest(one), 0
            batches[-1].append(one)
            rows += size
        return [batches[at] for at in draw.permutation(len(batches))]

    def __getitem__(self, groups: Sequence[int]) -> dict[str, Array]:  # type: ignore[override]
        rows = np.concatenate([np.arange(self.rows_at[one], self.rows_at[one + 1]) for one in groups])
        owners = np.repeat(np.arange(len(groups)), [self.data["sizes"][one] for one in groups])
        ids = self._padded("ids", self.tokens_at, rows, 0)
        at = np.arange(ids.shape[1])[None]
        lengths, asked = self.data["lengths"][rows, None], self.data["asked"][rows, None]
        found = {
            "rows": rows,
            "owners": owners,
            "ids": ids,
            "mask": (at < lengths).astype(np.int64),
            "kinds": ((at >= asked) & (at < lengths)).astype(np.int64),
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
            found["soft_sentences"] = self._padded("sentences", self.marks_at, rows, np.nan)
            found["soft_names"] = self._padded("name_scores", self.names_at, rows, np.nan)
            found["soft_passage"] = self.scores["passage"][rows].astype(np.float32)
        return found

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


def _opened(file: Path | None) -> Any:
    return np.load(file) if file else _Nothing()


class _Nothing:
    files: tuple[str, ...] = ()


def competing(scores: Tensor, owners: Tensor, right: Tensor, there: Tensor) -> Tensor:
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


def mean_where(values: Tensor, which: Tensor) -> Tensor:
    return torch.where(which, values, torch.zeros_like(values)).sum() / which.sum().clamp_min(1)


def name_scores(reading: Reading, batch: Batch) -> Tensor:
    """For each name, how much better it fits a pronoun than no name."""
    spans = reading.spans.float()
    rows = torch.arange(len(spans), device=spans.device)[:, None]
    fits = spans[rows, batch["names"][:, :, 0], 0] + spans[rows, batch["names"][:, :, 1], 1]
    return (fits - spans[:, 0].sum(1, keepdim=True)).masked_fill(~batch["named"], -1e4)


def with_none(scores: Tensor) -> Tensor:
    return torch.cat((scores.new_zeros(len(scores), 1), scores), 1)


def hard_losses(reading: Reading, batch: Batch) -> dict[str, Tensor]:
    """The losses from labels."""
    told, owners, right = batch["told"], batch["owners"], batch["right"]
    sentences = reading.sentences.float().gather(1, batch["marks"])
    known = (right != UNKNOWN) & batch["there"]
    sure = known & (right != PERHAPS)
    each = functional.binary_cross_entropy_with_logits(sentences, (right == 1).float(), reduction="none")
    inside = batch["kinds"].bool() & batch["mask"].bool()
    spans = reading.spans.float()
    at = torch.arange(spans.shape[1], device=spans.device)[None]
    words = spans.new_zeros(())
    for side in (0, 1):
        hit = (at == told[:, side, None]) & (told[:, side, None] > 0)
        # Among all passages of the question, and in each passage against the option that nothing answers.
        words = words + competing(spans[:, :, side], owners, hit, inside)
        alone = spans[:, :, side].masked_fill(~(inside | (at == 0)), -1e4)
        words = words + 0.5 * functional.cross_entropy(alone, told[:, side], ignore_index=UNKNOWN, reduction="sum") / (
            told[:, side] != UNKNOWN
        ).sum().clamp_min(1)
    judged = told[:, 2] != UNKNOWN
    passage = functional.binary_cross_entropy_with_logits(
        reading.passage[:, 0].float(), (told[:, 2] == 1).float(), reduction="none"
    )
    said = reading.passage[:, 1:].float()
    verdict = functional.cross_entropy(said, told[:, 3], ignore_index=UNKNOWN, reduction="sum")
    names = with_none(name_scores(reading, batch)).log_softmax(1)
    meant = batch["meant"] == 1
    meant = torch.cat((~meant.any(1, keepdim=True), meant), 1)
    pronoun = -names.masked_fill(~meant, -1e4).logsumexp(1)
    return {
        "sentence": mean_where(each, sure),
        "list": competing(sentences, owners, known & (right >= 1), known),
        "words": 0.5 * words,
        "passage": 0.5 * mean_where(passage, judged),
        "verdict": 0.3 * verdict / (told[:, 3] != UNKNOWN).sum().clamp_min(1),
        "pronoun": mean_where(pronoun, ((batch["meant"] != UNKNOWN) & batch["named"]).any(1)),
    }


def soft_losses(reading: Reading, batch: Batch) -> dict[str, Tensor]:
    """The losses from the teacher's scores."""
    owners = batch["owners"]
    sentences = reading.sentences.float().gather(1, batch["marks"])
    theirs = batch["soft_sentences"]
    there = batch["there"] & ~theirs.isnan()
    theirs = theirs.nan_to_num()
    each = functional.binary_cross_entropy_with_logits(sentences, theirs.sigmoid(), reduction="none")
    share = torch.where(there, (theirs - log_sum(theirs, owners, there)[owners, None]).exp(), torch.zeros_like(theirs))
    ours = sentences - log_sum(sentences, owners, there)[owners, None]
    groups = torch.zeros(int(owners.max()) + 1, device=theirs.device).index_add(0, owners, there.sum(1).float()) > 0
    listed = -(share * torch.where(there, ours, torch.zeros_like(ours))).sum() / groups.sum().clamp_min(1)
    passage = functional.binary_cross_entropy_with_logits(
        reading.passage[:, 0].float(), batch["soft_passage"][:, 0].nan_to_num().sigmoid(), reduction="none"
    )
    names = with_none(name_scores(reading, batch)).log_softmax(1)
    said = batch["soft_names"].nan_to_num().masked_fill(~batch["named"], -1e4)
    pronoun = -(with_none(said).softmax(1) * names.clamp_min(-1e3)).sum(1)
    return {
        "soft sentence": mean_where(each, there),
        "soft list": listed,
        "soft passage": 0.5 * mean_where(passage, ~batch["soft_passage"][:, 0].isnan() & batch["there"].any(1)),
        "soft pronoun": mean_where(pronoun, (~batch["soft_names"].isnan() & batch["named"]).any(1)),
    }


def likeness_loss(network: nn.Module, base: nn.Module, batch: Batch) -> Tensor:
    """How far the likeness of questions has moved from the base's."""
    ids, mask = batch["ids"][:LIKE_ROWS, :48], (batch["mask"] * (1 - batch["kinds"]))[:LIKE_ROWS, :48]
    made = network(ids, torch.zeros_like(ids), mask).vectors
    with torch.no_grad():
        wanted = base(ids, torch.zeros_like(ids), mask).vectors
    return KEEP_LIKENESS * (1 - functional.cosine_similarity(made.float(), wanted.float())).mean()


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
    draw = np.random.default_rng(SEED)
    torch.manual_seed(SEED)
    plan = [batch for _ in range(options.epochs) for batch in groups.plan(chosen, options.tokens, draw)]
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=options.rate, weight_decay=0.01, betas=(0.9, 0.98), fused=device == "cuda"
    )
    torch.backends.cuda.enable_cudnn_sdp(enabled=False)  # once in some hundred steps, its gradient was not a number
    started = time.monotonic()
    network.train()
    for step, batch in enumerate(groups.batches(plan, device)):
        spent = (time.monotonic() - started) / options.seconds if options.seconds else 0.0
        share = max(step / len(plan), spent)
        if share >= 1:
            break
        for part in optimizer.param_groups:
            part["lr"] = options.rate * max(min(share / WARM_UP, (1 - share) / (1 - WARM_UP)), 1e-3)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            reading = network(batch["ids"], batch["kinds"], batch["mask"])
            losses = {} if base is None else {"likeness": likeness_loss(network, base, batch)}
        losses |= hard_losses(reading, batch)
        if groups.scores:
            losses |= soft_losses(reading, batch)
        optimizer.zero_grad(set_to_none=True)
        torch.stack(list(losses.values())).sum().backward()
        norm = nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        if not torch.isfinite(norm):
            print(f"step {step} is left out: its gradient is {norm.item()}", flush=True)
            continue
        optimizer.step()
        if step % 100 == 0:
            told = ", ".join(f"{name} {loss.item():.3f}" for name, loss in losses.items())
            print(f"step {step}/{len(plan)} {time.monotonic() - started:.0f} s: {told}", flush=True)


@torch.inference_mode()
def readings(
    network: nn.Module, groups: Groups, chosen: Sequence[Sequence[int]], options: Options
) -> Iterator[tuple[Batch, Reading]]:
    """The output of the network for some groups, in order, until the time is up."""
    network.eval()
    started = time.monotonic()
    draw = np.random.default_rng(SEED)
    plan = [batch for part in chosen if part for batch in groups.plan(part, 4 * options.tokens, draw)]
    for done, batch in enumerate(groups.batches(plan, options.device)):
        if options.seconds and time.monotonic() - started > options.seconds:
            print(f"the time was up after {done} of {len(plan)} batches", flush=True)
            return
        with torch.autocast(options.device, dtype=torch.bfloat16, enabled=options.device == "cuda"):
            yield batch, network(batch["ids"], batch["kinds"], batch["mask"])


def judge(network: nn.Module, groups: Groups, chosen: Sequence[int], options: Options) -> dict[str, float]:
    """How often the first sentence and the name of a pronoun are right, in all cases and where the network is sure."""
    first: list[float] = []
    names: list[tuple[float, float]] = []
    for batch, reading in readings(network, groups, [chosen], options):
        sentences = reading.sentences.float().gather(1, batch["marks"]).masked_fill(~batch["there"], -1e4)
        best, place = sentences.max(1)
        owners, right = batch["owners"], batch["right"]
        for owner in range(int(owners.max()) + 1):
            rows = (owners == owner).nonzero()[:, 0]
            if (right[rows] == 1).any():
                row = rows[best[rows].argmax()]
                first.append(float(right[row, place[row]] >= 1))
        shares = with_none(name_scores(reading, batch)).softmax(1)
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


def teach(folder: Path, options: Options, score_seconds: float) -> None:
    """Train the teacher and let it score all groups."""
    teacher, number = from_packed(folder / "teacher.npz", options.device)
    groups = Groups.load(folder / "teacher_groups.npz")
    groups.data["ids"] = number.cpu().numpy()[groups.data["ids"]].astype("i4")
    weights, known = groups.data["weights"], groups.known()
    judged = np.flatnonzero(known & (weights == JUDGED))
    chosen = np.flatnonzero(known & (weights != JUDGED)).tolist()
    print(f"{len(chosen)} of {len(groups)} groups train the teacher", flush=True)
    fit(teacher, groups, chosen, options)
    torch.save(teacher.state_dict(), folder / "teacher.pt")
    print(json.dumps(judge(teacher, groups, judged.tolist(), options)), flush=True)
    count, names = len(groups.data["marks"]), len(groups.data["names"])
    scores = {
        "sentences": np.full(count, np.nan, "f2"),
        "name_scores": np.full(names, np.nan, "f2"),
        "passage": np.full((len(groups.data["lengths"]), 3), np.nan, "f2"),
    }
    limit = Options(options.rate, options.tokens, 1, score_seconds, options.device)
    # Labelled groups come last: they are not needed if the time is up.
    order = [np.flatnonzero(~known).tolist(), chosen]
    for batch, reading in readings(teacher, groups, order, limit):
        rows = batch["rows"].cpu().numpy()
        scores["passage"][rows] = reading.passage.float().cpu().numpy()
        sentences = reading.sentences.float().gather(1, batch["marks"]).cpu().numpy()
        fits = name_scores(reading, batch).cpu().numpy()
        for at, row in enumerate(rows):
            first, last = groups.marks_at[row : row + 2]
            scores["sentences"][first:last] = sentences[at, : last - first]
            first, last = groups.names_at[row : row + 2]
            scores["name_scores"][first:last] = fits[at, : last - first]
    np.savez_compressed(folder / "scores.npz", **scores)


def learn(folder: Path, out: Path, layers: tuple[int, ...], options: Options) -> None:
    """Train the network that ships, or a smaller one."""
    with np.load(folder / "base.npz") as file:
        arrays = {name: file[name].astype(np.float32) for name in file.files}
    torch.manual_seed(SEED)
    whole = 1 + max(int(name.split(".")[2]) for name in arrays if name.startswith("encoder.layer."))
    base = from_base(arrays, tuple(range(whole))).to(options.device).eval()
    network = from_base(arrays, layers).to(options.device)
    scores = folder / "scores.npz"
    groups = Groups.load(folder / "groups.npz", scores if scores.exists() else None)
    weights, known = groups.data["weights"], groups.known()
    judged = np.flatnonzero(known & (weights == JUDGED))
    chosen = np.flatnonzero((known | bool(groups.scores)) & (weights != JUDGED))
    chosen = np.concatenate([chosen, chosen[weights[chosen] > ORDINARY]]).tolist()
    fit(network, groups, chosen, options, base)
    arrays = {name: value.detach().cpu().numpy().astype(np.float16) for name, value in network.state_dict().items()}
    np.savez(out, **arrays)
    print(json.dumps(judge(network, groups, judged.tolist(), options)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("which", choices=["teacher", "network"])
    parser.add_argument("folder", type=Path, help="what the steps before have made")
    parser.add_argument("out", type=Path, nargs="?", help="of a network: the file for its weights")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.0, help="train no longer than this")
    parser.add_argument("--score-seconds", type=float, default=0.0, help="let the teacher score no longer than this")
    parser.add_argument("--tokens", type=int, default=0, help="in a batch; less to rehearse")
    parser.add_argument("--rate", type=float, default=0.0, help="of learning; more to rehearse")
    parser.add_argument("--layers", default="0,1,2,3,4,5", help="of a network: the base's layers to keep")
    given = parser.parse_args()
    if given.which == "teacher":
        limits = given.tokens or TEACHER_TOKENS, given.epochs, given.seconds, given.device
        options = Options(given.rate or TEACHER_RATE, *limits)
        teach(given.folder, options, given.score_seconds)
    else:
        options = Options(given.rate or RATE, given.tokens or TOKENS, given.epochs, given.seconds, given.device)
        learn(given.folder, given.out, tuple(map(int, given.layers.split(","))), options)


if __name__ == "__main__":
    main()
