"""A question as a form or an address brings it, with the conversation before it, so that a reload loses nothing."""

from __future__ import annotations

from itertools import zip_longest
from typing import Annotated
from urllib.parse import urlencode

from pydantic import BaseModel, Field

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.wish import AskWish, Turn
from kiwiresearch.text.plain import printable
from kiwiresearch.web.bodies import MOST_WORDS, Name, Words

MOST_TURNS = 8
LONGEST_SAID = 300
"""So much of an earlier answer goes along: who or what it named stands in its beginning."""
LONGEST_TURNS = 4_000
"""Letters of an address that earlier turns may take; the oldest give way."""

Said = Annotated[str, Field(max_length=LONGEST_SAID)]


class Asked(BaseModel):
    """What the page to ask on is opened with."""

    q: Words = ""
    model: bool = False
    """Whether a model may put the answer into words."""
    live: bool = False
    """Whether a script will show the answer as it comes."""
    via: Name = ""
    """`go` where the first page's box led here."""
    page: Name = ""
    """Answer from this page alone."""
    book: Name = ""
    before: Annotated[list[Words], Field(max_length=MOST_TURNS)] = []
    about: Annotated[list[Name], Field(max_length=MOST_TURNS)] = []
    said: Annotated[list[Said], Field(max_length=MOST_TURNS)] = []

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The conversation so far, the oldest turn first."""
        rows = list(zip_longest(self.before, self.about, self.said, fillvalue=""))
        return tuple(Turn(*row) for row in rows[: len(self.before)])

    def wish(self, *, with_model: bool) -> AskWish:
        return AskWish(turns=self.turns, with_model=with_model, page=self.page, book=self.book if self.page else "")

    def address(self, *, own_words: bool = False) -> str:
        """Where the same is asked again without a script, with `own_words` without a model as well."""
        given = [("q", self.q), ("page", self.page), ("book", self.book)]
        given += [("model", "on" if self.model and not own_words else "")]
        return f"/ask?{urlencode([row for row in given if row[1]] + fields_of(self.turns), errors='replace')}"

    def after(self, answer: Answer) -> tuple[Turn, ...]:
        """The conversation that the next question continues: as much of it as an address can bear.

        What was said is put into one line: a browser sends a line's end as two characters, which would make it longer
        than it may be.
        """
        said = printable(answer.text)[:LONGEST_SAID]
        last = Turn(answer.question[:MOST_WORDS], answer.subject[:LONGEST_SAID], said)
        turns = (*self.turns, last)[-MOST_TURNS:]
        while len(turns) > 1 and len(urlencode(fields_of(turns), errors="replace")) > LONGEST_TURNS:
            turns = turns[1:]
        return turns


def fields_of(turns: tuple[Turn, ...]) -> list[tuple[str, str]]:
    """A conversation as the fields of a form."""
    return [
        field for turn in turns for field in (("before", turn.question), ("about", turn.subject), ("said", turn.answer))
    ]
