"""The language model a user has set, if any."""

from __future__ import annotations

import re

from kiwiresearch.llm.chat import ChatModel, Patience
from kiwiresearch.research.settings import Settings


def chat_model(settings: Settings) -> ChatModel:
    """The model at the address or addresses in the settings; nothing is asked of it yet."""
    return ChatModel(
        *re.split(r"[,\s]+", settings.model_url.strip(", ")),
        model=settings.model_name,
        key=settings.model_key,
        context_tokens=settings.model_context_tokens or None,
        patience=Patience(total_s=settings.model_timeout_s),
    )
