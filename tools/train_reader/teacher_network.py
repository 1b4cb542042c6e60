"""The teacher's network: Qwen 2.5 in plain PyTorch, without the causal mask."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from tools.train_reader.network import Reading
from tools.train_reader.teacher import unpacked
from torch import Tensor, nn
from torch.nn import functional

WIDTH, INNER, HEADS, KEY_HEADS = 1536, 8960, 12, 2
WORDS = 152_064
TURN = 1e6
SMALL = 1e-6


class TeacherLayer(nn.Module):
    """One layer, with the names that GGUF files have."""

    def __init__(self) -> None:
        super().__init__()
        keys = WIDTH // HEADS * KEY_HEADS
        self.attn_norm, self.ffn_norm = nn.RMSNorm(WIDTH, SMALL), nn.RMSNorm(WIDTH, SMALL)
        self.attn_q, self.attn_k, self.attn_v = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, keys), nn.Linear(WIDTH, keys)
        self.attn_output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.ffn_gate, self.ffn_up = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(WIDTH, INNER, bias=False)
        self.ffn_down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], hidden: Tensor) -> Tensor:
        rows, size, _ = x.shape
        y = self.attn_norm(x)

        def split(z: Tensor, heads: int) -> Tensor:
            return z.view(rows, size, heads, WIDTH // HEADS).transpose(1, 2)

        query, key = turned(split(self.attn_q(y), HEADS), turn), turned(split(self.attn_k(y), KEY_HEADS), turn)
        value = split(self.attn_v(y), KEY_HEADS)
        key, value = (one.repeat_interleave(HEADS // KEY_HEADS, dim=1) for one in (key, value))
        query, key, hidden = (one.to(value.dtype) for one in (query, key, hidden))
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=hidden)
        x = x + self.attn_output(mixed.transpose(1, 2).reshape(rows, size, WIDTH))
        y = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(y)) * self.ffn_up(y))


def turned(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """The position of a token, as a rotation."""
    half = x.shape[-1] // 2
    cosine, sine = turn
    return x * cosine + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sine


class Teacher(nn.Module):
    """Layers and the reader's heads."""

    def __init__(self, words: int, layers: int) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(words, WIDTH)
        self.blk = nn.ModuleList(TeacherLayer() for _ in range(layers))
        self.norm = nn.RMSNorm(WIDTH, SMALL)
        self.spans, self.sentences, self.passage = nn.Linear(WIDTH, 2), nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 3)

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Reading:
        del kinds  # the marks say where the question ends
        x = self.token_embd(ids)
        rates = TURN ** (-torch.arange(0, WIDTH // HEADS, 2, device=ids.device).float() / (WIDTH // HEADS))
        angles = torch.outer(torch.arange(ids.shape[1], device=ids.device).float(), rates)
        angles = torch.cat((angles, angles), dim=-1)
        turn = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        hidden = torch.zeros(mask.shape, dtype=x.dtype, device=x.device).masked_fill(mask == 0, -1e4)[:, None, None, :]
        for layer in self.blk:
            x = layer(x, turn, hidden)
        x = self.norm(x)
        return Reading(self.spans(x), self.sentences(x).squeeze(-1), self.passage(x[:, 0]), x[:, 0])


def from_packed(file: Path, device: str) -> tuple[Teacher, Tensor]:
    """The teacher before training, and for each word of the language model its number here."""
    with np.load(file) as arrays:
        used = torch.from_numpy(arrays["used"]).long()
        entries = [(name, arrays[name]) for name in arrays.files if name != "used"]
    with ProcessPoolExecutor() as pool:
        state = {name: torch.from_numpy(value) for name, value in pool.map(unpacked, entries)}
    layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("blk."))
    with torch.device(device):
        teacher = Teacher(len(used), layers)
    for head in (teacher.spans, teacher.sentences, teacher.passage):
        nn.init.normal_(head.weight, std=0.005)
        nn.init.zeros_(head.bias)
    teacher.load_state_dict(state, strict=False)
    number = torch.zeros(WORDS, dtype=torch.long, device=device)
    number[used.to(device)] = torch.arange(len(used), device=device)
    return teacher, number
