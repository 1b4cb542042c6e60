"""What a model is told before it answers: the passages, as many as fit, the question and the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kiwiresearch.ask.answer import Answer, BookNote
from kiwiresearch.ask.passages import Passage
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.errors import PromptTooLong
from kiwiresearch.evidence.citation import cited
from kiwiresearch.llm.budget import estimate_prompt, estimate_tokens
from kiwiresearch.llm.model import WRITE_UP, Message, Model, Options, write_up
from kiwiresearch.llm.prompts import Data, fenced, prompt
from kiwiresearch.text.plain import printable

CONTEXT = 4_096
"""What a model reads that does not tell."""

PER_FENCE = 32
"""Tokens of the fence around a passage, and of its key in the list of keys."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """The first messages, the passages in them, and how many tokens are left for more."""

    messages: tuple[Message, ...]
    options: Options
    passages: tuple[Passage, ...]
    room: int


def briefing_of(model: Model, found: Answer, settings: AskSettings, *, reserve: int = 0) -> Briefing:
    """The best passages that fit; PromptTooLong where not even the first does. `reserve` is kept free for tools."""
    context = model.context_tokens() or CONTEXT
    max_tokens = max(min(settings.max_new_tokens, context // 3), 1)
    around = estimate_prompt(message.text for message in _messages(found, ()))
    room = context - max_tokens - around - reserve
    passages = fitting(found.passages, min(room, settings.context_tokens), found.books)
    if room < 0 or (found.passages and not passages):
        raise PromptTooLong(
            f"The model {model.name!r} reads {context:,} tokens at once, which is too little for a passage.",
            remedy="Start the model server with a larger context.",
        )
    messages = _messages(found, passages)
    room = context - max_tokens - reserve - estimate_prompt(message.text for message in messages)
    return Briefing(messages, write_up(WRITE_UP.low, max_tokens=max_tokens), passages, max(room, 0))


def _messages(found: Answer, passages: Sequence[Passage]) -> tuple[Message, ...]:
    question = found.question
    if found.asked and found.asked != question:
        question += f"\nThis is meant: {found.asked}"
    disagreements = (f"{one.a_key}: {one.a_quote}\n{one.b_key}: {one.b_quote}\n{one.words}" for one in found.conflicts)
    return prompt(f"ask_{found.mode}").fill(
        passages=data_of(passages, found.books),
        conflicts="\n".join(disagreements) or "none",
        question=question,
        keys=" ".join(f"[{passage.key}]" for passage in passages) or "none",
    )


def fitting(passages: Sequence[Passage], room: int, books: Sequence[BookNote]) -> tuple[Passage, ...]:
    """As many as fit into so many tokens; the first ones are the best."""
    kept: list[Passage] = []
    for passage, data in zip(passages, data_of(passages, books), strict=True):
        room -= estimate_tokens(data.text) + PER_FENCE
        if room < 0:
            break
        kept.append(passage)
    return tuple(kept)


def data_of(passages: Sequence[Passage], books: Sequence[BookNote]) -> tuple[Data, ...]:
    """Each passage by its key, below a line that says where it stands."""
    dates = {book.id: book.date for book in books}
    return tuple(Data(one.key, f"{_place(one, dates)}\n{one.text}") for one in passages)


def fenced_passages(passages: Sequence[Passage], books: Sequence[BookNote]) -> str:
    return "\n".join(fenced(*data) for data in data_of(passages, books))


def _place(passage: Passage, dates: Mapping[str, str]) -> str:
    date = dates.get(passage.ref.book, "")
    words = f"{cited(passage.title, passage.section)} | path {passage.ref.path}"
    return printable(f"{words} | book of {date}" if date else words)
