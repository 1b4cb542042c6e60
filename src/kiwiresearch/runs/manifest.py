"""The names of a run's files, and its sealed manifest: the inputs and outputs of the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self, TypedDict

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import RunDamaged, RunNotFound
from kiwiresearch.ids import canonical_json

MANIFEST = "manifest.json"
BRIEF, CLAIMS, CORPUS, GRAPH = "brief.json", "claims.jsonl", "corpus.jsonl", "graph.json"
PICTURES = "pictures.json"
SIGNATURE = "manifest.json.sig"
"""Made by its author, if at all, and only with their key."""
REPORT, REPORT_PAGE, LOG, TIMINGS = "report.md", "report.html", "run.log", "timings.json"
WORK_FOLDER = ".journal"
"""The subfolder for working files until the run is finished."""
SEAL = "seal"


def sealed(record: Mapping[str, object]) -> JsonDict:
    """The record with its seal; an earlier seal is replaced."""
    return dict(record) | {SEAL: seal_of(record)}


def seal_of(record: Mapping[str, object]) -> str:
    """A hash of a record without its seal."""
    content = canonical_json({name: value for name, value in record.items() if name != SEAL})
    return "sha256:" + hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()


def file_digest(file: Path) -> str | None:
    """The SHA-256 of a file; None if it is missing or unreadable."""
    try:
        if not file.is_file():  # reading a pipe would never end
            return None
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


class OutputRecord(TypedDict):
    """An output of a run as a manifest names it."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class BookEdition:
    """A book as a manifest names it."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str


BOOK_FIELDS = ("id", "name", "title", "date", "flavour", "language", "articles")
"""The fields of a book in a manifest."""
TEXT_FIELDS = ("topic", "focus", "aspect", "version", "fingerprint", "model", "policy")


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest. A field of the wrong type reads as empty: the file must have been edited."""

    record: Mapping[str, Any]
    """The unparsed content."""
    topic: str
    focus: str
    aspect: str
    """The requested aspect; empty if none was requested."""
    version: str
    fingerprint: str
    model: str
    """The model that was used; empty for a run by rules alone."""
    policy: str
    """The fingerprint of the policy in force; empty if there was none."""
    settings: Mapping[str, Any]
    """The crawl settings."""
    page_count: int
    claim_count: int
    outputs: Mapping[str, OutputRecord]
    """Size and hash of each file, by its name."""
    book_records: tuple[Mapping[str, Any], ...]
    """The record of each book."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        settings, books = record.get("settings"), record.get("books")
        pages, claims = (value if isinstance(value := record.get(name), int) else 0 for name in ("pages", "claims"))
        return cls(
            record,
            **{name: str(record.get(name) or "") for name in TEXT_FIELDS},
            settings=settings if isinstance(settings, dict) else {},
            page_count=pages,
            claim_count=claims,
            outputs=record["outputs"],
            book_records=tuple(row for row in books if isinstance(row, dict)) if isinstance(books, list) else (),
        )

    @property
    def books(self) -> tuple[BookEdition, ...]:
        names = [field.name for field in fields(BookEdition)]
        return tuple(BookEdition(*(str(row.get(name) or "") for name in names)) for row in self.book_records)

    @property
    def head_page(self) -> str:
        """The first page that was read about the topic itself, as its reference is written; empty if there was none."""
        understood = self.record.get("understood")
        pages = understood.get("head_pages") if isinstance(understood, dict) else None
        return str(pages[0]) if isinstance(pages, list) and pages else ""

    def damaged_outputs(self, folder: Path) -> list[str]:
        """The names of the outputs that are missing, or not as the run wrote them."""
        return sorted(name for name, output in self.outputs.items() if file_digest(folder / name) != output["sha256"])


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the finished run in a folder."""
    file = folder / MANIFEST
    try:
        if not file.is_file():
            raise _no_run(folder)
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise RunDamaged(
            f"The file {str(file)!r} cannot be read: {problem.strerror}.",
            remedy="Check that you have permission to read it.",
        ) from problem
    except (ValueError, RecursionError):
        found = None
    if not _is_manifest(found):
        raise RunDamaged(
            f"The file {str(file)!r} is damaged or was changed.",
            remedy="Research the topic again in another folder.",
        )
    return Manifest.of(found)


def _no_run(folder: Path) -> RunNotFound:
    if (folder / WORK_FOLDER).is_dir():
        return RunNotFound(
            f"The run in {str(folder)!r} is not finished.",
            remedy="Start it again. It resumes where it stopped.",
        )
    what = "does not contain a run" if folder.is_dir() else "was not found"
    return RunNotFound(f"The folder {str(folder)!r} {what}.", remedy="Enter the folder of a finished run.")


def _is_manifest(found: Any) -> bool:
    """Whether it names a fingerprint and outputs; a name with a folder in it could lead out of the run's folder."""
    outputs = found.get("outputs") if isinstance(found, dict) and isinstance(found.get("fingerprint"), str) else None
    return isinstance(outputs, dict) and all(
        is_file_name(name) and isinstance(output, dict) and isinstance(output.get("sha256"), str)
        for name, output in outputs.items()
    )


def is_file_name(name: str) -> bool:
    """Whether it is a plain file name, without any folder."""
    return name not in ("", ".", "..") and Path(name).name == name
