"""The brief, held against the claims it rests on, and the reports, held against the brief."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kiwiresearch.brief.brief import Brief
from kiwiresearch.brief.images import Images
from kiwiresearch.brief.markdown import markdown
from kiwiresearch.brief.record import brief_of, record_of
from kiwiresearch.brief.report import report
from kiwiresearch.brief.report_html import page as report_page
from kiwiresearch.claims import record as claims
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.research.proof.books import RunBook, told_books
from kiwiresearch.research.proof.claims import Filed
from kiwiresearch.research.proof.files import BRIEF, REPORT, REPORT_PAGE, document, written
from kiwiresearch.research.proof.judgements import prove_judgements
from kiwiresearch.research.proof.ledger import Ledger, Spot
from kiwiresearch.research.proof.pages import RunPage, opens
from kiwiresearch.research.proof.statements import prove_statements
from kiwiresearch.research.proof.understanding import prove_understanding

NOTED = ("id", "title", "name", "date", "flavour", "language", "articles")


def prove_brief(
    raw: bytes, filed: Sequence[Filed], languages: Mapping[BookId, str], ledger: Ledger, *, again: bool
) -> Brief | None:
    """The brief, if it is one: every claim in it as it was filed, every statement in the words of its claims."""
    spot = ledger.at(BRIEF)
    brief = None
    with spot.guarding("it is no brief as a run writes it"):
        brief = brief_of(document(raw))
        if raw != (canonical_json(record_of(brief), indent=1) + "\n").encode("utf-8", "replace"):
            spot.fail("it is not written as a run writes it")
        known = {one.claim.id: one.row.raw for one in filed}
        for claim in brief.claims.values():
            if known.get(claim.id) != written(claims.record_of(claim)):
                what = "is not as in claims.jsonl" if claim.id in known else "is not in claims.jsonl"
                ledger.at(BRIEF, claim=claim.id).fail(f"this claim {what}")
        prove_statements(brief, languages, ledger)
        if again:
            prove_judgements(brief, [one.claim for one in filed], languages, ledger)
    return brief


def prove_sources(
    brief: Brief,
    manifest: Mapping[str, Any],
    books: Mapping[BookId, RunBook],
    pages: Sequence[RunPage],
    ledger: Ledger,
) -> None:
    """What the brief says of its topic, its books and its pages is what manifest and corpus say."""
    spot = ledger.at(BRIEF)
    if brief.topic != manifest.get("topic"):
        spot.fail(f"its topic is {brief.topic!r:.80}, the manifest's is {manifest.get('topic')!r:.80}")
    prove_understanding(brief, manifest, books, ledger)
    noted = [{name: getattr(book, name) for name in NOTED} for book in brief.sources.books]
    if noted != [{name: row.get(name) for name in NOTED} for row in told_books(manifest)]:
        spot.fail("its books are not described as in the manifest")
    settings = dict(brief.sources.settings)
    for name, field in (("fingerprint", "fingerprint"), ("kiwiresearch", "version")):
        if settings.get(name) != manifest.get(field):
            spot.fail(f"its {field} is {settings.get(name)!r:.80}, the manifest's is {manifest.get(field)!r:.80}")
    with spot.guarding("its pages cannot be compared with corpus.jsonl"):
        _prove_pages(brief, books, pages, spot)


def _prove_pages(brief: Brief, books: Mapping[BookId, RunBook], pages: Sequence[RunPage], spot: Spot) -> None:
    listed = brief.sources.pages
    if [source.ref for source in listed] != [page.ref for page in pages]:
        spot.fail("its pages are not those of corpus.jsonl")
        return
    for source, page in zip(listed, pages, strict=True):
        told = page.metadata
        right = (page.title, told["depth"], told["priority_score"], told["reason"])
        if (source.title, source.depth, source.points, source.why) != right:
            spot.fail(f"what it says of the page {source.title!r} is not what corpus.jsonl says")
        if page.opening is not None and source.opening != page.opening:
            spot.fail(f"the page {source.title!r} does not begin with {source.opening!r:.80}")
        if not opens(source.url, page.ref, books[page.ref.book]):
            spot.fail(f"the address of the page {source.title!r} is {source.url!r:.90}")
    if any(not 0 <= end < len(listed) for link in brief.sources.links for end in link):
        spot.fail("a link leads to a page that is not listed")


def prove_reports(files: Mapping[str, bytes], brief: Brief, images: Images, other_version: str, ledger: Ledger) -> None:
    """Both reports, rendered again."""
    renderings: Mapping[str, Callable[[], str]] = {
        REPORT: lambda: markdown(report(brief)),
        REPORT_PAGE: lambda: report_page(brief, images),
    }
    for name, render in renderings.items():
        raw = files.get(name)
        with ledger.at(name).guarding("it cannot be rendered again"):
            right = render().encode("utf-8", "replace")
            if raw is not None and raw != right:
                line, what = _first_difference(raw, right)
                wrote = (
                    f"; kiwiresearch {other_version} wrote it, so prove it with that version" if other_version else ""
                )
                ledger.at(name, line).fail(f"it is not what brief.json gives: {what}{wrote}")


def _first_difference(found: bytes, right: bytes) -> tuple[int, str]:
    mine, theirs = (raw.decode("utf-8", "replace").split("\n") for raw in (found, right))
    same = zip(mine, theirs, strict=False)
    line = next((n for n, (one, other) in enumerate(same) if one != other), min(len(mine), len(theirs)))
    one, other = (lines[line] if line < len(lines) else "" for lines in (mine, theirs))
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return line + 1, f"{one[max(at - 20, 0) : at + 40]!r} instead of {other[max(at - 20, 0) : at + 40]!r}"
