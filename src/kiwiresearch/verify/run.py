"""Verifying a finished run from its books: every hash, quote, number, date and name, its brief and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kiwiresearch.brief import Brief, Images, brief_document, brief_from_record, brief_record, report_page
from kiwiresearch.claims import claim_record
from kiwiresearch.document.markdown import markdown
from kiwiresearch.errors import RunError
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.messages import message_record
from kiwiresearch.runs import (
    BOOK_FIELDS,
    BRIEF,
    CLAIMS,
    CORPUS,
    GRAPH,
    MANIFEST,
    REPORT,
    REPORT_PAGE,
    SIGNATURE,
    TIMINGS,
    Manifest,
    Run,
)
from kiwiresearch.text import fold, words_in
from kiwiresearch.verify.claims import RecordedClaim, read_recorded_claims
from kiwiresearch.verify.ledger import (
    BY_MODEL,
    Ledger,
    Location,
    ManifestBook,
    Verification,
    canonical_bytes,
    difference_in_lines,
    json_document,
    manifest_books,
    open_books,
    verify_files,
    verify_manifest,
    verify_timings,
)
from kiwiresearch.verify.pages import (
    CorpusPage,
    is_page_address,
    verify_contexts,
    verify_graph,
    verify_pages,
    verify_pictures,
)
from kiwiresearch.verify.repetition import count_all, proof_of, repeat_research
from kiwiresearch.verify.signature import check_signature
from kiwiresearch.verify.statements import verify_judgements, verify_statements
from kiwiresearch.version import __version__
from kiwiresearch.workspace import Workspace, shelf_of
from kiwiresearch.zim import Archive, ListedBook, Shelf

MAX_SUGGESTED = 10


def verify_topic_reading(
    brief: Brief, manifest: Manifest, books: Mapping[BookId, ManifestBook], ledger: Ledger
) -> None:
    """Check that the brief has the topic of the manifest, and that these books allow this reading of it."""
    understood = manifest.record.get("understood")
    if not isinstance(understood, dict):
        ledger.fail(MANIFEST, "it does not say how the topic was understood")
        return
    values = {
        "head": brief.head,
        "aspect": brief.aspect,
        "senses": list(brief.senses),
        "head_pages": [str(source.ref) for source in brief.sources.pages if source.is_head],
    }
    for name, value in values.items():
        if understood.get(name) != value:
            ledger.fail(BRIEF, f"its {name!r} is {value!r:.80}, but the manifest has {understood.get(name)!r:.80}")
    with ledger.at(MANIFEST).catching_malformed("how the topic was understood cannot be verified"):
        titles = {fold(source.title) for source in brief.sources.pages}
        for what in _topic_failures(understood, manifest, titles, [book.archive for book in books.values()]):
            ledger.fail(MANIFEST, what)


def _topic_failures(
    understood: Mapping[str, Any], manifest: Manifest, titles: set[str], archives: Sequence[Archive | None]
) -> Iterator[str]:
    """Failures in how the topic was understood; `titles` are those of the pages that were read."""
    head, aspect, asked = understood["head"], understood["aspect"], manifest.record.get("aspect")
    in_topic = _words(manifest.record["topic"], understood["read_as"])
    if fold(head) not in titles and not _words(head) <= in_topic and not _is_title(head, archives):
        yield f"the topic is understood as {head!r:.80}, which is neither a page of its books nor in the topic"
    if asked and aspect != asked:
        yield f"the topic is understood with the aspect {aspect!r:.80}, but {asked!r:.80} was requested"
    elif not asked and not _words(aspect) <= in_topic:
        yield f"the topic is understood with the aspect {aspect!r:.80}, which is not in the topic"
    for sense in understood["senses"]:
        if not _is_title(sense, archives):
            yield f"the other sense {sense!r:.80} is not a page of its books"


def _words(*texts: str) -> set[str]:
    return {part for word in words_in(" ".join(texts)) for part in fold(word).split()}


def _is_title(title: str, archives: Sequence[Archive | None]) -> bool:
    """Whether a book has a page of this title, or may have it, since it is not available."""
    return any(archive is None or _has_title(archive, title) for archive in archives)


def _has_title(archive: Archive, title: str) -> bool:
    return archive.by_title(title) is not None or any(
        found.title == title for found in archive.suggest(title, MAX_SUGGESTED)
    )


def verify_brief(
    raw: bytes,
    recorded_claims: Sequence[RecordedClaim],
    languages: Mapping[BookId, str],
    ledger: Ledger,
    *,
    same_version: bool,
) -> Brief | None:
    """The brief, if it is one, with every claim checked against claims.jsonl and every statement against its claims."""
    location = ledger.at(BRIEF)
    brief = None
    with location.catching_malformed("it is not a valid brief"):
        brief = brief_from_record(json_document(raw))
        if raw != (canonical_json(brief_record(brief), indent=1) + "\n").encode("utf-8", "replace"):
            location.fail("it is not in the form a run writes")
        known = {recorded_claim.claim.id: recorded_claim.row.raw for recorded_claim in recorded_claims}
        for claim in brief.claims.values():
            if known.get(claim.id) != canonical_bytes(claim_record(claim)):
                what = "differs from claims.jsonl" if claim.id in known else "is not in claims.jsonl"
                ledger.at(BRIEF, claim=claim.id).fail(f"this claim {what}")
        verify_statements(brief, languages, ledger)
        if same_version:
            verify_judgements(brief, [recorded_claim.claim for recorded_claim in recorded_claims], languages, ledger)
    return brief


def verify_sources(
    brief: Brief,
    manifest: Manifest,
    books: Mapping[BookId, ManifestBook],
    pages: Sequence[CorpusPage],
    ledger: Ledger,
) -> None:
    """Check topic, books and pages of the brief against manifest and corpus."""
    location = ledger.at(BRIEF)
    if brief.topic != manifest.record.get("topic"):
        location.fail(f"its topic is {brief.topic!r:.80}, but the manifest has {manifest.record.get('topic')!r:.80}")
    verify_topic_reading(brief, manifest, books, ledger)
    noted = [{name: getattr(book, name) for name in BOOK_FIELDS} for book in brief.sources.books]
    if noted != [{name: row.get(name) for name in BOOK_FIELDS} for row in manifest_books(manifest)]:
        location.fail("its books do not match the manifest")
    settings = dict(brief.sources.settings)
    for name, field in (("fingerprint", "fingerprint"), ("kiwiresearch", "version")):
        if settings.get(name) != manifest.record.get(field):
            location.fail(
                f"its {field} is {settings.get(name)!r:.80}, but the manifest has {manifest.record.get(field)!r:.80}"
            )
    with location.catching_malformed("its pages cannot be compared with corpus.jsonl"):
        _verify_pages(brief, books, pages, location)


def _verify_pages(
    brief: Brief, books: Mapping[BookId, ManifestBook], pages: Sequence[CorpusPage], location: Location
) -> None:
    listed = brief.sources.pages
    if [source.ref for source in listed] != [page.ref for page in pages]:
        location.fail("its pages do not match corpus.jsonl")
        return
    for source, page in zip(listed, pages, strict=True):
        values = page.metadata
        expected = (
            page.title,
            values["depth"],
            values["priority_score"],
            values["reason"],
            values.get("reason_message"),
        )
        if (source.title, source.depth, source.points, source.why, message_record(source.why)) != expected:
            location.fail(f"its details of the page {source.title!r} do not match corpus.jsonl")
        if page.opening is not None and source.opening != page.opening:
            location.fail(f"the page {source.title!r} does not start with {source.opening!r:.80}")
        if not is_page_address(source.url, page.ref, books[page.ref.book]):
            location.fail(f"the address of the page {source.title!r} is {source.url!r:.90}")
    if any(not 0 <= end < len(listed) for link in brief.sources.links for end in link):
        location.fail("a link leads to a page that is not listed")


def verify_reports(
    files: Mapping[str, bytes], brief: Brief, images: Images, other_version: str, ledger: Ledger
) -> None:
    """Render both reports again and compare them."""
    renderings: Mapping[str, Callable[[], str]] = {
        REPORT: lambda: markdown(brief_document(brief)),
        REPORT_PAGE: lambda: report_page(brief, images),
    }
    for name, render in renderings.items():
        raw = files.get(name)
        with ledger.at(name).catching_malformed("it cannot be created again"):
            expected = render().encode("utf-8", "replace")
            if raw is not None and raw != expected:
                line, what = difference_in_lines(raw, expected)
                wrote = (
                    f"; kiwiresearch {other_version} wrote it, so verify it with that version" if other_version else ""
                )
                ledger.at(name, line).fail(f"it does not match brief.json: {what}{wrote}")


def verify_run(folder: Path, shelf: Shelf, workspace: Workspace, signers: Path | None = None) -> Verification:
    """Verify a run and report every failure; raises only if the folder has no finished run.

    The books are found on the shelf by their UUIDs. If the research can be repeated, its files must be the same again.
    What cannot be repeated, or did not give the same, is checked part by part. With a file of `signers`, one of them
    must have signed it.
    """
    ledger = Ledger()
    manifest = verify_manifest(folder, ledger)
    if manifest is None:
        return ledger.result(folder)
    files = verify_files(folder, manifest, ledger)
    verify_timings(folder, manifest, ledger)
    books = open_books(manifest, shelf, ledger)
    repetition = repeat_research(manifest, files, books, shelf, workspace, ledger)
    if repetition.reproduces(manifest, files):
        count_all(manifest, files, ledger)
    else:
        verify_parts(manifest, files, books, ledger)
        repetition.report_differences(manifest, files, ledger)
    signature = check_signature(folder, signers, ledger) if signers else None
    proof = replace(proof_of(repetition, manifest, files, books), not_part=other_files(folder, manifest))
    return ledger.result(folder, proof, signature)


def other_files(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """Files and folders that a reader may see in the folder, but are not part of the run, such as notes."""
    known = {*manifest.outputs, MANIFEST, TIMINGS, SIGNATURE}
    names = (path.name for path in folder.iterdir())
    return tuple(sorted(name for name in names if name not in known and not name.startswith(".")))


def verify_parts(
    manifest: Manifest, files: Mapping[str, bytes], books: Mapping[BookId, ManifestBook], ledger: Ledger
) -> None:
    """Compare the parts of a run with its books and with each other, without repeating the research."""
    same_version = manifest.record.get("version") == __version__
    recorded_claims = read_recorded_claims(files.get(CLAIMS, b""), ledger)
    pages = verify_pages(
        files, books, recorded_claims, ledger, same_version=same_version, with_model=BY_MODEL in manifest.record
    )
    for name, file in (("pages", CORPUS), ("claims", CLAIMS)):
        count = files.get(file, b"").count(b"\n")
        if manifest.record.get(name) != count:
            ledger.fail(MANIFEST, f"it lists {manifest.record.get(name)!r} {name}, but {file} has {count:,}")
    if GRAPH in files:
        verify_graph(files[GRAPH], pages, ledger)
    if BRIEF in files:
        languages = {book.id: book.language for book in books.values()}
        brief = verify_brief(files[BRIEF], recorded_claims, languages, ledger, same_version=same_version)
        if brief is not None:
            verify_contexts(brief, pages, ledger, same_version=same_version)
            verify_sources(brief, manifest, books, pages, ledger)
            images = verify_pictures(files, brief, books, pages, ledger, same_version=same_version)
            verify_reports(
                files, brief, images, "" if same_version else str(manifest.record.get("version"))[:40], ledger
            )


def shelf_for(folder: Path, workspace: Workspace, wanted: Sequence[str] = ()) -> Shelf:
    """The shelf for a run: books that the user named, the user's shelf, books that research read from elsewhere on
    this machine, and the sample book if the run has it.
    """
    from kiwiresearch.zim import METADATA

    named = shelf_of(workspace, wanted).books if wanted else ()
    # In this order, since the first book with the right UUID that can be opened is used.
    books: list[ListedBook] = [
        *named,
        *(shelf_of(workspace).books if workspace.settings.is_shared_store else workspace.shelf_file.books()),
    ]
    try:
        of_run = Run.load(folder).books
    except RunError:  # its failures are reported by the verification
        of_run = ()
    known = {book.id for book in books}
    books += workspace.books_read_before({book.id for book in of_run} - known)
    if any(book.name == METADATA["Name"] and book.id not in known for book in of_run):
        books.append(workspace.sample())
    return Shelf(list(dict.fromkeys(books)), workspace.opener)
