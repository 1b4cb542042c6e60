"""What a server tells about itself: its models, and how much they read at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Ask = Callable[[str, Mapping[str, Any] | None], Any]
"""Asks a path of the server and returns the JSON of its answer, or None where it has none."""

OLLAMA_DEFAULT = 4096
NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Context:
    """How many tokens are read at once, and whether that is known or only likely."""

    tokens: int | None
    is_sure: bool = True


def model_names(ask: Ask) -> tuple[str, ...]:
    """The models a server offers, in its order."""
    return tuple(str(row["id"]) for row in _rows(ask("/v1/models", None), "data") if row.get("id"))


def context_of(ask: Ask, model: str) -> Context:
    """The servers llama.cpp and vLLM tell it; LM Studio and Ollama tell it for a model that is loaded."""
    props = _part(_part(ask("/props", None), "default_generation_settings"), "n_ctx")
    tokens = _positive(props)
    if tokens:
        return Context(tokens)
    for row in _rows(ask("/v1/models", None), "data"):
        tokens = _positive(row.get("max_model_len")) or _positive(_part(row.get("meta"), "n_ctx"))
        if tokens and row.get("id") == model:
            return Context(tokens)
    for row in _rows(ask("/api/v0/models", None), "data"):
        tokens = _positive(row.get("loaded_context_length"))
        if tokens and row.get("id") == model:
            return Context(tokens)
    return _ollama(ask, model)


def _ollama(ask: Ask, model: str) -> Context:
    """Ollama cuts long prompts without a word, at a size that has little to do with what the model could read."""
    for row in _rows(ask("/api/ps", None), "models"):
        tokens = _positive(row.get("context_length"))
        if tokens and model in (row.get("name"), row.get("model"), str(row.get("name")).removesuffix(":latest")):
            return Context(tokens)
    shown = ask("/api/show", {"model": model})
    if not isinstance(shown, dict) or "model_info" not in shown:
        return Context(None)
    told = NUM_CTX.search(str(shown.get("parameters") or ""))
    if told:
        return Context(int(told[1]))
    trained = [_positive(v) for k, v in _pairs(shown["model_info"]) if k.endswith(".context_length")]
    return Context(min([OLLAMA_DEFAULT, *filter(None, trained)]), is_sure=False)


def token_count(ask: Ask, request: Mapping[str, Any]) -> int | None:
    """The prompt's exact size where the server counts (llama.cpp), template and all."""
    told = {key: request[key] for key in ("messages", "tools") if key in request}
    prompt = _part(ask("/apply-template", told), "prompt")
    if not isinstance(prompt, str):
        return None
    tokens = _part(ask("/tokenize", {"content": prompt, "add_special": True, "parse_special": True}), "tokens")
    return len(tokens) if isinstance(tokens, list) else None


def _rows(answer: object, key: str) -> list[dict[str, Any]]:
    rows = _part(answer, key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _part(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _pairs(value: object) -> list[tuple[str, Any]]:
    return sorted(value.items()) if isinstance(value, dict) else []


def _positive(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
