"""The teacher's network: Qwen 2.5 in plain PyTorch, without the causal mask."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from tools.train_reader.network import Reading
from tools.train_reader.teacher import unpack
from torch import Tensor, nn
from torch.nn import functional

WIDTH, INNER, HEADS, KEY_HEADS = 1536, 8960, 12, 2
WORDS = 152_064
ROTARY_BASE = 1e6
EPSILON = 1e-6


class TeacherLayer(nn.Module):
    """One layer, with the names that GGUF files have."""

    def __init__(self) -> None:
        super().__init__()
        keys = WIDTH // HEADS * KEY_HEADS
        self.attn_norm, self.ffn_norm = nn.RMSNorm(WIDTH, EPSILON), nn.RMSNorm(WIDTH, EPSILON)
        self.attn_q, self.attn_k, self.attn_v = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, keys), nn.Linear(WIDTH, keys)
        self.attn_output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.ffn_gate, self.ffn_up = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(WIDTH, INNER, bias=False)
        self.ffn_down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], attention_mask: Tensor) -> Tensor:
        rows, size, _ = x.shape
        y = self.attn_norm(x)

        def split(z: Tensor, heads: int) -> Tensor:
            return z.view(rows, size, heads, WIDTH // HEADS).transpose(1, 2)

        query, key = rotate(split(self.attn_q(y), HEADS), rotation), rotate(split(self.attn_k(y), KEY_HEADS), rotation)
        value = split(self.attn_v(y), KEY_HEADS)
        key, value = (tensor.repeat_interleave(HEADS // KEY_HEADS, dim=1) for tensor in (key, value))
        query, key, attention_mask = (tensor.to(value.dtype) for tensor in (query, key, attention_mask))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=attention_mask)
        x = x + self.attn_output(mixed.transpose(1, 2).reshape(rows, size, WIDTH))
        y = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(y)) * self.ffn_up(y))


def rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Rotate vectors by the positions of their tokens."""
    half = x.shape[-1] // 2
    cosine, sine = rotation
    return x * cosine + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sine


class Teacher(nn.Module):
    """Layers and the reader's heads."""

    def __init__(self, words: int, layers: int) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(words, WIDTH)
        self.blk = nn.ModuleList(TeacherLayer() for _ in range(layers))
        self.norm = nn.RMSNorm(WIDTH, EPSILON)
        self.spans, self.sentences, self.passage = nn.Linear(WIDTH, 2), nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 3)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Reading:
        del kinds  # the marks say where the question ends
        x = self.token_embd(ids)
        frequencies = ROTARY_BASE ** (-torch.arange(0, WIDTH // HEADS, 2, device=ids.device).float() / (WIDTH // HEADS))
        angles = torch.outer(torch.arange(ids.shape[1], device=ids.device).float(), frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        rotation = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        attention_mask = torch.zeros(mask.shape, dtype=x.dtype, device=x.device).masked_fill(mask == 0, -1e4)[
            :, None, None, :
        ]
        for layer in self.blk:
            x = layer(x, rotation, attention_mask)
        x = self.norm(x)
        return Reading(self.spans(x), self.sentences(x).squeeze(-1), self.passage(x[:, 0]), x[:, 0])


def load_packed(file: Path, device: str) -> tuple[Teacher, Tensor]:
    """The teacher before training, and for each word of the language model its number in the teacher."""
    with np.load(file) as arrays:
        used = torch.from_numpy(arrays["used"]).long()
        entries = [(name, arrays[name]) for name in arrays.files if name != "used"]
    with ProcessPoolExecutor() as pool:
        state = {name: torch.from_numpy(value) for name, value in pool.map(unpack, entries)}
    layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("blk."))
    with torch.device(device):
        teacher = Teacher(len(used), layers)
    for head in (teacher.spans, teacher.sentences, teacher.passage):
        nn.init.normal_(head.weight, std=0.005)
        nn.init.zeros_(head.bias)
    teacher.load_state_dict(state, strict=False)
    number_of = torch.zeros(WORDS, dtype=torch.long, device=device)
    number_of[used.to(device)] = torch.arange(len(used), device=device)
    return teacher, number_of
