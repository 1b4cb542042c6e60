"""The language model and the embedder a user has set, if any."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.errors import BadSettings
from kiwiresearch.research.settings import Settings
from kiwiresearch.zim.sources import is_address

if TYPE_CHECKING:
    from kiwiresearch.embed.cache import CachedEmbedder
    from kiwiresearch.embed.embedder import Embedder
    from kiwiresearch.llm.chat import ChatModel, Patience
    from kiwiresearch.llm.model import Model


def chat_model(settings: Settings) -> ChatModel:
    """The model at the address or addresses in the settings; nothing is asked of it yet."""
    from kiwiresearch.llm.chat import ChatModel

    return ChatModel(
        *addresses(settings),
        model=settings.model_name,
        key=settings.model_key,
        context_tokens=settings.model_context_tokens or None,
        patience=patience_of(settings),
    )


def patience_of(settings: Settings) -> Patience:
    """How long the model is waited for: one that is given longer than usual may also be silent for longer."""
    from kiwiresearch.llm.chat import USUAL

    longer = max(1.0, settings.model_timeout_s / USUAL.total_s)
    return replace(USUAL, total_s=settings.model_timeout_s, read_s=USUAL.read_s * longer)


@contextlib.contextmanager
def kept_model(settings: Settings, cache: Path, say: Callable[[str], None]) -> Iterator[Model | None]:
    """The same model with its replies kept, so that work repeats itself and goes on where it stopped; None if unset."""
    if not settings.model_url.strip():
        yield None
        return
    from kiwiresearch.llm.replay import Replayed

    with chat_model(settings) as model:
        yield Replayed(model, cache / "replies", say=say)


def addresses(settings: Settings) -> list[str]:
    """Where the model answers."""
    return re.split(r"[,\s]+", settings.model_url.strip(", "))


def model_is_local(settings: Settings) -> bool:
    """Whether nothing that the model is told leaves this machine: each of its addresses is one of loopback."""
    from kiwiresearch.llm.address import is_on_this_machine

    return bool(settings.model_url.strip()) and all(map(is_on_this_machine, addresses(settings)))


def embedder_of(settings: Settings, cache: Path) -> CachedEmbedder:
    """The embedder named in the settings, its vectors kept in the cache folder."""
    from kiwiresearch.embed.cache import CachedEmbedder

    return CachedEmbedder(_embedder(settings), cache / "vectors.sqlite")


def _embedder(settings: Settings) -> Embedder:
    name = settings.embedder.strip()
    if name == "static":
        from kiwiresearch.embed.static import StaticEmbedder

        return StaticEmbedder()
    if is_address(name):
        from kiwiresearch.embed.server import ServerEmbedder

        return ServerEmbedder(name, settings.embedder_model, settings.embedder_key)
    folder = Path(name).expanduser()
    if folder.is_dir():
        from kiwiresearch.embed.onnx import OnnxEmbedder

        models = sorted(folder.glob("*.onnx"))
        if models and (folder / "tokenizer.json").is_file():
            return OnnxEmbedder(models[0], folder / "tokenizer.json")
    raise BadSettings(
        f"The embedder {name!r} is neither 'static', nor an address, nor a folder with a model.",
        remedy="A folder must hold one .onnx file and a tokenizer.json; empty the setting to go without.",
    )
