"""An answer worded by a model: its prompt, its tool to read more pages, and the check of every sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import Answer, AnswerBook, AnswerText, Done, Passage, Thought
from kiwiresearch.ask.draft import Draft, QuoteOf
from kiwiresearch.ask.notices import (
    CUT_OFF,
    REPEATED,
    UNSUPPORTED,
    WITHHELD,
    model_broke_off,
    model_failed,
    model_rekeyed,
    model_silent,
)
from kiwiresearch.ask.refusal import general_answer
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.errors import KiwiError, ModelError, ModelUnreachable, PromptTooLong
from kiwiresearch.evidence import citation_words
from kiwiresearch.llm import (
    PER_MESSAGE,
    WRITE_UP,
    ChatMessage,
    Finish,
    Model,
    Options,
    PromptData,
    Reply,
    ReplyPiece,
    ReplySchema,
    Tool,
    ToolCall,
    context_size,
    estimate_prompt,
    estimate_tokens,
    fenced,
    prompt,
    write_up_options,
)
from kiwiresearch.text import printable

if TYPE_CHECKING:
    from kiwiresearch.reader import Reader

PER_FENCE = 32
"""Tokens of the fence around a passage, and of its key in the list of keys."""


@dataclass(frozen=True, slots=True)
class ModelPrompt:
    """The first messages, the passages in them, and how many tokens are left for more passages."""

    messages: tuple[ChatMessage, ...]
    options: Options
    passages: tuple[Passage, ...]
    tokens_left: int


def build_prompt(model: Model, found: Answer, settings: AskSettings, *, reserve: int = 0) -> ModelPrompt:
    """A prompt with the best passages that fit; PromptTooLong if not even the first does.

    `reserve` is how many tokens are left free for tools.
    """
    context = context_size(model)
    # A small context must not be filled by the reply alone: two thirds stay for the prompt and the passages.
    max_tokens = max(min(settings.max_new_tokens, context // 3), 1)
    around = estimate_prompt(message.text for message in _messages(found, ()))
    room = context - max_tokens - around - reserve
    passages = passages_that_fit(found.passages, min(room, settings.context_tokens), found.books)
    if room < 0 or (found.passages and not passages):
        raise PromptTooLong(
            f"The model {model.name!r} reads {context:,} tokens at a time, which is not enough for a passage.",
            remedy="Start the model server with a larger context.",
        )
    messages = _messages(found, passages)
    # Counted again with the real prompt, since the first estimate of the room had no passages in it.
    room = context - max_tokens - reserve - estimate_prompt(message.text for message in messages)
    return ModelPrompt(messages, write_up_options(WRITE_UP.low, max_tokens=max_tokens), passages, max(room, 0))


def _messages(found: Answer, passages: Sequence[Passage]) -> tuple[ChatMessage, ...]:
    question = found.question
    if found.asked and found.asked != question:
        question += f"\nThis is meant: {found.asked}"
    disagreements = (
        f"{conflict.a_key}: {conflict.a_quote}\n{conflict.b_key}: {conflict.b_quote}\n{conflict.words}"
        for conflict in found.conflicts
    )
    return prompt(f"ask_{found.mode}").fill(
        passages=passage_data(passages, found.books),
        conflicts="\n".join(disagreements) or "none",
        question=question,
        keys=" ".join(f"[{passage.key}]" for passage in passages) or "none",
    )


def passages_that_fit(passages: Sequence[Passage], room: int, books: Sequence[AnswerBook]) -> tuple[Passage, ...]:
    """The first passages, as many as fit into `room` tokens."""
    chosen: list[Passage] = []
    for passage, data in zip(passages, passage_data(passages, books), strict=True):
        room -= estimate_tokens(data.text) + PER_FENCE
        if room < 0:
            break
        chosen.append(passage)
    return tuple(chosen)


def passage_data(passages: Sequence[Passage], books: Sequence[AnswerBook]) -> tuple[PromptData, ...]:
    """Each passage under its key, after a line that says where it is from."""
    dates = {book.id: book.date for book in books}
    return tuple(PromptData(passage.key, f"{_location(passage, dates)}\n{passage.text}") for passage in passages)


def _location(passage: Passage, dates: Mapping[str, str]) -> str:
    date = dates.get(passage.ref.book, "")
    words = f"{citation_words(passage.title, passage.section)} | path {passage.ref.path}"
    return printable(f"{words} | book of {date}" if date else words)


Fetch = Callable[[str], tuple[Passage, ...]]
"""Returns the best passages of the page at a path; none if the page does not exist."""

TOOL_NAME = "fetch_article"
MAX_FETCHES = 2
MAX_PATH_CHARS = 300
TOOL = Tool(
    TOOL_NAME,
    "Reads more of one page of the reader's books. Use it only if the passages do not suffice.",
    ReplySchema.of(
        TOOL_NAME,
        {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "the path of the page, as the passages name it"}},
            "required": ["path"],
        },
    ),
)
TOOL_TOKENS = 2 * estimate_tokens(TOOL.purpose + TOOL.parameters.text)
NO_MORE_PAGES = "No more pages can be read. Answer now, from the passages you have."


@dataclass(frozen=True, slots=True)
class FetchedPages:
    """The results of a reply's tool calls: the turns to continue with, and passages that are new."""

    messages: tuple[ChatMessage, ...]
    passages: tuple[Passage, ...]


class PageFetcher:
    """Reads a few pages for a model, no more than fits into its context."""

    def __init__(self, fetch: Fetch | None, books: Sequence[AnswerBook], room: int) -> None:
        self._fetch = fetch
        self._books = books
        self._room = room
        self._fetches_left = MAX_FETCHES if fetch else 0

    @property
    def can_fetch(self) -> bool:
        return self._fetches_left > 0

    def answer_calls(self, reply: Reply, known: Sequence[str]) -> FetchedPages:
        """The reply with its tool calls, and a result for each; passages with `known` keys are not repeated."""
        turns = [ChatMessage("assistant", reply.text, reply.calls)]
        new: list[Passage] = []
        for call in reply.calls:
            words, passages = self._answer(call, {*known, *(passage.key for passage in new)})
            self._room -= estimate_tokens(words) + PER_MESSAGE
            turns.append(ChatMessage("tool", words, call_id=call.id))
            new += passages
        return FetchedPages(tuple(turns), tuple(new))

    def _answer(self, call: ToolCall, known: set[str]) -> tuple[str, tuple[Passage, ...]]:
        if not self.can_fetch or self._fetch is None:
            return NO_MORE_PAGES, ()
        # Every call counts, so that a model that invents tools, arguments or paths is stopped as well.
        self._fetches_left -= 1
        path = _path_in(call.arguments)
        if call.name != TOOL_NAME:
            return f"Unknown tool. The only tool is {TOOL_NAME}.", ()
        if not path:
            return 'The arguments must be JSON like {"path": "..."}.', ()
        try:
            found = self._fetch(path)
        # To the model, a page that cannot be read is a missing page; it continues with the passages it has.
        except KiwiError:
            found = ()
        if not found:
            return f"The reader's books have no page of this path:\n{fenced('path', path)}", ()
        new = passages_that_fit([passage for passage in found if passage.key not in known], self._room, self._books)
        if not new:
            return "There is nothing more on this page, or no room for it. Answer from the passages you have.", ()
        return "\n".join(fenced(*data) for data in passage_data(new, self._books)), new


def _path_in(arguments: str) -> str:
    try:
        path = json.loads(arguments)["path"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return path.strip()[:MAX_PATH_CHARS] if isinstance(path, str) else ""


ReplyEvents = Iterator[Thought | AnswerText]


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
) -> Iterator[Thought | AnswerText | Done]:
    """The answer by rule in the words of a model, each sentence checked before it is shown.

    If the model fails, the answer by rule is given with a notice; with `strict`, an unreachable model raises its
    error, unless something has been shown already. `dangerous` withholds the model's general words.
    """
    draft = Draft(found, quote_of, reader, withhold_general=dangerous)
    session = ModelSession(model, found, fetch, settings, draft)
    trouble = ""
    try:
        # Read before the first event, because a server that cannot be reached fails here and nothing was shown yet.
        name = model.name
        yield from session.events()
    except ModelError as problem:
        if strict and isinstance(problem, ModelUnreachable) and not draft.text:
            raise
        trouble = printable(problem.message).rstrip(".")
        name = model_name(model) if draft.text else ""
        list(draft.end(is_whole=False))  # the unfinished sentence is not shown
    # The rules refused and no sentence was proved: the reply may be shown as general knowledge, marked as such.
    if not draft.lines and not found.grounded and not trouble and not draft.is_general:
        yield from map(AnswerText, draft.general(session.reply_text))
    answer = _finished(found, draft, session, name, trouble)
    if not draft.text and answer.text:
        yield AnswerText(answer.text)
    yield Done(answer)


def model_name(model: Model) -> str:
    try:
        return model.name
    except ModelError:
        return ""


@dataclass(slots=True)
class ModelSession:
    """One conversation with a model: a turn for each time it reads more pages, and one more."""

    model: Model
    found: Answer
    fetch: Fetch | None
    settings: AskSettings
    draft: Draft
    reply_text: str = ""
    """The text of all its replies."""
    finish: Finish = "stop"

    def events(self) -> ReplyEvents:
        briefing = build_prompt(self.model, self.found, self.settings, reserve=TOOL_TOKENS if self.fetch else 0)
        self.draft.add_passages(briefing.passages)
        room = min(briefing.tokens_left, self.settings.context_tokens)
        fetches = PageFetcher(self.fetch, self.found.books, room)
        messages = briefing.messages
        while True:
            tools = (TOOL,) if fetches.can_fetch else ()
            reply = yield from self._turn(messages, replace(briefing.options, tools=tools))
            self.finish = reply.finish
            self.reply_text = f"{self.reply_text}\n{reply.text}".strip()
            yield from map(AnswerText, self.draft.end(is_whole=reply.finish == "stop"))
            # A model may call a tool that is not offered any more, which must not keep the conversation going.
            if not reply.calls or not tools:
                return
            fetched = fetches.answer_calls(reply, tuple(self.draft.passages))
            self.draft.add_passages(fetched.passages)
            messages = (*messages, *fetched.messages)

    def _turn(
        self, messages: tuple[ChatMessage, ...], options: Options
    ) -> Generator[Thought | AnswerText, None, Reply]:
        """One reply as it arrives; an empty one is requested once more, in one piece."""
        reply = Reply("")
        for piece in self.model.pieces(messages, options):
            if isinstance(piece, Reply):
                reply = piece
            else:
                yield from self._events(piece)
        # A server that fails to stream may still answer the same request in one piece.
        if not (reply.text or reply.calls) and reply.finish == "stop":
            reply = self.model.chat(messages, options)
            yield from self._events(ReplyPiece("thinking", reply.thinking))
            yield from self._events(ReplyPiece("answer", reply.text))
        return reply

    def _events(self, piece: ReplyPiece) -> ReplyEvents:
        if piece.kind == "answer":
            yield from map(AnswerText, self.draft.feed(piece.text))
        elif piece.text:
            yield Thought(piece.text)


def _finished(found: Answer, draft: Draft, session: ModelSession, name: str, trouble: str) -> Answer:
    notices = [*found.notices, *_notices(found, draft, session, trouble)]
    answer = replace(found, notices=tuple(dict.fromkeys(notices)), rejected=tuple(draft.rejected))
    if not draft.lines:
        return answer
    answer = replace(answer, text=draft.text, lines=tuple(draft.lines), model=name)
    if draft.is_general:
        return general_answer(answer)
    citations = draft.citations()
    # The notice of a disagreement has marks for both sides, so their citations stay even if the model used neither.
    of_conflicts = {key for conflict in found.conflicts for key in (conflict.a_key, conflict.b_key)} - {
        citation.key for citation in citations
    }
    shown = {passage.key for passage in found.passages}
    fetched = [draft.passages[citation.key] for citation in citations if citation.key not in shown]
    return replace(
        answer,
        grounded=True,
        # The few words must be in a quote that is still cited; a model may have answered from other sentences.
        short=found.short if any(found.short in citation.citation.quote.text for citation in citations) else "",
        citations=(*citations, *(citation for citation in found.citations if citation.key in of_conflicts)),
        passages=(*found.passages, *fetched),
    )


def _notices(found: Answer, draft: Draft, session: ModelSession, trouble: str) -> Iterator[str]:
    """Notices about the model's part in this answer."""
    if trouble and draft.lines:
        yield model_broke_off(session.model, trouble)
    elif trouble:
        yield model_failed(session.model, trouble)
    elif draft.is_general and not draft.lines and draft.rejected:
        yield WITHHELD
    elif not draft.lines and not session.reply_text:
        yield model_silent(session.model)
    elif not draft.lines and found.grounded:
        yield UNSUPPORTED
    if draft.lines and not trouble and session.finish != "stop":
        yield CUT_OFF if session.finish == "length" else REPEATED
    if draft.rekeyed:
        yield model_rekeyed(draft.rekeyed)
