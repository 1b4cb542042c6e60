"""An answer as it comes: its citations first, then thoughts and words, then the whole of it.

`Glance` comes at once where passages are still to be read by meaning; `Found` and `Done` come always, and once.
"""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.ask.answer import Answer


@dataclass(frozen=True, slots=True)
class Glance:
    """What words alone find, before the passages are read by meaning; what is found then takes its place."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Found:
    """Where the answer will be taken from.

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
    """The last event: the whole answer."""

    answer: Answer


Event = Glance | Found | Thought | Token | Done
