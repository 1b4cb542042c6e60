"""What clients send: each field with its bounds, its meaning and an example, as the OpenAPI shows them."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from kiwiresearch.ask.settings import Mode
from kiwiresearch.ask.wish import AskWish, Turn
from kiwiresearch.text.plain import printable

MOST_WORDS = 2_000
"""How many characters a question or a query may have."""
MOST_TEXT = 200_000
"""How many characters a text may have whose claims are wanted."""
MOST_NAME = 500
"""How many characters a title, a path or the name of a book may have."""
MOST_ANSWER = 20_000
MOST_TURNS = 50
MOST_PASSAGES = 20


def encodable(value: Any) -> Any:
    """Half a character, which JSON can spell and no encoding has, becomes a question mark."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


WHOLE = BeforeValidator(encodable)
IN_ONE_LINE = AfterValidator(printable)
"""Control characters and line ends are no part of what a person asks."""

Words = Annotated[str, Field(max_length=MOST_WORDS), WHOLE, IN_ONE_LINE]
Name = Annotated[str, Field(max_length=MOST_NAME), WHOLE, IN_ONE_LINE]
Question = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MOST_WORDS,
        description="The question, in words.",
        examples=["Why is the sky orange at sunset?"],
    ),
    WHOLE,
    IN_ONE_LINE,
]
ModeField = Annotated[
    Mode,
    Field(
        description="How the answer is worded where a model words it: as usual, for a child of ten, "
        "for an expert, or as a quiz."
    ),
]
Passages = Annotated[
    int,
    Field(ge=1, le=MOST_PASSAGES, description="How many passages the answer is taken from, and shows, at most."),
]
PageField = Annotated[Name, Field(description="Answer from the page of this title or path alone.", examples=["Sunset"])]
ModelField = Annotated[bool, Field(description="`false` answers in the books' own words even where a model is set.")]
StreamField = Annotated[
    bool | None,
    Field(
        description="`true` streams events, `false` gives one document; "
        "if not given, the header `Accept: text/event-stream` asks for a stream."
    ),
]
BookField = Annotated[Name, Field(description="Only this book: its name, its title or its UUID.")]


def has_words(text: str) -> bool:
    """Whether there is anything in it to look for: a letter, a number or a sign such as '+'."""
    return any(unicodedata.category(char)[0] in "LNS" for char in text)


class Body(BaseModel):
    """A field that is not known is an error: most often it is a known one, misspelt."""

    model_config = ConfigDict(extra="forbid")


class TurnBody(Body):
    """An earlier question of the conversation, and what was answered."""

    question: Question
    subject: Annotated[Name, Field(description="`subject` of the answer to it.", examples=["Albert Einstein"])] = ""
    answer: Annotated[str, Field(max_length=MOST_ANSWER, description="`answer` of the answer to it."), WHOLE] = ""


class Asking(Body):
    """What all questions have in common."""

    question: Question
    k: Passages = 6
    mode: ModeField = "default"

    def wish(self) -> AskWish:
        """What is asked for beside the question; `k` counts where the client gave it, else the settings do."""
        return AskWish(mode=self.mode, passages=self.k if "k" in self.model_fields_set else 0)


class Choosing(Asking):
    """What a question may choose beside."""

    page: PageField = ""
    model: ModelField = True
    stream: StreamField = None

    def wish(self) -> AskWish:
        return replace(super().wish(), page=self.page, with_model=self.model)


class AskBody(Choosing):
    """A question to the books."""

    turns: Annotated[
        list[TurnBody],
        Field(max_length=MOST_TURNS, description="The conversation so far, the oldest turn first."),
    ] = []

    def wish(self) -> AskWish:
        turns = tuple(Turn(turn.question, turn.subject, turn.answer) for turn in self.turns)
        return replace(super().wish(), turns=turns)


class AskQuery(Choosing):
    """The same in an address, for browsers and for trying things out."""

    question: Annotated[Question, Field(alias="q")]


class ChatBody(Asking):
    """A question whose answer is always streamed."""


class PageAskBody(Asking):
    """A question to one page."""

    path: Annotated[Name, Field(min_length=1, description="The page's path or title.", examples=["Sunset"])]
    book: BookField = ""


class ClaimsBody(Body):
    """A text whose claims are wanted."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MOST_TEXT,
            description="Plain text; a blank line ends a paragraph.",
            examples=["Hattusa was burned about 1180 BC. It may have been abandoned before."],
        ),
        WHOLE,
    ]
    title: Annotated[Name, Field(description="What the text is about: its pronouns stand for it.")] = ""
