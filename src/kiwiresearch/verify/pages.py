"""Reads the pages of a run again from their books, and checks them with the brief's contexts and pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from urllib.parse import unquote

from kiwiresearch.brief import (
    Brief,
    BriefPicture,
    Images,
    QuoteContext,
    context_of,
    media_type_of,
    pictures_from_record,
    pictures_json,
)
from kiwiresearch.claims import Claim
from kiwiresearch.codec import plain
from kiwiresearch.crawl import MAX_OPENING_CHARS
from kiwiresearch.errors import KiwiError
from kiwiresearch.evidence import Quote
from kiwiresearch.ids import BookId
from kiwiresearch.page import PageDoc, open_page, page_record, pictures_in
from kiwiresearch.runs import BRIEF, CORPUS, GRAPH, PICTURES
from kiwiresearch.search import Score, ScoreTerm, first_line
from kiwiresearch.verify.claims import BoxRow, PageEvidence, RecordedClaim, verify_claims
from kiwiresearch.verify.ledger import (
    JsonLine,
    Ledger,
    Location,
    ManifestBook,
    canonical_bytes,
    differing_fields,
    first_difference_shown,
    json_document,
    json_lines,
)
from kiwiresearch.zim import Archive, EntryRef

METADATA = "metadata"
AROUND = 24
"""Characters shown before and after the first difference of two texts."""


@dataclass(frozen=True, slots=True)
class CorpusPage:
    """The facts about a page that other files may state, from its line in the corpus, even if that failed."""

    ref: EntryRef
    title: str
    metadata: Mapping[str, Any]
    opening: str | None
    """Its first sentence; None if the book is not available."""
    text: str
    language: str


def verify_pages(
    files: Mapping[str, bytes],
    books: Mapping[BookId, ManifestBook],
    recorded_claims: Sequence[RecordedClaim],
    ledger: Ledger,
    *,
    same_version: bool,
    with_model: bool,
) -> list[CorpusPage]:
    """Read every page of the corpus again, and check its record and its claims."""
    claims_by_page: dict[EntryRef, list[RecordedClaim]] = defaultdict(list)
    for recorded_claim in recorded_claims:
        claims_by_page[recorded_claim.claim.ref].append(recorded_claim)
    found = []
    for row in json_lines(CORPUS, files.get(CORPUS, b""), ledger):
        location = ledger.at(CORPUS, row.line)
        with location.catching_malformed("it is not a valid page"):
            ref = EntryRef(BookId(row.value["book"]), row.value["path"])
            book = books.get(ref.book)
            if book is None:
                location.fail(f"its book {ref.book!r} is not listed in the manifest")
                continue
            page = _read(ref, book, location)
            evidence = replace(_evidence(row, book, page, same_version=same_version), with_model=with_model)
            # Taken out: claims that are left at the end belong to no page of the corpus.
            verify_claims(claims_by_page.pop(ref, []), evidence, ledger)
            with ledger.counting("pages") if page is not None else nullcontext():
                _verify_page(row, book, page, location)
            opening = first_line(page, MAX_OPENING_CHARS) if page is not None else None
            found.append(
                CorpusPage(ref, evidence.title, row.value[METADATA], opening, evidence.text, evidence.language)
            )
    for ref, strays in claims_by_page.items():
        for stray in strays:
            stray.location(ledger).fail(f"its page {ref.path!r} is not in the corpus")
    return found


def _read(ref: EntryRef, book: ManifestBook, location: Location) -> PageDoc | None:
    if book.archive is None:
        return None
    try:
        page = open_page(book.archive, ref.path)
    except KiwiError as problem:
        location.fail(f"the page {ref.path!r} cannot be read again: {problem.message}")
        return None
    if page.ref != ref:
        location.fail(f"the path {ref.path!r} leads to the page {page.ref.path!r} in the book")
    return page


def _evidence(row: JsonLine, book: ManifestBook, page: PageDoc | None, *, same_version: bool) -> PageEvidence:
    """The evidence for claims: the page read again, or else its text in the corpus."""
    if page is None or book.archive is None:
        record, same_version = row.value, False
        rows = [item for box in record["infoboxes"] for item in box["rows"]]
        boxes = [BoxRow(r["start_offset"], r["end_offset"], r["group"], r["key"], r["value"]) for r in rows]
        text, title, language, name = record["plain_text"], record["title"], book.language, book.name
    else:
        boxes = [BoxRow(r.start, r.end, r.group, r.key, r.value) for box in page.infoboxes for r in box.rows]
        text, title, language, name = page.text, page.title, page.language, book.archive.book.name
    return PageEvidence(_as_written(text), _as_written(title), language, name, tuple(boxes), page, same_version)


def _as_written(text: str) -> str:
    """The text as it is in a file: each half of a surrogate pair is replaced by one character."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _verify_page(row: JsonLine, book: ManifestBook, page: PageDoc | None, location: Location) -> None:
    found = row.value
    metadata = found[METADATA]
    points = Score(tuple(ScoreTerm(line["signal"], line["points"]) for line in metadata["lines"])).total
    if metadata["order"] != row.line:
        location.fail(f"it is page {row.line} of the run, not {metadata['order']!r}")
    if metadata["priority_score"] != points:
        location.fail(f"its score is not the sum of its terms, which is {points:g}")
    if not is_page_address(found["url"], EntryRef(book.id, found["path"]), book):
        location.fail(f"its address is {found['url']!r:.90}")
    right = plain(page_record(page)) if page is not None else {name: found[name] for name in found if name != METADATA}
    # The address depends on where the book was, and the metadata on the crawl: both were checked above.
    right |= {"url": found["url"], METADATA: metadata}
    if canonical_bytes(right) == row.raw:
        return
    wrong = differing_fields(found, right)
    for name in wrong:
        difference = _difference_text(found.get(name), right.get(name))
        location.fail(f"{name} of {found['title']!r} does not match the book{difference}")
    if not wrong:
        location.fail("it is not in the form a run writes")


def is_page_address(url: str, ref: EntryRef, book: ManifestBook) -> bool:
    """Whether a URL is the page's: by the book's UUID, or below the address in the manifest."""
    start = book.opens_at
    return url == _as_written(str(ref)) or (
        bool(start) and url.startswith(start) and unquote(url[len(start) :]) == ref.path
    )


def _difference_text(found: Any, right: Any) -> str:
    """The first difference of two texts, or of two records as JSON."""
    one, other = (
        value if isinstance(value, str) else canonical_bytes(value).decode("utf-8") for value in (found, right)
    )
    return f": {first_difference_shown(one, other, AROUND, AROUND)}"


def verify_graph(raw: bytes, pages: Sequence[CorpusPage], ledger: Ledger) -> None:
    """Graph and corpus must say the same about each page."""
    location = ledger.at(GRAPH)
    with location.catching_malformed("it is damaged or was changed"):
        graph: Mapping[str, Any] = json_document(raw)
        nodes = {node["ref"]: node for node in graph["nodes"] if node["state"] == "visited"}
        for page in pages:
            node = nodes.pop(_as_written(str(page.ref)), None)
            if node is None:
                location.fail(f"the page {page.title!r} is missing")
                continue
            wrong = list(_differing_values(node, page))
            if wrong:
                location.fail(f"{', '.join(wrong)} of {page.title!r} does not match corpus.jsonl")
        for ref in nodes:
            location.fail(f"the page {ref!r} is not in corpus.jsonl")


def _differing_values(node: Mapping[str, Any], page: CorpusPage) -> Iterator[str]:
    values = dict(page.metadata) | {"title": page.title, "book": page.ref.book, "path": page.ref.path}
    yield from (name for name in sorted(values) if canonical_bytes(node.get(name)) != canonical_bytes(values[name]))


def verify_contexts(brief: Brief, pages: Sequence[CorpusPage], ledger: Ledger, *, same_version: bool) -> None:
    """Check the text around each quote; for a run of this version, also that none was left out."""
    by_ref = {page.ref: page for page in pages}
    for claim_id in sorted(brief.context.keys() - brief.claims.keys()):
        ledger.at(BRIEF, claim=claim_id[:80]).fail("this claim has a context but is missing")
    for claim in brief.claims.values():
        location = ledger.at(BRIEF, claim=claim.id)
        page = by_ref.get(claim.ref)
        if page is not None:  # a missing page was already reported for its claims
            with location.catching_malformed("its context cannot be verified"):
                for what in _context_failures(claim, brief.context.get(claim.id), page, same_version=same_version):
                    location.fail(what)


def _context_failures(
    claim: Claim, context: QuoteContext | None, page: CorpusPage, *, same_version: bool
) -> Iterator[str]:
    right = context_of(claim, page.text, page.language)
    if context == right:
        return
    if context is not None and not _surrounds_quote(context, claim.quotes[0], page.text):
        yield f"the page does not have {context.before[-60:]!r} before its quote and {context.after[:60]!r} after it"
    elif same_version:
        yield "its context is not the text a run shows around its quote"


def _surrounds_quote(context: QuoteContext, quote: Quote, text: str) -> bool:
    """Whether the words are right before and after the quote, in its paragraph."""
    start = quote.start - len(context.before)
    return (
        start >= 0
        and text.startswith(context.before + quote.text + context.after, start)
        and "\n" not in context.before + context.after
    )


def verify_pictures(
    files: Mapping[str, bytes],
    brief: Brief,
    books: Mapping[BookId, ManifestBook],
    pages: Sequence[CorpusPage],
    ledger: Ledger,
    *,
    same_version: bool,
) -> Images:
    """Check the pictures that the brief names against their books and pages; returns their contents."""
    images = _images(files.get(PICTURES), brief, ledger)
    titles = {page.ref: page.title for page in pages}
    location = ledger.at(BRIEF)
    for picture in brief.pictures:
        with location.catching_malformed(f"the picture {picture.caption!r:.80} cannot be verified"):
            failures = [*_picture_failures(picture, brief, images)]
            if picture.ref not in titles:
                failures.append("is from a page that was not read")
            elif (archive := books[picture.ref.book].archive) is not None:
                failures += _book_failures(picture, archive, titles[picture.ref], same_version=same_version)
            for what in failures:
                location.fail(f"the picture {picture.caption!r:.80} {what}")
    return images


def _images(raw: bytes | None, brief: Brief, ledger: Ledger) -> Images:
    location = ledger.at(PICTURES)
    images: Images = {}
    with location.catching_malformed("it does not contain valid pictures"):
        if raw is not None:
            images = pictures_from_record(json_document(raw))
            if raw != pictures_json(images).encode():
                location.fail("it is not in the form a run writes")
        named = {picture.sha256 for picture in brief.pictures}
        if set(images) != named or (raw is None) != (not named):
            location.fail(f"it does not contain exactly the pictures that {BRIEF} lists")
    return images


def _picture_failures(picture: BriefPicture, brief: Brief, images: Images) -> Iterator[str]:
    content = images.get(picture.sha256)
    if content is not None and media_type_of(content) != picture.media_type:
        yield f"is not of the type {picture.media_type}"
    if picture.part is not None and picture.part not in range(len(brief.body)):
        yield f"is placed in part {picture.part}, but there are only {len(brief.body)}"
    if sum(brief_picture.sha256 == picture.sha256 for brief_picture in brief.pictures) > 1:
        yield "is shown more than once"


def _book_failures(picture: BriefPicture, archive: Archive, title: str, *, same_version: bool) -> Iterator[str]:
    if sha256(archive.read(picture.path).content).hexdigest() != picture.sha256:
        yield f"does not match {picture.path!r:.80} in the book"
    if same_version:
        page = archive.read(picture.ref.path)
        there = {
            (page_picture.path, page_picture.caption, page_picture.alt)
            for page_picture in pictures_in(page.content, page.ref.path, title)
        }
        if (picture.path, picture.caption, picture.alt) not in there:
            yield f"is not on the page {title!r:.80} like this"
