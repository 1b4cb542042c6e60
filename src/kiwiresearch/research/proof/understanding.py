"""How a brief says the topic was understood, held against the manifest, the topic and the books."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kiwiresearch.brief.brief import Brief
from kiwiresearch.ids import BookId
from kiwiresearch.research.manifest import MANIFEST
from kiwiresearch.research.proof.books import RunBook
from kiwiresearch.research.proof.files import BRIEF
from kiwiresearch.research.proof.ledger import Ledger
from kiwiresearch.text.fold import fold
from kiwiresearch.text.words import words_in
from kiwiresearch.zim.archive import Archive

MOST_SUGGESTED = 10


def prove_understanding(
    brief: Brief, manifest: Mapping[str, Any], books: Mapping[BookId, RunBook], ledger: Ledger
) -> None:
    """The brief is about what the manifest says, and that can be what the topic means in these books."""
    understood = manifest.get("understood")
    if not isinstance(understood, dict):
        ledger.fail(MANIFEST, "it does not say how the topic was understood")
        return
    told = {
        "head": brief.head,
        "aspect": brief.aspect,
        "senses": list(brief.senses),
        "head_pages": [str(source.ref) for source in brief.sources.pages if source.is_head],
    }
    for name, value in told.items():
        if understood.get(name) != value:
            ledger.fail(BRIEF, f"its {name!r} is {value!r:.80}, the manifest's is {understood.get(name)!r:.80}")
    with ledger.at(MANIFEST).guarding("how the topic was understood cannot be proved"):
        titles = {fold(source.title) for source in brief.sources.pages}
        for what in _faults(understood, manifest, titles, [book.archive for book in books.values()]):
            ledger.fail(MANIFEST, what)


def _faults(
    understood: Mapping[str, Any], manifest: Mapping[str, Any], titles: set[str], archives: Sequence[Archive | None]
) -> Iterator[str]:
    """What the topic cannot mean; `titles` are those of the pages that were read."""
    head, aspect, asked = understood["head"], understood["aspect"], manifest.get("aspect")
    in_topic = _words(manifest["topic"], understood["read_as"])
    if fold(head) not in titles and not _words(head) <= in_topic and not _is_title(head, archives):
        yield f"the topic is understood as {head!r:.80}, which is neither a page of its books nor in the topic"
    if asked and aspect != asked:
        yield f"the topic is understood with the aspect {aspect!r:.80}, and {asked!r:.80} was asked for"
    elif not asked and not _words(aspect) <= in_topic:
        yield f"the topic is understood with the aspect {aspect!r:.80}, which is not in the topic"
    for sense in understood["senses"]:
        if not _is_title(sense, archives):
            yield f"the other sense {sense!r:.80} is not a page of its books"


def _words(*texts: str) -> set[str]:
    return set(_folded(words_in(" ".join(texts))))


def _folded(words: Iterable[str]) -> Iterator[str]:
    return (part for word in words for part in fold(word).split())


def _is_title(title: str, archives: Sequence[Archive | None]) -> bool:
    """Whether a book has a page of this title; a book that is not there may have it."""
    return any(archive is None or _has_title(archive, title) for archive in archives)


def _has_title(archive: Archive, title: str) -> bool:
    return archive.by_title(title) is not None or any(
        found.title == title for found in archive.suggest(title, MOST_SUGGESTED)
    )
