"""An answer put into words by a model, which gets to add nothing: what no passage bears out is never shown."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.briefing import briefing_of
from kiwiresearch.ask.draft import Draft, QuoteOf
from kiwiresearch.ask.events import Done, Thought, Token
from kiwiresearch.ask.fetching import RESERVE, TOOL, Fetch, Fetches
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.errors import ModelError, ModelUnreachable
from kiwiresearch.llm.model import Finish, Message, Model, Options, Piece, Reply, called
from kiwiresearch.text.plain import printable

if TYPE_CHECKING:
    from kiwiresearch.reader.reader import Reader

Words = Iterator[Thought | Token]

OWN_WORDS = "The model's words were not borne out by the passages; these are the page's own."
CUT_OFF = "The answer of the model was longer than allowed; its last sentence is left out."
REPEATED = "The model repeated itself and was stopped."
WITHHELD = "General words of a model are withheld here: the question is about something dangerous."
MENDED = "The model named the wrong passage for {count}; the one that bears it out is cited instead."


def answer_by_model(
    model: Model,
    found: Answer,
    fetch: Fetch | None,
    settings: AskSettings,
    quote_of: QuoteOf,
    reader: Reader | None = None,
    *,
    dangerous: bool = False,
    strict: bool = False,
) -> Iterator[Thought | Token | Done]:
    """The answer by rule in the words of a model, each sentence checked before it is shown.

    A model that fails leaves the answer by rule with a notice; with `strict` one that cannot be
    reached is told as such, as long as nothing has been shown. `dangerous` withholds general words.
    """
    draft = Draft(found, quote_of, reader, withhold_general=dangerous)
    talk = Talk(model, found, fetch, settings, draft)
    trouble = ""
    try:
        name = model.name
        yield from talk.words()
    except ModelError as problem:
        if strict and isinstance(problem, ModelUnreachable) and not draft.text:
            raise
        trouble = printable(problem.message).rstrip(".")
        name = name_of(model) if draft.text else ""
        talk.give_up()
    if not draft.lines and not found.grounded and not trouble and not draft.is_general:
        yield from map(Token, draft.general(talk.said))
    answer = _finished(found, draft, talk, name, trouble)
    if not draft.text and answer.text:
        yield Token(answer.text)
    yield Done(answer)


def name_of(model: Model) -> str:
    try:
        return model.name
    except ModelError:
        return ""


@dataclass(slots=True)
class Talk:
    """One conversation with a model, of as many turns as it fetches pages, and one more."""

    model: Model
    found: Answer
    fetch: Fetch | None
    settings: AskSettings
    draft: Draft
    said: str = ""
    """All that the model answered."""
    finish: Finish = "stop"

    def words(self) -> Words:
        briefing = briefing_of(self.model, self.found, self.settings, reserve=RESERVE if self.fetch else 0)
        self.draft.give(briefing.passages)
        room = min(briefing.room, self.settings.context_tokens)
        fetches = Fetches(self.fetch, self.found.books, room)
        messages = briefing.messages
        while True:
            tools = (TOOL,) if fetches.may_go_on else ()
            reply = yield from self._turn(messages, replace(briefing.options, tools=tools))
            self.finish = reply.finish
            self.said = f"{self.said}\n{reply.text}".strip()
            yield from map(Token, self.draft.end(is_whole=reply.finish == "stop"))
            if not reply.calls or not tools:
                return
            fetched = fetches.answered(reply, tuple(self.draft.given))
            self.draft.give(fetched.passages)
            messages = (*messages, *fetched.messages)

    def give_up(self) -> None:
        """What was under way when the model failed is not shown."""
        list(self.draft.end(is_whole=False))

    def _turn(self, messages: tuple[Message, ...], options: Options) -> Generator[Thought | Token, None, Reply]:
        """One reply as it comes; one that is empty is asked for once more, as a whole."""
        reply = Reply("")
        for piece in self.model.pieces(messages, options):
            if isinstance(piece, Reply):
                reply = piece
            else:
                yield from self._events(piece)
        if not (reply.text or reply.calls) and reply.finish == "stop":
            reply = self.model.chat(messages, options)
            yield from self._events(Piece("thinking", reply.thinking))
            yield from self._events(Piece("answer", reply.text))
        return reply

    def _events(self, piece: Piece) -> Words:
        if piece.kind == "answer":
            yield from map(Token, self.draft.feed(piece.text))
        elif piece.text:
            yield Thought(piece.text)


def _finished(found: Answer, draft: Draft, talk: Talk, name: str, trouble: str) -> Answer:
    notices = [*found.notices, *_notices(found, draft, talk, trouble)]
    answer = replace(found, notices=tuple(dict.fromkeys(notices)), dropped=tuple(draft.dropped))
    if not draft.lines:
        return answer
    answer = replace(answer, text=draft.text, lines=tuple(draft.lines), model=name)
    if draft.is_general:
        return replace(answer, grounded=False, short="", citations=(), sure=0.0)
    citations = draft.citations()
    of_conflicts = {key for one in found.conflicts for key in (one.a_key, one.b_key)} - {one.key for one in citations}
    shown = {passage.key for passage in found.passages}
    fetched = [draft.given[one.key] for one in citations if one.key not in shown]
    return replace(
        answer,
        grounded=True,
        short=found.short if any(found.short in one.citation.quote.text for one in citations) else "",
        citations=(*citations, *(one for one in found.citations if one.key in of_conflicts)),
        passages=(*found.passages, *fetched),
    )


def _notices(found: Answer, draft: Draft, talk: Talk, trouble: str) -> Iterator[str]:
    """What a reader should know about the part of the model in this answer."""
    if trouble and draft.lines:
        yield f"{called(talk.model)} broke off: {trouble}."
    elif trouble:
        yield f"{called(talk.model)} did not help: {trouble}."
    elif draft.is_general and not draft.lines and draft.dropped:
        yield WITHHELD
    elif not draft.lines and not talk.said:
        yield f"{called(talk.model)} gave no answer."
    elif not draft.lines and found.grounded:
        yield OWN_WORDS
    if draft.lines and not trouble and talk.finish != "stop":
        yield CUT_OFF if talk.finish == "length" else REPEATED
    if draft.mended:
        yield MENDED.format(count="one sentence" if draft.mended == 1 else f"{draft.mended} sentences")
