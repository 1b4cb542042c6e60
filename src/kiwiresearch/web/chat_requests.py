"""What chat clients send in OpenAI's form: the body, the question in it, and what is wrong with it.

Open WebUI also sends its own prompts, for a title or tags, in the form of questions: they are recognised and answered
without the books.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.ask import AskMode, AskOptions, ConversationTurn, without_footer
from kiwiresearch.errors import BadUsage
from kiwiresearch.text import printable

# The marks that Open WebUI puts into its own prompts.
PROMPT_OPENING = "### Task:"
HISTORY = "<chat_history>"
TOOLS = "Available Tools:"
# A line such as "USER: Who was Ada?" in the history; not "The USER: field", which does not begin with it.
ROLE_MARK = re.compile(r"^(USER|ASSISTANT|SYSTEM|TOOL):[ \t]*", re.MULTILINE)
# The key in an instruction such as `JSON format: { "title": "your title" }`.
REQUESTED_KEY = re.compile(r'"(title|tags|follow_ups|queries|text|prompt)"\s*:')
USER_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
CONTEXT_END = "</context>"
TITLE_WORDS = 6


def background_reply(prompt: str, system: str = "") -> str | None:
    """The reply to a prompt of Open WebUI itself, in the form it wants; None for a person's question.

    Such a prompt is recognised by its opening, the conversation in it and the key it asks for: the words between them
    differ by version, and users can change them.
    """
    # Open WebUI lets a model choose among its own tools: none of them is needed.
    if system.lstrip().startswith(TOOLS):
        return json.dumps({"tool_calls": []})
    instructions, has_history, conversation = prompt.partition(HISTORY)
    if not instructions.lstrip().startswith(PROMPT_OPENING) or not has_history:
        return None
    wanted = REQUESTED_KEY.search(instructions)
    if wanted is None:
        return None
    asked = _questions(conversation)
    replies: dict[str, object] = {
        "title": _title(asked[0] if asked else ""),
        "tags": [],
        "follow_ups": [],
        "queries": asked[-1:],
        "text": "",
        "prompt": asked[-1] if asked else "",
    }
    return json.dumps({wanted[1]: replies[wanted[1]]}, ensure_ascii=False)


def question_in(text: str) -> str:
    """A person's question: Open WebUI puts it after its own search results."""
    if not text.lstrip().startswith(PROMPT_OPENING):
        return text
    quoted = USER_QUERY.search(text)
    if quoted:
        return quoted[1].strip()
    _, found, rest = text.rpartition(CONTEXT_END)
    return rest.strip() if found and rest.strip() else text


def _questions(conversation: str) -> list[str]:
    """The user's messages, in order."""
    _, *parts = ROLE_MARK.split(conversation.partition("</chat_history>")[0])
    turns = zip(parts[::2], parts[1::2], strict=True)
    return [" ".join(words.split()) for role, words in turns if role == "USER" and words.strip()]


def _title(question: str) -> str:
    words = question.rstrip("?!. ").split()
    return " ".join(words[:TITLE_WORDS]) + ("…" if len(words) > TITLE_WORDS else "")


Fault = Mapping[str, Any]
"""An error of pydantic: its `type`, `loc` and `ctx`."""

NOT_JSON = "The body is not JSON"
UNION_MEMBER = re.compile(r"str|list\[.*\]")
"""If a field may have one of two types, the `loc` of a fault names the type it was checked against."""

TEXT, LIST, OBJECT, NUMBER, BOOLEAN = "a text", "a list", "an object", "a whole number", "true or false"
EXPECTED_TYPES = (
    ("string", TEXT),
    ("list", LIST),
    ("model", OBJECT),
    ("dict", OBJECT),
    ("int", NUMBER),
    ("bool", BOOLEAN),
)
"""The expected type, by the prefix of a fault's `type`."""


@dataclass(frozen=True, slots=True)
class FirstFault:
    """A description of the first fault, and the field that has it."""

    words: str
    place: str = ""


def first_fault(faults: Sequence[Fault]) -> FirstFault:
    """The fault to correct first; the description does not repeat what was sent."""
    first = faults[0]
    field = _field(first)
    # A field that may have two types has a fault for each: the one that got furthest is the type that was meant.
    alike = [fault for fault in faults if _field(fault)[: len(field)] == field]
    meant = max(alike, key=lambda fault: len(fault["loc"]))
    if meant["type"] == "json_invalid":
        return FirstFault(f"{NOT_JSON}: {_reason(meant)} at character {meant['loc'][-1]}.")
    place = _field_path(_field(meant))
    if not place:
        state = "is empty" if meant["type"] == "missing" else "is not an object"
        return FirstFault(f"The body {state}: send a JSON object with 'model' and 'messages'.")
    choices = [fault for fault in alike if _field(fault) == _field(meant)]
    return FirstFault(f"{place!r} {_fault_words(meant, choices)}.", place)


def unreadable_body(cause: BaseException | None) -> str:
    """Why a body could not be parsed."""
    if isinstance(cause, RecursionError):
        return f"{NOT_JSON}: it is nested too deeply."
    if isinstance(cause, UnicodeError):
        return f"{NOT_JSON}: it is not UTF-8 text."
    return f"{NOT_JSON}."


def _fault_words(fault: Fault, choices: Sequence[Fault]) -> str:
    kind, context = str(fault["type"]), fault.get("ctx") or {}
    if kind == "missing":
        return "is missing"
    if kind == "literal_error":
        return f"must be {context['expected']}"
    if kind == "too_short":
        return "must not be empty" if context["min_length"] == 1 else f"needs {context['min_length']} items or more"
    if kind == "too_long":
        return f"can have at most {context['max_length']:,} items"
    wanted = dict.fromkeys(words for choice in choices for words in (_expected_type(str(choice["type"])),) if words)
    return f"must be {' or '.join(wanted)}" if wanted else "is not valid"


def _expected_type(kind: str) -> str:
    return next((words for start, words in EXPECTED_TYPES if kind.startswith(start)), "")


def _field(fault: Fault) -> tuple[str | int, ...]:
    """The path of the field, without 'body' and the names of types."""
    parts = [part for part in fault["loc"] if not (isinstance(part, str) and UNION_MEMBER.fullmatch(part))]
    return tuple(parts[1:])


def _field_path(field: Sequence[str | int]) -> str:
    """A field as OpenAI's API spells it: 'messages[0].content'."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in field).removeprefix(".")


def _reason(fault: Fault) -> str:
    reason = str((fault.get("ctx") or {}).get("error", "")).rstrip(".").removesuffix(" at")
    return reason[:1].lower() + reason[1:] or "it cannot be read"


MAX_MESSAGES = 1_000
MAX_TURNS = 10
MAX_QUESTION = 4_000
MAX_ANSWER = 2_000
"""Characters of a question, and of an earlier answer, which is cut there."""

SYSTEM_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model name under which the shelf answers, and how it answers then."""

    id: str
    mode: AskMode = "default"
    with_model: bool = True


MODEL_CHOICES = {
    choice.id: choice
    for choice in (
        ModelChoice("kiwiresearch"),
        ModelChoice("kiwiresearch-eli10", "eli10"),
        ModelChoice("kiwiresearch-advanced", "advanced"),
        ModelChoice("kiwiresearch-quiz", "quiz"),
        ModelChoice("kiwiresearch-books", with_model=False),
    )
}


class CompletionPart(BaseModel):
    """A part of a message; only text can be read here."""

    type: str
    text: str = ""


class CompletionMessage(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[CompletionPart] | None = None


class StreamOptions(BaseModel):
    """What a stream has in addition to the text."""

    include_usage: bool | None = False


class CompletionBody(BaseModel):
    """A conversation whose last user message is the question.

    Messages of the system and all other fields of OpenAI's API are accepted and have no effect:
    an answer is what the books say, whatever it is asked to sound like.
    """

    model_config = ConfigDict(extra="ignore")

    model: str = Field(description="One of the IDs from `GET /v1/models`.", examples=["kiwiresearch"])
    messages: Annotated[list[CompletionMessage], Field(min_length=1, max_length=MAX_MESSAGES)] = Field(
        examples=[[{"role": "user", "content": "Why is the sky orange at sunset?"}]]
    )
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(1, description="Always 1: there is only one answer.")

    @property
    def with_usage(self) -> bool:
        return self.stream_options is not None and bool(self.stream_options.include_usage)


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """The question of a conversation: one for the books, or a prompt whose `reply` does not need them."""

    question: str
    options: AskOptions
    reply: str | None
    texts: tuple[str, ...]
    """Everything that the client sent, for counting tokens."""


def read_conversation(body: CompletionBody, choice: ModelChoice) -> ChatQuestion:
    """The question of a conversation and the turns before it."""
    if body.n not in (None, 1):
        raise BadUsage(f"This server gives one answer at a time, not {body.n}.", remedy="Remove 'n' or set it to 1.")
    said = [(message.role, _text(message)) for message in body.messages]
    last = max((place for place, (role, _) in enumerate(said) if role == "user"), default=-1)
    if last < 0:
        raise BadUsage(
            "There is no message from the user.", remedy="Send the question in a message with the role 'user'."
        )
    system = "\n".join(text for role, text in said if role in SYSTEM_ROLES)
    reply = background_reply(said[last][1], system)
    question = printable(question_in(said[last][1])).strip()
    if reply is None:
        _check_question(question)
    options = AskOptions(choice.mode, turns=_turns(said[:last]), with_model=choice.with_model)
    return ChatQuestion(question, options, reply, tuple(text for _, text in said))


def _check_question(question: str) -> None:
    if not any(char.isalnum() for char in question):
        raise BadUsage("The last user message is empty.", remedy="Write a question in it.")
    if len(question) > MAX_QUESTION:
        raise BadUsage(f"The question has {len(question):,} characters.", remedy=f"Use at most {MAX_QUESTION:,}.")


def _text(message: CompletionMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = message.content or []
    for part in parts:
        if part.type != "text" and message.role == "user":
            raise BadUsage(
                f"A message contains a part of the type {part.type[:40]!r}, which cannot be read.",
                remedy="Send text only.",
            )
    return "\n".join(part.text for part in parts if part.type == "text")


def _turns(said: Sequence[tuple[str, Any]]) -> tuple[ConversationTurn, ...]:
    """Each earlier question with the last answer to it, the oldest first."""
    turns: list[ConversationTurn] = []
    for role, text in said:
        if role == "user":
            turns.append(ConversationTurn(printable(question_in(text)).strip()[:MAX_QUESTION]))
        elif role == "assistant" and turns and text.strip():
            turns[-1] = ConversationTurn(turns[-1].question, answer=without_footer(text)[:MAX_ANSWER])
    return tuple(turn for turn in turns if turn.question)[-MAX_TURNS:]
