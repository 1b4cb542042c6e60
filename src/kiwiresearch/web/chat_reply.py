"""Answers in OpenAI's form, whole or in chunks, with sources as Open WebUI shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kiwiresearch.ask.answer import Answer, Cited
from kiwiresearch.ask.events import Done, Event, Found, Glance, Thought, Token
from kiwiresearch.ask.markdown import ending_of, markdown_of, unloaded, words_of
from kiwiresearch.ask.record import Link
from kiwiresearch.ask.wording import numbered
from kiwiresearch.evidence.citation import Address
from kiwiresearch.llm.budget import estimate_prompt, estimate_tokens

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every chunk of one reply carries."""

    id: str
    created: int
    model: str

    def chunk(self, delta: Record, *, finish: str | None = None, **beside: Any) -> Record:
        """A chunk; one that only carries an event has an empty delta, since many clients read `choices[0]` unasked."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._of("chat.completion.chunk", [choice]) | beside

    def usage(self, count: Record) -> Record:
        return self._of("chat.completion.chunk", []) | {"usage": count}

    def whole(self, message: Record, count: Record, sources: Sequence[Record]) -> Record:
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._of("chat.completion", [choice]) | {"usage": count, "sources": list(sources)}

    def _of(self, kind: str, choices: list[Record]) -> Record:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices}


@dataclass(frozen=True, slots=True)
class Writer:
    """Turns the events of an answer into what chat clients read."""

    envelope: Envelope
    link: Link
    address: Address
    texts: tuple[str, ...] = ()
    with_usage: bool = False

    def whole(self, events: Iterable[Event]) -> Record:
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
        message: Record = {"role": "assistant", "content": content, "refusal": None}
        if thoughts:
            message["reasoning_content"] = thoughts
        return self.envelope.whole(message, usage_of(self.texts, content), sources_of(answer, self.link))

    def plain(self, content: str) -> Record:
        """A reply that no book was opened for."""
        message = {"role": "assistant", "content": content, "refusal": None}
        return self.envelope.whole(message, usage_of(self.texts, content), ())

    def chunks(self, events: Iterable[Event]) -> Iterator[Record]:
        """Sources first, then the words, then what stands below them.

        Words of a book are given with their numbers when the answer is whole. A model may cite what was
        offered first, under its number; a page that it fetched on the way comes when it is done.
        """
        make, said, ruled = self.envelope.chunk, "", ""
        sent: set[str] = set()
        for event in events:
            match event:
                case Found(found):
                    ruled = found.text
                    yield make({"role": "assistant", "content": ""}, event=_status(found))
                    sent = {cited.key for cited in found.citations}
                    yield from (make({}, event=_event("source", row)) for row in sources_of(found, self.link))
                case Glance():
                    pass  # clients add each source to those before it, and cannot take one back
                case Thought(text):
                    yield make({"reasoning_content": text})
                case Token(text) if text != ruled or said:
                    said += text
                    yield make({"content": unloaded(text)})
                case Done(answer):
                    rows = [row for row in sources_of(answer, self.link) if row["source"]["id"] not in sent]
                    yield from (make({}, event=_event("source", row)) for row in rows)
                    words = "" if said else words_of(answer)
                    rest = [words, ending_of(answer, self.link, self.address)]
                    yield from (make({"content": part}) for part in rest if part)
                    yield from self._end(said + "".join(rest))

    def plain_chunks(self, content: str) -> Iterator[Record]:
        yield self.envelope.chunk({"role": "assistant", "content": content})
        yield from self._end(content)

    def _end(self, content: str) -> Iterator[Record]:
        yield self.envelope.chunk({}, finish="stop")
        if self.with_usage:
            yield self.envelope.usage(usage_of(self.texts, content))


def usage_of(texts: Iterable[str], content: str) -> Record:
    """Tokens, estimated: the books are not read in tokens, and clients want a number."""
    prompt, completion = estimate_prompt(texts), estimate_tokens(content)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def sources_of(answer: Answer, link: Link) -> list[Record]:
    """The citations as Open WebUI reads them, in the order of their numbers.

    It takes sources of one id, and numbers of one name, for the same: so both differ for each. An address
    as id would be shown in place of the name; `source_url` is what it opens, without asking anybody on
    the internet for an icon.
    """
    names: dict[str, int] = {}
    rows = []
    for source in numbered(answer):
        name = source.cited.citation.words
        names[name] = names.get(name, 0) + 1
        shown = f"{name} ({names[name]})" if names[name] > 1 else name
        rows.append(_source(source.cited, shown, link(source.cited)))
    return rows


def _source(cited: Cited, name: str, url: str) -> Record:
    citation, book = cited.citation, cited.book
    return {
        "source": {"id": cited.key, "name": name, "url": url},
        "document": [citation.quote.text],
        "metadata": [
            {
                "source": cited.key,
                "source_url": url,
                "name": name,
                "title": citation.title,
                "section": citation.section,
                "book": book.title or book.name,
                "date": book.date,
                "flavour": book.flavour,
            }
        ],
    }


def _status(found: Answer) -> Record:
    pages = ", ".join(dict.fromkeys(passage.title for passage in found.passages))
    told = f"{found.why} Read: {pages}." if pages else found.why
    return _event("status", {"description": told, "done": True})


def _event(kind: str, data: Record) -> Record:
    return {"type": kind, "data": data}
