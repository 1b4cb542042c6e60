"""A tool for models that can call one: more of a page, whose passages can be cited like the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kiwiresearch.ask.answer import BookNote
from kiwiresearch.ask.briefing import fenced_passages, fitting
from kiwiresearch.ask.passages import Passage
from kiwiresearch.errors import KiwiError
from kiwiresearch.llm.budget import PER_MESSAGE, estimate_tokens
from kiwiresearch.llm.model import Message, Reply, Schema, Tool, ToolCall
from kiwiresearch.llm.prompts import fenced

Fetch = Callable[[str], tuple[Passage, ...]]
"""The passages of the page at a path of the shelf, best first; none where there is no such page."""

NAME = "fetch_article"
MOST_FETCHES = 2
LONGEST_PATH = 300
TOOL = Tool(
    NAME,
    "Reads more of one page of the reader's books. Use it only if the passages do not suffice.",
    Schema.of(
        NAME,
        {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "the path of the page, as the passages name it"}},
            "required": ["path"],
        },
    ),
)
RESERVE = 2 * estimate_tokens(TOOL.purpose + TOOL.parameters.text)
MANY = "No more pages can be read. Answer now, from the passages you have."


@dataclass(frozen=True, slots=True)
class Fetched:
    """What the calls of one reply gave: the turns to go on with, and passages that are new."""

    messages: tuple[Message, ...]
    passages: tuple[Passage, ...]


class Fetches:
    """Reads pages for a model, few of them and only as much as it can take in."""

    def __init__(self, fetch: Fetch | None, books: Sequence[BookNote], room: int) -> None:
        self._fetch = fetch
        self._books = books
        self._room = room
        self._left = MOST_FETCHES if fetch else 0

    @property
    def may_go_on(self) -> bool:
        return self._left > 0

    def answered(self, reply: Reply, known: Sequence[str]) -> Fetched:
        """The reply with its calls, and an answer to each; passages with `known` keys are not shown again."""
        turns = [Message("assistant", reply.text, reply.calls)]
        new: list[Passage] = []
        for call in reply.calls:
            words, passages = self._answer(call, {*known, *(one.key for one in new)})
            self._room -= estimate_tokens(words) + PER_MESSAGE
            turns.append(Message("tool", words, call_id=call.id))
            new += passages
        return Fetched(tuple(turns), tuple(new))

    def _answer(self, call: ToolCall, known: set[str]) -> tuple[str, tuple[Passage, ...]]:
        path = _path_in(call.arguments)
        if call.name != NAME:
            return f"There is no such tool. There is only {NAME}.", ()
        if not path:
            return 'The arguments must be JSON like {"path": "..."}.', ()
        if not self.may_go_on or self._fetch is None:
            return MANY, ()
        self._left -= 1
        try:
            found = self._fetch(path)
        except KiwiError:
            found = ()
        if not found:
            return f"The reader's books have no page of this path:\n{fenced('path', path)}", ()
        new = fitting([one for one in found if one.key not in known], self._room, self._books)
        if not new:
            return "There is nothing more on this page, or no room for it. Answer from the passages you have.", ()
        return fenced_passages(new, self._books), new


def _path_in(arguments: str) -> str:
    try:
        path = json.loads(arguments)["path"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return path.strip()[:LONGEST_PATH] if isinstance(path, str) else ""
