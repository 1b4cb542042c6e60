"""What a verification has proved and what failed; the files of a run and its books, checked first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kiwiresearch.errors import KiwiError, RunDamaged
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.runs.manifest import (
    BRIEF,
    CLAIMS,
    CORPUS,
    GRAPH,
    LOG,
    MANIFEST,
    REPORT,
    REPORT_PAGE,
    SEAL,
    TIMINGS,
    Manifest,
    seal_of,
)
from kiwiresearch.runs.run import Run
from kiwiresearch.runs.run_files import MALFORMED, file_content, json_value
from kiwiresearch.text.display import count_of
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.library import Shelf

Kind = Literal["files", "pages", "claims", "quotes", "statements"]


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
        return ", ".join(count_of(count, kind[:-1]) for count, kind in counts)

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

    def at(self, file: str, line: int = 0, claim: str = "") -> Location:
        """A place of a file, for all that is found there."""
        return Location(self, file, line, claim)

    def result(self, folder: Path) -> Verification:
        """What was found, failures by their file and place."""
        failures = tuple(dict.fromkeys(self._failures))
        counts = {kind: self._proved[kind] for kind in ("files", "pages", "claims", "quotes", "statements")}
        return Verification(folder, failures, **counts)


@dataclass(frozen=True, slots=True)
class Location:
    """A place where something is proved."""

    ledger: Ledger
    file: str
    line: int = 0
    claim: str = ""

    def fail(self, what: str) -> None:
        self.ledger.fail(self.file, what, line=self.line, claim=self.claim)

    @contextmanager
    def catching_malformed(self, what: str) -> Iterator[None]:
        """A record that cannot be read has failed; the rest goes on."""
        try:
            yield
        except MALFORMED as problem:
            told = (
                problem.message if isinstance(problem, KiwiError) else f"{type(problem).__name__} {str(problem)[:80]}"
            )
            self.fail(f"{what} ({' '.join(told.split())})")


OUTPUTS = (BRIEF, CLAIMS, CORPUS, GRAPH, REPORT, REPORT_PAGE, LOG)
BY_MODEL = "claims_by_model"
NOT_MADE_FROM = frozenset(
    {"fingerprint", "outputs", "understood", "pages", "claims", BY_MODEL, "sentences_by_model", SEAL}
)
"""Fields of a manifest that tell what came out; all others tell what the run was made from."""


def prove_manifest(folder: Path, ledger: Ledger) -> Manifest | None:
    """The manifest, as it stands; None if it cannot be read. Without one there is no run, which is an error."""
    file = folder / MANIFEST
    raw = b""
    if file.is_file():
        content = _content(file, ledger)
        if content is None:
            return None
        raw = content
    try:
        manifest = Run.open(folder).manifest
    except RunDamaged:
        ledger.fail(MANIFEST, "it is not as a run writes it")
        return None
    with ledger.proving("files"):
        _prove_document(MANIFEST, manifest.record, raw, ledger)
        made_from = {name: value for name, value in manifest.record.items() if name not in NOT_MADE_FROM}
        told = canonical_json(made_from).encode("utf-8", "replace")
        if manifest.fingerprint != "sha256:" + sha256(told).hexdigest()[:32]:
            ledger.fail(MANIFEST, "its fingerprint is not that of the topic, settings and books it names")
    return manifest


def prove_files(folder: Path, manifest: Manifest, ledger: Ledger) -> dict[str, bytes]:
    """The outputs that can be read, each held against its size and hash."""
    outputs = manifest.outputs
    for name in sorted(set(OUTPUTS) - set(outputs)):
        ledger.fail(MANIFEST, f"it does not name the output {name!r}")
    found = {}
    for name in sorted({*OUTPUTS, *outputs}):
        raw = _content(folder / name, ledger)
        if raw is None:
            continue
        found[name] = raw
        if name in outputs:
            with ledger.proving("files"):
                _prove_output(name, raw, outputs[name], ledger)
    return found


def prove_timings(folder: Path, manifest: Manifest, ledger: Ledger) -> None:
    """The timings say nothing of the topic, but nobody shall have edited them either."""
    raw = _content(folder / TIMINGS, ledger)
    if raw is None:
        return
    with ledger.at(TIMINGS).catching_malformed("it is not as a run writes it"), ledger.proving("files"):
        timings = json_document(raw)
        _prove_document(TIMINGS, timings, raw, ledger)
        if len(timings["seconds_by_page"]) + timings["pages_kept"] != manifest.record.get("pages"):
            ledger.fail(TIMINGS, "it does not tell of as many pages as the manifest")


def json_document(raw: bytes) -> dict[str, Any]:
    """A JSON object; ValueError for anything else."""
    found = json_value(raw)
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 (what reads it knows one error)
    return found


class JsonLine(NamedTuple):
    """A line of a file of JSON lines."""

    line: int
    raw: bytes
    value: dict[str, Any]


def json_lines(file: str, raw: bytes, ledger: Ledger) -> list[JsonLine]:
    """The lines that are JSON objects; the others have failed."""
    *lines, rest = raw.split(b"\n")
    if rest:
        ledger.fail(file, "its last line has no end", line=len(lines) + 1)
    found = []
    for number, line in enumerate(lines, start=1):
        with ledger.at(file, number).catching_malformed("it is no JSON object"):
            found.append(JsonLine(number, line, json_document(line)))
    return found


def canonical_bytes(value: Any) -> bytes:
    """How a run writes JSON."""
    return canonical_json(value).encode("utf-8", "replace")


def _content(file: Path, ledger: Ledger) -> bytes | None:
    """The bytes of a file; None where they cannot be had, which has failed."""
    try:
        return file_content(file)
    except RunDamaged as problem:
        ledger.fail(file.name, problem.problem)
        return None


def _prove_output(name: str, raw: bytes, told: Mapping[str, Any], ledger: Ledger) -> None:
    if len(raw) != told.get("bytes"):
        ledger.fail(name, f"it has {len(raw):,} bytes, and the manifest says {told.get('bytes')!r}")
    if sha256(raw).hexdigest() != told["sha256"]:
        ledger.fail(name, "it was changed: its SHA-256 is not the manifest's")


def _prove_document(name: str, found: Mapping[str, Any], raw: bytes, ledger: Ledger) -> None:
    """Its seal, and that every byte of it is as a run writes it."""
    if SEAL not in found:
        ledger.fail(name, "it has no seal")
    elif found[SEAL] != seal_of(found):
        ledger.fail(name, "it was changed: its seal is broken")
    if raw != (canonical_json(found, indent=2) + "\n").encode("utf-8", "replace"):
        ledger.fail(name, "it was changed: it is not written as a run writes it")


REMEDY = "Put it on your shelf with 'kiwiresearch books add', or name it with --book, and verify again."


@dataclass(frozen=True, slots=True)
class VerifiedBook:
    """A book as the manifest has it, and the book itself if it is there."""

    id: BookId
    name: str
    language: str
    opens_at: str
    archive: Archive | None


def manifest_books(manifest: Manifest) -> list[Mapping[str, Any]]:
    """What a manifest says of its books, without records that were edited into something else."""
    return [
        row
        for row in manifest.book_records
        if all(isinstance(row.get(name), str) for name in ("id", "name", "language"))
    ]


def open_books(manifest: Manifest, shelf: Shelf, ledger: Ledger) -> dict[BookId, VerifiedBook]:
    """The books of a run; one that is not there has failed, and what can be proved without it is."""
    found = {}
    for row in manifest_books(manifest):
        book = BookId(row["id"])
        archive, problem = _opened(book, shelf)
        if archive is None:
            ledger.fail(MANIFEST, f"the book {row.get('title')!r} ({book}) is not there{problem}", remedy=REMEDY)
        elif archive.book.name != row["name"]:
            ledger.fail(MANIFEST, f"the name of the book {book} is {archive.book.name!r}, not {row['name']!r}")
        found[book] = VerifiedBook(book, row["name"], row["language"] or "eng", str(row.get("opens_at", "")), archive)
    return found


def _opened(book: BookId, shelf: Shelf) -> tuple[Archive | None, str]:
    """The first book of that UUID that can be opened; or why none can."""
    problem = ""
    for placed in shelf.books:
        if placed.id != book:
            continue
        try:
            archive = shelf.open(placed)
        except KiwiError as why:
            problem = f": {why.message.rstrip('.')}"
            continue
        if archive.book.id == book:
            return archive, ""
        problem = f": {str(placed.source)!r} holds another book now"
    return None, problem
