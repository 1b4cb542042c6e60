"""An answer as Markdown: the same in chat clients and in the tools of models."""

from __future__ import annotations

import re

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.record import Link
from kiwiresearch.ask.wording import (
    CLOSEST,
    DISAGREEMENT,
    SENSES,
    Confidence,
    Disagreement,
    Headline,
    Notice,
    Origin,
    Part,
    Refusal,
    Senses,
    Sentence,
    Sources,
    Way,
    Worded,
    beside,
    nearest,
    words_in,
)
from kiwiresearch.evidence.citation import Address
from kiwiresearch.text.markdown import escaped
from kiwiresearch.zim.entry import EntryRef

RULE = "\n\n---\n\n"
"""Between the answer and what a reader should know beside it."""

LOADED = re.compile(r"(?<=\])(?=\()|(?<=!)(?=\[)|(?=<[a-zA-Z/!])")
"""Where a backslash keeps words of a model from becoming a picture, a link or a tag."""

IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in '()<>\\`" '})


def markdown_of(answer: Answer, link: Link, address: Address | None = None) -> str:
    """The whole answer; `address` says where the nearest pages are read when nothing answers."""
    return words_of(answer) + ending_of(answer, link, address)


def words_of(answer: Answer) -> str:
    """What answers, with `[1]` behind each sentence; empty where nothing does."""
    return "\n\n".join(_words(part) for part in words_in(answer))


def ending_of(answer: Answer, link: Link, address: Address | None = None) -> str:
    """What stands below the words."""
    told = ""
    notes = []
    for part in beside(answer):
        if isinstance(part, Refusal):
            told = ("\n\n" if answer.text.strip() else "") + _refusal(part, link, address)
        elif isinstance(part, Senses):
            notes.append(f"{SENSES} {', '.join(_named(one.title, one.ref, address) for one in part.senses)}.")
        elif note := _note(part, link):
            notes.append(note)
    return told + (RULE + "\n\n".join(notes) if notes else "")


def without_ending(text: str) -> str:
    """Only the words of an answer that a client sends back."""
    return text.partition(RULE.strip("\n").join("\n\n"))[0].strip()


def unloaded(text: str) -> str:
    """Words of a model with their Markdown, but nothing that a client would load or follow."""
    return LOADED.sub(lambda _: "\\", text)


def _words(part: Headline | Sentence | Worded) -> str:
    if isinstance(part, Worded):
        return unloaded(part.text)
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


def _refusal(part: Refusal, link: Link, address: Address | None) -> str:
    rows = [
        f"- “{escaped(one.text)}” ({_linked(escaped(one.cited.citation.words), link(one.cited))})"
        for one in part.closest
    ]
    closest = f"{CLOSEST}\n\n" + "\n".join(rows) if rows else ""
    near = nearest([_named(page.title, page.ref, address) for page in part.near])
    return "\n\n".join(filter(None, (part.words, closest, near)))


def _named(title: str, ref: EntryRef, address: Address | None) -> str:
    return _linked(escaped(title), address(ref)) if address else escaped(title)


def _note(part: Part, link: Link) -> str:
    match part:
        case Disagreement():
            quotes = [f"“{escaped(side.quote)}”{side.mark}" for side in part.sides]
            return f"**{DISAGREEMENT}** {escaped(part.words)}".strip() + f" {' — '.join(quotes)}"
        case Notice():
            return escaped(part.words)
        case Confidence():
            return part.words
        case Sources():
            rows = [f"{one.mark} {_linked(escaped(one.cited.citation.words), link(one.cited))}" for one in part.sources]
            return "Sources:  \n" + "  \n".join(rows)
        case Origin():
            return part.words(escaped)
        case Way() | Headline() | Sentence() | Worded() | Refusal() | Senses():
            return ""


def _linked(words: str, url: str) -> str:
    return f"[{words}]({url.translate(IN_ADDRESS)})" if url else words
