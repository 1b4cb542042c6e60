"""What a case keeps of the family files imported into it: lines for exports, pictures, and a report on each file."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.codec import Record, plain
from kiwiresearch.kin import PersonId, SourceId
from kiwiresearch.kin.gedcom import (
    KeptRecord,
    MediaFile,
    TagCount,
    kept_from_json,
    media_names,
    media_type_by_name,
    with_ids,
)
from kiwiresearch.kin.store import IMPORTS, CaseStore

if TYPE_CHECKING:
    from kiwiresearch.cases.case_location import CaseLocation

MEDIA_FILE_NAME = "file"
"""The name that every picture has among the uploads: its own may be that of a living person."""


@dataclass(frozen=True, slots=True)
class ImportRecord(Record):
    """An imported file, what was kept of it and what was left out. For the owner: it may name living people."""

    file: str
    people: int
    kept: tuple[TagCount, ...]
    left: tuple[TagCount, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """What a case notes of an import: the file, its people, and who was in the case before."""

    source: SourceId
    people: tuple[PersonId, ...]
    before: tuple[PersonId, ...]


def import_entries(store: CaseStore) -> tuple[ImportEntry, ...]:
    """The imports so far."""
    rows = store.state(IMPORTS) or ()
    return tuple(ImportEntry(row["source"], tuple(row["people"]), tuple(row["before"])) for row in rows)


def is_imported(store: CaseStore, digest: str) -> bool:
    """Whether a file was imported whose SHA-256 begins with a digest."""
    sources = store.tree(with_discarded=True).sources
    files = (sources.get(entry.source) for entry in import_entries(store))
    return any(file.content_hash.startswith(f"sha256:{digest}") for file in files if file)


def note_import(store: CaseStore, source: SourceId, people: Iterable[PersonId], before: Iterable[PersonId]) -> None:
    """Note whom a file has and who was there before: they are merged only if the owner confirms it."""
    of_file = set(people)
    entry = ImportEntry(source, tuple(sorted(of_file)), tuple(sorted(set(before) - of_file)))
    store.set_state(IMPORTS, [plain(one) for one in (*import_entries(store), entry)])


def kept_records(store: CaseStore) -> tuple[KeptRecord, ...]:
    """What is kept of all imported files; a newer version of a file replaces an older one."""
    found: list[KeptRecord] = []
    newer: set[PersonId] = set()
    for entry in reversed(import_entries(store)):
        records = kept_from_json(store.source_details(entry.source).extracted.get("kept", ()))
        # A file of which all people came again in later files is an older version of them.
        is_replaced = newer.issuperset(entry.people)
        for record in records:
            # A newer version of the file has its own lines about these people.
            if record.people and newer.issuperset(record.people):
                continue
            if not (is_replaced and record.kind in ("record", "head")):
                found.append(record)
        newer.update(entry.people)
    return with_ids(found, person=store.canonical)


def import_records(store: CaseStore) -> tuple[ImportRecord, ...]:
    """The reports on the imported files, the latest first. For the owner only."""
    rows = (store.source_details(entry.source).notes.get("report") for entry in reversed(import_entries(store)))
    return tuple(
        ImportRecord(
            row["file"], row["people"], _tag_counts(row["kept"]), _tag_counts(row["left"]), tuple(row["problems"])
        )
        for row in rows
        if row
    )


def _tag_counts(rows: Iterable[Mapping[str, Any]]) -> tuple[TagCount, ...]:
    return tuple(TagCount(row["path"], row["count"], row["first_line"]) for row in rows)


def media_digest(file: MediaFile) -> str:
    return hashlib.sha256(file.content).hexdigest()[:32]


def keep_media(location: CaseLocation, media: Iterable[MediaFile]) -> None:
    """Keep the pictures and documents of a package with the case's uploads."""
    for file in media:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / MEDIA_FILE_NAME
            path.write_bytes(file.content)
            location.add_upload(media_digest(file), path, MEDIA_FILE_NAME)


def media_files(store: CaseStore, location: CaseLocation, kept: Iterable[KeptRecord]) -> tuple[MediaFile, ...]:
    """The pictures and documents that kept lines refer to, as far as the case has them."""
    digests = _media_digests(store)
    found = []
    for name in sorted({name for item in kept for name in media_names(item.lines)} & digests.keys()):
        with location.opened_upload(digests[name]) as path:
            if path is not None:
                found.append(MediaFile(name, media_type_by_name(name), path.read_bytes()))
    return tuple(found)


def _media_digests(store: CaseStore) -> dict[str, str]:
    """The uploads that are pictures and documents of imported packages, by their names in a package."""
    digests: dict[str, str] = {}
    for entry in import_entries(store):
        digests |= store.source_details(entry.source).extracted.get("media", {})
    return digests


def copy_media(store: CaseStore, source: CaseLocation, target: CaseLocation) -> None:
    """Copy the pictures and documents of imported packages to another place of the case."""
    for digest in sorted(set(_media_digests(store).values())):
        with source.opened_upload(digest) as path:
            if path is not None:
                target.add_upload(digest, path, MEDIA_FILE_NAME)
