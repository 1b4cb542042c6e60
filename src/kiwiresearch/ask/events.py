"""An answer as it comes: its citations first, then thoughts and words, then the whole of it."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.ask.answer import Answer


@dataclass(frozen=True, slots=True)
class Found:
    """The first event, always and once: where the answer will be taken from.

    The answer in it is whole but for the words of a model: route, why, citations,
    passages, conflicts and books stand. Without a model it is the answer itself.
    """

    answer: Answer


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking of a model, as it arrives; it is no part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """Words of the answer, checked, as they arrive: put together they are the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The last event, always and once: the whole answer."""

    answer: Answer


Event = Found | Thought | Token | Done
