"""How many tokens a text takes, guessed so that the guess is rather too high."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

PER_MESSAGE = 8
PER_PROMPT = 48
"""Some templates put a system message of their own in front."""

WORD = re.compile(r"[A-Za-z]+")
SIGN = re.compile(r"[!-/:-@\[-`{-~0-9\n]| (?=[0-9])")
SPACES = re.compile(r"[^\S\n]{2,}")
BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """Tokens of a text for a model whose tokens nobody can count here.

    Models cut words into parts of some three letters, take signs and digits one by one, and letters
    they know little of byte by byte.
    """
    words = sum(1 + (len(word) - 1) // 3 for word in WORD.findall(text))
    spaces = sum(len(run) // 2 for run in SPACES.findall(text))
    beyond = sum(len(letters.encode("utf-8", "replace")) for letters in BEYOND_ASCII.findall(text))
    return words + len(SIGN.findall(text)) + spaces + math.ceil(beyond * 0.75)


def estimate_prompt(texts: Iterable[str]) -> int:
    """Tokens of a conversation of these texts, with what templates put around each turn."""
    return PER_PROMPT + sum(PER_MESSAGE + estimate_tokens(text) for text in texts)
