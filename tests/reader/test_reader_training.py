"""The training of the reading model on a few questions, from examples to a file that the product reads."""

from __future__ import annotations

import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.train_reader.examples import ONCE, Example, Pronoun
from tools.train_reader.export import load_weights, write
from tools.train_reader.groups import Group, encode_groups, save_groups
from tools.train_reader.passage import Passage

from kiwiresearch.reader.reader import (
    CLS,
    HEADING,
    PRONOUN,
    SENTENCE,
    SEP,
    InputEncoder,
    Mention,
    Reader,
    TextToRead,
    tokenizer_of,
)

REPOSITORY = Path(__file__).parents[2]
TORCH = Path(os.environ.get("KIWIRESEARCH_TORCH", Path.home() / ".cache" / "kiwiresearch-torch"))
WIDTH, INNER, POSITIONS, LAYERS = 48, 96, 64, 2
NAMES = ("Ada", "Bert", "Cora", "Dora", "Egon", "Fred", "Gina", "Hugo")
TOWNS = ("Aston", "Berne", "Crewe", "Derby", "Essen", "Fulda", "Genoa", "Hague")
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def python() -> str:
    if not (TORCH / "ready").exists():
        pytest.skip("PyTorch is not installed: run make programs")
    return str(TORCH / "bin" / "python")


def _groups() -> list[Group]:
    """Where somebody was born and died, asked of two sentences each; and whom "she" means."""
    groups = []
    for name, town, other in zip(NAMES, TOWNS, TOWNS[1:] + TOWNS[:1], strict=True):
        units = (f"{name} died in {other}.", f"{name} was born in {town}.")
        passage = Passage("test", name, "Life", units)
        for verb, unit, answer in (("born", 1, town), ("died", 0, other)):
            start = units[unit].index(answer)
            example = Example(f"Where was {name} {verb}?", passage, True, unit, start, start + len(answer), answer)
            groups.append(Group((example,), weight=ONCE))
        text = TextToRead(name, "", (f"{name} met {other}.", f"She left {town}."))
        names = (Mention(0, 0, len(name)), Mention(0, len(name) + 5, len(name) + 5 + len(other)))
        groups.append(Group(pronoun=Pronoun(text, 0, 3, names, (1, 0)), weight=ONCE))
    return groups * 3


def _words() -> list[str]:
    texts = [*NAMES, *TOWNS, "Where was born died in Life met She left . ?"]
    found = dict.fromkeys(word for text in texts for word in re.findall(r"\w+|[.?]", text.lower()))
    return ["[PAD]", "[UNK]", CLS, SEP, SENTENCE, HEADING, PRONOUN, *found]


def _base(words: int) -> dict[str, Array]:
    """Weights without a pattern, named as the base's are."""

    def numbers(*shape: int) -> Array:
        return np.asarray(np.sin(np.arange(math.prod(shape)) ** 2 + 1.0).reshape(shape) * 0.3, np.float16)

    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (words, WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    linear = {f"attention.{part}": (WIDTH, WIDTH) for part in ("self.query", "self.key", "self.value", "output.dense")}
    linear |= {"intermediate.dense": (INNER, WIDTH), "output.dense": (WIDTH, INNER)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        before = f"encoder.layer.{layer}."
        norms += [f"{before}attention.output.LayerNorm", f"{before}output.LayerNorm"]
        for name, shape in linear.items():
            shapes |= {f"{before}{name}.weight": shape, f"{before}{name}.bias": shape[:1]}
    made = {name: numbers(*shape) for name, shape in shapes.items()}
    ones = np.ones(WIDTH, np.float16)
    return made | {f"{name}.weight": ones for name in norms} | {f"{name}.bias": 0 * ones for name in norms}


def test_a_few_questions_are_learned(python: str, tmp_path: Path) -> None:
    """Groups, training with what is known and what a teacher says, export: then the product reads what was learned."""
    pytest.importorskip("onnxruntime", reason="the extra 'reader' is not installed")
    words = _words()
    encoder = InputEncoder(tokenizer_of(words))
    made = [(weight, rows) for weight, rows, _ in encode_groups(_groups(), encoder, encoder)]
    save_groups(made, tmp_path / "groups.npz")
    np.savez(tmp_path / "base.npz", **_base(len(words)))  # type: ignore[arg-type]
    rows = [row for _, group in made for row in group]
    np.savez(
        tmp_path / "scores.npz",
        sentences=np.array([8.0 * right - 4.0 for row in rows for right in row.right], "f2"),
        name_scores=np.array([8.0 * meant - 4.0 for row in rows for meant in row.meant], "f2"),
        passage=np.full((len(rows), 3), np.nan, "f2"),
    )
    command = [python, "-m", "tools.train_reader.train", "network", tmp_path, tmp_path / "two.npz", "--device", "cpu"]
    options = ["--epochs", "30", "--tokens", "256", "--rate", "0.003", "--layers", "0,1"]
    path = os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "src")))
    done = subprocess.run(
        [*map(str, command), *options],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    write(load_weights(tmp_path / "two.npz"), words, tmp_path / "made", {})
    reader = Reader(tmp_path / "made")
    text = TextToRead("Ada", "Life", ("Ada died in Berne.", "Ada was born in Aston."))
    (read,) = reader.read("Where was Ada born?", [text])
    assert read.units[1].relevance > read.units[0].relevance
    assert text.units[1][read.units[1].start : read.units[1].end] == "Aston"
    she = TextToRead("Ada", "", ("Ada met Berne.", "She left Aston."))
    shares = reader.referents(she, 0, 3, [Mention(0, 0, 3), Mention(0, 8, 13)])
    assert shares[0] > shares[1]
