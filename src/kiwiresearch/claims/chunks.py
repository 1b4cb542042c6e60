"""A page in pieces that a model reads at once: parts of one section, cut between paragraphs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from kiwiresearch.claims.sentence import sentences_of
from kiwiresearch.llm.budget import estimate_tokens
from kiwiresearch.page.doc import PageDoc

SHORTEST = 30
"""Less than these characters say nothing that is worth asking a model about."""


class Chunk(NamedTuple):
    """A part of a section: `page.text[start:end]`."""

    section: int
    start: int
    end: int
    sentences: int


def chunks_of(page: PageDoc, room: int) -> list[Chunk]:
    """The prose of a page in chunks of at most `room` tokens; a paragraph that is longer is cut between sentences.

    A sentence that does not fit by itself is left out: it is no sentence.
    """
    found: list[Chunk] = []
    size = 0
    for piece in _pieces(page, room):
        tokens = estimate_tokens(page.text[piece.start : piece.end])
        last = found[-1] if found else None
        if tokens > room:
            continue
        if last and last.section == piece.section and size + tokens <= room and _touch(page, last, piece):
            found[-1] = last._replace(end=piece.end, sentences=last.sentences + piece.sentences)
            size += tokens
        else:
            found.append(piece)
            size = tokens
    return [chunk for chunk in found if chunk.end - chunk.start >= SHORTEST]


def _pieces(page: PageDoc, room: int) -> Iterator[Chunk]:
    """Paragraphs, and the sentences of those that are too long."""
    for _, group in groupby(sentences_of(page), key=lambda sentence: sentence.block):
        sentences = list(group)
        whole = Chunk(sentences[0].section, sentences[0].start, sentences[-1].end, len(sentences))
        if estimate_tokens(page.text[whole.start : whole.end]) <= room:
            yield whole
        else:
            yield from (Chunk(sentence.section, sentence.start, sentence.end, 1) for sentence in sentences)


def _touch(page: PageDoc, one: Chunk, other: Chunk) -> bool:
    """Whether nothing but white space is between: a table would come along otherwise."""
    return not page.text[one.end : other.start].strip()
