"""What is said to a model and what it says back, whatever is behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from kiwiresearch.errors import BadSettings, ModelError
from kiwiresearch.ids import canonical_json

Role = Literal["system", "user", "assistant", "tool"]
Effort = Literal["", "none", "minimal", "low", "medium", "high"]
Finish = Literal["stop", "length", "repeated"]
"""It was done; it was cut off at `max_tokens`; it went round in circles and was cut by us."""

SURROGATE = re.compile("[\ud800-\udfff]")


def whole_letters(text: str) -> str:
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
        object.__setattr__(self, "text", whole_letters(self.text))


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


def called(model: Model) -> str:
    """How to speak of a model, also of one that does not even tell its name."""
    try:
        name = model.name
    except ModelError:
        name = ""
    return f"The model {name!r}" if name else "The model"


def answer_in(pieces: Iterable[Piece | Reply]) -> Iterator[str]:
    for piece in pieces:
        if isinstance(piece, Piece) and piece.kind == "answer":
            yield piece.text


def reply_in(pieces: Iterable[Piece | Reply]) -> Reply:
    """The reply that ends every run of pieces, read to the end so that nothing is left under way."""
    *_, last = pieces
    if not isinstance(last, Reply):
        raise TypeError("pieces end with a Reply")
    return last
