"""An answer in words for people: the same Markdown in chat clients, tools of models and terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kiwiresearch.ask.answer import Answer, BookNote, Cited, Conflict, Line
from kiwiresearch.ask.record import Link
from kiwiresearch.evidence.citation import Address
from kiwiresearch.text.plain import printable
from kiwiresearch.zim.entry import EntryRef

RULE = "\n\n---\n\n"
"""Between the answer and what a reader should know beside it."""

NOT_HERE = "Nothing in the books answers this."
NOT_FROM_HERE = "Nothing in the books answers this: the words above are the model's own, and nothing bears them out."
MOST_NEAR = 3
WEAK = 0.35

SPECIAL = re.compile(r"([\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
"""Signs that would become markup; an underscore between letters does not."""
LINE_START = re.compile(r"^(>|(?:#{1,6}|[+=-]+|\d+[.)])(?=\s|$))")
LOADED = re.compile(r"(?<=\])(?=\()|(?<=!)(?=\[)|(?=<[a-zA-Z/!])")
"""Where a backslash keeps words of a model from becoming a picture, a link or a tag."""

IN_ADDRESS = str.maketrans({sign: f"%{ord(sign):02X}" for sign in '()<>\\`" '})


def markdown_of(answer: Answer, link: Link, address: Address | None = None) -> str:
    """The whole answer; `address` says where the nearest pages are read when nothing answers."""
    return words_of(answer) + ending_of(answer, link, address)


def words_of(answer: Answer) -> str:
    """What answers, with `[1]` behind each sentence; empty where nothing does."""
    if answer.model or not answer.lines:
        return unloaded(answer.text.strip())
    numbers = _numbers(answer)
    first, *others = dict.fromkeys(answer.lines)
    return "\n\n".join(
        [_marked(first, answer.short_span, numbers), *(_marked(line, (0, 0), numbers) for line in others)]
    )


def ending_of(answer: Answer, link: Link, address: Address | None = None) -> str:
    """What stands below the words: that there are none, what does not agree, and where all is from."""
    refusal = "" if answer.grounded else _refusal(answer, address)
    before = "\n\n" if refusal and answer.text.strip() else ""
    notes = "\n\n".join(_notes(answer, link))
    return before + refusal + (RULE + notes if notes else "")


def sureness(sure: float) -> str:
    """How sure an answer is, in words; never that it is certain."""
    tenths = min(max(round(sure * 10), 1), 9)
    weak = "The evidence is weak: answers" if sure < WEAK else "Answers"
    return f"{weak} as strong as this one were right about {tenths} time{'' if tenths == 1 else 's'} in 10."


def without_ending(text: str) -> str:
    """Only the words of an answer that a client sends back."""
    return text.partition(RULE.strip("\n").join("\n\n"))[0].strip()


def numbered(answer: Answer) -> dict[str, Cited]:
    """The citations in the order of their numbers, from 1 on; one that is there twice counts once."""
    return {cited.key: cited for cited in answer.citations}


def _numbers(answer: Answer) -> dict[str, int]:
    return {key: cited.number or place for place, (key, cited) in enumerate(numbered(answer).items(), start=1)}


def escaped(text: str) -> str:
    """Words of a book that stay words, in one line; the cells of a row are kept apart."""
    cells = (" ".join(cell.split()) for cell in text.strip().split("\t"))
    plain = SPECIAL.sub(r"\\\1", printable(" | ".join(cell for cell in cells if cell)))
    return LINE_START.sub(_at_start, plain)


def unloaded(text: str) -> str:
    """Words of a model with their Markdown, but nothing that a client would load or follow."""
    return LOADED.sub(lambda _: "\\", text)


def origin_of(books: Sequence[BookNote]) -> str:
    """Which books an answer is from, and how old they are: 'From Wikipedia for Schools, 2007'."""
    named = [_book(book) for book in books]
    if not named:
        return ""
    return f"From {named[0]}" if len(named) == 1 else f"From {'; '.join(named[:-1])}; and {named[-1]}"


def _book(book: BookNote) -> str:
    name = escaped(book.title or book.name) or book.id
    dated = f"{name}, {escaped(book.date)}" if book.date else name
    return f"{dated} ({escaped(book.flavour)})" if book.flavour else dated


def _marked(line: Line, span: tuple[int, int], numbers: dict[str, int]) -> str:
    start, end = span
    before, found, behind = line.text[:start], line.text[start:end], line.text[end:]
    text = _emphasised(before, found, behind) if found.strip() else escaped(line.text)
    marks = "".join(f"[{numbers[key]}]" for key in line.keys if key in numbers)
    return f"{text} {marks}".rstrip()


def _emphasised(before: str, short: str, behind: str) -> str:
    """The sentence with the few words that are the answer made strong; spaces stay outside."""
    inner = short.strip()
    left = before + short[: len(short) - len(short.lstrip())]
    right = short[len(short.rstrip()) :] + behind
    gap_left = " " if left[-1:].isspace() else ""
    gap_right = " " if right[:1].isspace() else ""
    return f"{escaped(left)}{gap_left}**{escaped(inner)}**{gap_right}{escaped(right)}".strip()


def _refusal(answer: Answer, address: Address | None) -> str:
    told = NOT_FROM_HERE if answer.text.strip() else NOT_HERE
    near: dict[str, EntryRef] = {}
    for page in answer.pages:
        if page.title.strip():
            near.setdefault(page.title, page.ref)
    named = [
        _linked(escaped(title), address(ref)) if address else escaped(title)
        for title, ref in list(near.items())[:MOST_NEAR]
    ]
    return f"{told} The nearest pages are: {', '.join(named)}." if named else told


def _notes(answer: Answer, link: Link) -> Iterator[str]:
    numbers = _numbers(answer)
    yield from (_conflict(conflict, numbers) for conflict in answer.conflicts)
    yield from (escaped(notice) for notice in answer.notices)
    if answer.grounded and answer.sure > 0:
        yield sureness(answer.sure)
    if answer.citations:
        yield "Sources:  \n" + "  \n".join(_source(cited, numbers, link) for cited in numbered(answer).values())
    origin = origin_of(answer.books)
    if origin:
        yield origin


def _conflict(conflict: Conflict, numbers: dict[str, int]) -> str:
    sides = ((conflict.a_quote, conflict.a_key), (conflict.b_quote, conflict.b_key))
    quotes = [f"“{escaped(quote)}”" + (f" [{numbers[key]}]" if key in numbers else "") for quote, key in sides]
    return f"**Sources do not agree.** {escaped(conflict.words)}".strip() + f" {' — '.join(quotes)}"


def _source(cited: Cited, numbers: dict[str, int], link: Link) -> str:
    return f"[{numbers[cited.key]}] {_linked(escaped(cited.citation.words), link(cited))}"


def _linked(words: str, url: str) -> str:
    return f"[{words}]({url.translate(IN_ADDRESS)})" if url else words


def _at_start(found: re.Match[str]) -> str:
    """A sign that would begin a list, a heading or a quotation."""
    sign = found[1]
    return f"{sign[:-1]}\\{sign[-1]}" if sign[0].isdigit() else f"\\{sign}"
