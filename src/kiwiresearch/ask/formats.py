"""An answer as plain data for JSON, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kiwiresearch.ask.answer import Answer, AnswerBook, AnswerCitation, AnswerConflict, Passage
from kiwiresearch.ask.presentation import (
    CLOSEST,
    DISAGREEMENT,
    SENSES,
    AnswerPart,
    BookOrigin,
    Confidence,
    DisagreementPart,
    Headline,
    ModelText,
    Notice,
    QuotedSentence,
    Refusal,
    RouteNote,
    Senses,
    SourceList,
    body_parts,
    footer_parts,
    related_pages,
)
from kiwiresearch.evidence import PageAddress
from kiwiresearch.text.display import escaped
from kiwiresearch.zim.archive import EntryRef

CitationLink = Callable[[AnswerCitation], str]
"""Where a reader opens a citation."""


def record_of(answer: Answer, link: CitationLink) -> dict[str, Any]:
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


def citation_record(cited: AnswerCitation, link: CitationLink) -> dict[str, Any]:
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


def conflict_record(conflict: AnswerConflict) -> dict[str, Any]:
    return {
        "kind": conflict.kind,
        "a": conflict.a_key,
        "b": conflict.b_key,
        "a_quote": conflict.a_quote,
        "b_quote": conflict.b_quote,
        "words": conflict.words,
    }


def book_record(book: AnswerBook) -> dict[str, Any]:
    return {
        "id": book.id,
        "name": book.name,
        "title": book.title,
        "date": book.date,
        "flavour": book.flavour,
        "language": book.language,
    }


FOOTER_RULE = "\n\n---\n\n"
"""Between the answer and what a reader should know beside it."""

ACTIVE_MARKUP = re.compile(r"(?<=\])(?=\()|(?<=!)(?=\[)|(?=<[a-zA-Z/!])")
"""Where a backslash keeps words of a model from becoming a picture, a link or a tag."""

IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in '()<>\\`" '})


def markdown_of(answer: Answer, link: CitationLink, address: PageAddress | None = None) -> str:
    """The whole answer; `address` says where the nearest pages are read when nothing answers."""
    return body_markdown(answer) + footer_markdown(answer, link, address)


def body_markdown(answer: Answer) -> str:
    """What answers, with `[1]` behind each sentence; empty where nothing does."""
    return "\n\n".join(_words(part) for part in body_parts(answer))


def footer_markdown(answer: Answer, link: CitationLink, address: PageAddress | None = None) -> str:
    """What stands below the words."""
    told = ""
    notes = []
    for part in footer_parts(answer):
        if isinstance(part, Refusal):
            told = ("\n\n" if answer.text.strip() else "") + _refusal(part, link, address)
        elif isinstance(part, Senses):
            notes.append(f"{SENSES} {', '.join(_named(one.title, one.ref, address) for one in part.senses)}.")
        elif note := _note(part, link):
            notes.append(note)
    return told + (FOOTER_RULE + "\n\n".join(notes) if notes else "")


def without_footer(text: str) -> str:
    """Only the words of an answer that a client sends back."""
    return text.partition(FOOTER_RULE.strip("\n").join("\n\n"))[0].strip()


def defused(text: str) -> str:
    """Words of a model with their Markdown, but nothing that a client would load or follow."""
    return ACTIVE_MARKUP.sub(lambda _: "\\", text)


def _words(part: Headline | QuotedSentence | ModelText) -> str:
    if isinstance(part, ModelText):
        return defused(part.text)
    if isinstance(part, Headline):
        return f"**{escaped(part.words)}**"
    text = _emphasised(part.before, part.short, part.behind) if part.short else escaped(part.behind)
    return f"{text} {part.marks}".rstrip()


def _emphasised(before: str, short: str, behind: str) -> str:
    """The sentence with the few words that are the answer made strong; spaces stay outside."""
    inner = short.strip()
    left = before + short[: len(short) - len(short.lstrip())]
    right = short[len(short.rstrip()) :] + behind
    gap_left = " " if left[-1:].isspace() else ""
    gap_right = " " if right[:1].isspace() else ""
    return f"{escaped(left)}{gap_left}**{escaped(inner)}**{gap_right}{escaped(right)}".strip()


def _refusal(part: Refusal, link: CitationLink, address: PageAddress | None) -> str:
    rows = [
        f"- “{escaped(one.text)}” ({_linked(escaped(one.cited.citation.words), link(one.cited))})"
        for one in part.closest
    ]
    closest = f"{CLOSEST}\n\n" + "\n".join(rows) if rows else ""
    near = related_pages([_named(page.title, page.ref, address) for page in part.near])
    return "\n\n".join(filter(None, (part.words, closest, near)))


def _named(title: str, ref: EntryRef, address: PageAddress | None) -> str:
    return _linked(escaped(title), address(ref)) if address else escaped(title)


def _note(part: AnswerPart, link: CitationLink) -> str:
    match part:
        case DisagreementPart():
            quotes = [f"“{escaped(side.quote)}”{side.mark}" for side in part.sides]
            return f"**{DISAGREEMENT}** {escaped(part.words)}".strip() + f" {' — '.join(quotes)}"
        case Notice():
            return escaped(part.words)
        case Confidence():
            return part.words
        case SourceList():
            rows = [f"{one.mark} {_linked(escaped(one.cited.citation.words), link(one.cited))}" for one in part.sources]
            return "Sources:  \n" + "  \n".join(rows)
        case BookOrigin():
            return part.words(escaped)
        case RouteNote() | Headline() | QuotedSentence() | ModelText() | Refusal() | Senses():
            return ""


def _linked(words: str, url: str) -> str:
    return f"[{words}]({url.translate(IN_ADDRESS)})" if url else words
