"""The results of a verification, and its first checks: the files of a run and its books."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from kiwiresearch.codec import JsonDict, plain
from kiwiresearch.errors import KiwiError, RunDamaged
from kiwiresearch.ids import BookId, canonical_json, short_hash
from kiwiresearch.runs import (
    BOOK_FIELDS,
    BRIEF,
    CLAIMS,
    CORPUS,
    GRAPH,
    LOG,
    MALFORMED_RECORD_ERRORS,
    MANIFEST,
    REPORT,
    REPORT_PAGE,
    SEAL,
    TIMINGS,
    Manifest,
    Run,
    file_content,
    json_value,
    seal_of,
)
from kiwiresearch.text import count_of
from kiwiresearch.zim import Archive, ListedBook, Shelf, is_address

Kind = Literal["files", "pages", "claims", "quotes", "statements"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that could not be verified, and where."""

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
class RunProof:
    """How each part of a run was checked."""

    repeated: tuple[str, ...] = ()
    """Files that were the same, byte by byte, when the research was repeated from the books."""
    compared: tuple[str, ...] = ()
    """Parts that were compared with the books, or with parts that were."""
    hash_only: tuple[str, ...] = ()
    """Parts of which only a hash was checked: anyone who can correct the hash can invent them."""
    not_repeated: str = ""
    """Why the research was not repeated; empty if it was."""
    not_part: tuple[str, ...] = ()
    """Other files in the folder: nothing in them was checked."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Who signed a run, as the list of signers calls them, and the fingerprint of the key."""

    signer: str
    key: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a run; it succeeds if nothing failed."""

    folder: Path
    failures: tuple[Failure, ...]
    files: int
    pages: int
    claims: int
    quotes: int
    statements: int
    proof: RunProof
    signature: Signature | None = None
    """None if it was not asked for, or is wrong."""

    @property
    def holds(self) -> bool:
        return not self.failures

    @property
    def summary(self) -> str:
        """A one-line summary."""
        kinds = ("quotes", "claims", "statements", "pages", "files")
        return ", ".join(count_of(getattr(self, kind), kind.removesuffix("s")) for kind in kinds)

    def record(self) -> JsonDict:
        """The verification as JSON."""
        proved = {kind: getattr(self, kind) for kind in KINDS}
        return {
            "run": str(self.folder),
            "holds": self.holds,
            "proved": proved,
            "parts": plain(self.proof),
            "failures": plain(self.failures),
            "signature": plain(self.signature),
        }


NO_PROOF = RunProof()


class Ledger:
    """Records what is verified and what fails."""

    def __init__(self) -> None:
        self._failures: list[Failure] = []
        self._counts: Counter[Kind] = Counter()

    @property
    def failed_files(self) -> frozenset[str]:
        """The files in which something failed so far."""
        return frozenset(failure.file for failure in self._failures)

    def fail(self, file: str, what: str, *, line: int = 0, claim: str = "", remedy: str = "") -> None:
        self._failures.append(Failure(file, what.rstrip("."), line, claim, remedy))

    def count(self, kind: Kind, number: int = 1) -> None:
        self._counts[kind] += number

    @contextmanager
    def counting(self, kind: Kind) -> Iterator[None]:
        """Count one of a kind as verified if nothing fails inside the block."""
        before = len(self._failures)
        yield
        if len(self._failures) == before:
            self.count(kind)

    def at(self, file: str, line: int = 0, claim: str = "") -> Location:
        """A place in a file, for all failures there."""
        return Location(self, file, line, claim)

    def result(self, folder: Path, proof: RunProof = NO_PROOF, signature: Signature | None = None) -> Verification:
        """The result, without duplicate failures."""
        counts = {kind: self._counts[kind] for kind in KINDS}
        return Verification(folder, tuple(dict.fromkeys(self._failures)), **counts, proof=proof, signature=signature)


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file where something is checked."""

    ledger: Ledger
    file: str
    line: int = 0
    claim: str = ""

    def fail(self, what: str) -> None:
        self.ledger.fail(self.file, what, line=self.line, claim=self.claim)

    @contextmanager
    def catching_malformed(self, what: str) -> Iterator[None]:
        """Turn the error of a malformed record into a failure, and continue."""
        try:
            yield
        except MALFORMED_RECORD_ERRORS as problem:
            reason = (
                problem.message if isinstance(problem, KiwiError) else f"{type(problem).__name__} {str(problem)[:80]}"
            )
            self.fail(f"{what} ({' '.join(reason.split())})")


MAX_SHOWN = 60
OUTPUTS = (BRIEF, CLAIMS, CORPUS, GRAPH, REPORT, REPORT_PAGE, LOG)
BY_MODEL = "claims_by_model"
OUTPUT_FIELDS = frozenset(
    {"fingerprint", "outputs", "understood", "pages", "claims", BY_MODEL, "sentences_by_model", SEAL}
)
"""The fields of a manifest that describe the outputs; all others describe the inputs."""


def verify_manifest(folder: Path, ledger: Ledger) -> Manifest | None:
    """The manifest; None if it cannot be read. RunNotFound if the file is missing."""
    file = folder / MANIFEST
    raw = b""
    if file.is_file():
        content = _content(file, ledger)
        if content is None:
            return None
        raw = content
    try:
        manifest = Run.load(folder).manifest
    except RunDamaged:
        ledger.fail(MANIFEST, "it is damaged or was changed")
        return None
    with ledger.counting("files"):
        _verify_document(MANIFEST, manifest.record, raw, ledger)
        inputs = {name: value for name, value in manifest.record.items() if name not in OUTPUT_FIELDS}
        if manifest.fingerprint != short_hash(canonical_bytes(inputs)):
            ledger.fail(MANIFEST, "its fingerprint does not match its topic, settings and books")
    return manifest


def verify_files(folder: Path, manifest: Manifest, ledger: Ledger) -> dict[str, bytes]:
    """The outputs that can be read, each checked against its size and hash."""
    outputs = manifest.outputs
    for name in sorted(set(OUTPUTS) - set(outputs)):
        ledger.fail(MANIFEST, f"it does not list the output {name!r}")
    found = {}
    for name in sorted({*OUTPUTS, *outputs}):
        raw = _content(folder / name, ledger)
        if raw is None:
            continue
        found[name] = raw
        if name in outputs:
            with ledger.counting("files"):
                _verify_output(name, raw, outputs[name], ledger)
    return found


def verify_timings(folder: Path, manifest: Manifest, ledger: Ledger) -> None:
    """Check that the timings were not edited either."""
    raw = _content(folder / TIMINGS, ledger)
    if raw is None:
        return
    with ledger.at(TIMINGS).catching_malformed("it is damaged or was changed"), ledger.counting("files"):
        timings: Mapping[str, Any] = json_document(raw)
        _verify_document(TIMINGS, timings, raw, ledger)
        if len(timings["seconds_by_page"]) + timings["pages_kept"] != manifest.record.get("pages"):
            ledger.fail(TIMINGS, "it does not have as many pages as the manifest")


def json_document(raw: bytes) -> JsonDict:
    """A JSON object; ValueError for anything else."""
    found = json_value(raw)
    if not isinstance(found, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 (as for bytes that are not JSON)
    return found


class JsonLine(NamedTuple):
    """A line of a file of JSON lines."""

    line: int
    raw: bytes
    value: dict[str, Any]


def json_lines(file: str, raw: bytes, ledger: Ledger) -> list[JsonLine]:
    """The lines that are JSON objects; others are failures."""
    *lines, rest = raw.split(b"\n")
    if rest:
        ledger.fail(file, "its last line is incomplete", line=len(lines) + 1)
    found = []
    for number, line in enumerate(lines, start=1):
        with ledger.at(file, number).catching_malformed("it is not a JSON object"):
            found.append(JsonLine(number, line, json_document(line)))
    return found


def canonical_bytes(value: Any) -> bytes:
    """JSON as a run writes it."""
    return canonical_json(value).encode("utf-8", "replace")


def differing_fields(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """The names of the fields in which two records differ, as a run writes them."""
    names = sorted({*found, *expected})
    return [name for name in names if canonical_bytes(found.get(name)) != canonical_bytes(expected.get(name))]


def first_difference(one: Sequence[str], other: Sequence[str]) -> int:
    """The index at which two texts, or two lists of lines or words, first differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def first_difference_shown(found: str, expected: str, before: int, after: int) -> str:
    """What two texts say around the first character in which they differ."""
    at = first_difference(found, expected)
    start = max(at - before, 0)
    return f"{found[start : at + after]!r} instead of {expected[start : at + after]!r}"


def difference_in_lines(found: bytes, expected: bytes) -> tuple[int, str]:
    """The number of the first line in which two files differ, and how."""
    texts = [raw.decode("utf-8", "replace").split("\n") for raw in (found, expected)]
    line = first_difference(*texts)
    was, should_be = (lines[line] if line < len(lines) else "" for lines in texts)
    return line + 1, first_difference_shown(was, should_be, 20, 40)


def shown(value: object) -> str:
    """A text in quotation marks, shortened; other values, from edited records, are shown too."""
    text = str(value)
    return repr(text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…")


def _content(file: Path, ledger: Ledger) -> bytes | None:
    """The bytes of a file; None, and a failure, if they cannot be read."""
    try:
        return file_content(file)
    except RunDamaged as problem:
        ledger.fail(file.name, problem.problem)
        return None


def _verify_output(name: str, raw: bytes, recorded: Mapping[str, Any], ledger: Ledger) -> None:
    if len(raw) != recorded.get("bytes"):
        ledger.fail(name, f"it has {len(raw):,} bytes, but the manifest says {recorded.get('bytes')!r}")
    if sha256(raw).hexdigest() != recorded["sha256"]:
        ledger.fail(name, "it was changed: its SHA-256 does not match the manifest")


def _verify_document(name: str, found: Mapping[str, Any], raw: bytes, ledger: Ledger) -> None:
    """Check the seal, and that every byte is as a run writes it."""
    if SEAL not in found:
        ledger.fail(name, "it has no seal")
    elif found[SEAL] != seal_of(found):
        ledger.fail(name, "it was changed: its seal is broken")
    if raw != (canonical_json(found, indent=2) + "\n").encode("utf-8", "replace"):
        ledger.fail(name, "it was changed: it is not in the form a run writes")


MISSING_BOOK_REMEDY = "Add it with 'kiwiresearch books add' or give it with --book, then verify again."


@dataclass(frozen=True, slots=True)
class ManifestBook:
    """A book as the manifest names it, whatever was found wrong with it, and the book itself if it is available."""

    id: BookId
    name: str
    language: str
    title: str
    opens_at: str
    archive: Archive | None
    listed: ListedBook | None


def manifest_books(manifest: Manifest) -> list[Mapping[str, object]]:
    """The book records of a manifest that are well-formed."""
    return [
        row
        for row in manifest.book_records
        if all(isinstance(row.get(name), str) for name in ("id", "name", "language"))
    ]


def open_books(manifest: Manifest, shelf: Shelf, ledger: Ledger) -> dict[BookId, ManifestBook]:
    """The books of a run; a missing one is a failure, and the rest is checked without it."""
    found = {}
    for row in manifest_books(manifest):
        book = BookId(str(row["id"]))
        opens_at = str(row.get("opens_at", ""))
        listed, archive, problem = _opened(book, shelf)
        if archive is None:
            ledger.fail(
                MANIFEST, f"the book {row.get('title')!r} ({book}) was not found{problem}", remedy=MISSING_BOOK_REMEDY
            )
        else:
            # A server may describe a book in other words than its file.
            both_files = not is_address(opens_at) and not is_address(archive.book.source)
            for name in BOOK_FIELDS if both_files else ("name",):
                value = getattr(archive.book, name)
                if value != row.get(name):
                    ledger.fail(MANIFEST, f"the {name} of the book {book} is {value!r}, not {shown(row.get(name))}")
        if opens_at != f"zim://{book}/" and not is_address(opens_at):
            ledger.fail(MANIFEST, f"the pages of the book {book} open at {shown(opens_at)}, which is not an address")
        found[book] = ManifestBook(
            book, str(row["name"]), str(row["language"]) or "eng", str(row.get("title")), opens_at, archive, listed
        )
    return found


def _opened(book: BookId, shelf: Shelf) -> tuple[ListedBook | None, Archive | None, str]:
    """The first book of that UUID that can be opened, or why none can."""
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
            return placed, archive, ""
        problem = f": {str(placed.source)!r} is a different book now"
    return None, None, problem
