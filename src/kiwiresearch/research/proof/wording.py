"""Whether the words of a claim are the page's: its quote as it stands, or with a name put in for a pronoun."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.facts import Unsupported, unsupported_facts
from kiwiresearch.claims.standalone import tidy
from kiwiresearch.text.fold import fold

LONGEST_REPLACED = 6
"""Words; what stands for a name is 'he', 'its' or 'the old capital city'."""
GENITIVE = re.compile(r"['’]s?$")
PUNCTUATION = ' ,;:.!?()"“”'
ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


class BoxRow(NamedTuple):
    """A row of a box: where its value stands, and the labels over and beside it."""

    start: int
    end: int
    group: str
    key: str
    value: str


def strange_words(claim: Claim, boxes: Sequence[BoxRow], title: str, language: str) -> tuple[str, ...]:
    """The numbers, dates and names of a claim that neither its quotes nor the page's title have."""
    quotes = [_level(quote.text) for quote in claim.quotes]
    text = _level(claim.text)
    if text in (quotes[0], _of_a_row(quotes)) or _is_named(text, quotes[0], [title, *quotes[1:]]):
        return ()
    # As they stand, too: with a tab made a space, 'Density 243' would look like the name of a thing.
    raw = [quote.text for quote in claim.quotes]
    sources = [*quotes, *raw, title, _of_a_row(quotes), *_labels(claim, boxes)]
    found = unsupported_facts(text, sources, language)
    return tuple(dict.fromkeys(fact.words for fact in found if not _is_there(fact, sources)))


def _is_there(fact: Unsupported, sources: Sequence[str]) -> bool:
    """Whether a date stands in a source letter by letter, though nothing around it there says that it is one."""
    if fact.kind != "date":
        return False
    pattern = re.compile(rf"(?<![\w,.]){re.escape(fact.words)}(?![\w]|[,.]\d)")
    return any(pattern.search(source) for source in sources)


def _level(text: str) -> str:
    """The text as a claim has it: white space in order, and a capital at its beginning."""
    words = tidy(" ".join(text.split()))
    return words[:1].upper() + words[1:]


def _of_a_row(quotes: Sequence[str]) -> str:
    """What a cell of a table says, with the names of its row and its column."""
    return f"{quotes[1]} — {quotes[2]}: {quotes[0]}" if len(quotes) > 2 else ""


def _is_named(text: str, quote: str, names: Sequence[str]) -> bool:
    """Whether a claim is its quote word by word, but for a name that stands where the quote has none."""
    mine, theirs = text.split(" "), quote.split(" ")
    first = _common(mine, theirs)
    last = _common(mine[first:][::-1], theirs[first:][::-1])
    put_in, replaced = mine[first : len(mine) - last], theirs[first : len(theirs) - last]
    if not put_in or not replaced or len(replaced) > LONGEST_REPLACED or any(map(_has_digit, replaced)):
        return False
    name = GENITIVE.sub("", " ".join(put_in).strip(PUNCTUATION))
    name = fold(ARTICLE.sub("", name))
    return bool(name) and any(f" {name} " in f" {fold(one)} " for one in names)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two texts have in common from their beginning."""
    for number, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return number
    return min(len(one), len(other))


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)


def _labels(claim: Claim, boxes: Sequence[BoxRow]) -> Iterator[str]:
    """What stands over and beside a row of a box, and is no part of its quote."""
    quote = claim.quotes[0]
    for row in boxes:
        if quote.start <= row.start and row.end <= quote.end:
            yield from (_level(row.group), _level(row.key), f"{_level(row.key)} {_level(row.value)}")
