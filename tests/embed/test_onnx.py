"""A transformer in an ONNX file: a tiny one built here, and MiniLM itself where it is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from kiwiresearch.embed.onnx import OnnxEmbedder
from kiwiresearch.errors import EmbedderError

pytest.importorskip("onnxruntime", reason="the extra 'rerank' is not installed")

WORDS = {"[UNK]": 0, "east": 1, "north": 2, "west": 3, "void": 4}
TABLE = [[0, 0], [1, 0], [0, 1], [-1, 0], [float("nan"), 0]]


def _field(number: int, value: int | str | bytes) -> bytes:
    """One field of a protocol buffer."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _value(name: str, kind: int, dims: list[int | str]) -> bytes:
    shape = b"".join(_field(1, _field(1, d) if isinstance(d, int) else _field(2, d)) for d in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _lookup_model(*, asked: str = "input_ids", dims: tuple[int | str, ...] = ("batch", "length")) -> bytes:
    """An ONNX model that looks up one vector for each token."""
    table = np.array(TABLE, np.float32)
    tensor = _field(1, 5) + _field(1, 2) + _field(2, 1) + _field(8, "table") + _field(9, table.tobytes())
    node = _field(1, "table") + _field(1, asked) + _field(2, "out") + _field(4, "Gather")
    graph = (
        _field(1, node)
        + _field(2, "lookup")
        + _field(5, tensor)
        + _field(11, _value(asked, 7, list(dims)))
        + _field(12, _value("out", 1, [*dims, 2]))
    )
    return _field(1, 8) + _field(8, _field(2, 13)) + _field(7, graph)


@pytest.fixture
def tokenizer_file(tmp_path: Path) -> Path:
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    file = tmp_path / "tokenizer.json"
    tokenizer.save(str(file))
    return file


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    file = tmp_path / "model.onnx"
    file.write_bytes(_lookup_model())
    return file


def test_a_text_is_the_mean_of_its_tokens(model_file: Path, tokenizer_file: Path) -> None:
    """Vectors of tokens are averaged and scaled to length one, in the order of the texts."""
    rows = OnnxEmbedder(model_file, tokenizer_file).embed(["north north east east", "", "west", "north"])
    assert rows == pytest.approx(np.array([[0.7071, 0.7071], [0, 0], [-1, 0], [0, 1]]), abs=1e-3)


def test_long_texts_are_cut(model_file: Path, tokenizer_file: Path) -> None:
    """A model reads 256 tokens; what comes after them does not count."""
    rows = OnnxEmbedder(model_file, tokenizer_file).embed(["east " * 256 + "west " * 5000])
    assert rows.tolist() == [[1, 0]]


def test_the_id_is_the_content(model_file: Path, tokenizer_file: Path, tmp_path: Path) -> None:
    """A copy of a model has its id; another model of the same name has another."""
    copy = tmp_path / "copy" / "model.onnx"
    copy.parent.mkdir()
    copy.write_bytes(model_file.read_bytes())
    first = OnnxEmbedder(model_file, tokenizer_file).id
    assert OnnxEmbedder(copy, tokenizer_file).id == first
    copy.write_bytes(_lookup_model(dims=("b", "l")))
    assert OnnxEmbedder(copy, tokenizer_file).id != first


def test_nan_is_an_error(model_file: Path, tokenizer_file: Path) -> None:
    """A model that gives NaN gives an error instead of a vector."""
    with pytest.raises(EmbedderError, match="vectors that are not numbers"):
        OnnxEmbedder(model_file, tokenizer_file).embed(["east", "void"])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"no model at all", "as an ONNX model"),
        (b"", "as an ONNX model"),
        (_lookup_model()[:-9], "as an ONNX model"),
        (_lookup_model(asked="pixels"), "does not give a vector for each token"),
        (_lookup_model(dims=("length",)), "does not give a vector for each token"),
    ],
)
def test_other_files_are_one_clear_error(content: bytes, says: str, tokenizer_file: Path, tmp_path: Path) -> None:
    """A file that is not such a model is named, with what would be one."""
    file = tmp_path / "other.onnx"
    file.write_bytes(content)
    with pytest.raises(EmbedderError, match=says) as caught:
        OnnxEmbedder(file, tokenizer_file)
    assert str(file) in caught.value.message
    assert "tokenizer.json" in caught.value.remedy


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"model": 1}'])
def test_other_tokenizers_are_one_clear_error(content: bytes, model_file: Path, tmp_path: Path) -> None:
    """A file that is not a tokenizer is named."""
    file = tmp_path / "other.json"
    file.write_bytes(content)
    with pytest.raises(EmbedderError, match="tokenizer"):
        OnnxEmbedder(model_file, file)


def test_missing_files_are_named(model_file: Path, tokenizer_file: Path, tmp_path: Path) -> None:
    """A file that is not there is named, model and tokenizer alike."""
    nowhere = tmp_path / "nowhere"
    for files in ((nowhere, tokenizer_file), (model_file, nowhere)):
        with pytest.raises(EmbedderError, match="nowhere"):
            OnnxEmbedder(*files)


def test_without_onnxruntime_the_extra_is_named(
    model_file: Path, tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra, the error names it."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EmbedderError, match=r"kiwiresearch\[rerank\]"):
        OnnxEmbedder(model_file, tokenizer_file)
