"""The differences of two runs one by one, changed numbers first, and a comparison as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from kiwiresearch.brief.brief import Source
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.record import record_of as claim_record
from kiwiresearch.research.claim_pairs import Changed
from kiwiresearch.research.comparing import Comparison
from kiwiresearch.text.differing import Run, marked

Kind = Literal["numbers", "changed", "new", "gone"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Difference:
    """A claim of the old run, of the new one, or of both in other words."""

    kind: Kind
    old: Claim | None
    new: Claim | None
    hedging: bool = False
    """Whether other words hold it back now, or none."""
    page_in_both: bool = True
    """Whether both runs have read its page."""

    @property
    def claim(self) -> Claim:
        """The newer of its sides."""
        claim = self.new or self.old
        if claim is None:
            raise ValueError("a difference is of a claim")
        return claim

    @property
    def sides(self) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
        """The words of both, those marked that the other does not have."""
        if self.old and self.new:
            return marked(self.old.text, self.new.text)
        return _alone(self.old), _alone(self.new)

    def record(self) -> dict[str, Any]:
        return {
            "hedging": self.hedging,
            "kind": self.kind,
            "new": claim_record(self.new) if self.new else None,
            "old": claim_record(self.old) if self.old else None,
            "page_in_both": self.page_in_both,
        }


def differences(found: Comparison, kind: str = "") -> list[Difference]:
    """All of them, or those of one kind."""
    rows = [_of_change(one) for one in found.changed]
    rows += [Difference("new", None, one.claim, page_in_both=one.page_in_both) for one in found.new]
    rows += [Difference("gone", one.claim, None, page_in_both=one.page_in_both) for one in found.gone]
    return [row for row in rows if not kind or row.kind == kind]


def counts_of(found: Comparison) -> dict[str, int]:
    """How many claims there are of each kind, and how many are the same."""
    counted = Counter(row.kind for row in differences(found))
    return {kind: counted[kind] for kind in KINDS} | {"same": found.same}


def record_of(found: Comparison, rows: Sequence[Difference]) -> dict[str, Any]:
    """A comparison as plain data, with some of its differences."""
    return {
        "books": [asdict(pair) for pair in found.books],
        "counts": counts_of(found),
        "differences": [row.record() for row in rows],
        "pages": {
            "both": found.pages_both,
            "gone": [_page(one) for one in found.pages_gone],
            "new": [_page(one) for one in found.pages_new],
        },
        "settings": [asdict(one) for one in found.settings],
        "statements": {
            "gone": [one.text for one in found.statements_gone],
            "new": [one.text for one in found.statements_new],
            "same": found.statements_same,
        },
    }


def _of_change(one: Changed) -> Difference:
    return Difference("numbers" if one.numbers else "changed", one.old, one.new, one.hedging)


def _alone(claim: Claim | None) -> tuple[Run, ...]:
    return (Run(claim.text, differs=False),) if claim else ()


def _page(source: Source) -> dict[str, str]:
    return {"book_id": source.ref.book, "path": source.ref.path, "title": source.title}
