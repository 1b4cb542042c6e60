"""A page that was read as a leaf of its own: what it is, why it was taken, and all that it claims in its own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from urllib.parse import quote as percent

from kiwiresearch.brief.citing import confidence_in_words
from kiwiresearch.brief.html import escaped
from kiwiresearch.claims.claim import Claim
from kiwiresearch.evidence.citation import INTRODUCTION
from kiwiresearch.research.export.findings import SourcePage
from kiwiresearch.research.export.inside import claim_hash
from kiwiresearch.research.export.remarks import note_lines
from kiwiresearch.research.note import Note
from kiwiresearch.text.languages import three_letter_code, two_letter_code

NO_CLAIMS = "<p>No claim was read from this page.</p>"
WEB = ("http://", "https://")

NotesOn = Mapping[str, Sequence[Note]]


def language_of(code: str) -> str:
    """The code of a language for the attribute `lang`; empty for what is no code."""
    return two_letter_code(three_letter_code(code))


def section_names(page: SourcePage) -> dict[str, str]:
    """The name of each section on its leaf, by the anchor that citations of it have."""
    anchors = dict.fromkeys(percent(claim.anchor, errors="replace") for claim in page.claims)
    return {anchor: f"section-{number}" for number, anchor in enumerate(anchors, start=1) if anchor}


def page_body(page: SourcePage, pages: Sequence[SourcePage], notes: NotesOn, address: Callable[[int], str]) -> str:
    """The leaf as markup; it links to the leaves of the pages that this one links to."""
    edition = f", edition of {escaped(page.book.date)}" if page.book.date else ""
    lines = [
        f'<h1 dir="auto">{escaped(page.title)}</h1>',
        f'<p class="origin">A page of <cite dir="auto">{escaped(page.book_title)}</cite>{edition}.</p>',
        *_remarks(page.notes),
    ]
    lines += _claims(page, notes) if page.claims else [NO_CLAIMS]
    if page.leads_to:
        links = ((address(number), pages[number - 1].title) for number in page.leads_to)
        lines += ["<h2>Links to</h2>", "<ul>"]
        lines += [f'<li><a href="{escape(place)}" dir="auto">{escaped(title)}</a></li>' for place, title in links]
        lines.append("</ul>")
    # At the end, so that the excerpts of a search begin with what the page says.
    return "\n".join([*lines, *_origin(page)])


def _origin(page: SourcePage) -> Iterator[str]:
    source = page.source
    yield "<h2>Where it comes from</h2>"
    yield f'<p class="origin">ZIM file {escaped(str(page.book.id))}, path {escaped(source.ref.path)}.</p>'
    if source.why:
        yield f'<p class="origin">Taken because: {escaped(source.why)}</p>'
    if source.url.startswith(WEB):
        place = percent(source.url, safe=SAFE, errors="replace")
        yield f'<p class="origin"><a href="{escape(place)}">Open the page</a></p>'


SAFE = ":/?#[]@!$&'()*+,;=%~"
"""Signs that mean something in an address, or are escaped already."""


def _claims(page: SourcePage, notes: NotesOn) -> Iterator[str]:
    names = section_names(page)
    lang = language_of(page.book.language)
    spoken = f' lang="{escape(lang)}" dir="auto"' if lang else ' dir="auto"'
    used: set[str] = set()
    seen: set[str] = set()
    for (section, anchor), claims in groupby(page.claims, key=lambda claim: (claim.section, claim.anchor)):
        name = names.get(percent(anchor, errors="replace"), "")
        named = f' id="{name}"' if name and name not in used else ""
        used.add(name)
        yield f"<h2{named}{spoken if section else ''}>{escaped(section) or INTRODUCTION.capitalize()}</h2>"
        for claim in claims:
            if claim.id not in seen:
                seen.add(claim.id)
                yield _claim(claim, spoken, notes.get(claim.id, ()))


def _claim(claim: Claim, spoken: str, notes: Sequence[Note]) -> str:
    quotes = [quote.text for quote in claim.quotes]
    lines = [f'<div class="claim" id="claim-{claim_hash(claim)}">']
    if claim.text not in quotes:
        lines.append(f"<p{spoken}>{escaped(claim.text)}</p>")
    lines.append(f"<blockquote{spoken}>{''.join(f'<p>{escaped(quote)}</p>' for quote in quotes)}</blockquote>")
    hedges = ", ".join(f"“{escaped(cue)}”" for cue in dict.fromkeys(hedge.cue for hedge in claim.hedges))
    held = f" Held back by {hedges}." if hedges else ""
    lines.append(f'<p class="proof">{claim.type.capitalize()}.{held} {escaped(confidence_in_words(claim))}</p>')
    return "\n".join([*lines, *_remarks(notes), "</div>"])


def _remarks(notes: Sequence[Note]) -> Iterator[str]:
    for note in notes:
        yield f'<p class="remark"><strong>Note.</strong> {"<br/>".join(map(escaped, note_lines(note)))}</p>'
