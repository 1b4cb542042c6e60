"""The model gateway: sends prompts to a local language model, and checks its replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.llm.chat import DEFAULT_TIMEOUTS, ChatModel, Timeouts
    from kiwiresearch.llm.guards import CircuitBreakerModel, MaskedModel, find_ungrounded_word
    from kiwiresearch.llm.model import (
        OWN_TOKENS,
        PER_MESSAGE,
        WRITE_UP,
        ChatMessage,
        Finish,
        Model,
        Options,
        Prompt,
        PromptData,
        Reply,
        ReplyPiece,
        ReplySchema,
        Tool,
        ToolCall,
        context_size,
        estimate_prompt,
        estimate_tokens,
        extraction_options,
        fenced,
        model_label,
        parse_prompt,
        prompt,
        short_model_name,
        write_up_options,
    )
    from kiwiresearch.llm.replay import ReplayModel
    from kiwiresearch.llm.servers import is_on_this_machine
    from kiwiresearch.llm.structured import item_or_none, structured_reply
else:
    __getattr__ = lazy_exports(__name__)
