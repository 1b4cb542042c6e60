"""Exporting a trained network as the shipped files: an ONNX graph with weights of one byte each, and the list of words.

Weights are stored as int8 with one scale for each output. On loading, the runtime converts them to float32, so the
arithmetic is float32: processors then differ only by rounding, and scores are rounded to far larger steps.
"""

from __future__ import annotations

import argparse
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NAME = "kiwiresearch-reader-2"
TRAINED_ON = (
    "base.npz",
    "passages.jsonl",
    "questions.jsonl",
    "boolq.jsonl",
    "squad.jsonl",
    "searched.jsonl",
    "pronouns.jsonl",
    "scores.npz",
)
LABELS = Path(__file__).parent / "labels"
OPSET = 20
HEADS = 12

Array = np.ndarray[Any, Any]


class Graph:
    """The nodes and constants of a graph while it is built."""

    def __init__(self, weights: dict[str, Array], *, whole: bool) -> None:
        self.weights = weights
        self.whole = whole
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: Array) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def linear(self, x: str, name: str) -> str:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        scale = np.maximum(np.abs(weight).max(axis=1), 1e-9) / 127
        small = np.round(weight / scale[:, None]).astype(np.int8).T
        self.constant(f"{name}.scale", scale.astype(np.float32))
        self.constant(f"{name}.bias", bias.astype(np.float32))
        self.constant(f"{name}.int8", small)
        if self.whole:
            self.node("DynamicQuantizeLinear", [x], f"{name}.q")
            self.nodes[-1].output.extend([f"{name}.qs", f"{name}.qz"])
            self.node("MatMulInteger", [f"{name}.q", f"{name}.int8", f"{name}.qz"], f"{name}.mi")
            self.node("Cast", [f"{name}.mi"], f"{name}.mf", to=TensorProto.FLOAT)
            self.node("Mul", [f"{name}.qs", f"{name}.scale"], f"{name}.both")
            self.node("Mul", [f"{name}.mf", f"{name}.both"], f"{name}.product")
        else:
            self.node("Cast", [f"{name}.int8"], f"{name}.float", to=TensorProto.FLOAT)
            self.node("Mul", [f"{name}.float", f"{name}.scale"], f"{name}.scaled")
            self.node("MatMul", [x, f"{name}.scaled"], f"{name}.product")
        return self.node("Add", [f"{name}.product", f"{name}.bias"], f"{name}.out")

    def norm(self, x: str, name: str) -> str:
        weight = self.constant(f"{name}.weight", self.weights[f"{name}.weight"].astype(np.float32))
        bias = self.constant(f"{name}.bias", self.weights[f"{name}.bias"].astype(np.float32))
        return self.node("LayerNormalization", [x, weight, bias], f"{name}.out", axis=-1, epsilon=1e-12)

    def table(self, ids: str, name: str) -> str:
        weight = self.weights[f"{name}.weight"]
        scale = np.maximum(np.abs(weight).max(axis=1), 1e-9) / 127
        self.constant(f"{name}.int8", np.round(weight / scale[:, None]).astype(np.int8))
        self.constant(f"{name}.scale", scale.astype(np.float32)[:, None])
        self.node("Gather", [f"{name}.int8", ids], f"{name}.rows")
        self.node("Cast", [f"{name}.rows"], f"{name}.float", to=TensorProto.FLOAT)
        self.node("Gather", [f"{name}.scale", ids], f"{name}.scales")
        return self.node("Mul", [f"{name}.float", f"{name}.scales"], f"{name}.out")


def graph_of(weights: dict[str, Array], *, whole: bool = False) -> onnx.ModelProto:
    """The network as a graph, with the inputs `ids`, `kinds`, `positions` and `hidden`.

    `hidden` is added to the scores of attention: 0 for tokens, and a large negative number for padding.
    With `whole`, products are computed in whole numbers too: faster on some processors, but not the same on all.
    """
    width = weights["after_words.weight"].shape[0]
    layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layers."))
    builder = Graph(weights, whole=whole)
    builder.constant("root", np.array(1 / np.sqrt(width // HEADS), np.float32))
    builder.constant("apart", np.array([0, 0, HEADS, width // HEADS], np.int64))
    builder.constant("joined", np.array([0, 0, width], np.int64))
    words = builder.node("Add", [builder.table("ids", "words"), builder.table("kinds", "kinds")], "words_and_kinds")
    x = builder.norm(builder.node("Add", [words, builder.table("positions", "positions")], "summed"), "after_words")
    for number in range(layers):
        name = f"layers.{number}"
        parts = {}
        for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            flat = builder.linear(x, f"{name}.{part}")
            split = builder.node("Reshape", [flat, "apart"], f"{name}.{part}.apart")
            parts[part] = builder.node("Transpose", [split], f"{name}.{part}.turned", perm=order)
        scores = builder.node("MatMul", [parts["query"], parts["key"]], f"{name}.scores")
        scores = builder.node("Mul", [scores, "root"], f"{name}.scaled_scores")
        scores = builder.node("Add", [scores, "hidden"], f"{name}.masked")
        shares = builder.node("Softmax", [scores], f"{name}.shares", axis=-1)
        mixed = builder.node("MatMul", [shares, parts["value"]], f"{name}.mixed_heads")
        mixed = builder.node("Transpose", [mixed], f"{name}.turned_back", perm=[0, 2, 1, 3])
        mixed = builder.linear(builder.node("Reshape", [mixed, "joined"], f"{name}.joined"), f"{name}.mixed")
        x = builder.norm(builder.node("Add", [x, mixed], f"{name}.first_sum"), f"{name}.after_attention")
        inner = builder.node("Gelu", [builder.linear(x, f"{name}.inner")], f"{name}.gelu")
        x = builder.norm(
            builder.node("Add", [x, builder.linear(inner, f"{name}.outer")], f"{name}.second_sum"),
            f"{name}.after_inner",
        )
    builder.node("Identity", [x], "tokens")
    for head in ("spans", "sentences", "passage"):
        builder.node("Identity", [builder.linear(x, head)], f"{head}_of_tokens")
    floats = TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "size"]) for name in ("ids", "kinds")]
    inputs.append(helper.make_tensor_value_info("positions", TensorProto.INT64, [1, "size"]))
    inputs.append(helper.make_tensor_value_info("hidden", floats, ["rows", 1, 1, "size"]))
    outputs = [
        helper.make_tensor_value_info(name, floats, ["rows", "size", count])
        for name, count in (
            ("tokens", width),
            ("spans_of_tokens", 2),
            ("sentences_of_tokens", 1),
            ("passage_of_tokens", 3),
        )
    ]
    graph = helper.make_graph(builder.nodes, NAME, inputs, outputs, builder.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model)
    return model


def write(weights: dict[str, Array], words: list[str], out: Path, trained_on: dict[str, str]) -> None:
    """Write the shipped files, and then a manifest with their checksums."""
    out.mkdir(parents=True, exist_ok=True)
    parts = {
        "reader.onnx": graph_of(weights).SerializeToString(deterministic=True),
        "words.txt": "\n".join(words).encode(),
    }
    for name, content in parts.items():
        (out / name).write_bytes(content)
    checksums = {name: sha256(content).hexdigest() for name, content in parts.items()}
    manifest = {"name": NAME, "sha256": checksums, "trained_on": trained_on}
    (out / "model.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def load_weights(file: Path) -> dict[str, Array]:
    with np.load(file) as arrays:
        return {name: arrays[name].astype(np.float32) for name in arrays.files}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", type=Path, help="the folder with the words and texts")
    parser.add_argument("out", type=Path, help="src/kiwiresearch/reader/data")
    parser.add_argument("trained", type=Path, help="the weights of the trained network")
    options = parser.parse_args()
    words = (options.folder / "words.txt").read_text(encoding="utf-8").split("\n")
    files = [options.folder / name for name in TRAINED_ON] + sorted(LABELS.glob("*.jsonl"))
    names = {file: file.name if file.parent == options.folder else f"labels/{file.name}" for file in files}
    checksums = {name: sha256(file.read_bytes()).hexdigest() for file, name in names.items() if file.exists()}
    write(load_weights(options.trained), words, options.out, checksums)


if __name__ == "__main__":
    main()
