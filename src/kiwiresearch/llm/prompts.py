"""Prompts are files; what is put into them is checked, and text goes in as data."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple

from kiwiresearch.errors import BadSettings
from kiwiresearch.llm.model import Message, Role

NAME = re.compile(r"[a-z][a-z0-9_-]*")
TURN = re.compile(r"^# (system|user|assistant)$", re.MULTILINE)
PLACE = re.compile(r"\{\{(\w+)\}\}")
OWN_TOKENS = re.compile(r"<(?=\s*/?\s*data\b)|<(?=\|)|<(?=/?(?:s|bos|eos|start_of_turn|end_of_turn)>)", re.IGNORECASE)
"""Our fence, and what chat templates put around turns: a page that holds them could end its own fence."""


class Data(NamedTuple):
    """One of several texts that go to the same place, with a name of our own making."""

    name: str
    text: str


Value = str | int | tuple[Data, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a prompt, with places for values."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with its places."""

    name: str
    turns: tuple[Turn, ...]

    @property
    def places(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place for turn in self.turns for place in PLACE.findall(turn.text)))

    def fill(self, **values: Value) -> tuple[Message, ...]:
        """The messages to send. Numbers go in as they are; text goes in fenced, and several texts each for itself."""
        missing = [place for place in self.places if place not in values]
        unknown = sorted(set(values) - set(self.places))
        if missing or unknown:
            wrong = [f"needs {name!r}" for name in missing] + [f"has no place for {name!r}" for name in unknown]
            raise BadSettings(f"The prompt {self.name!r} {' and '.join(wrong)}.", remedy="Give it what it names.")
        return tuple(
            Message(turn.role, PLACE.sub(lambda found: _written(found[1], values[found[1]]), turn.text))
            for turn in self.turns
        )


def _written(name: str, value: Value) -> str:
    if isinstance(value, tuple):
        return "\n".join(fenced(*one) for one in value) or fenced(name, "none")
    return fenced(name, value) if isinstance(value, str) else str(value)


def fenced(name: str, text: str) -> str:
    """A text as data: nothing in it can end the fence or begin a turn."""
    return f'<data name="{name}">\n{OWN_TOKENS.sub("‹", text)}\n</data>'


@functools.cache
def prompt(name: str) -> Prompt:
    """A prompt by the name of its file."""
    file = resources.files("kiwiresearch.llm") / "prompts" / f"{name}.md"
    if not NAME.fullmatch(name) or not file.is_file():
        raise BadSettings(f"There is no prompt {name!r}.", remedy="Prompts are the files in llm/prompts.")
    return parsed(name, file.read_text(encoding="utf-8"))


def parsed(name: str, text: str) -> Prompt:
    """A prompt from its file: a heading '# system' or '# user' begins each message."""
    before, *parts = TURN.split(text)
    if before.strip() or not parts:
        raise BadSettings(f"The prompt {name!r} does not begin with a turn.", remedy="Begin it with '# system'.")
    if "{{" in PLACE.sub("", text):
        raise BadSettings(f"The prompt {name!r} has braces that are no place.", remedy="Write places like {{term}}.")
    turns = [Turn(_role(role), said.strip()) for role, said in zip(parts[::2], parts[1::2], strict=True)]
    return Prompt(name, tuple(turns))


def _role(word: str) -> Role:
    return "system" if word == "system" else "user" if word == "user" else "assistant"
