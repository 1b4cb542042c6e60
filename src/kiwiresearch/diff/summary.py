"""Counts of the changes between two snapshots, the most important of them, and all of them as JSON lines."""

from __future__ import annotations

import contextlib
import heapq
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwiresearch.codec import plain
from kiwiresearch.diff.changes import CHANGE_KINDS, ClaimChange, ClaimChangeRecord, PageChange
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs import reporting_file_errors
from kiwiresearch.text import count_of
from kiwiresearch.zim import title_of_path

MAX_TITLES = 12
"""Users see the names of up to this many added, removed or renamed pages."""

NAMED_CHANGES = ("added", "removed", "renamed", "unreadable")

SAME_CLAIM_LIKENESS = 0.75
"""From this share of common words on, two different numbers are surely about the same thing."""

DOUBT_WEIGHTS = {"contradicted": 6.0, "marked": 5.0, "hedged": 3.5}


def change_weight(change: ClaimChange) -> float:
    """How important a change is: contradictions and changed numbers most, other words least."""
    doubted = max((DOUBT_WEIGHTS[doubt.how] for doubt in change.doubts), default=0.0)
    if change.numbers:
        return max(doubted, 4.0 if change.similarity >= SAME_CLAIM_LIKENESS else 3.0)
    if change.hedging:
        return max(doubted, 3.5)
    return max(doubted, 1.0 if change.kind == "changed" else 2.0)


def ranked_changes(changes: Iterable[ClaimChange]) -> list[ClaimChange]:
    """The most important first; equally important ones stay in order."""
    return sorted(changes, key=lambda change: (-change_weight(change), -change.similarity, -change.claim.confidence))


@dataclass(frozen=True, slots=True)
class PageHighlights:
    """The most important changes of one page, and how many more there are."""

    page: PageChange
    changes: tuple[ClaimChange, ...]
    more: int


class DiffTally:
    """Counts changes, and keeps the most important ones of the wanted `kinds`."""

    def __init__(self, kinds: Collection[str] = CHANGE_KINDS, *, limit: int = 40, per_page: int = 6) -> None:
        self.pages: Counter[str] = Counter()
        self.claims: Counter[str] = Counter()
        self._named_changes: dict[str, list[tuple[int, int, str]]] = {name: [] for name in NAMED_CHANGES}
        self._kinds = frozenset(kinds)
        self._limit = limit
        self._per_page = per_page
        self._best: list[tuple[tuple[float, ...], int, PageHighlights]] = []
        self._order = 0
        self.wanted = 0
        """How many changes of the wanted kinds there are on pages that both snapshots have."""

    def add(self, page: PageChange) -> None:
        self._count(page)
        if page.state in ("both", "contradicted elsewhere") and page.changes:
            wanted = [change for change in page.changes if change.is_of(self._kinds)]
            self.wanted += len(wanted)
            if wanted:
                self._keep(page, wanted)

    def named(self, what: str) -> list[str]:
        """The pages that were added, removed, renamed or unreadable: those with the most claims first."""
        return [name for _, _, name in sorted(self._named_changes[what], reverse=True)]

    def highlights(self) -> list[PageHighlights]:
        """The pages with the most important changes, up to the requested number of changes."""
        found: list[PageHighlights] = []
        left = self._limit
        for _, _, page_highlights in sorted(self._best, key=lambda row: row[:2], reverse=True):
            if left <= 0:
                break
            shown = page_highlights.changes[:left]
            found.append(
                PageHighlights(
                    page_highlights.page, shown, page_highlights.more + len(page_highlights.changes) - len(shown)
                )
            )
            left -= len(shown)
        return found

    def record(self) -> dict[str, dict[str, int]]:
        """The counts as JSON."""
        pages = ("both", "same", "added", "removed", "renamed", "unreadable")
        claims = ("changed", "numbers", "added", "withdrawn", "disputed", "same", "on added pages", "on removed pages")
        return {
            "claims": {name.replace(" ", "_"): self.claims[name] for name in claims},
            "pages": {name: self.pages[name] for name in pages},
        }

    def records(self) -> list[ClaimChangeRecord]:
        """The most important changes as JSON."""
        return [
            change.record(highlights.page.sides) for highlights in self.highlights() for change in highlights.changes
        ]

    def _count(self, page: PageChange) -> None:
        self.pages[page.state] += 1
        self.pages["same"] += page.is_same
        self.pages["renamed"] += page.is_renamed
        what = "renamed" if page.is_renamed else page.state
        if what in self._named_changes:
            _push(self._named_changes[what], (len(page.changes), -self.pages[what], _named(page)), MAX_TITLES)
        if page.state not in ("both", "contradicted elsewhere"):
            self.claims[f"on {page.state} pages"] += len(page.changes)
            return
        self.claims["same"] += page.same
        for change in page.changes:
            self.claims[change.kind] += change.kind != "disputed"
            self.claims["numbers"] += change.numbers
            self.claims["disputed"] += bool(change.doubts)

    def _keep(self, page: PageChange, wanted: Sequence[ClaimChange]) -> None:
        best = ranked_changes(wanted)
        weights = [change_weight(change) for change in best]
        # Counts down, because the largest rows are kept: of two equal pages the earlier one wins.
        self._order -= 1
        key = (weights[0], float(weights.count(weights[0])), sum(weights))
        highlights = PageHighlights(page, tuple(best[: self._per_page]), max(0, len(best) - self._per_page))
        _push(self._best, (key, self._order, highlights), self._limit)


def _push(heap: list[Any], row: tuple[Any, ...], max_rows: int) -> None:
    """Keep the largest rows. Their second items all differ, so the third, which cannot be compared, never are."""
    if len(heap) < max_rows:
        heapq.heappush(heap, row)
    else:
        heapq.heappushpop(heap, row)


def _named(page: PageChange) -> str:
    title, count = page.page.title, len(page.changes)
    if page.is_renamed and page.old:
        return f"{page.old.title} → {title}"
    if page.problem:
        return f"{title}: {page.problem}"
    claims = count_of(count, "claim")
    if page.leads_to:
        target = title_of_path(page.leads_to)
        title = title_of_path(page.page.path) if target == title else title
        return f"{title} ({claims}; now redirects to {target})"
    return f"{title} ({claims})"


OUT_REMEDY = "Free up space, or choose another place with --out."
RecordWriter = Callable[[object], None]


@contextmanager
def json_lines_file(file: Path) -> Iterator[RecordWriter]:
    """Write records as JSON lines to a temporary file, which is renamed at the end.

    It is opened at once, so that a file that cannot be written fails before the work starts.
    """
    with reporting_file_errors(file, OUT_REMEDY):
        part = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        if file.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        stream = part.open("xb")

    def write(record: object) -> None:
        with reporting_file_errors(file, OUT_REMEDY):
            stream.write(canonical_json(plain(record)).encode("utf-8", "surrogateescape") + b"\n")

    try:
        yield write
        with reporting_file_errors(file, OUT_REMEDY):
            stream.close()
            part.replace(file)
    finally:
        with contextlib.suppress(OSError):  # a full disk is still full
            stream.close()
        part.unlink(missing_ok=True)
