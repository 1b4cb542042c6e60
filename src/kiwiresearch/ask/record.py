"""An answer as plain data: what `ask --json`, batches and the server give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kiwiresearch.ask.answer import Answer, BookNote, Cited, Conflict
from kiwiresearch.ask.passages import Passage

Link = Callable[[Cited], str]
"""Where a reader opens a citation."""


def record_of(answer: Answer, link: Link) -> dict[str, Any]:
    """Everything about an answer, best first wherever there is an order."""
    return {
        "question": answer.question,
        "asked": answer.asked,
        "subject": answer.subject,
        "route": answer.route,
        "why": answer.why,
        "grounded": answer.grounded,
        "answer": answer.text,
        "short": answer.short,
        "verdict": answer.verdict,
        "chosen": answer.chosen,
        "sure": round(answer.sure, 2),
        "lines": [{"text": line.text, "citations": list(line.keys)} for line in answer.lines],
        "citations": [citation_record(cited, link) for cited in answer.citations],
        "closest": [citation_record(cited, link) for cited in answer.closest],
        "senses": [sense.record() for sense in answer.senses],
        "book_date": answer.present.date if answer.present else "",
        "passages": [passage_record(passage) for passage in answer.passages],
        "pages": [page.ref.path for page in answer.pages],
        "looked": [
            {"book_id": page.ref.book, "path": page.ref.path, "title": page.title, "score": round(page.score, 2)}
            for page in answer.pages
        ],
        "conflicts": [conflict_record(conflict) for conflict in answer.conflicts],
        "books": [book_record(book) for book in answer.books],
        "notices": list(answer.notices),
        "mode": answer.mode,
        "model": answer.model,
        "reader": answer.reader,
        "dropped": [{"text": one.text, "reason": one.reason} for one in answer.dropped],
    } | ({"missing": [one.record() for one in answer.missing]} if answer.missing else {})


def citation_record(cited: Cited, link: Link) -> dict[str, Any]:
    citation, quote = cited.citation, cited.citation.quote
    return {
        "id": cited.key,
        "number": cited.number,
        "title": citation.title,
        "url": link(cited),
        "snippet": cited.snippet,
        "book": cited.book.name,
        "book_id": quote.ref.book,
        "date": cited.book.date,
        "flavour": cited.book.flavour,
        "path": quote.ref.path,
        "section": citation.section,
        "anchor": citation.anchor,
        "quote": quote.text,
        "start": quote.start,
        "end": quote.end,
        "sha": quote.sha,
    }


def passage_record(passage: Passage) -> dict[str, Any]:
    return {
        "id": passage.key,
        "book_id": passage.ref.book,
        "path": passage.ref.path,
        "title": passage.title,
        "section": passage.section,
        "anchor": passage.anchor,
        "kind": passage.kind,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
    }


def conflict_record(conflict: Conflict) -> dict[str, Any]:
    return {
        "kind": conflict.kind,
        "a": conflict.a_key,
        "b": conflict.b_key,
        "a_quote": conflict.a_quote,
        "b_quote": conflict.b_quote,
        "words": conflict.words,
    }


def book_record(book: BookNote) -> dict[str, Any]:
    return {
        "id": book.id,
        "name": book.name,
        "title": book.title,
        "date": book.date,
        "flavour": book.flavour,
        "language": book.language,
    }
