"""The model protocol: messages, options and replies; prompts from files, and estimates of their tokens."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, NamedTuple, Protocol, cast, get_args

from kiwiresearch.errors import BadSettings, ModelError
from kiwiresearch.ids import canonical_json

Role = Literal["system", "user", "assistant", "tool"]
Effort = Literal["", "none", "minimal", "low", "medium", "high"]
Finish = Literal["stop", "length", "repeated"]
"""Why a reply ended: the model finished, reached `max_tokens`, or was stopped because it repeated itself."""

SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(text: str) -> str:
    """The text with lone surrogates replaced: they have no UTF-8 form, so they cannot be sent or stored."""
    return SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's call of a tool; the arguments are what the model wrote, which should be JSON."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn of a conversation; the result of a tool call has the role `tool`."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """The tools that the model called in this turn."""
    call_id: str = ""
    """The call that this turn is the result of."""

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            raise BadSettings(
                f"{self.role!r} is not the role of a message.", remedy=f"Choose one of: {', '.join(get_args(Role))}."
            )
        object.__setattr__(self, "text", without_surrogates(self.text))


@dataclass(frozen=True, slots=True)
class Temperatures:
    """The range of temperatures allowed for one kind of work."""

    work: str
    low: float
    high: float

    def checked(self, value: float) -> float:
        """The value; BadSettings if it is outside the range."""
        if not self.low <= value <= self.high:
            raise BadSettings(
                f"The temperature for {self.work} cannot be {value!r}.",
                remedy=f"It must be between {self.low:g} and {self.high:g}.",
            )
        return value


EXTRACTION = Temperatures("extraction", 0.0, 0.3)
WRITE_UP = Temperatures("write-up", 0.4, 0.7)
ANY_WORK = Temperatures("a model", 0.0, 2.0)


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The form a reply must have: a JSON schema, as text."""

    name: str
    text: str

    @classmethod
    def of(cls, name: str, schema: Mapping[str, Any]) -> ReplySchema:
        return cls(name, canonical_json(schema))

    @property
    def value(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call."""

    name: str
    purpose: str
    parameters: ReplySchema


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a request. They are part of the key under which replies are cached."""

    temperature: float = 0.0
    max_tokens: int = 512
    schema: ReplySchema | None = None
    reasoning_effort: Effort = "low"
    seed: int = 0
    tools: tuple[Tool, ...] = ()
    """Left out for servers that do not support tools."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", float(ANY_WORK.checked(self.temperature)))
        if self.max_tokens < 1:
            raise BadSettings(f"A reply cannot have {self.max_tokens!r} tokens.", remedy="Allow at least 1 token.")
        if self.reasoning_effort not in get_args(Effort):
            raise BadSettings(
                f"{self.reasoning_effort!r} is not a reasoning effort.", remedy=f"Choose one of {get_args(Effort)}."
            )


DEFAULT_OPTIONS = Options()


def extraction_options(temperature: float = 0.0, *, max_tokens: int = 512, reasoning_effort: Effort = "low") -> Options:
    """Options for work that must stay close to the text."""
    return Options(EXTRACTION.checked(temperature), max_tokens, reasoning_effort=reasoning_effort)


def write_up_options(temperature: float = 0.5, *, max_tokens: int = 1024, reasoning_effort: Effort = "low") -> Options:
    """Options for work that puts known facts into words."""
    return Options(WRITE_UP.checked(temperature), max_tokens, reasoning_effort=reasoning_effort)


@dataclass(frozen=True, slots=True)
class ReplyPiece:
    """A part of a reply as it arrives, of the answer or of the thinking before it."""

    kind: Literal["answer", "thinking"]
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply; the thinking is not part of the text."""

    text: str
    finish: Finish = "stop"
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    """Tools the model wants to use before it continues."""

    def as_pieces(self) -> Iterator[ReplyPiece | Reply]:
        """The reply as `Model.pieces` would give it."""
        if self.thinking:
            yield ReplyPiece("thinking", self.thinking)
        if self.text:
            yield ReplyPiece("answer", self.text)
        yield self


class Model(Protocol):
    """A source of replies: a server, cached replies, a script."""

    @property
    def name(self) -> str: ...

    def context_tokens(self) -> int | None:
        """How many tokens it reads at once, prompt and reply together; None if unknown."""

    def chat(self, messages: Sequence[ChatMessage], options: Options = ...) -> Reply:
        """The complete reply."""

    def pieces(self, messages: Sequence[ChatMessage], options: Options = ...) -> Iterator[ReplyPiece | Reply]:
        """Answer and thinking as they arrive, then the complete reply, as `chat` returns it."""


DEFAULT_CONTEXT_TOKENS = 4_096


def context_size(model: Model) -> int:
    """How many tokens a model reads at once, or a small number if it does not say."""
    return model.context_tokens() or DEFAULT_CONTEXT_TOKENS


def short_model_name(name: str) -> str:
    """The display name of a model: servers often give the path of its file."""
    return re.split(r"[/\\]", name)[-1].removesuffix(".gguf")


def model_label(model: Model) -> str:
    """How messages refer to a model, even if its name is unknown."""
    try:
        name = model.name
    except ModelError:
        name = ""
    return f"The model {name!r}" if name else "The model"


def final_reply(pieces: Iterable[ReplyPiece | Reply]) -> Reply:
    """The reply at the end of some pieces; all are read, so that the call is finished."""
    *_, last = pieces
    if not isinstance(last, Reply):
        raise TypeError("pieces end with a Reply")
    return last


NAME = re.compile(r"[a-z][a-z0-9_-]*")
TURN = re.compile(r"^# (system|user|assistant)$", re.MULTILINE)
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
# Replaces the "<" of "</data>", "<|im_end|>" and "</s>"; leaves "<b>" and "a < b" unchanged.
OWN_TOKENS = re.compile(r"<(?=\s*/?\s*data\b)|<(?=\|)|<(?=/?(?:s|bos|eos|start_of_turn|end_of_turn)>)", re.IGNORECASE)
"""Our own fence and the markers of chat templates: with these, the text of a page could break out of its fence."""


class PromptData(NamedTuple):
    """One of several texts for the same placeholder, with a name that we give it."""

    name: str
    text: str


PromptValue = str | int | tuple[PromptData, ...]


@dataclass(frozen=True, slots=True)
class PromptTurn:
    """One message of a prompt, with placeholders."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with placeholders such as {{question}}."""

    name: str
    turns: tuple[PromptTurn, ...]

    @property
    def placeholders(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for turn in self.turns for name in PLACEHOLDER.findall(turn.text)))

    def fill(self, **values: PromptValue) -> tuple[ChatMessage, ...]:
        """The messages to send. Numbers are inserted unchanged, each text inside its own fence."""
        missing = [name for name in self.placeholders if name not in values]
        unknown = sorted(set(values) - set(self.placeholders))
        if missing or unknown:
            wrong = [f"needs {name!r}" for name in missing] + [f"has no place for {name!r}" for name in unknown]
            raise BadSettings(
                f"The prompt {self.name!r} {' and '.join(wrong)}.",
                remedy="Pass exactly the values that the prompt names.",
            )
        return tuple(
            ChatMessage(turn.role, PLACEHOLDER.sub(lambda found: _written(found[1], values[found[1]]), turn.text))
            for turn in self.turns
        )


def _written(name: str, value: PromptValue) -> str:
    if isinstance(value, tuple):
        return "\n".join(fenced(*prompt_data) for prompt_data in value) or fenced(name, "none")
    return fenced(name, value) if isinstance(value, str) else str(value)


def fenced(name: str, text: str) -> str:
    """A text marked as data: nothing in it can close the fence or start a new turn."""
    return f'<data name="{name}">\n{OWN_TOKENS.sub("‹", text)}\n</data>'


@functools.cache
def prompt(name: str) -> Prompt:
    """The prompt in the file of this name."""
    file = resources.files("kiwiresearch.llm") / "prompts" / f"{name}.md"
    # A name with a slash could lead out of the folder.
    if not NAME.fullmatch(name) or not file.is_file():
        raise BadSettings(f"There is no prompt {name!r}.", remedy="Prompts are the files in llm/prompts.")
    return parse_prompt(name, file.read_text(encoding="utf-8"))


def parse_prompt(name: str, text: str) -> Prompt:
    """Parse a prompt file, in which a heading '# system', '# user' or '# assistant' starts each message."""
    before, *parts = TURN.split(text)
    if before.strip() or not parts:
        raise BadSettings(f"The prompt {name!r} does not start with a role.", remedy="Begin it with '# system'.")
    if "{{" in PLACEHOLDER.sub("", text):
        raise BadSettings(
            f"The prompt {name!r} has braces that do not name a value.", remedy="Write placeholders like {{term}}."
        )
    turns = zip(parts[::2], parts[1::2], strict=True)
    return Prompt(name, tuple(PromptTurn(cast(Role, role), said.strip()) for role, said in turns))


PER_MESSAGE = 8
PER_PROMPT = 48
"""Some templates add a system message of their own."""

WORD = re.compile(r"[A-Za-z]+")
# Each sign, each digit and each line end; and a space before a digit, which counts by itself.
PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~0-9\n]| (?=[0-9])")
SPACES = re.compile(r"[^\S\n]{2,}")
BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """An estimate of a text's tokens, rather too high than too low.

    Models split words into parts of some three letters, take punctuation and digits one by one, and rare letters
    byte by byte.
    """
    words = sum(1 + (len(word) - 1) // 3 for word in WORD.findall(text))
    spaces = sum(len(run) // 2 for run in SPACES.findall(text))
    beyond = sum(len(letters.encode("utf-8", "replace")) for letters in BEYOND_ASCII.findall(text))
    return words + len(PUNCTUATION.findall(text)) + spaces + math.ceil(beyond * 0.75)


def estimate_prompt(texts: Iterable[str]) -> int:
    """An estimate of the tokens of a conversation of these texts, including what templates add to each turn."""
    return PER_PROMPT + sum(PER_MESSAGE + estimate_tokens(text) for text in texts)
