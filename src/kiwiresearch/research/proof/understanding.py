"""How a brief says the topic was understood, held against the topic, the pages and the books."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kiwiresearch.brief.brief import Brief
from kiwiresearch.ids import BookId
from kiwiresearch.research.proof.books import RunBook
from kiwiresearch.text.fold import fold
from kiwiresearch.text.words import words_in
from kiwiresearch.zim.archive import Archive

READ_AS = re.compile(r"^Searched .*, read as (.+): [\d,]+ pages? found, ", re.MULTILINE)
PASSED_OVER = re.compile(r"^Passed over: (['\"])(.+)\1(?: in .+)?, [\d.,-]+ points: ", re.MULTILINE)
MOST_SUGGESTED = 10


def faults_of_understanding(
    brief: Brief, manifest: Mapping[str, Any], books: Mapping[BookId, RunBook], log: str
) -> Iterator[str]:
    """What is wrong with the thing, the side of it and the other senses that a brief names."""
    said = _words(brief.topic, *READ_AS.findall(log))
    titles = {fold(source.title) for source in brief.sources.pages}
    titles |= {fold(title) for _, title in PASSED_OVER.findall(log)}
    if fold(brief.head) not in titles and not _words(brief.head) <= said:
        yield f"it is about {brief.head!r:.80}, which is neither a page of the run nor in the topic"
    asked = manifest.get("aspect")
    if asked and brief.aspect != asked:
        yield f"its aspect is {brief.aspect!r:.80}, the manifest's is {asked!r:.80}"
    elif not asked and not _words(brief.aspect) <= said:
        yield f"its aspect {brief.aspect!r:.80} is not in the topic"
    archives = [book.archive for book in books.values()]
    for sense in brief.senses:
        if not any(archive is None or _has_title(archive, sense) for archive in archives):
            yield f"the other sense {sense!r:.80} is no page of its books"


def _words(*texts: str) -> set[str]:
    return set(_folded(words_in(" ".join(texts))))


def _folded(words: Iterable[str]) -> Iterator[str]:
    return (part for word in words for part in fold(word).split())


def _has_title(archive: Archive, title: str) -> bool:
    return archive.by_title(title) is not None or any(
        found.title == title for found in archive.suggest(title, MOST_SUGGESTED)
    )
