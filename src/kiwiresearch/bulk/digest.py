"""A digest of a table's rows that does not depend on the order or the files they come in.

The rows of a page, in the order of their numbers, are lines of canonical JSON and
give one SHA-256. Those of all pages are added as numbers of 256 bits, which can be
done in any order and in parts. The digest is the SHA-256 of the count of rows and the sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from kiwiresearch.bulk.tables import Row
from kiwiresearch.ids import canonical_json

SIZE = 2**256


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows there are, and the sum of the hashes of their pages."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.rows + other.rows, (self.total + other.total) % SIZE)

    @property
    def digest(self) -> str:
        return "sha256:" + sha256(f"{self.rows}\n{self.total:064x}\n".encode()).hexdigest()


def tally_of(rows: Iterable[Row]) -> Tally:
    """The tally of all rows of one page in one table."""
    lines = [canonical_json(row) for row in rows]
    if not lines:
        return Tally()
    return Tally(len(lines), int.from_bytes(sha256("\n".join(lines).encode()).digest(), "big"))
