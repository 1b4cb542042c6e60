"""An answer as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

from kiwiresearch.ask.answer import Answer, AnswerCitation
from kiwiresearch.ask.presentation import (
    CLOSEST,
    DISAGREEMENT,
    SENSES,
    AnswerPart,
    BodyPart,
    BookOrigin,
    Confidence,
    DisagreementPart,
    Doubt,
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
from kiwiresearch.text import escaped
from kiwiresearch.zim import EntryRef

CitationLink = Callable[[AnswerCitation], str]
"""Returns the address at which a citation can be read."""


FOOTER_RULE = "\n\n---\n\n"
"""Between the answer and the notes below it."""

ACTIVE_MARKUP = re.compile(r"(?<=\])(?=\()|(?<=!)(?=\[)|(?=<[a-zA-Z/!])")
"""Where a backslash prevents a model's words from becoming an image, a link or a tag."""

IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in '()<>\\`" '})


def markdown_of(answer: Answer, link: CitationLink, address: PageAddress | None = None) -> str:
    """The complete answer; `address` gives the links of the nearest pages if nothing answers."""
    return body_markdown(answer) + footer_markdown(answer, link, address)


def body_markdown(answer: Answer) -> str:
    """The answer itself, with marks such as `[1]` after each sentence; empty if there is none."""
    return "\n\n".join(_words(part) for part in body_parts(answer))


def footer_markdown(answer: Answer, link: CitationLink, address: PageAddress | None = None) -> str:
    """The notes below the answer."""
    refusal = ""
    notes = []
    for part in footer_parts(answer):
        if isinstance(part, Refusal):
            refusal = ("\n\n" if answer.text.strip() else "") + _refusal(part, link, address)
        elif isinstance(part, Senses):
            notes.append(f"{SENSES} {', '.join(_named(sense.title, sense.ref, address) for sense in part.senses)}.")
        elif note := _note(part, link):
            notes.append(note)
    return refusal + (FOOTER_RULE + "\n\n".join(notes) if notes else "")


def without_footer(text: str) -> str:
    """The answer itself, from the text of one that a client sends back."""
    # Clients may change how many blank lines are around the rule.
    return text.partition("\n---\n")[0].strip()


def defused(text: str) -> str:
    """A model's Markdown, without anything that a client would load or follow."""
    return ACTIVE_MARKUP.sub(lambda _: "\\", text)


def _words(part: BodyPart) -> str:
    if isinstance(part, ModelText):
        return defused(part.text)
    if isinstance(part, Doubt):
        return part.words
    if isinstance(part, Headline):
        return f"**{escaped(part.words)}**"
    text = _emphasised(part.before, part.short, part.after) if part.short else escaped(part.after)
    return f"{text} {part.marks}".rstrip()


def _emphasised(before: str, short: str, after: str) -> str:
    """The sentence with the few words that are the answer in bold; spaces stay outside."""
    inner = short.strip()
    left = before + short[: len(short) - len(short.lstrip())]
    right = short[len(short.rstrip()) :] + after
    gap_left = " " if left[-1:].isspace() else ""
    gap_right = " " if right[:1].isspace() else ""
    return f"{escaped(left)}{gap_left}**{escaped(inner)}**{gap_right}{escaped(right)}".strip()


def _refusal(part: Refusal, link: CitationLink, address: PageAddress | None) -> str:
    rows = [
        f"- “{escaped(passage.text)}” ({_linked(escaped(passage.cited.citation.words), link(passage.cited))})"
        for passage in part.closest
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
            rows = [
                f"{source.mark} {_linked(escaped(source.cited.citation.words), link(source.cited))}"
                for source in part.sources
            ]
            return "Sources:  \n" + "  \n".join(rows)
        case BookOrigin():
            return part.words(escaped)
        case RouteNote() | Headline() | Doubt() | QuotedSentence() | ModelText() | Refusal() | Senses():
            return ""


def _linked(words: str, url: str) -> str:
    return f"[{words}]({url.translate(IN_ADDRESS)})" if url else words
