"""What is said to a model and what it says back; prompts from files, and how many tokens they take."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, NamedTuple, Protocol, get_args

from kiwiresearch.errors import BadSettings, ModelError
from kiwiresearch.ids import canonical_json

Role = Literal["system", "user", "assistant", "tool"]
Effort = Literal["", "none", "minimal", "low", "medium", "high"]
Finish = Literal["stop", "length", "repeated"]
"""It was done; it was cut off at `max_tokens`; it went round in circles and was cut by us."""

SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """Half a surrogate pair has no bytes: no server can be sent it, no file can hold it."""
    return SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a model wants used, with its arguments as the model wrote them: JSON, if it kept to that."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; `tool` is the role of what a call gave."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """What the model wanted used in this turn of its own."""
    call_id: str = ""
    """The call that this turn answers."""

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            raise BadSettings(f"{self.role!r} is no role of a message.", remedy=f"Use one of {get_args(Role)}.")
        object.__setattr__(self, "text", without_surrogates(self.text))


@dataclass(frozen=True, slots=True)
class Temperatures:
    """A range of temperatures that suits one kind of work."""

    work: str
    low: float
    high: float

    def checked(self, value: float) -> float:
        """The value, if it is in the range."""
        if not self.low <= value <= self.high:
            raise BadSettings(
                f"The temperature for {self.work} is {value!r}.",
                remedy=f"It must be between {self.low:g} and {self.high:g}.",
            )
        return value


EXTRACTION = Temperatures("extraction", 0.0, 0.3)
WRITE_UP = Temperatures("write-up", 0.4, 0.7)
ANY_WORK = Temperatures("a model", 0.0, 2.0)


@dataclass(frozen=True, slots=True)
class Schema:
    """The form a reply must have, as a JSON schema written out once."""

    name: str
    text: str

    @classmethod
    def of(cls, name: str, schema: Mapping[str, Any]) -> Schema:
        return cls(name, canonical_json(schema))

    @property
    def value(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Tool:
    """Something a model may ask us to do for it; its parameters are a JSON schema written out once."""

    name: str
    purpose: str
    parameters: Schema


@dataclass(frozen=True, slots=True)
class Options:
    """How a reply is to be made. Equal options and messages may share one kept reply."""

    temperature: float = 0.0
    max_tokens: int = 512
    schema: Schema | None = None
    reasoning_effort: Effort = "low"
    seed: int = 0
    tools: tuple[Tool, ...] = ()
    """A server that knows no tools is asked without them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", float(ANY_WORK.checked(self.temperature)))
        if self.max_tokens < 1:
            raise BadSettings(f"A reply of {self.max_tokens!r} tokens says nothing.", remedy="Allow at least one.")
        if self.reasoning_effort not in get_args(Effort):
            raise BadSettings(
                f"{self.reasoning_effort!r} is no reasoning effort.", remedy=f"Use one of {get_args(Effort)}."
            )


def extraction(temperature: float = 0.0, *, max_tokens: int = 512, reasoning_effort: Effort = "low") -> Options:
    """Options for work that must keep to the text."""
    return Options(EXTRACTION.checked(temperature), max_tokens, reasoning_effort=reasoning_effort)


def write_up(temperature: float = 0.5, *, max_tokens: int = 1024, reasoning_effort: Effort = "low") -> Options:
    """Options for work that puts known facts into words."""
    return Options(WRITE_UP.checked(temperature), max_tokens, reasoning_effort=reasoning_effort)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a reply as it arrives: of the answer, or of the thinking before it."""

    kind: Literal["answer", "thinking"]
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply: the answer without the thinking, which is kept apart."""

    text: str
    finish: Finish = "stop"
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    """Tools the model wants used before it goes on; known only when the reply is whole."""


class Model(Protocol):
    """Something that can be asked: a server, kept replies, a script."""

    @property
    def name(self) -> str: ...

    def context_tokens(self) -> int | None:
        """How many tokens it reads at once, prompt and reply together; None where nobody knows."""

    def chat(self, messages: Sequence[Message], options: Options = ...) -> Reply:
        """The whole reply."""

    def pieces(self, messages: Sequence[Message], options: Options = ...) -> Iterator[Piece | Reply]:
        """Answer and thinking as they arrive, then the whole reply as `chat` gives it."""

    def stream(self, messages: Sequence[Message], options: Options = ...) -> Iterator[str]:
        """The answer's text as it arrives, and nothing else."""


def short_model_name(name: str) -> str:
    """The name of a model for people: servers often give the path of its file."""
    return re.split(r"[/\\]", name)[-1].removesuffix(".gguf")


def model_label(model: Model) -> str:
    """How to speak of a model, also of one that does not even tell its name."""
    try:
        name = model.name
    except ModelError:
        name = ""
    return f"The model {name!r}" if name else "The model"


def answer_texts(pieces: Iterable[Piece | Reply]) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, Piece) and piece.kind == "answer":
            yield piece.text


def final_reply(pieces: Iterable[Piece | Reply]) -> Reply:
    """The reply that ends every run of pieces, read to the end so that nothing is left under way."""
    *_, last = pieces
    if not isinstance(last, Reply):
        raise TypeError("pieces end with a Reply")
    return last


NAME = re.compile(r"[a-z][a-z0-9_-]*")
TURN = re.compile(r"^# (system|user|assistant)$", re.MULTILINE)
PLACE = re.compile(r"\{\{(\w+)\}\}")
OWN_TOKENS = re.compile(r"<(?=\s*/?\s*data\b)|<(?=\|)|<(?=/?(?:s|bos|eos|start_of_turn|end_of_turn)>)", re.IGNORECASE)
"""Our fence, and what chat templates put around turns: a page that holds them could end its own fence."""


class PromptData(NamedTuple):
    """One of several texts that go to the same place, with a name of our own making."""

    name: str
    text: str


PromptValue = str | int | tuple[PromptData, ...]


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """One message of a prompt, with places for values."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with its places."""

    name: str
    turns: tuple[PromptTurn, ...]

    @property
    def places(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place for turn in self.turns for place in PLACE.findall(turn.text)))

    def fill(self, **values: PromptValue) -> tuple[Message, ...]:
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


def _written(name: str, value: PromptValue) -> str:
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
    return parse_prompt(name, file.read_text(encoding="utf-8"))


def parse_prompt(name: str, text: str) -> Prompt:
    """A prompt from its file: a heading '# system' or '# user' begins each message."""
    before, *parts = TURN.split(text)
    if before.strip() or not parts:
        raise BadSettings(f"The prompt {name!r} does not begin with a turn.", remedy="Begin it with '# system'.")
    if "{{" in PLACE.sub("", text):
        raise BadSettings(f"The prompt {name!r} has braces that are no place.", remedy="Write places like {{term}}.")
    turns = [PromptTurn(_role(role), said.strip()) for role, said in zip(parts[::2], parts[1::2], strict=True)]
    return Prompt(name, tuple(turns))


def _role(word: str) -> Role:
    return "system" if word == "system" else "user" if word == "user" else "assistant"


PER_MESSAGE = 8
PER_PROMPT = 48
"""Some templates put a system message of their own in front."""

WORD = re.compile(r"[A-Za-z]+")
SIGN = re.compile(r"[!-/:-@\[-`{-~0-9\n]| (?=[0-9])")
SPACES = re.compile(r"[^\S\n]{2,}")
BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """Tokens of a text for a model whose tokens nobody can count here.

    Models cut words into parts of some three letters, take signs and digits one by one, and letters
    they know little of byte by byte.
    """
    words = sum(1 + (len(word) - 1) // 3 for word in WORD.findall(text))
    spaces = sum(len(run) // 2 for run in SPACES.findall(text))
    beyond = sum(len(letters.encode("utf-8", "replace")) for letters in BEYOND_ASCII.findall(text))
    return words + len(SIGN.findall(text)) + spaces + math.ceil(beyond * 0.75)


def estimate_prompt(texts: Iterable[str]) -> int:
    """Tokens of a conversation of these texts, with what templates put around each turn."""
    return PER_PROMPT + sum(PER_MESSAGE + estimate_tokens(text) for text in texts)
