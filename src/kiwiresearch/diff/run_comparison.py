"""Two finished runs compared: settings, books, pages, claims and statements that differ."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from kiwiresearch.brief import Brief, BriefSource
from kiwiresearch.claims import Claim, ClaimRecord
from kiwiresearch.codec import JsonDict, Record
from kiwiresearch.diff.pairs import (
    BookKey,
    BookPair,
    ChangedClaim,
    ComparedClaim,
    PageKey,
    book_keys,
    book_pairs,
    describe_change,
    page_key,
    pair_claims,
)
from kiwiresearch.errors import RunDamaged
from kiwiresearch.runs import Manifest, Run
from kiwiresearch.text import TextRun, comparable, marked_differences

COMPARED_FIELDS = ("topic", "focus", "aspect", "version", "model", "model_pages", "critic", "embedder")
"""The fields of two manifests that are compared, in addition to settings and books."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that differs; nested settings have a dot in their name."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class OneSidedClaim:
    """A claim that only one run has, and whether the other read its page."""

    claim: Claim
    page_in_both: bool


@dataclass(frozen=True, slots=True)
class OneSidedStatement:
    """A sentence that only one of the briefs has."""

    text: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences; `changed` begins with the claims whose numbers changed."""

    settings: tuple[SettingChange, ...]
    books: tuple[BookPair, ...]
    pages_gone: tuple[BriefSource, ...]
    pages_new: tuple[BriefSource, ...]
    pages_both: int
    changed: tuple[ChangedClaim, ...]
    new: tuple[OneSidedClaim, ...]
    gone: tuple[OneSidedClaim, ...]
    same: int
    statements_new: tuple[OneSidedStatement, ...]
    statements_gone: tuple[OneSidedStatement, ...]
    statements_same: int

    @property
    def numbers(self) -> tuple[ChangedClaim, ...]:
        return tuple(claim for claim in self.changed if claim.numbers_differ)

    @property
    def is_same(self) -> bool:
        """Whether both runs make the same claims and statements."""
        return not (self.changed or self.new or self.gone or self.statements_new or self.statements_gone)


def compare_runs(old: Run, new: Run) -> Comparison:
    """How the claims of a run changed in another; the same runs give the same comparison."""
    keys = book_keys(old.books, new.books)
    pages = [{page_key(source.ref, keys) for source in side.brief.sources.pages} for side in (old, new)]
    same, changed, gone, fresh = 0, [], [], []
    claims = [_claims_by_page(side.claims, keys) for side in (old, new)]
    # In the order of the new run; pages that only the old one has come last.
    for key in dict.fromkeys([*claims[1], *claims[0]]):
        found = pair_claims(claims[0].get(key, ()), claims[1].get(key, ()))
        same += len(found.same)
        changed += [describe_change(*pair) for pair in found.changed]
        gone += [OneSidedClaim(claim.claim, key in pages[1]) for claim in found.gone]
        fresh += [OneSidedClaim(claim.claim, key in pages[0]) for claim in found.new]
    said = [_statements(side.brief) for side in (old, new)]
    return Comparison(
        settings=_settings(old.manifest, new.manifest),
        books=book_pairs(old.books, new.books, keys),
        pages_gone=tuple(source for source in old.brief.sources.pages if page_key(source.ref, keys) not in pages[1]),
        pages_new=tuple(source for source in new.brief.sources.pages if page_key(source.ref, keys) not in pages[0]),
        pages_both=len(pages[0] & pages[1]),
        changed=tuple(sorted(changed, key=lambda claim: not claim.numbers_differ)),
        new=tuple(sorted(fresh, key=lambda claim: not claim.page_in_both)),
        gone=tuple(sorted(gone, key=lambda claim: not claim.page_in_both)),
        same=same,
        statements_new=tuple(statement for key, statement in said[1].items() if key not in said[0]),
        statements_gone=tuple(statement for key, statement in said[0].items() if key not in said[1]),
        statements_same=len(said[0].keys() & said[1].keys()),
    )


def open_compared_run(folder: Path) -> Run:
    """The finished run in a folder; RunDamaged unless everything that is compared can be read."""
    run = Run.load(folder)
    try:
        _ = run.claims, run.brief
    except RunDamaged as problem:
        raise RunDamaged(
            f"The run in {str(folder)!r} is damaged or was changed.", remedy="Research the topic again."
        ) from problem
    return run


def _claims_by_page(claims: Sequence[Claim], keys: Mapping[str, BookKey]) -> dict[PageKey, list[ComparedClaim]]:
    found: dict[PageKey, list[ComparedClaim]] = defaultdict(list)
    for order, claim in enumerate(_without_duplicate_statements(claims)):
        found[page_key(claim.ref, keys)].append(ComparedClaim(order, claim))
    return dict(found)


def _without_duplicate_statements(claims: Sequence[Claim]) -> list[Claim]:
    """The claims without statements whose sentence is also a claim of another type."""
    typed = {claim.quotes[0] for claim in claims if claim.type != "statement"}
    return [claim for claim in claims if claim.type != "statement" or claim.quotes[0] not in typed]


def _statements(brief: Brief) -> dict[str, OneSidedStatement]:
    """The sentences of a brief, in its order; of two that differ only in case and punctuation, the first one."""
    found: dict[str, OneSidedStatement] = {}
    for statement in brief.statements():
        found.setdefault(comparable(statement.text), OneSidedStatement(statement.text, statement.claims))
    return found


def _settings(old: Manifest, new: Manifest) -> tuple[SettingChange, ...]:
    sides = [
        {name: _json_safe(manifest.record.get(name)) for name in COMPARED_FIELDS} | _flat(manifest.settings)
        for manifest in (old, new)
    ]
    names = dict.fromkeys([*sides[0], *sides[1]])
    rows = [SettingChange(name, sides[0].get(name), sides[1].get(name)) for name in names]
    return tuple(row for row in rows if row.old != row.new)


def _flat(values: Mapping[str, Any], before: str = "") -> JsonDict:
    found: JsonDict = {}
    for name, value in sorted(values.items()):
        found |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": _json_safe(value)}
    return found


def _json_safe(value: Any) -> Any:
    """A value of a manifest; what JSON cannot express, such as NaN, becomes a text."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return str(value)
    return value


DifferenceKind = Literal["numbers", "changed", "new", "gone"]
DIFFERENCE_KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)


@dataclass(frozen=True, slots=True)
class RunDifference:
    """A claim of the old run, of the new one, or of both with different wording."""

    kind: DifferenceKind
    old: Claim | None
    new: Claim | None
    hedging: bool = False
    """Whether its hedging words changed or disappeared."""
    page_in_both: bool = True
    """Whether both runs read its page."""

    @property
    def claim(self) -> Claim:
        """The newer of its sides."""
        claim = self.new or self.old
        if claim is None:
            raise ValueError("a difference is of a claim")
        return claim

    @property
    def sides(self) -> tuple[tuple[TextRun, ...], tuple[TextRun, ...]]:
        """The words of both sides, with those marked that only one of them has."""
        if self.old and self.new:
            return marked_differences(self.old.text, self.new.text)
        return _unmarked(self.old), _unmarked(self.new)


def differences(found: Comparison, kind: str = "") -> list[RunDifference]:
    """All differences, or those of one kind."""
    rows = [
        RunDifference("numbers" if claim.numbers_differ else "changed", claim.old, claim.new, claim.hedging_differs)
        for claim in found.changed
    ]
    rows += [RunDifference("new", None, claim.claim, page_in_both=claim.page_in_both) for claim in found.new]
    rows += [RunDifference("gone", claim.claim, None, page_in_both=claim.page_in_both) for claim in found.gone]
    return [row for row in rows if not kind or row.kind == kind]


def difference_counts(found: Comparison) -> dict[str, int]:
    """How many claims there are of each kind, and how many are the same."""
    counted = Counter(row.kind for row in differences(found))
    return {kind: counted[kind] for kind in DIFFERENCE_KINDS} | {"same": found.same}


@dataclass(frozen=True, slots=True)
class ClaimDifference(Record):
    """A claim of the old run, of the new one, or of both with different wording."""

    kind: DifferenceKind
    """`numbers`: changed, including a number, a measure or a date."""
    old: ClaimRecord | None
    new: ClaimRecord | None
    hedging: bool
    """Whether the hedging changed."""
    page_in_both: bool
    """Whether both runs read its page."""


@dataclass(frozen=True, slots=True)
class ComparedPage(Record):
    """A page that only one run read."""

    book_id: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class PageDifferences(Record):
    """The pages of two runs."""

    both: int
    new: tuple[ComparedPage, ...]
    gone: tuple[ComparedPage, ...]


@dataclass(frozen=True, slots=True)
class ComparedClaimCounts(Record):
    """How many claims there are of each kind."""

    numbers: int
    changed: int
    new: int
    gone: int
    same: int


@dataclass(frozen=True, slots=True)
class StatementDifferences(Record):
    """The sentences of two briefs."""

    new: tuple[str, ...]
    gone: tuple[str, ...]
    same: int


@dataclass(frozen=True, slots=True)
class ComparisonRecord(Record):
    """Two runs side by side; changed numbers come first."""

    old: str
    new: str
    settings: tuple[SettingChange, ...]
    books: tuple[BookPair, ...]
    pages: PageDifferences
    counts: ComparedClaimCounts
    differences: tuple[ClaimDifference, ...]
    statements: StatementDifferences


def comparison_record(old: str, new: str, found: Comparison, rows: Sequence[RunDifference]) -> ComparisonRecord:
    """The comparison of two runs of these names, with some of its differences."""
    return ComparisonRecord(
        old,
        new,
        found.settings,
        found.books,
        PageDifferences(found.pages_both, _pages(found.pages_new), _pages(found.pages_gone)),
        ComparedClaimCounts(**difference_counts(found)),
        tuple(
            ClaimDifference(row.kind, _claim(row.old), _claim(row.new), row.hedging, row.page_in_both) for row in rows
        ),
        StatementDifferences(
            tuple(statement.text for statement in found.statements_new),
            tuple(statement.text for statement in found.statements_gone),
            found.statements_same,
        ),
    )


def _claim(claim: Claim | None) -> ClaimRecord | None:
    return ClaimRecord.of(claim) if claim else None


def _pages(sources: Sequence[BriefSource]) -> tuple[ComparedPage, ...]:
    return tuple(ComparedPage(source.ref.book, source.ref.path, source.title) for source in sources)


def _unmarked(claim: Claim | None) -> tuple[TextRun, ...]:
    return (TextRun(claim.text, differs=False),) if claim else ()
