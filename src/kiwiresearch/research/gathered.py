"""What the pages of a run say: claims by rule and by a model, and the pages they link to in vain."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kiwiresearch.brief.brief import Brief, Context
from kiwiresearch.brief.context import context_of
from kiwiresearch.claims.by_model import ClaimReader
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.claims.merge import merged
from kiwiresearch.claims.record import claim_of, record_of
from kiwiresearch.claims.statements import Wanted
from kiwiresearch.errors import QuoteNotFound, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.research.run_folder import RunFolder
from kiwiresearch.research.work import added
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.guarded import hidden_at


class Gathered:
    """What was gathered so far; every page adds to it, and tells the journal what it must know to go on."""

    def __init__(self, folder: RunFolder, reader: ClaimReader | None = None, model_pages: int = 0) -> None:
        """What a run had gathered before, and who reads its further pages: a model the first so many of all."""
        self._folder = folder
        self._reader = reader
        self._model_pages = model_pages
        self.claims: list[Claim] = []
        self.missing: Counter[str] = Counter()
        self._told: list[Mapping[str, Any]] = []
        self._pages = 0
        try:
            self.claims += [claim_of(json.loads(line)) for line in folder.claims.path.read_bytes().splitlines()]
            for row in folder.journal.rows:
                if "missing" in row:
                    self._take_in(row)
        except (KeyError, TypeError, ValueError, QuoteNotFound) as problem:
            raise unreadable(folder) from problem

    def take(self, page: PageDoc, book: OpenBook, wanted: Wanted) -> dict[str, Any]:
        """Read a page for claims, and for the sentences that are wanted besides; what the journal must know of it."""
        claims = claims_of(page, book.book.name, wanted)
        book.resolve_ahead(link.target for link in page.links if link.in_text)
        gone = (link for link in page.links if link.in_text and book.resolve(link.target) is None)
        absent = (link for link in gone if hidden_at(book.archive, link.target) is None)
        row: dict[str, Any] = {"missing": sorted({link.target_title for link in absent})}
        if self._reader is not None and self._pages < self._model_pages:
            found = self._reader.extract(page, book.book.name)
            claims = merged(claims, found.claims, page.language)
            row["by_model"] = {
                "title": page.title,
                "taken": len(found.claims),
                "dropped": [[one.reason, one.words] for one in found.dropped],
                "note": self._reader.note,
            }
        lines = b"".join((canonical_json(record_of(one)) + "\n").encode("utf-8", "replace") for one in claims)
        self.claims += claims
        self._take_in(row)
        return row | added("claims", self._folder.claims, lines)

    def contexts(self, brief: Brief) -> dict[ClaimId, Context]:
        """What stands around the quotes of a brief, from the pages as they were filed, each read once."""
        of_page: defaultdict[EntryRef, list[Claim]] = defaultdict(list)
        for claim in brief.claims.values():
            of_page[claim.ref].append(claim)
        found: dict[ClaimId, Context] = {}
        try:
            with self._folder.corpus.path.open("rb") as lines:
                for source, line in zip(brief.sources.pages, lines, strict=True):
                    page = json.loads(line) if source.ref in of_page else {}
                    for claim in of_page[source.ref]:
                        context = context_of(claim, page["plain_text"], page["language"])
                        if context is not None:
                            found[claim.id] = context
        except (KeyError, OSError, TypeError, ValueError) as problem:
            raise unreadable(self._folder) from problem
        return found

    def _take_in(self, row: Mapping[str, Any]) -> None:
        self._pages += 1
        self.missing.update(row["missing"])
        if "by_model" in row:
            self._told.append(row["by_model"])

    @property
    def notes(self) -> Sequence[str]:
        """Why a model was given up, if one was."""
        return [note for note in dict.fromkeys(told["note"] for told in self._told) if note]

    @property
    def counts(self) -> dict[str, int]:
        """How many claims of a model were taken, and how many were not, by the reason."""
        counts = Counter({"taken": sum(told["taken"] for told in self._told)})
        counts.update(reason for told in self._told for reason, _ in told["dropped"])
        return dict(counts) if self._told else {}

    def log(self) -> Iterator[str]:
        """What a model proposed, page by page, and what of it was dropped and why."""
        for told in self._told:
            yield f"Claims by the model from {told['title']}: {told['taken']} taken, {len(told['dropped'])} dropped."
            yield from (f"  Dropped ({reason}): {words}" for reason, words in told["dropped"])


def unreadable(folder: RunFolder) -> RunDamaged:
    return RunDamaged(
        f"The journal of the run in {str(folder.path)!r} cannot be read.",
        remedy="Choose another folder, or delete this one.",
    )
