"""Two finished runs side by side: other settings, an older snapshot of the same book, and each claim that differs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwiresearch.brief.brief import Brief, Source
from kiwiresearch.brief.record import brief_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.record import claim_of
from kiwiresearch.errors import KiwiError, RunDamaged
from kiwiresearch.research.book_pairs import BookKey, BookPair, PageKey, book_keys, book_pairs, books_in, page_key
from kiwiresearch.research.claim_pairs import Changed, Compared, change_of, paired
from kiwiresearch.research.manifest import read_manifest
from kiwiresearch.text.differing import plainly
from kiwiresearch.zim.entry import EntryRef

TOLD = ("topic", "focus", "aspect", "version", "model", "model_pages", "critic", "embedder")
"""What a manifest tells of a run beside its settings and its books."""


@dataclass(frozen=True, slots=True)
class Side:
    """A finished run as it is compared."""

    id: str
    manifest: Mapping[str, Any]
    claims: Sequence[Claim]
    brief: Brief


@dataclass(frozen=True, slots=True)
class SettingChange:
    """Something that was set otherwise; nested settings have a dot in their name."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class OneSided:
    """A claim that only one run has, and whether the other has read its page."""

    claim: Claim
    page_in_both: bool


@dataclass(frozen=True, slots=True)
class StatementOf:
    """A sentence of one brief that the other does not have."""

    text: str
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that differs; `changed` begins with the claims whose numbers did."""

    settings: tuple[SettingChange, ...]
    books: tuple[BookPair, ...]
    pages_gone: tuple[Source, ...]
    pages_new: tuple[Source, ...]
    pages_both: int
    changed: tuple[Changed, ...]
    new: tuple[OneSided, ...]
    gone: tuple[OneSided, ...]
    same: int
    statements_new: tuple[StatementOf, ...]
    statements_gone: tuple[StatementOf, ...]
    statements_same: int

    @property
    def numbers(self) -> tuple[Changed, ...]:
        return tuple(one for one in self.changed if one.numbers)

    @property
    def is_same(self) -> bool:
        """Whether both runs say the same, claim by claim and sentence by sentence."""
        return not (self.changed or self.new or self.gone or self.statements_new or self.statements_gone)


def compare(old: Side, new: Side) -> Comparison:
    """What became of a run's claims in another; the same runs give the same comparison."""
    keys = book_keys(books_in(old.manifest), books_in(new.manifest))
    pages = [_by_page([one.ref for one in side.brief.sources.pages], keys) for side in (old, new)]
    same, changed, gone, fresh = 0, [], [], []
    claims = [_claims_by_page(side.claims, keys) for side in (old, new)]
    for key in dict.fromkeys([*claims[1], *claims[0]]):
        found = paired(claims[0].get(key, ()), claims[1].get(key, ()))
        same += len(found.same)
        changed += [change_of(*pair) for pair in found.changed]
        gone += [OneSided(one.claim, key in pages[1]) for one in found.gone]
        fresh += [OneSided(one.claim, key in pages[0]) for one in found.new]
    said = [_statements(side.brief) for side in (old, new)]
    return Comparison(
        settings=_settings(old.manifest, new.manifest),
        books=book_pairs(books_in(old.manifest), books_in(new.manifest), keys),
        pages_gone=tuple(one for one in old.brief.sources.pages if page_key(one.ref, keys) not in pages[1]),
        pages_new=tuple(one for one in new.brief.sources.pages if page_key(one.ref, keys) not in pages[0]),
        pages_both=len(pages[0].keys() & pages[1].keys()),
        changed=tuple(sorted(changed, key=lambda one: not one.numbers)),
        new=tuple(sorted(fresh, key=lambda one: not one.page_in_both)),
        gone=tuple(sorted(gone, key=lambda one: not one.page_in_both)),
        same=same,
        statements_new=tuple(one for key, one in said[1].items() if key not in said[0]),
        statements_gone=tuple(one for key, one in said[0].items() if key not in said[1]),
        statements_same=len(said[0].keys() & said[1].keys()),
    )


def read_side(folder: Path) -> Side:
    """The finished run in a folder."""
    manifest = read_manifest(folder)
    try:
        with (folder / "claims.jsonl").open(encoding="utf-8", newline="\n") as stream:
            claims = [claim_of(json.loads(line)) for line in stream]
        brief = brief_of(json.loads((folder / "brief.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, KiwiError) as problem:
        raise RunDamaged(
            f"The run in {str(folder)!r} is not as it was written.", remedy="Research the topic again."
        ) from problem
    return Side(folder.name, manifest, claims, brief)


def _by_page(refs: Sequence[EntryRef], keys: Mapping[str, BookKey]) -> dict[PageKey, EntryRef]:
    return {page_key(ref, keys): ref for ref in refs}


def _claims_by_page(claims: Sequence[Claim], keys: Mapping[str, BookKey]) -> dict[PageKey, list[Compared]]:
    found: dict[PageKey, list[Compared]] = defaultdict(list)
    for order, claim in enumerate(_told_once(claims)):
        found[page_key(claim.ref, keys)].append(Compared(order, claim))
    return dict(found)


def _told_once(claims: Sequence[Claim]) -> list[Claim]:
    """Without the statements whose sentence is a claim of another type as well."""
    typed = {claim.quotes[0] for claim in claims if claim.type != "statement"}
    return [claim for claim in claims if claim.type != "statement" or claim.quotes[0] not in typed]


def _statements(brief: Brief) -> dict[str, StatementOf]:
    return {plainly(one.text): StatementOf(one.text, one.claims) for one in reversed(brief.statements())}


def _settings(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[SettingChange, ...]:
    sides = [{name: _whole(one.get(name)) for name in TOLD} | _flat(one.get("settings")) for one in (old, new)]
    names = dict.fromkeys([*sides[0], *sides[1]])
    rows = [SettingChange(name, sides[0].get(name), sides[1].get(name)) for name in names]
    return tuple(row for row in rows if row.old != row.new)


def _flat(values: Any, before: str = "") -> dict[str, Any]:
    if not isinstance(values, dict):
        return {}
    found: dict[str, Any] = {}
    for name, value in sorted(values.items()):
        found |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": _whole(value)}
    return found


def _whole(value: Any) -> Any:
    """A value of a manifest; what no other program could read, such as NaN, becomes a text."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return str(value)
    return value
