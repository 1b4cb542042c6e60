"""Request bodies: each field with its bounds, its meaning and an example, as the OpenAPI shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from kiwiresearch.ask import AskMode, AskOptions, ConversationTurn
from kiwiresearch.text import encodable, printable

MAX_WORDS = 2_000
"""Characters of a question or a query."""
MAX_TEXT = 200_000
"""Characters of a text whose claims are wanted."""
MAX_NAME = 500
"""Characters of a title, a path or the name of a book."""
MAX_ANSWER = 20_000
MAX_TURNS = 50
MAX_PASSAGES = 20


REPLACE_SURROGATES = BeforeValidator(lambda value: encodable(value) if isinstance(value, str) else value)
"""JSON can contain lone surrogates, but UTF-8 cannot."""
ONE_LINE = AfterValidator(printable)
"""Control characters and line ends are dropped."""

Words = Annotated[str, Field(max_length=MAX_WORDS), REPLACE_SURROGATES, ONE_LINE]
Name = Annotated[str, Field(max_length=MAX_NAME), REPLACE_SURROGATES, ONE_LINE]
Question = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_WORDS,
        description="The question.",
        examples=["Why is the sky orange at sunset?"],
    ),
    REPLACE_SURROGATES,
    ONE_LINE,
]
ModeField = Annotated[
    AskMode,
    Field(description="How a model writes the answer: as usual, for a ten-year-old, for an expert, or as a quiz."),
]
Passages = Annotated[
    int,
    Field(ge=1, le=MAX_PASSAGES, description="The maximum number of passages that the answer uses and shows."),
]
PageField = Annotated[
    Name, Field(description="Answer only from the page with this title or path.", examples=["Sunset"])
]
ModelField = Annotated[bool, Field(description="`false` quotes the books even if a model is set up.")]
StreamField = Annotated[
    bool | None,
    Field(
        description="`true` streams events, `false` returns one document; "
        "by default, the header `Accept: text/event-stream` decides."
    ),
]
BookField = Annotated[Name, Field(description="Only this book: its name, its title or its UUID.")]


class Body(BaseModel):
    """A field that is not known is an error: most often it is a known one, misspelt."""

    model_config = ConfigDict(extra="forbid")


class TurnBody(Body):
    """An earlier question of the conversation and its answer."""

    question: Question
    subject: Annotated[Name, Field(description="`subject` from the reply to it.", examples=["Albert Einstein"])] = ""
    answer: Annotated[
        str, Field(max_length=MAX_ANSWER, description="`answer` from the reply to it."), REPLACE_SURROGATES
    ] = ""


class QuestionBase(Body):
    """What all questions have in common."""

    question: Question
    k: Passages = 6
    mode: ModeField = "default"

    def options(self) -> AskOptions:
        """The options of the question; the settings decide how many passages unless the client gave `k`."""
        return AskOptions(mode=self.mode, passages=self.k if "k" in self.model_fields_set else 0)


class QuestionOptions(QuestionBase):
    """What a question may choose beside."""

    page: PageField = ""
    model: ModelField = True
    stream: StreamField = None

    def options(self) -> AskOptions:
        return replace(super().options(), page=self.page, with_model=self.model)


class AskBody(QuestionOptions):
    """A question to the books."""

    turns: Annotated[
        list[TurnBody],
        Field(max_length=MAX_TURNS, description="The conversation so far, oldest first."),
    ] = []

    def options(self) -> AskOptions:
        turns = tuple(ConversationTurn(turn.question, turn.subject, turn.answer) for turn in self.turns)
        return replace(super().options(), turns=turns)


class AskQuery(QuestionOptions):
    """The same in an address, for browsers and for trying things out."""

    question: Annotated[Question, Field(alias="q")]


class ChatBody(QuestionBase):
    """A question whose answer is always streamed."""


class PageAskBody(QuestionBase):
    """A question to one page."""

    path: Annotated[Name, Field(min_length=1, description="The page's path or title.", examples=["Sunset"])]
    book: BookField = ""


class ClaimsBody(Body):
    """A text to find claims in."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_TEXT,
            description="Plain text; a blank line ends a paragraph.",
            examples=["Hattusa was burned about 1180 BC. It may have been abandoned before."],
        ),
        REPLACE_SURROGATES,
    ]
    title: Annotated[Name, Field(description="What the text is about; pronouns in it refer to this.")] = ""
