"""The network: a small BERT with four heads, in plain PyTorch so that it is easy to export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a network."""

    words: int
    layers: int = 6
    width: int = 384
    inner: int = 1536
    heads: int = 12
    positions: int = 512


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query, self.key, self.value, self.mixed = (nn.Linear(shape.width, shape.width) for _ in range(4))
        self.inner = nn.Linear(shape.width, shape.inner)
        self.outer = nn.Linear(shape.inner, shape.width)
        self.after_attention = nn.LayerNorm(shape.width, eps=1e-12)
        self.after_inner = nn.LayerNorm(shape.width, eps=1e-12)

    def forward(self, x: Tensor, attention_mask: Tensor, dropout: float) -> Tensor:
        rows, size, width = x.shape

        def split(y: Tensor) -> Tensor:
            return y.view(rows, size, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=attention_mask, dropout_p=dropout)
        mixed = self.mixed(mixed.transpose(1, 2).reshape(rows, size, width))
        x = self.after_attention(x + functional.dropout(mixed, dropout))
        inner = functional.gelu(self.inner(x))
        return self.after_inner(x + functional.dropout(self.outer(inner), dropout))


@dataclass(frozen=True, slots=True)
class Reading:
    """The output of the network for a batch."""

    spans: Tensor
    """For each token, how likely it is that the answer starts there, and that it ends there."""
    sentences: Tensor
    """For each token, how likely it is that its sentence answers; only used at the marks of sentences."""
    passage: Tensor
    """For each row, whether the passage answers, and whether with yes or no."""
    vectors: Tensor
    """The mean of each row's tokens, for comparing meanings if a text was read alone."""


class Network(nn.Module):
    """The encoder and the heads."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.words, shape.width)
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.kinds = nn.Embedding(2, shape.width)
        self.after_words = nn.LayerNorm(shape.width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.spans = nn.Linear(shape.width, 2)
        self.sentences = nn.Linear(shape.width, 1)
        self.passage = nn.Linear(shape.width, 3)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Reading:
        dropout = 0.1 if self.training else 0.0
        at = torch.arange(ids.shape[1], device=ids.device)
        x = self.after_words(self.words(ids) + self.positions(at)[None] + self.kinds(kinds))
        attention_mask = torch.zeros(mask.shape, dtype=x.dtype, device=x.device).masked_fill(mask == 0, -1e4)[
            :, None, None, :
        ]
        x = functional.dropout(x, dropout)
        for layer in self.layers:
            x = layer(x, attention_mask, dropout)
        weights = mask[:, :, None].to(x.dtype)
        vectors = (x * weights).sum(1) / weights.sum(1)
        return Reading(self.spans(x), self.sentences(x).squeeze(-1), self.passage(x[:, 0]), vectors)


NAMES = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "mixed",
    "attention.output.LayerNorm": "after_attention",
    "intermediate.dense": "inner",
    "output.dense": "outer",
    "output.LayerNorm": "after_inner",
}


def from_base(base: dict[str, Any], layers: tuple[int, ...]) -> Network:
    """A network that starts with the base's weights; `layers` are the layers of the base to keep."""
    words, width = base["embeddings.word_embeddings.weight"].shape
    inner = base["encoder.layer.0.intermediate.dense.weight"].shape[0]
    positions = base["embeddings.position_embeddings.weight"].shape[0]
    shape = Shape(words, len(layers), width, inner, positions=positions)
    network = Network(shape)
    state = network.state_dict()
    state["words.weight"] = base["embeddings.word_embeddings.weight"]
    state["positions.weight"] = base["embeddings.position_embeddings.weight"]
    state["kinds.weight"] = base["embeddings.token_type_embeddings.weight"]
    for part in ("weight", "bias"):
        state[f"after_words.{part}"] = base[f"embeddings.LayerNorm.{part}"]
        for new, old in enumerate(layers):
            for base_name, name in NAMES.items():
                state[f"layers.{new}.{name}.{part}"] = base[f"encoder.layer.{old}.{base_name}.{part}"]
    network.load_state_dict({name: torch.as_tensor(value).float() for name, value in state.items()})
    for head in (network.spans, network.sentences, network.passage):
        nn.init.normal_(head.weight, std=0.02)
        nn.init.zeros_(head.bias)
    return network
