"""What chat clients send in OpenAI's form, and how it becomes a question with the turns before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.ask.markdown import without_ending
from kiwiresearch.ask.settings import Mode
from kiwiresearch.ask.wish import AskWish, Turn
from kiwiresearch.errors import BadUsage
from kiwiresearch.text.plain import printable
from kiwiresearch.web.background_prompts import question_in, reply_to

MOST_MESSAGES = 1_000
MOST_TURNS = 10
MOST_QUESTION = 4_000
MOST_ANSWER = 2_000
"""Characters: of a question, and of an earlier answer, of which the rest is left out."""

SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Offered:
    """A name under which the shelf answers, and how it then does."""

    id: str
    mode: Mode = "default"
    with_model: bool = True


OFFERED = {
    offered.id: offered
    for offered in (
        Offered("kiwiresearch"),
        Offered("kiwiresearch-eli10", "eli10"),
        Offered("kiwiresearch-advanced", "advanced"),
        Offered("kiwiresearch-quiz", "quiz"),
        Offered("kiwiresearch-books", with_model=False),
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
    """What a stream carries beside the words."""

    include_usage: bool | None = False


class CompletionBody(BaseModel):
    """A conversation whose last user message is the question.

    Messages of the system and all other fields of OpenAI's API are accepted and have no effect:
    an answer is what the books say, whatever it is asked to sound like.
    """

    model_config = ConfigDict(extra="ignore")

    model: str = Field(description="One of the ids of `GET /v1/models`.", examples=["kiwiresearch"])
    messages: Annotated[list[CompletionMessage], Field(min_length=1, max_length=MOST_MESSAGES)] = Field(
        examples=[[{"role": "user", "content": "Why is the sky orange at sunset?"}]]
    )
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = Field(1, description="There is one answer; more cannot be asked for.")

    @property
    def with_usage(self) -> bool:
        return self.stream_options is not None and bool(self.stream_options.include_usage)

    def offered(self) -> Offered | None:
        return OFFERED.get(self.model)


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation understood: a question for the books, or a prompt whose reply needs none."""

    question: str
    wish: AskWish
    reply: str | None
    texts: tuple[str, ...]
    """All that was sent, for a count."""


def asked_of(body: CompletionBody, offered: Offered) -> Asked:
    """The question, the turns before it, and whether it is one at all."""
    if body.n not in (None, 1):
        raise BadUsage(f"There is one answer, not {body.n}.", remedy="Leave 'n' out, or set it to 1.")
    said = [(message.role, _text(message)) for message in body.messages]
    last = max((place for place, (role, _) in enumerate(said) if role == "user"), default=-1)
    if last < 0:
        raise BadUsage("No message is a user's.", remedy="Put the question into a message of the role 'user'.")
    system = "\n".join(text for role, text in said if role in SYSTEM)
    reply = reply_to(said[last][1], system)
    question = printable(question_in(said[last][1])).strip()
    if reply is None:
        _check(question)
    wish = AskWish(offered.mode, turns=_turns(said[:last]), with_model=offered.with_model)
    return Asked(question, wish, reply, tuple(text for _, text in said))


def _check(question: str) -> None:
    if not any(char.isalnum() for char in question):
        raise BadUsage("The last user message has no words.", remedy="Ask something.")
    if len(question) > MOST_QUESTION:
        raise BadUsage(
            f"The question has {len(question):,} characters.", remedy=f"Ask in at most {MOST_QUESTION:,} characters."
        )


def _text(message: CompletionMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts = message.content or []
    for part in parts:
        if part.type != "text" and message.role == "user":
            raise BadUsage(f"A part of a message is of the type {part.type[:40]!r}.", remedy="Only text is read here.")
    return "\n".join(part.text for part in parts if part.type == "text")


def _turns(said: Sequence[tuple[str, Any]]) -> tuple[Turn, ...]:
    """Each earlier question with the last answer to it, the oldest first."""
    turns: list[Turn] = []
    for role, text in said:
        if role == "user":
            turns.append(Turn(printable(question_in(text)).strip()[:MOST_QUESTION]))
        elif role == "assistant" and turns and text.strip():
            turns[-1] = Turn(turns[-1].question, answer=without_ending(text)[:MOST_ANSWER])
    return tuple(turn for turn in turns if turn.question)[-MOST_TURNS:]
