"""A model that replies from a script: the double for tests, and for trying things out without a model."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kiwiresearch.errors import KiwiError, ModelError, ModelUnreachable, PromptTooLong
from kiwiresearch.llm.model import (
    DEFAULT_OPTIONS,
    ChatMessage,
    Options,
    Reply,
    ReplyPiece,
    estimate_prompt,
    final_reply,
)
from kiwiresearch.llm.reply_stream import ReplyBuilder
from kiwiresearch.llm.wire import Delta


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """One prompt that the model was given."""

    messages: tuple[ChatMessage, ...]
    options: Options

    @property
    def text(self) -> str:
        """All messages as one text."""
        return "\n\n".join(message.text for message in self.messages)


@dataclass(frozen=True, slots=True)
class CutOff:
    """A reply that breaks off: `pieces` yields its words and then fails, `chat` just fails."""

    text: str


ScriptLine = str | Reply | CutOff | KiwiError


class ScriptedModel:
    """Replies with the line whose key occurs in the prompt, else with the next line in order.

    A line is a text (from which thinking is split off, as with a real model), a Reply, an error to raise,
    or a reply that breaks off.
    """

    def __init__(
        self,
        *lines: ScriptLine,
        by: Mapping[str, ScriptLine] | None = None,
        name: str = "scripted",
        context_tokens: int | None = None,
    ) -> None:
        self.asked: list[AskedPrompt] = []
        self._lines = list(lines)
        self._by = dict(by or {})
        self._name = name
        self._context_tokens = context_tokens
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def context_tokens(self) -> int | None:
        return self._context_tokens

    def chat(self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS) -> Reply:
        return final_reply(self.pieces(messages, options))

    def pieces(
        self, messages: Sequence[ChatMessage], options: Options = DEFAULT_OPTIONS
    ) -> Iterator[ReplyPiece | Reply]:
        line = self._line(AskedPrompt(tuple(messages), options))
        if isinstance(line, KiwiError):
            raise line
        if isinstance(line, Reply):
            yield from line.as_pieces()
            return
        builder = ReplyBuilder()
        for word in re.findall(r"\S+\s*|\s+", line.text if isinstance(line, CutOff) else line):
            yield from builder.take(Delta(word))
        yield from builder.rest()
        if isinstance(line, CutOff):
            raise ModelUnreachable(f"The model {self._name!r} breaks off, as its script says.")
        yield builder.reply()

    def _line(self, asked: AskedPrompt) -> ScriptLine:
        with self._lock:
            self.asked.append(asked)
            self._check_room(asked)
            for key, line in self._by.items():
                if key in asked.text:
                    return line
            if not self._lines:
                raise ModelError(
                    f"The script of {self._name!r} has no line for {asked.text[-80:]!r}.", remedy="Write one."
                )
            return self._lines.pop(0)

    def _check_room(self, asked: AskedPrompt) -> None:
        needed = estimate_prompt(message.text for message in asked.messages) + asked.options.max_tokens
        if self._context_tokens is not None and needed > self._context_tokens:
            raise PromptTooLong(
                f"The prompt and its reply take {needed:,} tokens, but {self._name!r} reads {self._context_tokens:,}.",
                remedy="Give it less text.",
            )
