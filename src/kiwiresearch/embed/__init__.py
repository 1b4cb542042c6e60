"""Vectors of texts: the default model, optional ones, and a cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import CachedEmbedder, Embedder, Vectors, similarity
    from kiwiresearch.embed.onnx import OnnxEmbedder
    from kiwiresearch.embed.server import ServerEmbedder
    from kiwiresearch.embed.static import StaticEmbedder, static_embedder
else:
    __getattr__ = lazy_exports(__name__)
