"""Answers in OpenAI's form, in one piece or in chunks, with the sources as Open WebUI reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from kiwiresearch.ask import (
    Answer,
    AnswerCitation,
    AnswerText,
    CitationLink,
    Done,
    Event,
    EvidenceFound,
    Preview,
    Thought,
    body_markdown,
    defused,
    footer_markdown,
    markdown_of,
    numbered,
)
from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.evidence import PageAddress
from kiwiresearch.llm import estimate_prompt, estimate_tokens


@dataclass(frozen=True, slots=True)
class ChatDelta(Record):
    """What a chunk adds to the message."""

    content: str | None = field(default=None, metadata=OMIT_DEFAULT)
    role: Literal["assistant"] | None = field(default=None, metadata=OMIT_DEFAULT)
    reasoning_content: str | None = field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class AnswerMessage(Record):
    """The answer in one piece."""

    content: str
    reasoning_content: str | None = field(default=None, metadata=OMIT_DEFAULT)
    role: Literal["assistant"] = "assistant"
    refusal: None = None


@dataclass(frozen=True, slots=True)
class ChunkChoice(Record):
    """The one choice of a chunk."""

    delta: ChatDelta
    finish_reason: str | None = None
    index: int = 0
    logprobs: None = None


@dataclass(frozen=True, slots=True)
class MessageChoice(Record):
    """The one choice of an answer in one piece."""

    message: AnswerMessage
    finish_reason: str = "stop"
    index: int = 0
    logprobs: None = None


@dataclass(frozen=True, slots=True)
class Usage(Record):
    """Tokens, estimated: the books are not read in tokens, and clients want a number."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, prompt: Iterable[str], content: str) -> Usage:
        sent, written = estimate_prompt(prompt), estimate_tokens(content)
        return cls(sent, written, sent + written)


@dataclass(frozen=True, slots=True)
class SourceName(Record):
    """A source as Open WebUI lists it."""

    id: str
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class SourceMetadata(Record):
    """What Open WebUI shows of a source."""

    source: str
    source_url: str
    name: str
    title: str
    section: str
    book: str
    date: str
    flavour: str


@dataclass(frozen=True, slots=True)
class OpenWebUiSource(Record):
    """A citation as Open WebUI reads it."""

    source: SourceName
    document: tuple[str, ...]
    metadata: tuple[SourceMetadata, ...]


@dataclass(frozen=True, slots=True)
class Status(Record):
    """What Open WebUI shows above the answer."""

    description: str
    done: bool


@dataclass(frozen=True, slots=True)
class ChatEvent(Record):
    """An event of Open WebUI within a stream."""

    type: Literal["source", "status"]
    data: OpenWebUiSource | Status


@dataclass(frozen=True, slots=True)
class ChatReply(Record):
    """A chunk of an answer, or all of it."""

    id: str
    created: int
    model: str
    object: Literal["chat.completion", "chat.completion.chunk"] = "chat.completion.chunk"
    choices: tuple[ChunkChoice | MessageChoice, ...] = ()
    event: ChatEvent | None = field(default=None, metadata=OMIT_DEFAULT)
    usage: Usage | None = field(default=None, metadata=OMIT_DEFAULT)
    sources: tuple[OpenWebUiSource, ...] | None = field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class ChatWriter:
    """Turns the events of one answer into what chat clients read."""

    id: str
    created: int
    model: str
    link: CitationLink
    address: PageAddress
    prompt: tuple[str, ...] = ()
    """Everything that the client sent, for counting tokens."""
    with_usage: bool = False

    def completion(self, events: Iterable[Event]) -> ChatReply:
        """The answer in one piece."""
        thoughts = ""
        answer = None
        for event in events:
            match event:
                case Thought(text):
                    thoughts += text
                case Done(done):
                    answer = done
        assert answer is not None
        content = markdown_of(answer, self.link, self.address)
        return self._in_one_piece(AnswerMessage(content, thoughts or None), sources_of(answer, self.link))

    def plain_completion(self, content: str) -> ChatReply:
        """A reply that does not need the books."""
        return self._in_one_piece(AnswerMessage(content), ())

    def chunks(self, events: Iterable[Event]) -> Iterator[ChatReply]:
        """The sources first, then the words, then the footer.

        A book's own words are sent with their numbers once the answer is complete. A model may cite what was
        offered first, by its number; a page that it fetched on the way is sent when it is done.
        """
        said, ruled = "", ""
        sent: set[str] = set()
        for event in events:
            match event:
                case EvidenceFound(found):
                    ruled = found.text
                    yield self._chunk(ChatDelta("", role="assistant"), event=_status(found))
                    sent = {cited.key for cited in found.citations}
                    yield from map(self._source_chunk, sources_of(found, self.link))
                case Preview():
                    pass  # clients add each source to those before it, and cannot take one back
                case Thought(text):
                    yield self._chunk(ChatDelta(reasoning_content=text))
                # Only what a model writes: sentences of pages are sent with `Done`, where they have their numbers.
                case AnswerText(text) if text != ruled or said:
                    said += text
                    yield self._chunk(ChatDelta(defused(text)))
                case Done(answer):
                    new = [source for source in sources_of(answer, self.link) if source.source.id not in sent]
                    yield from map(self._source_chunk, new)
                    rest = ["" if said else body_markdown(answer), footer_markdown(answer, self.link, self.address)]
                    yield from (self._chunk(ChatDelta(part)) for part in rest if part)
                    yield from self._end(said + "".join(rest))

    def plain_chunks(self, content: str) -> Iterator[ChatReply]:
        yield self._chunk(ChatDelta(content, role="assistant"))
        yield from self._end(content)

    def _end(self, content: str) -> Iterator[ChatReply]:
        yield self._chunk(ChatDelta(), finish="stop")
        if self.with_usage:
            yield ChatReply(self.id, self.created, self.model, usage=Usage.of(self.prompt, content))

    def _chunk(self, delta: ChatDelta, *, finish: str | None = None, event: ChatEvent | None = None) -> ChatReply:
        return ChatReply(self.id, self.created, self.model, choices=(ChunkChoice(delta, finish),), event=event)

    def _source_chunk(self, source: OpenWebUiSource) -> ChatReply:
        # With an empty delta, since many clients read `choices[0]` without a check.
        return self._chunk(ChatDelta(), event=ChatEvent("source", source))

    def _in_one_piece(self, message: AnswerMessage, sources: tuple[OpenWebUiSource, ...]) -> ChatReply:
        return ChatReply(
            self.id,
            self.created,
            self.model,
            "chat.completion",
            (MessageChoice(message),),
            usage=Usage.of(self.prompt, message.content),
            sources=sources,
        )


def sources_of(answer: Answer, link: CitationLink) -> tuple[OpenWebUiSource, ...]:
    """The citations of an answer, in the order of their numbers.

    Open WebUI takes sources with the same id, or the same name, for one: so both are made unique. It would show
    an address as id in place of the name; `source_url` is what it opens, without fetching an icon from the internet.
    """
    names: dict[str, int] = {}
    sources = []
    for source in numbered(answer):
        name = source.cited.citation.words
        names[name] = names.get(name, 0) + 1
        shown = f"{name} ({names[name]})" if names[name] > 1 else name
        sources.append(_source(source.cited, shown, link(source.cited)))
    return tuple(sources)


def _source(cited: AnswerCitation, name: str, url: str) -> OpenWebUiSource:
    citation, book = cited.citation, cited.book
    metadata = SourceMetadata(
        source=cited.key,
        source_url=url,
        name=name,
        title=citation.title,
        section=citation.section,
        book=book.title or book.name,
        date=book.date,
        flavour=book.flavour,
    )
    return OpenWebUiSource(SourceName(cited.key, name, url), (citation.quote.text,), (metadata,))


def _status(found: Answer) -> ChatEvent:
    pages = ", ".join(dict.fromkeys(passage.title for passage in found.passages))
    words = f"{found.why} Read: {pages}." if pages else found.why
    return ChatEvent("status", Status(words, done=True))
