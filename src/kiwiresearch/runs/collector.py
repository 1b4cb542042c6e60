"""Collects claims, by rule and by a model, and links to missing pages from the pages of a run."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kiwiresearch.brief import Brief, QuoteContext, context_of
from kiwiresearch.claims import (
    Claim,
    ClaimId,
    SentenceFilter,
    claim_from_record,
    claim_record,
    claims_of,
)
from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import QuoteNotFound, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.page import PageDoc
from kiwiresearch.runs.unfinished_run import append_lines
from kiwiresearch.runs.writer import RunWriter
from kiwiresearch.search import OpenBook
from kiwiresearch.zim import EntryRef, hidden_page_error

if TYPE_CHECKING:
    from kiwiresearch.claims import ClaimReader


class ClaimCollector:
    """Everything gathered so far; each page adds to it and returns the row from which the journal can restore it."""

    def __init__(self, writer: RunWriter, reader: ClaimReader | None = None, model_pages: int = 0) -> None:
        """Restore what the journal has; a `reader`, if any, reads the first `model_pages` pages of the run as well."""
        self._writer = writer
        self._reader = reader
        self._model_pages = model_pages
        self.claims: list[Claim] = []
        self.missing: Counter[str] = Counter()
        self._model_rows: list[Mapping[str, Any]] = []
        self._pages = 0
        try:
            self.claims += [
                claim_from_record(json.loads(line)) for line in writer.claims.path.read_bytes().splitlines()
            ]
            for row in writer.journal.rows:
                if "missing" in row:
                    self._restore_row(row)
        except (KeyError, TypeError, ValueError, QuoteNotFound) as problem:
            raise unreadable_journal(writer) from problem

    def read_page(self, page: PageDoc, book: OpenBook, wanted: SentenceFilter) -> JsonDict:
        """Read the claims of a page and the sentences that are `wanted`; returns the journal's fields for it."""
        claims = claims_of(page, book.book.name, wanted)
        book.prefetch_targets(link.target for link in page.links if link.in_text)
        gone = (link for link in page.links if link.in_text and book.resolve(link.target) is None)
        absent = (link for link in gone if hidden_page_error(book.archive, link.target) is None)
        row: JsonDict = {"missing": sorted({link.target_title for link in absent})}
        if self._reader is not None and self._pages < self._model_pages:
            from kiwiresearch.claims import merged_claims  # loads pydantic, which runs without a model do not need

            found = self._reader.extract(page, book.book.name)
            claims = merged_claims(claims, found.claims, page.language)
            row["by_model"] = {
                "title": page.title,
                # "taken" is what journals and manifests call accepted claims.
                "taken": len(found.claims),
                "dropped": [[claim.reason, claim.text] for claim in found.rejected],
                "note": self._reader.gave_up_reason,
            }
        lines = b"".join((canonical_json(claim_record(claim)) + "\n").encode("utf-8", "replace") for claim in claims)
        self.claims += claims
        self._restore_row(row)
        return row | append_lines("claims", self._writer.claims, lines)

    def contexts(self, brief: Brief) -> dict[ClaimId, QuoteContext]:
        """The text around the quotes of a brief. Each page in the corpus is read only once."""
        of_page: defaultdict[EntryRef, list[Claim]] = defaultdict(list)
        for claim in brief.claims.values():
            of_page[claim.ref].append(claim)
        found: dict[ClaimId, QuoteContext] = {}
        try:
            with self._writer.corpus.path.open("rb") as lines:
                # The corpus has the pages in the order of the brief.
                for source, line in zip(brief.sources.pages, lines, strict=True):
                    page = json.loads(line) if source.ref in of_page else {}
                    for claim in of_page[source.ref]:
                        context = context_of(claim, page["plain_text"], page["language"])
                        if context is not None:
                            found[claim.id] = context
        except (KeyError, OSError, TypeError, ValueError) as problem:
            raise unreadable_journal(self._writer) from problem
        return found

    def _restore_row(self, row: Mapping[str, Any]) -> None:
        self._pages += 1
        self.missing.update(row["missing"])
        if "by_model" in row:
            self._model_rows.append(row["by_model"])

    @property
    def notes(self) -> Sequence[str]:
        """Why the model was given up, if it was."""
        return [note for note in dict.fromkeys(row["note"] for row in self._model_rows) if note]

    @property
    def counts(self) -> dict[str, int]:
        """How many of the model's claims were accepted, and how many were dropped, by reason."""
        counts = Counter({"taken": sum(row["taken"] for row in self._model_rows)})
        counts.update(reason for row in self._model_rows for reason, _ in row["dropped"])
        return dict(counts) if self._model_rows else {}

    def log(self) -> Iterator[str]:
        """The claims that the model proposed page by page, and why some were dropped."""
        for row in self._model_rows:
            yield f"Claims by the model from {row['title']}: {row['taken']} taken, {len(row['dropped'])} dropped."
            yield from (f"  Dropped ({reason}): {words}" for reason, words in row["dropped"])


def unreadable_journal(writer: RunWriter) -> RunDamaged:
    return RunDamaged(
        f"The saved progress of the run in {str(writer.path)!r} cannot be read.",
        remedy="Choose another folder, or delete this one.",
    )
