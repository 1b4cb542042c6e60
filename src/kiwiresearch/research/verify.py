"""Proving a finished run again, from the books it was made of: every hash, quote, number, date and name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kiwiresearch import __version__
from kiwiresearch.errors import RunError
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.manifest import MANIFEST, read_manifest
from kiwiresearch.research.proof.books import open_again, told_books
from kiwiresearch.research.proof.brief import prove_brief, prove_reports, prove_sources
from kiwiresearch.research.proof.claims import filed_claims
from kiwiresearch.research.proof.contexts import prove_contexts
from kiwiresearch.research.proof.files import (
    BRIEF,
    BY_MODEL,
    CLAIMS,
    CORPUS,
    GRAPH,
    prove_files,
    prove_manifest,
    prove_timings,
)
from kiwiresearch.research.proof.ledger import Failure, Ledger, Verification
from kiwiresearch.research.proof.pages import prove_graph, prove_pages
from kiwiresearch.research.proof.pictures import prove_pictures
from kiwiresearch.zim.library import Placed, Shelf

__all__ = ["Failure", "Verification", "shelf_for", "verify"]


def verify(folder: Path, shelf: Shelf) -> Verification:
    """Prove a run, and tell all that does not hold; an error only if there is no finished run.

    The books are found on the shelf by their UUIDs, and each page is read once.
    """
    ledger = Ledger()
    manifest = prove_manifest(folder, ledger)
    if manifest is not None:
        _prove(folder, manifest, shelf, ledger)
    return ledger.closed(folder)


def _prove(folder: Path, manifest: Mapping[str, Any], shelf: Shelf, ledger: Ledger) -> None:
    files = prove_files(folder, manifest, ledger)
    prove_timings(folder, manifest, ledger)
    again = manifest.get("version") == __version__
    books = open_again(manifest, shelf, ledger)
    filed = filed_claims(files.get(CLAIMS, b""), ledger)
    pages = prove_pages(files, books, filed, ledger, again=again, with_model=BY_MODEL in manifest)
    for name, file in (("pages", CORPUS), ("claims", CLAIMS)):
        count = files.get(file, b"").count(b"\n")
        if manifest.get(name) != count:
            ledger.fail(MANIFEST, f"it tells of {manifest.get(name)!r} {name}, and {file} has {count:,}")
    if GRAPH in files:
        prove_graph(files[GRAPH], pages, ledger)
    if BRIEF in files:
        languages = {book.id: book.language for book in books.values()}
        brief = prove_brief(files[BRIEF], filed, languages, ledger, again=again)
        if brief is not None:
            prove_contexts(brief, pages, ledger, again=again)
            prove_sources(brief, manifest, books, pages, ledger)
            images = prove_pictures(files, brief, books, pages, ledger, again=again)
            prove_reports(files, brief, images, "" if again else str(manifest.get("version"))[:40], ledger)


def shelf_for(folder: Path, desk: Desk, wanted: Sequence[str] = ()) -> Shelf:
    """Where the books of a run are looked for: those a user named, the shelf, and the sample book if it is one."""
    from kiwiresearch.zim.sample import METADATA

    named = desk.shelf(wanted).books if wanted else ()
    is_shared = bool(desk.settings.store.strip())
    books: list[Placed] = [*named, *(desk.shelf().books if is_shared else desk.shelf_file.books())]
    try:
        told = told_books(read_manifest(folder))
    except RunError:  # what is wrong with it is told when it is proved
        told = []
    known = {book.id for book in books}
    if any(row["name"] == METADATA["Name"] and row["id"] not in known for row in told):
        books.append(desk.sample())
    return Shelf(list(dict.fromkeys(books)), desk.opener)
