"""A page that was read as a note of Obsidian: its claims as blocks that can be linked to, with quotes and tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from kiwiresearch.claims.claim import Claim
from kiwiresearch.evidence.citation import INTRODUCTION
from kiwiresearch.research.export.findings import SourcePage
from kiwiresearch.research.export.inside import claim_hash
from kiwiresearch.research.export.obsidian_text import front_matter, in_words, tag
from kiwiresearch.research.export.remarks import note_lines
from kiwiresearch.research.note import Note

PAGES = "Pages"
LONGEST_ID = 16


def wiki_link(name: str) -> str:
    """A link to the note of a page, shown by its name alone."""
    return f"[[{PAGES}/{name}|{name}]]"


def block_name(claim: str) -> str:
    """The name of the block of a claim, by the claim's hash."""
    return claim[:LONGEST_ID]


def page_note(page: SourcePage, names: Sequence[str], notes: Mapping[str, Sequence[Note]], topic_tag: str) -> str:
    """The whole note."""
    lines = [f"# {in_words(page.title)}", ""]
    if page.source.opening:
        lines += [f"> {in_words(page.source.opening)}", ""]
    if page.source.why:
        lines += [f"*Taken because:* {in_words(page.source.why)}", ""]
    lines += [_remark(note) for note in page.notes]
    lines += [""] if page.notes else []
    lines += ["## Claims", "", *_claims(page, notes)]
    if page.leads_to:
        lines += ["", "## Links to", ""]
        lines += [f"- {wiki_link(names[number - 1])}" for number in page.leads_to]
    return _head(page, topic_tag) + "\n".join(lines) + "\n"


def _head(page: SourcePage, topic_tag: str) -> str:
    return (
        front_matter(
            {
                "title": page.title,
                "kind": "page",
                "book": page.book_title,
                "book_date": page.book.date,
                "book_id": str(page.book.id),
                "path": page.source.ref.path,
                "url": page.source.url,
                "order": page.number,
                "depth": page.source.depth,
                "tags": ["kiwiresearch", topic_tag],
            }
        )
        + "\n"
    )


def _claims(page: SourcePage, notes: Mapping[str, Sequence[Note]]) -> Iterator[str]:
    if not page.claims:
        yield "No claim was read from this page."
    seen: set[str] = set()
    for section, claims in groupby(page.claims, key=lambda claim: claim.section):
        yield f"### {in_words(section) or INTRODUCTION.capitalize()}"
        yield ""
        for claim in claims:
            if claim.id not in seen:
                seen.add(claim.id)
                yield from _claim(claim, notes.get(claim.id, ()))
        yield ""


def _claim(claim: Claim, notes: Sequence[Note]) -> Iterator[str]:
    tags = [tag("claim", claim.type)] + (["hedged"] if claim.hedges else [])
    yield f"- {in_words(claim.text)} {' '.join(f'#{one}' for one in tags)} ^{block_name(claim_hash(claim))}"
    for quote in claim.quotes:
        yield f"    > {in_words(quote.text)}"
    cues = ", ".join(f"“{in_words(cue)}”" for cue in dict.fromkeys(hedge.cue for hedge in claim.hedges))
    held = f", held back by {cues}" if cues else ""
    yield "    >"
    yield f"    > Confidence {claim.confidence:.2f}{held}"
    yield from (_remark(note, "    ") for note in notes)


def _remark(note: Note, before: str = "") -> str:
    """A note as an item of a list, whose lines stay lines."""
    return f"{before}- **Note.** " + f"  \n{before}  ".join(map(in_words, note_lines(note)))
