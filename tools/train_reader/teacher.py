"""The teacher: the lower layers of a language model, without its causal mask, with the heads of the reader.

It is trained on labelled examples and then scores all questions and pronouns. The network that ships learns from these
scores. The language model is Qwen2.5-Coder-1.5B-Instruct (Apache-2.0), which `tools/fetch_test_model.py` downloads.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kiwiresearch.reader.reader import CLS, HEADING, PRONOUN, SENTENCE, SEP

MARKS = {
    CLS: "<|im_start|>",
    SEP: "<|im_end|>",
    SENTENCE: "<|fim_prefix|>",
    HEADING: "<|fim_middle|>",
    PRONOUN: "<|fim_suffix|>",
}
LAYERS = 22
"""Of 28 layers, these are kept: the last ones mostly choose the next word."""
LAYER = re.compile(r"blk\.(\d+)\.(.+)")

Array = np.ndarray[Any, Any]


def extract_parts(file: Path, used: Iterable[int], out: Path, layers: int = LAYERS) -> None:
    """Save some layers of a GGUF file, and the embeddings of the words that are used, without unpacking them."""
    from gguf import GGUFReader

    kept: dict[str, Any] = {"used": np.array(sorted(set(used)), "i4")}
    for tensor in GGUFReader(str(file)).tensors:
        layer = LAYER.fullmatch(tensor.name)
        if tensor.name == "token_embd.weight":
            kept[f"{tensor.name}:{int(tensor.tensor_type)}"] = np.array(tensor.data[kept["used"]])
        elif layer is not None and int(layer[1]) < layers:
            kept[f"{tensor.name}:{int(tensor.tensor_type)}"] = np.array(tensor.data)
    np.savez(out, **kept)


def unpack(entry: tuple[str, Array]) -> tuple[str, Array]:
    """Unpack an array to float16."""
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    name, _, kind = entry[0].partition(":")
    return name, dequantize(entry[1], GGMLQuantizationType(int(kind))).astype(np.float16)


def save_tokenizer(file: Path, out: Path) -> None:
    """Save the tokenizer of a GGUF file as a separate file."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
    tokenizer.backend_tokenizer.save(str(out))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("model", type=Path, help="the language model's GGUF file")
    parser.add_argument("groups", type=Path, help="the groups encoded for the teacher")
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", type=int, default=LAYERS, help="fewer to rehearse")
    options = parser.parse_args()
    with np.load(options.groups) as arrays:
        used = np.unique(arrays["ids"])
    extract_parts(options.model, used.tolist(), options.out, options.layers)
    print(f"{len(used)} words")


if __name__ == "__main__":
    main()
