"""What a proof has found: how much holds, and every single thing that does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from kiwiresearch.errors import KiwiError
from kiwiresearch.text.plural import counted

Kind = Literal["files", "pages", "claims", "quotes", "statements"]
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, KiwiError)
"""What reading a record can raise that somebody has edited."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that does not hold, and where."""

    file: str
    what: str
    line: int = 0
    claim: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        place = [self.file, f"line {self.line}" if self.line else "", self.claim]
        remedy = f" {self.remedy}" if self.remedy else ""
        return f"{', '.join(part for part in place if part)}: {self.what}.{remedy}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of proving a run: the run holds if nothing failed."""

    folder: Path
    failures: tuple[Failure, ...]
    files: int
    pages: int
    claims: int
    quotes: int
    statements: int

    @property
    def holds(self) -> bool:
        return not self.failures

    @property
    def summary(self) -> str:
        """What was proved, in a line."""
        counts = [(getattr(self, kind), kind) for kind in ("quotes", "claims", "statements", "pages", "files")]
        return ", ".join(counted(count, kind[:-1]) for count, kind in counts)

    def record(self) -> dict[str, Any]:
        """The verification as plain data."""
        proved = {kind: getattr(self, kind) for kind in ("files", "pages", "claims", "quotes", "statements")}
        failures = [asdict(failure) for failure in self.failures]
        return {"run": str(self.folder), "holds": self.holds, "proved": proved, "failures": failures}


class Ledger:
    """Takes down what is proved and what fails."""

    def __init__(self) -> None:
        self._failures: list[Failure] = []
        self._proved: Counter[Kind] = Counter()

    def fail(self, file: str, what: str, *, line: int = 0, claim: str = "", remedy: str = "") -> None:
        self._failures.append(Failure(file, what.rstrip("."), line, claim, remedy))

    def prove(self, kind: Kind) -> None:
        self._proved[kind] += 1

    @contextmanager
    def proving(self, kind: Kind) -> Iterator[None]:
        """What is proved if nothing fails meanwhile."""
        before = len(self._failures)
        yield
        if len(self._failures) == before:
            self.prove(kind)

    def at(self, file: str, line: int = 0, claim: str = "") -> Spot:
        """A place of a file, for all that is found there."""
        return Spot(self, file, line, claim)

    def closed(self, folder: Path) -> Verification:
        """What was found, failures by their file and place."""
        failures = tuple(dict.fromkeys(self._failures))
        counts = {kind: self._proved[kind] for kind in ("files", "pages", "claims", "quotes", "statements")}
        return Verification(folder, failures, **counts)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place where something is proved."""

    ledger: Ledger
    file: str
    line: int = 0
    claim: str = ""

    def fail(self, what: str) -> None:
        self.ledger.fail(self.file, what, line=self.line, claim=self.claim)

    @contextmanager
    def guarding(self, what: str) -> Iterator[None]:
        """A record that cannot be read has failed; the rest goes on."""
        try:
            yield
        except MALFORMED as problem:
            told = (
                problem.message if isinstance(problem, KiwiError) else f"{type(problem).__name__} {str(problem)[:80]}"
            )
            self.fail(f"{what} ({' '.join(told.split())})")
