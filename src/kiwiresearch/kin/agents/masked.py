"""A model that never sees who may be alive: every message is masked on its way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kiwiresearch.llm.model import Message, Model, Options, Piece, Reply

PLAIN = Options()


class Masked:
    """Any model behind a mask. What it says of a mark it was shown is found in no text, and so never kept."""

    def __init__(self, model: Model, mask: Callable[[str], str]) -> None:
        self._model = model
        self._mask = mask

    @property
    def name(self) -> str:
        return self._model.name

    def context_tokens(self) -> int | None:
        return self._model.context_tokens()

    def chat(self, messages: Sequence[Message], options: Options = PLAIN) -> Reply:
        return self._model.chat(self._masked(messages), options)

    def pieces(self, messages: Sequence[Message], options: Options = PLAIN) -> Iterator[Piece | Reply]:
        return self._model.pieces(self._masked(messages), options)

    def stream(self, messages: Sequence[Message], options: Options = PLAIN) -> Iterator[str]:
        return self._model.stream(self._masked(messages), options)

    def _masked(self, messages: Sequence[Message]) -> list[Message]:
        # Our own turns hold no names but those put into them; the model's own are echoed when it is corrected.
        return [one if one.role == "system" else replace(one, text=self._mask(one.text)) for one in messages]
