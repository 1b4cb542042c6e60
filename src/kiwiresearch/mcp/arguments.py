"""The arguments of each tool, with the descriptions that models read; short, since clients send them every time."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from kiwiresearch.ask import AskMode
from kiwiresearch.claims import ClaimType
from kiwiresearch.codec import JsonDict
from kiwiresearch.text import printable

MAX_WORDS = 2_000
MAX_NAME = 500
MAX_WAIT_S = 300

ONE_LINE = AfterValidator(lambda text: printable(text).strip())
Words = Annotated[str, ONE_LINE, Field(max_length=MAX_WORDS)]
Name = Annotated[str, ONE_LINE, Field(max_length=MAX_NAME)]


class Arguments(BaseModel):
    """An unknown argument is an error, so that a model learns the right one."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def schema_for_models(cls) -> JsonDict:
        """The JSON schema, without what models do not need."""
        schema = cls.model_json_schema()
        return {"type": "object", **{key: _plain(schema[key]) for key in ("properties", "required") if key in schema}}


class AskArguments(Arguments):
    """A question."""

    question: Annotated[Words, Field(description="One complete question that names its subject.")]
    mode: Annotated[AskMode, Field(description="How a language model writes the answer, if one is set.")] = "default"
    page: Annotated[Name, Field(description="Answer from this page only: title or path.")] = ""
    passages: Annotated[int, Field(ge=0, le=10, description="How many passages to show below the answer.")] = 2


class SearchArguments(Arguments):
    """A query."""

    query: Annotated[Words, Field(description="A title, words or a question.")]
    limit: Annotated[int, Field(ge=1, le=50)] = 8
    focus: Annotated[Name, Field(description="Which meaning you want, for example 'planet' for Mercury.")] = ""


class PageArguments(Arguments):
    """A page of a book."""

    title: Annotated[Name, Field(description="Title or path, as returned by search.")]
    book: Annotated[Name, Field(description="Only this book: name, title or UUID.")] = ""


class SectionArguments(PageArguments):
    """A page or a section of it."""

    section: Annotated[Name, Field(description="A heading. Without one, a long page returns its contents first.")] = ""
    start: Annotated[int, Field(ge=0, description="Continue at this character of a text that was cut.")] = 0


class ClaimsArguments(PageArguments):
    """A page whose claims are wanted."""

    kind: Annotated[ClaimType | None, Field(description="Only claims of this type.")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class ResearchArguments(Arguments):
    """A topic to begin with, or a run to ask about."""

    topic: Annotated[Words, Field(description="Start research on this topic.")] = ""
    id: Annotated[Name, Field(description="Or: check this run, and resume it if it was interrupted.")] = ""
    focus: Annotated[Name, Field(description="What to focus on.")] = ""
    aspect: Annotated[Name, Field(description="The aspect of the topic, such as causes.")] = ""
    max_pages: Annotated[int | None, Field(ge=1, le=1_000)] = None
    wait_s: Annotated[int, Field(ge=0, le=MAX_WAIT_S, description="How long to wait for the brief.")] = 45


class NoArguments(Arguments):
    """Nothing."""


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        shown = {key: _plain(inner) for key, inner in value.items() if key not in ("title", "maxLength")}
        # A property may be called 'title' as well: its value is a schema, not a text.
        return shown | {
            key: _plain(inner) for key, inner in value.items() if key == "title" and isinstance(inner, dict)
        }
    return [_plain(item) for item in value] if isinstance(value, list) else value
